/// \file
/// Modules, under `anyffi.Module.*`.
#include "modules/module.h"

#include <anyffi/anyffi.h>

#include <algorithm>
#include <string_view>

#include "core/messages.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Optional;
using anyffi::String;
using anyffi::detail::check;
namespace runtime = anyffi::runtime;

/// `exceptions`: the names of the host's exception classes, separated by spaces.
AnyValue load(AnyView path, AnyView library, bool override_existing, const Optional<String>& exceptions) {
  AnyValue module;
  runtime::Vector<runtime::String> names;
  runtime::String text;
  if (exceptions) runtime::append_text(&text, &exceptions->value().raw());
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view name = rest.substr(0, rest.find(' '));
    names.emplace_back(name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  check(
      runtime::load_module(path.raw(), library.raw(), override_existing, exceptions ? &names : nullptr, module.out()));
  return module;
}

AnyValue get_program(AnyView prefix) {
  AnyValue module;
  check(anyffi_module_get_program(&prefix.raw(), module.out()));
  return module;
}

void import_module(AnyView module, AnyView other) { check(anyffi_module_import(&module.raw(), &other.raw())); }

AnyValue get_imports(AnyView module) {
  AnyValue imports;
  check(anyffi_module_get_imports(&module.raw(), imports.out()));
  return imports;
}

AnyValue get_function(AnyView module, AnyView name) {
  AnyValue function;
  check(anyffi_module_get_function(&module.raw(), &name.raw(), function.out()));
  return function;
}

AnyValue list(AnyView module) {
  AnyValue names;
  check(anyffi_module_list_functions(&module.raw(), names.out()));
  return names;
}

/// A type code, or None.
AnyValue find_class(AnyView module, AnyView name) {
  int32_t type_code;
  check(anyffi_module_find_class(&module.raw(), &name.raw(), &type_code));
  return type_code == ANYFFI_NONE ? AnyValue() : AnyValue(type_code);
}

AnyValue list_classes(AnyView module) {
  AnyValue names;
  check(anyffi_module_list_classes(&module.raw(), names.out()));
  return names;
}

AnyValue get_path(AnyView module) {
  AnyValue path;
  check(anyffi_module_get_path(&module.raw(), path.out()));
  return path;
}

AnyValue get_prefix(AnyView module) {
  AnyValue prefix;
  check(anyffi_module_get_prefix(&module.raw(), prefix.out()));
  return prefix;
}

AnyValue find_origin(AnyView function) {
  AnyValue origin;
  check(anyffi_module_find_origin(&function.raw(), origin.out()));
  return origin;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.Module.load")
    .def(&load, arg("path"), arg("library") = "", arg("override") = false, arg("exceptions") = nullptr)
    .doc(
        "Load a shared library, which is never unloaded; `library` identifies its versions, by default the path. "
        "`exceptions` are the names, between spaces, of the caller's classes from which classes of exceptions derive.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.get_program")
    .def(&get_program, arg("prefix"))
    .doc("Return the program itself as a module.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.import_module")
    .def(&import_module, arg("module"), arg("other"))
    .doc("Make a module look up functions that it does not define in another one.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.imports")
    .def(&get_imports, arg("module"))
    .doc("Return the modules that a module imports.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.get_function").def(&get_function, arg("module"), arg("name"));
ANYFFI_REGISTER_GLOBAL("anyffi.Module.list")
    .def(&list, arg("module"))
    .doc("Return the names of its functions, sorted.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.find_class")
    .def(&find_class, arg("module"), arg("name"))
    .doc("Return the type code of the class of a name; None if there is none.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.list_classes")
    .def(&list_classes, arg("module"))
    .doc("Return the names of its classes, sorted.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.path")
    .def(&get_path, arg("module"))
    .doc("Return the path that it was loaded from.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.prefix")
    .def(&get_prefix, arg("module"))
    .doc("Return the prefix of the functions in a module of the program; None for a library.");
ANYFFI_REGISTER_GLOBAL("anyffi.Module.find_origin")
    .def(&find_origin, arg("function"))
    .doc("Return the path and the name of a module's function; None for other functions.");
