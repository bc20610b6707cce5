/// \file
/// Reflection: types and their fields, under `anyffi.type.*`, and reading fields, under `anyffi.Object.*`.
#include <anyffi/anyffi.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "text/suggest.h"

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::Error;
using anyffi::List;
using anyffi::ObjectRef;
using anyffi::String;
using anyffi::detail::check;

const AnyffiTypeInfo& get_info(int32_t type_code) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(type_code);
  if (info == nullptr) throw Error("ValueError", "unknown type code");
  return *info;
}

/// Calls `visit` with each field of a type, those of its ancestors first.
template <class Visit>
void visit_fields(int32_t type_code, Visit visit) {
  const AnyffiTypeInfo& info = get_info(type_code);
  for (int32_t depth = 0; depth <= info.depth; ++depth) {
    const AnyffiTypeInfo& owner = depth < info.depth ? get_info(info.ancestors[depth]) : info;
    for (int32_t i = 0; i < owner.num_fields; ++i) visit(owner.fields[i]);
  }
}

AnyValue text_or_none(const char* text) { return text != nullptr ? AnyValue(text) : AnyValue(); }

Array<Array<>> list_fields(int32_t type_code) {
  List<Array<>> rows;
  visit_fields(type_code, [&](const AnyffiFieldInfo& field) {
    rows.push_back(Array<>{field.name, text_or_none(field.type_name), text_or_none(field.doc)});
  });
  return std::move(rows).freeze();
}

/// Raises AttributeError, with suggestions.
void raise_no_field(int32_t type_code, const char* name) {
  namespace runtime = anyffi::runtime;
  check(runtime::guard([&] {
    runtime::Vector<runtime::String> names;
    visit_fields(type_code, [&](const AnyffiFieldInfo& field) { names.emplace_back(field.name); });
    return runtime::raise_format("AttributeError", "'%s' object has no attribute '%s'%s",
                                 get_info(type_code).python_name, name, runtime::did_you_mean(name, names).c_str());
  }));
}

AnyValue get_field(const ObjectRef& object, const char* name) {
  const AnyffiFieldInfo* found = nullptr;
  // The last field of a name hides those of ancestors.
  visit_fields(object.type_code(), [&](const AnyffiFieldInfo& field) {
    if (std::strcmp(field.name, name) == 0) found = &field;
  });
  if (found == nullptr) raise_no_field(object.type_code(), name);
  AnyValue value;
  check(found->get(object.get(), value.out()));
  return value;
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.type.fields")
    .def(&list_fields, arg("type_code"))
    .doc("Return name, type and docstring of each field of a type, the ancestors' first.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.doc")
    .def([](int32_t type_code) { return text_or_none(get_info(type_code).doc); }, arg("type_code"))
    .doc("Return the docstring of a type, or None.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.convertible_from")
    .def([](int32_t type_code) { return text_or_none(get_info(type_code).convertible_from); }, arg("type_code"))
    .doc("Return the type of values that parameters convert to an object of a type, or None.");

ANYFFI_REGISTER_GLOBAL("anyffi.Object.get_field")
    .def(&get_field, arg("object"), arg("name"))
    .doc("Return the value of a field. AttributeError if the object's type has no field of the name.");
