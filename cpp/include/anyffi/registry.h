/// \file
/// ANYFFI_REGISTER_GLOBAL and ANYFFI_EXPORT: functions by name.
#ifndef ANYFFI_REGISTRY_H_
#define ANYFFI_REGISTRY_H_

#include <anyffi/function.h>

namespace anyffi {

namespace detail ANYFFI_HIDDEN_ {

/// Head of the list of this library's exports. Weak and hidden: shared by the files of one library only.
__attribute__((weak, visibility("hidden"))) const AnyffiModuleEntry* module_entries = nullptr;
__attribute__((weak, visibility("hidden"))) const AnyffiModuleClass* module_classes = nullptr;

/// Adds an overload to a function; returns the function that has all overloads, with a reference if it is another one.
__attribute__((cold, noinline)) inline AnyffiObject* add_overload(const char* name, AnyffiObject* function,
                                                                  AnyffiObject* added) {
  AnyValue created;
  if (!(reinterpret_cast<AnyffiFunction*>(function)->info->flags & ANYFFI_OVERLOADED)) {
    check(anyffi_function_create_overloaded(name, created.out()));
    check(anyffi_function_add_overload(created.raw().as_object, function, nullptr, 0));
    function = created.raw().as_object;
  }
  check(anyffi_function_add_overload(function, added, nullptr, 0));
  created.release();
  return function;
}

/// Sets what a function keeps alive.
__attribute__((cold, noinline)) inline void set_kept(NativeFunction& function, uint8_t nurse,
                                                     uint8_t patient) noexcept {
  int status = catch_all([&] {
    function.keep_alive(nurse, patient);
    return 0;
  });
  if (status != 0) anyffi_registry_defer_error();
}

/// Reports an error of a declaration, of `name` if that is not NULL, when the library has loaded.
__attribute__((cold, noinline)) inline void defer_error(const char* name, const char* error) noexcept {
  int status =
      catch_all([&]() -> int { throw Error("ValueError", name ? String(name) + ": " + error : String(error)); });
  if (status != 0) anyffi_registry_defer_error();
}

/// Reports a function whose declaration is incomplete.
__attribute__((cold, noinline)) inline void check_declaration(const NativeFunction& function,
                                                              const char* name) noexcept {
  const char* error = function.find_error();
  if (!error) return;
  defer_error(name, error);
}

/// Lists a class in the module table, once.
inline void list_class(AnyffiModuleClass* row, int32_t type_code) {
  bool is_listed = row->type_code != ANYFFI_NONE;
  row->type_code = type_code;
  if (is_listed) return;
  row->next = module_classes;
  module_classes = row;
}

template <class T>
ANYFFI_HIDDEN_ inline AnyffiModuleClass module_class{};

}  // namespace detail ANYFFI_HIDDEN_

/// Registers a function. Runs in static initialisers, so it never throws: `load_module` raises the errors.
class __attribute__((visibility("hidden"))) Registration {
 public:
  explicit Registration(const char* name) noexcept : name_(name) {}

  /// Registers a typed callable; `names` are `arg("x")`, `arg("y") = 1`. A second one is an overload: a call selects
  /// the first that accepts all arguments without conversion, else to the first that converts them. `doc` and
  /// `release_gil` apply to the callable before them.
  template <class F, class... N>
  Registration& def(F f, N&&... names) noexcept {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    decltype(auto) callable = detail::as_function(f);
    return detail::create_typed(&add, this, nullptr, callable, names...);
  }
  /// Registers `void(Args args, AnyValue* result)`.
  template <class F>
  Registration& def_packed(F f) noexcept {
    return add(this, nullptr, &detail::kPackedSpec<F>, detail::pass_callable(f));
  }
  /// The docstring; must never be freed, like a literal.
  Registration& doc(const char* text) noexcept {
    if (function_) function_->info.doc = text;
    return *this;
  }
  /// Releases the host's lock while the body runs.
  Registration& release_gil() noexcept {
    if (function_) function_->release_gil();
    return *this;
  }
  /// Who owns the object that the result points or refers to.
  Registration& returns(Returns returns) noexcept {
    if (function_) function_->set_returns(returns);
    return *this;
  }
  /// Keeps the patient alive until the nurse is destroyed: 0 is the result, 1 the first argument.
  template <uint8_t kNurse, uint8_t kPatient>
  Registration& keep_alive() noexcept {
    if (function_) detail::set_kept(*function_, kNurse, kPatient);
    return *this;
  }
  /// Reports an incomplete declaration.
  void finish() const noexcept {
    if (function_) detail::check_declaration(*function_, name_);
  }

 protected:
  constexpr Registration() noexcept = default;

  /// Defines a callable. `name`: of an export, where it is defined first, else NULL. For `rest` see `create_native`.
  __attribute__((cold, noinline)) static Registration& add(Registration* self, const char* name,
                                                           const detail::CallSpec* spec, void* callable, ...) noexcept {
    if (name) self->name_ = self->entry_.name = name;
    self->finish();
    self->function_ = nullptr;
    detail::VaList rest;
    __builtin_va_start(rest.list, callable);
    int status = detail::catch_all([&] {
      ObjectRef function = detail::create_native(self->name_, *spec, callable, rest.list);
      self->add_function(function.get());
      // Never released: `.doc()` and the exported symbol use it even after a removal from the registry.
      self->function_ = reinterpret_cast<detail::NativeFunction*>(function.release());
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
    return *self;
  }

  AnyffiObject* published_ = nullptr;

 private:
  void add_function(AnyffiObject* function) {
    AnyffiObject* all = published_ ? detail::add_overload(name_, published_, function) : function;
    if (all == published_) return;
    publish(all, published_ != nullptr);
    published_ = all;
  }
  void publish(AnyffiObject* function, bool again) {
    if (!entry_.name) {
      AnyValue name(name_);
      AnyffiValue value = detail::object_value(function);
      return detail::check(anyffi_registry_set(&name.raw(), &value, again));
    }
    entry_.function = function;
    if (again) return;
    entry_.next = detail::module_entries;
    detail::module_entries = &entry_;
  }

  const char* name_ = nullptr;
  detail::NativeFunction* function_ = nullptr;  // the last `def`
  AnyffiModuleEntry entry_{};                   // of an export, else without a name
};

namespace detail ANYFFI_HIDDEN_ {

/// A function of the module table. Lives as long as the library, which is never unloaded; needs no initializer, so that
/// the exported symbol may be called at any time.
class __attribute__((visibility("hidden"))) Export : public Registration {
 public:
  constexpr Export() noexcept = default;

  template <class F, class... N>
  Registration& define(const char* name, F f, N&&... names) noexcept {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    decltype(auto) callable = detail::as_function(f);
    return create_typed(&add, static_cast<Registration*>(this), name, callable, names...);
  }
  /// The body of the exported symbol; `self` is the Export.
  __attribute__((noinline)) static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    auto* function = reinterpret_cast<AnyffiFunction*>(static_cast<Export*>(self)->published_);
    if (function) return function->call(function->self, args, num_args, result);
    return anyffi_error_raise("RuntimeError", "this function was not exported; load_module reports why");
  }
};

class ClassBuilder;

/// What the last method of a registration leaves: nothing.
struct Registered {
  Registered(const Registration& complete) noexcept { complete.finish(); }  // NOLINT: implicit on purpose
  Registered(const ClassBuilder&) noexcept {}                               // NOLINT: implicit on purpose
};

/// Runs in static initialisers, so it never throws.
template <class T>
bool register_object() noexcept {
  int status = catch_all([] {
    list_class(&module_class<T>, type_code_of<T>());
    return 0;
  });
  if (status != 0) anyffi_registry_defer_error();
  return status == 0;
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

extern "C" {
/// Read by `load_module`. Weak: one for all files of a library.
__attribute__((weak)) ANYFFI_EXPORT_SYMBOL AnyffiModuleTable __anyffi_module = {
    ANYFFI_ABI_VERSION, sizeof(AnyffiModuleTable), &anyffi::detail::module_entries, &anyffi::detail::module_classes};
}

#define ANYFFI_JOIN2_(a, b) a##b
#define ANYFFI_JOIN_(a, b) ANYFFI_JOIN2_(a, b)

/// Registers a global function when the library loads: `ANYFFI_REGISTER_GLOBAL("name").def(...).doc("...");`
#define ANYFFI_REGISTER_GLOBAL(name)                                                                     \
  [[maybe_unused]] static const ::anyffi::detail::Registered ANYFFI_JOIN_(anyffi_global_, __COUNTER__) = \
      ::anyffi::Registration(name)

/// Registers an object class when the library loads, instead of at its first use: `ANYFFI_REGISTER_OBJECT(Point);`
#define ANYFFI_REGISTER_OBJECT(...)                                              \
  [[maybe_unused]] static const bool ANYFFI_JOIN_(anyffi_object_, __COUNTER__) = \
      ::anyffi::detail::register_object<__VA_ARGS__>()

/// Exports a function for `load_module`, under the symbol `__anyffi_<name>`: `ANYFFI_EXPORT(add, &add, arg("x"));`.
/// `.doc("...")` and the other methods of Registration may follow.
#define ANYFFI_EXPORT(name, ...)                                                                  \
  static ::anyffi::detail::Export anyffi_export_##name;                                           \
  extern "C" ANYFFI_EXPORT_SYMBOL int __anyffi_##name(void*, AnyffiValue* args, int32_t num_args, \
                                                      AnyffiValue* result) {                      \
    return ::anyffi::detail::Export::call(&anyffi_export_##name, args, num_args, result);         \
  }                                                                                               \
  [[maybe_unused]] static const ::anyffi::detail::Registered anyffi_exported_##name =             \
      anyffi_export_##name.define(#name, __VA_ARGS__)

#endif  // ANYFFI_REGISTRY_H_
