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

template <class T>
ANYFFI_HIDDEN_ inline AnyffiModuleClass module_class{};

}  // namespace detail ANYFFI_HIDDEN_

/// Registers a function. Runs in static initialisers, so it never throws: `load_module` raises the errors.
class __attribute__((visibility("hidden"))) Registration {
 public:
  explicit Registration(const char* name) noexcept : state_{name, nullptr, nullptr, {}} {}

  /// Registers a typed callable; `names` are `arg("x")`, `arg("y") = 1`. A second one is an overload: a call selects
  /// the first that accepts all arguments without conversion, or else the first that converts them. `doc` and
  /// `release_gil` apply to the callable before them.
  template <class F, class... N>
  Registration& def(F f, N&&... names) noexcept {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    return add(nullptr, f, names...);
  }
  /// Registers `void(Args args, AnyValue* result)`.
  template <class F>
  Registration& def_packed(F f) noexcept {
    detail::create_packed(&anyffi_registration_add, &state_, f);
    return *this;
  }
  /// The docstring; must never be freed, like a literal.
  Registration& doc(const char* text) noexcept {
    anyffi_native_set_doc(state_.function, text);
    return *this;
  }
  /// Releases the host's lock while the body runs.
  Registration& release_gil() noexcept {
    anyffi_native_release_gil(state_.function);
    return *this;
  }
  /// The attribute with this name is the function's result, not the function, which has no parameters.
  Registration& constant() noexcept {
    anyffi_native_set_constant(state_.function);
    return *this;
  }
  /// Who owns the object to which the result points or refers.
  Registration& returns(Returns returns) noexcept {
    anyffi_native_set_returns(state_.function, static_cast<int32_t>(returns));
    return *this;
  }
  /// Keeps the patient alive until the nurse is destroyed: 0 is the result, 1 the first argument.
  template <uint8_t kNurse, uint8_t kPatient>
  Registration& keep_alive() noexcept {
    anyffi_native_keep_alive(state_.function, kNurse, kPatient);
    return *this;
  }
  /// Ends the declaration.
  void finish() noexcept { anyffi_registration_finish(&state_, &detail::module_entries); }

 protected:
  constexpr Registration() noexcept = default;

  /// Adds a callable. `name`: for the first function of an export, else NULL.
  template <class F, class... N>
  Registration& add(const char* name, F& f, N&... names) noexcept {
    decltype(auto) callable = detail::as_function(f);
    detail::create_typed(&anyffi_registration_add, &state_, name, callable, names...);
    return *this;
  }

  AnyffiRegistration state_{};
};

namespace detail ANYFFI_HIDDEN_ {

/// A function of the module table. Lives as long as the library, which is never unloaded. Needs no initialiser, so that
/// the exported symbol may be called at any time.
class __attribute__((visibility("hidden"))) Export : public Registration {
 public:
  constexpr Export() noexcept = default;

  template <class F, class... N>
  Registration& define(const char* name, F f, N&&... names) noexcept {
    using Callable = detail::CallableOf<F>;
    ANYFFI_ASSERT_CONVERTIBLE_(Callable);
    ANYFFI_ASSERT_NAMES_(detail::NamesOf<Callable, Bare<N>...>);
    return add(name, f, names...);
  }
  /// The body of the exported symbol; `self` is the Export.
  __attribute__((noinline)) static int call(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
    auto* function = reinterpret_cast<AnyffiFunction*>(static_cast<Export*>(self)->state_.published);
    if (function) return function->call(function->self, args, num_args, result);
    return anyffi_error_raise("RuntimeError", "this function was not exported; load_module reports why");
  }
};

class ClassBuilder;

/// A copy that lives as long as the library. The long name is deliberate: argument-dependent lookup would find a short
/// one, and make it ambiguous with a function of the user's namespace.
template <class T>
const T& make_immortal_copy(T value) {
  return *new T(static_cast<T&&>(value));
}

/// The result of the complete registration; it holds nothing.
struct Registered {
  // NOLINTNEXTLINE: implicit on purpose, here and below
  __attribute__((cold, noinline)) Registered(Registration& complete) noexcept { complete.finish(); }
  Registered(Registration&& complete) noexcept : Registered(complete) {}
  Registered(const ClassBuilder&) noexcept {}  // NOLINT
};

/// Runs in static initialisers, so it never throws.
template <class T>
bool register_object() noexcept {
  int status = catch_all([] {
    AnyffiModuleClass& row = module_class<T>;
    bool is_listed = row.type_code != ANYFFI_NONE;
    row.type_code = type_code_of<T>();
    if (is_listed) return 0;
    row.next = module_classes;
    module_classes = &row;
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

/// Exports a function of a submodule: `ANYFFI_EXPORT_IN(linalg, norm, &norm, arg("x"));` becomes `linalg.norm` of the
/// module. Classes of a submodule have its name in their keys: `ANYFFI_CLASS(Matrix, "demo.linalg.Matrix")`.
#define ANYFFI_EXPORT_IN(submodule, name, ...) \
  ANYFFI_EXPORT_IN_(ANYFFI_JOIN_(anyffi_export_in_, __COUNTER__), #submodule "." #name, __VA_ARGS__)
#define ANYFFI_EXPORT_IN_(variable, path, ...)                                                \
  static ::anyffi::detail::Export variable;                                                   \
  [[maybe_unused]] static const ::anyffi::detail::Registered ANYFFI_JOIN_(variable, _ready) = \
      variable.define(path, __VA_ARGS__)

/// Documents a submodule, or declares one that has only classes: `ANYFFI_SUBMODULE(linalg, "Linear algebra.");`
#define ANYFFI_SUBMODULE(submodule, text) \
  ANYFFI_EXPORT_IN(submodule, __doc__, []() -> const char* { return text; }).constant()

/// Exports a value as an attribute of the module: `ANYFFI_EXPORT_CONSTANT(version, "1.2").doc("...");`. It is computed
/// when it is first read, and converted for each module that is loaded. If it is an object of a C++ class, Python gets
/// a copy.
#define ANYFFI_EXPORT_CONSTANT(name, ...)                                         \
  ANYFFI_EXPORT(name, [] {                                                        \
    static const auto& value = ::anyffi::detail::make_immortal_copy(__VA_ARGS__); \
    return value;                                                                 \
  }).constant()

#endif  // ANYFFI_REGISTRY_H_
