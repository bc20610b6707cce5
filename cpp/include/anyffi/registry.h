/// \file
/// ANYFFI_REGISTER_GLOBAL and ANYFFI_EXPORT: functions by name.
#ifndef ANYFFI_REGISTRY_H_
#define ANYFFI_REGISTRY_H_

#include <anyffi/function.h>

namespace anyffi {

namespace detail {

/// Head of the list of this library's exports. Weak and hidden: shared by the files of one library only.
__attribute__((weak, visibility("hidden"))) const AnyffiModuleEntry* module_entries = nullptr;

}  // namespace detail

/// Registers a function. Runs in static initialisers, so it never throws: `load_module` raises the errors.
class Registration {
 public:
  explicit Registration(const char* name) noexcept : name_(name) {}

  /// Registers a typed callable; `names` are `arg("x")`, `arg("y") = 1`. A second one is an overload: a call selects
  /// the first that accepts all arguments without conversion, else to the first that converts them. `doc` and
  /// `release_gil` apply to the callable before them.
  template <class F, class... N>
  Registration& def(F f, N&&... names) noexcept {
    using Callable = decltype(detail::as_function(std::move(f)));
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    return make(
        [&] { return detail::make_typed(name_, detail::as_function(std::move(f)), std::forward<N>(names)...); });
  }
  /// Registers `void(Args args, AnyValue* result)`.
  template <class F>
  Registration& def_packed(F f) noexcept {
    return make([&] {
      return ObjectRef(detail::Adopt{}, &detail::make_native<detail::PackedFunction<F>>(std::move(f))->base.header);
    });
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

 protected:
  template <class Make>
  Registration& make(Make make) noexcept {
    function_ = nullptr;
    int status = detail::catch_all([&] {
      ObjectRef function = make();
      auto* made = reinterpret_cast<detail::NativeFunction*>(function.get());
      made->info.name = name_;
      if (published_) {
        add_overload(function.get());
      } else {
        publish(function.get(), false);
        published_ = function.get();
      }
      function_ = made;
      // Never released: `.doc()` and the exported symbol use it even after a removal from the registry.
      function.release();
      return 0;
    });
    if (status != 0) anyffi_registry_defer_error();
    return *this;
  }
  virtual void publish(AnyffiObject* function, bool again) {
    AnyValue name(name_);
    AnyffiValue value = detail::object_value(function);
    detail::check(anyffi_registry_set(&name.raw(), &value, again));
  }
  const char* name_;
  detail::NativeFunction* function_ = nullptr;  // the last `def`
  AnyffiObject* published_ = nullptr;

 private:
  void add_overload(AnyffiObject* function) {
    if (!is_overloaded_) {
      AnyValue created;
      detail::check(anyffi_function_create_overloaded(name_, created.out()));
      detail::check(anyffi_function_add_overload(created.raw().as_object, published_, nullptr, 0));
      publish(created.raw().as_object, true);
      published_ = created.release().as_object;
      is_overloaded_ = true;
    }
    detail::check(anyffi_function_add_overload(published_, function, nullptr, 0));
  }
  bool is_overloaded_ = false;
};

namespace detail {

/// An entry of the module table; lives as long as the library, which is never unloaded.
class Export : public Registration {
 public:
  explicit Export(const char* name) noexcept : Registration(name), entry_{nullptr, name, nullptr} {}
  int call(AnyffiValue* args, int32_t num_args, AnyffiValue* result) const {
    if (!published_)
      return anyffi_error_raise("RuntimeError", "this function was not exported; load_module reports why");
    auto* function = reinterpret_cast<AnyffiFunction*>(published_);
    return function->call(function->self, args, num_args, result);
  }

 protected:
  void publish(AnyffiObject* function, bool again) override {
    entry_.function = function;
    if (again) return;
    entry_.next = module_entries;
    module_entries = &entry_;
  }

 private:
  AnyffiModuleEntry entry_;
};

/// Runs in static initialisers, so it never throws.
template <class T>
bool register_object() noexcept {
  int status = catch_all([] {
    type_code_of<T>();
    return 0;
  });
  if (status != 0) anyffi_registry_defer_error();
  return status == 0;
}

}  // namespace detail
}  // namespace anyffi

extern "C" {
/// Read by `load_module`. Weak: one for all files of a library.
__attribute__((weak)) ANYFFI_EXPORT_SYMBOL AnyffiModuleTable __anyffi_module = {
    ANYFFI_ABI_VERSION, sizeof(AnyffiModuleTable), &anyffi::detail::module_entries};
}

#define ANYFFI_JOIN2_(a, b) a##b
#define ANYFFI_JOIN_(a, b) ANYFFI_JOIN2_(a, b)

/// Registers a global function when the library loads: `ANYFFI_REGISTER_GLOBAL("name").def(...).doc("...");`
#define ANYFFI_REGISTER_GLOBAL(name)                                                         \
  [[maybe_unused]] static ::anyffi::Registration ANYFFI_JOIN_(anyffi_global_, __COUNTER__) = \
      ::anyffi::Registration(name)

/// Registers an object class when the library loads, instead of at its first use: `ANYFFI_REGISTER_OBJECT(Point);`
#define ANYFFI_REGISTER_OBJECT(...)                                              \
  [[maybe_unused]] static const bool ANYFFI_JOIN_(anyffi_object_, __COUNTER__) = \
      ::anyffi::detail::register_object<__VA_ARGS__>()

/// Exports a function for `load_module`, under the symbol `__anyffi_<name>`: `ANYFFI_EXPORT(add, &add, arg("x"));`.
/// `.doc("...")` and the other methods of Registration may follow.
#define ANYFFI_EXPORT(name, ...)                                                                  \
  static ::anyffi::detail::Export& anyffi_export_##name() {                                       \
    static ::anyffi::detail::Export entry(#name);                                                 \
    return entry;                                                                                 \
  }                                                                                               \
  extern "C" ANYFFI_EXPORT_SYMBOL int __anyffi_##name(void*, AnyffiValue* args, int32_t num_args, \
                                                      AnyffiValue* result) {                      \
    return anyffi_export_##name().call(args, num_args, result);                                   \
  }                                                                                               \
  [[maybe_unused]] static ::anyffi::Registration& anyffi_exported_##name = anyffi_export_##name().def(__VA_ARGS__)

#endif  // ANYFFI_REGISTRY_H_
