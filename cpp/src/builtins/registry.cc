/// \file
/// The registry of functions and the table of types, under `anyffi.registry.*` and `anyffi.type.*`.
#include <anyffi/anyffi.h>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::List;
using anyffi::String;
using anyffi::detail::check;

void set(const String& name, const anyffi::Function& function, bool override_existing) {
  AnyView value(function);
  check(anyffi_registry_set(&name.value().raw(), &value.raw(), override_existing));
}

bool remove(const String& name) {
  int32_t existed;
  check(anyffi_registry_remove(&name.value().raw(), &existed));
  return existed != 0;
}

AnyValue find_library(const String& name) {
  AnyValue path;
  check(anyffi_registry_find_library(&name.value().raw(), path.out()));
  return path;
}

AnyValue list() {
  AnyValue names;
  check(anyffi_registry_list(names.out()));
  return names;
}

AnyValue find_type(const char* type_key) {
  const AnyffiTypeInfo* info = anyffi_type_find(type_key);
  return info ? AnyValue(info->type_code) : AnyValue();
}

/// Lists every type: code, key, parent's code, storage, Python's name.
Array<Array<>> table() {
  int32_t known = anyffi_type_list(nullptr, 0);
  struct Buffer {
    int32_t* codes;
    explicit Buffer(int32_t size)
        : codes(static_cast<int32_t*>(anyffi_alloc(sizeof(int32_t) * static_cast<size_t>(size)))) {
      if (!codes) throw std::bad_alloc();
    }
    ~Buffer() { anyffi_free(codes); }
  } buffer(known);
  // Types that were registered since are omitted.
  int32_t size = anyffi_type_list(buffer.codes, known);
  List<Array<>> rows;
  for (int32_t i = 0; i < size && i < known; ++i) {
    const AnyffiTypeInfo* info = anyffi_type_get_info(buffer.codes[i]);
    rows.push_back(Array<>{info->type_code, info->type_key, info->parent, info->storage, info->python_name});
  }
  return std::move(rows).freeze();
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.registry.set")
    .def(&set, arg("name"), arg("function"), arg("override") = false)
    .doc("Register a global function. ValueError if the name is taken, unless `override`.");

ANYFFI_REGISTER_GLOBAL("anyffi.registry.remove")
    .def(&remove, arg("name"))
    .doc("Remove a global function, and return whether it existed.");

ANYFFI_REGISTER_GLOBAL("anyffi.registry.find_library")
    .def(&find_library, arg("name"))
    .doc("Return the path of the library that registered a function, or None.");

ANYFFI_REGISTER_GLOBAL("anyffi.registry.list").def(&list).doc("Return the names of all global functions, sorted.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.find")
    .def(&find_type, arg("type_key"))
    .doc("Return the code of a type key, or None.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.table")
    .def(&table)
    .doc("Return a row for every type: code, key, the parent's code, storage, Python's name.");
