/// \file
/// Module: a shared library that exports functions, loaded from C++.
#ifndef ANYFFI_MODULE_H_
#define ANYFFI_MODULE_H_

#include <anyffi/container/sequence.h>
#include <anyffi/function.h>
#include <anyffi/optional.h>

namespace anyffi {

/// A shared library that exports functions, or the program itself. Libraries are never unloaded: functions stay valid
/// when their module is gone. `anyffi.Module` in Python.
class Module : public ObjectRef {
 public:
  using ObjectRef::ObjectRef;

  /// Loads a library by its path, which is relative to the working directory; the loader's search path is not used.
  /// Global functions that it registers replace those of an earlier version of it, and with `override_existing` those
  /// of others, too. Throws OSError, ImportError, ValueError, or an error that the library's initialisers deferred.
  static Module load(const AnyValue& path, bool override_existing = false) {
    AnyValue loaded;
    AnyValue itself("");
    detail::check(anyffi_module_load_version(&path.raw(), &itself.raw(), override_existing ? 1 : 0, loaded.out()));
    return adopt(loaded);
  }
  /// The functions that the program and the libraries linked with it export. `prefix`: that of the functions' symbols.
  static Module program(const AnyValue& prefix = "") {
    AnyValue found;
    detail::check(anyffi_module_get_program(&prefix.raw(), found.out()));
    return adopt(found);
  }

  /// An exported function of the module, or of a module that it imports. AttributeError if there is none.
  Function get_function(const AnyValue& name) const {
    AnyffiValue self = detail::object_value(object_);
    AnyValue found;
    detail::check(anyffi_module_get_function(&self, &name.raw(), found.out()));
    return Function(detail::Adopt{}, found.release().as_object);
  }
  /// The names of all functions that `get_function` finds, sorted.
  Array<String> list_functions() const { return ask<Array<String>>(&anyffi_module_list_functions); }
  /// The path of the library; empty for the program itself.
  Optional<String> path() const { return ask<Optional<String>>(&anyffi_module_get_path); }
  /// Makes the module search another module, after those imported earlier. ValueError if that one imports this one.
  void import_module(const Module& other) const {
    AnyffiValue self = detail::object_value(object_), imported = detail::object_value(other.object_);
    detail::check(anyffi_module_import(&self, &imported));
  }

 private:
  static Module adopt(AnyValue& value) { return Module(detail::Adopt{}, value.release().as_object); }
  template <class T>
  T ask(int (*question)(const AnyffiValue*, AnyffiValue*)) const {
    AnyffiValue self = detail::object_value(object_);
    AnyValue found;
    detail::check(question(&self, found.out()));
    return found.cast<T>();
  }
};

template <>
struct Traits<Module> : detail::StaticRefTraits<Module, ANYFFI_MODULE> {
  static constexpr FixedText name{"Module"};
};

}  // namespace anyffi

#endif  // ANYFFI_MODULE_H_
