/// \file
/// Records: types that front ends declare, under `anyffi.record.*`.
#include "records/record.h"
#include "values/record_callbacks.h"

namespace {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::String;

anyffi::runtime::String text_of(const String& text) {
  anyffi::Bytes utf8 = text.utf8();
  return {reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size())};
}

void require_record(int32_t type_code) {
  if (anyffi::runtime::find_record(type_code) == nullptr) {
    throw anyffi::Error("ValueError", "neither the type of a record, nor derived from one");
  }
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.record.declare")
    .def(
        [](const String& key, const AnyValue& doc, int32_t parent, const Array<Array<>>& fields) {
          return anyffi::runtime::declare_record(text_of(key), doc, parent, fields);
        },
        arg("key"), arg("doc"), arg("parent"), arg("fields"))
    .doc(
        "Declare a type, whose fields follow those of its parent: of each name, docstring or None, and what describes "
        "its type. Return the codes of the type and of its drafts: the same unless a field has no initial value.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.name")
    .def([](const String& name, int32_t type_code) { anyffi::runtime::name_type(text_of(name), type_code); },
         arg("name"), arg("type_code"))
    .doc("Let fields whose type was given by a name hold objects of a type, whose key is another one.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.describe")
    .def(
        [](const String& key, const Array<>& description) {
          anyffi::runtime::SelfTypes selves{text_of(key), {}};
          return String(anyffi::runtime::make_field_type(description, selves)->name.c_str());
        },
        arg("key"), arg("description"))
    .doc("Return the name of a type of fields, in the type of a key.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.set_defaults")
    .def(
        [](int32_t type_code, const Array<String>& names, const AnyValue& function) {
          require_record(type_code);
          anyffi::runtime::set_defaults(type_code, names, function);
        },
        arg("type_code"), arg("names"), arg("function"))
    .doc("Set the names of the fields that have defaults, and the function that returns the default for a name.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.set_repr")
    .def(
        [](int32_t type_code, const AnyValue& function) {
          require_record(type_code);
          anyffi::runtime::set_repr(type_code, function);
        },
        arg("type_code"), arg("function"))
    .doc("Set the function that returns the `repr` of an object, or None if its class defines none; None for none.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.create")
    .def(&anyffi::runtime::create_draft, arg("type_code"))
    .doc("Return a new draft: an object whose fields are not set yet, of the type of drafts of a declared type.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.prepare")
    .def([](int32_t type_code) { anyffi::runtime::create_draft(type_code); }, arg("type_code"))
    .doc("Create the objects, never released, that stand for fields that are not set yet; drafts create them else.");

ANYFFI_REGISTER_GLOBAL("anyffi.record.set_base")
    .def(
        [](anyffi::AnyView draft, anyffi::AnyView base) {
          if (draft.raw().type_code <= 0) throw anyffi::Error("TypeError", "not an object of a record");
          anyffi::runtime::set_base(draft.raw().as_object, base.raw());
        },
        arg("draft"), arg("base"))
    .doc("Give a draft the object of C++ from whose class its own derives: one to which nobody else refers.");
