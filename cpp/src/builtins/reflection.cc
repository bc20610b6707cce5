/// \file
/// Reflection: types and their fields, under `anyffi.type.*`, and reading fields, under `anyffi.Object.*`.
#include <anyffi/anyffi.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/section.h"
#include "functions/fields.h"
#include "functions/operator.h"
#include "text/suggest.h"

namespace {

/// The value to store in a field whose type may be an enumeration. The wrapper keeps the information that the value is
/// a member of one, which a plain conversion would drop.
struct Given {
  anyffi::AnyView value;
};

}  // namespace

template <>
struct anyffi::Traits<Given> : anyffi::Traits<anyffi::AnyView> {
  static constexpr bool kReadsMembers = true;
  static Given take(Holder& holder) { return {holder}; }
};

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
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

/// Calls `visit` with each field of a type, ancestors' fields first.
template <class Visit>
void visit_fields(int32_t type_code, Visit visit) {
  const AnyffiTypeInfo& info = get_info(type_code);
  for (int32_t depth = 0; depth <= info.depth; ++depth) {
    const AnyffiTypeInfo& owner = depth < info.depth ? get_info(info.ancestors[depth]) : info;
    for (int32_t i = 0; i < owner.num_fields; ++i) visit(owner.fields[i]);
  }
}

AnyValue text_or_none(const char* text) { return text != nullptr ? AnyValue(text) : AnyValue(); }

/// The value of a member of an enumeration.
AnyValue number_of(const AnyffiFieldInfo& member) {
  return member.storage != 0 ? AnyValue(static_cast<uint64_t>(member.offset)) : AnyValue(member.offset);
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

const AnyffiFieldInfo* find_field(const ObjectRef& object, const char* name) {
  const AnyffiFieldInfo* found = anyffi_type_find_field(object.type_code(), name);
  if (found == nullptr) raise_no_field(object.type_code(), name);
  return found;
}

List<Array<>> list_nested(int32_t type_code) {
  const char* outer = get_info(type_code).type_key;
  size_t size = std::strlen(outer);
  List<Array<>> found;
  for (int32_t code = ANYFFI_FIRST_DYNAMIC_TYPE; const AnyffiTypeInfo* info = anyffi_type_get_info(code); ++code) {
    const char* key = info->type_key;
    bool is_nested =
        std::strncmp(key, outer, size) == 0 && key[size] == '.' && std::strchr(key + size + 1, '.') == nullptr;
    // A later version of the library may have replaced the type of this key.
    if (is_nested && anyffi_type_find(key) == info) found.push_back(Array<>{key + size + 1, key});
  }
  return found;
}

AnyValue get_field(const ObjectRef& object, const char* name) {
  const AnyffiFieldInfo* field = find_field(object, name);
  AnyValue value;
  anyffi::runtime::Section section;
  check(field->get(object.get(), field, value.out()));
  return value;
}

bool set_field(const ObjectRef& object, const char* name, Given given) {
  const AnyffiFieldInfo* field = find_field(object, name);
  if (field->set == nullptr) {
    String type_key = get_info(object.type_code()).type_key;
    throw Error("AttributeError", "field '{}' of '{}' objects is read-only", String(name), type_key);
  }
  anyffi::runtime::Section section;
  int32_t status = anyffi::runtime::assign_field(object.get(), field, given.value.raw());
  if (status < 0) anyffi::detail::throw_raised();
  return status == 2;
}

/// Returns a new function object for each caller, so that each front end can have its own wrapper: the functions of a
/// type are never released. If `refusal` is given, the function returns it where no overload accepts the operands.
ObjectRef copy_function(const AnyffiMethodInfo& method, int32_t type_code, const AnyValue& refusal) {
  if (refusal.type_code() != ANYFFI_NONE) {
    AnyffiObject* made = anyffi::runtime::make_operator(method.function, type_code, &refusal.raw());
    if (made == nullptr) anyffi::detail::throw_raised();
    return ObjectRef(anyffi::detail::Adopt{}, made);
  }
  auto* function = reinterpret_cast<AnyffiFunction*>(method.function);
  AnyffiValue made;
  check(anyffi_function_create(function->call, function->self, nullptr, function->info, &made));
  return ObjectRef(anyffi::detail::Adopt{}, made.as_object);
}

Array<Array<>> list_methods(int32_t type_code, const AnyValue& refusal) {
  List<Array<>> rows;
  const AnyffiTypeInfo& info = get_info(type_code);
  for (int32_t i = 0; i < info.num_methods; ++i) {
    const AnyffiMethodInfo& method = info.methods[i];
    rows.push_back(Array<>{method.name, method.flags, copy_function(method, type_code, refusal)});
  }
  return std::move(rows).freeze();
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("anyffi.type.methods")
    .def(&list_methods, arg("type_code"), arg("refusal") = nullptr)
    .doc(
        "Return name, flags and function of each method that a type itself has. If `refusal` is not None, they return "
        "it, instead of raising an error, where no overload takes the operands.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.describe")
    .def(
        [](int32_t type_code) {
          const AnyffiTypeInfo& info = get_info(type_code);
          List<Array<>> fields;
          for (int32_t i = 0; i < info.num_fields; ++i) {
            const AnyffiFieldInfo& field = info.fields[i];
            AnyValue trait = field.get == nullptr ? number_of(field) : AnyValue(field.set != nullptr);
            fields.push_back(
                Array<>{field.name, text_or_none(field.type_name), text_or_none(field.doc), std::move(trait)});
          }
          return Array<>{info.type_key,        text_or_none(info.doc),
                         info.parent,          std::move(fields).freeze(),
                         info.repr != nullptr, reinterpret_cast<intptr_t>(&info)};
        },
        arg("type_code"))
    .doc(
        "Return the key of a type, its docstring or None, the type code of its parent, and of each field of its own "
        "name, type, docstring and whether it is writable, or the value of a member of an enumeration; whether it has "
        "a hook for `repr`; and a number that "
        "changes when the type is defined anew.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.list_nested")
    .def(&list_nested, arg("type_code"))
    .doc("Return name and key of each type that is nested in one: its key is that one's, a dot and the name.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.let_host_compare")
    .def([](int32_t type_code) { anyffi_type_add_instance_flags(get_info(type_code).type_code, ANYFFI_HOST_COMPARES); },
         arg("type_code"))
    .doc("Let the host hash and compare the objects of a type and of those that derive from it.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.let_host_derive")
    .def([](int32_t type_code) { anyffi_type_add_instance_flags(get_info(type_code).type_code, ANYFFI_HOST_DERIVES); },
         arg("type_code"))
    .doc("Let what keeps objects of a type alive keep what classes of the host that derive from it have added.");

ANYFFI_REGISTER_GLOBAL("anyffi.type.convertible_from")
    .def([](int32_t type_code) { return text_or_none(get_info(type_code).convertible_from); }, arg("type_code"))
    .doc("Return the type of values that parameters convert to an object of a type, or None.");

ANYFFI_REGISTER_GLOBAL("anyffi.Object.get_field")
    .def(&get_field, arg("object"), arg("name"))
    .doc("Return the value of a field. AttributeError if the object's type has no field of the name.");

ANYFFI_REGISTER_GLOBAL("anyffi.Object.set_field")
    .def(&set_field, arg("object"), arg("name"), arg("value"))
    .doc(
        "Set a field. AttributeError if the object's type has no such field, or it is read-only. Return whether the "
        "object has another type now: that was the last field of a draft.");

ANYFFI_REGISTER_GLOBAL("anyffi.Object.keep_alive")
    .def(
        [](AnyView object, AnyView kept) {
          AnyffiValue value = object.raw();
          if (value.type_code <= 0) throw Error("TypeError", "expected an object");
          anyffi::detail::check(anyffi_object_keep_alive(value.as_object, &kept.raw()));
        },
        arg("object"), arg("kept"))
    .doc("Keep a value alive as long as an object.");

ANYFFI_REGISTER_GLOBAL("anyffi.Object.is_shared")
    .def(
        [](AnyView object) {
          AnyffiValue value = object.raw();
          return value.type_code > 0 && __atomic_load_n(&value.as_object->strong_count, __ATOMIC_ACQUIRE) > 1;
        },
        arg("object"))
    .doc("Return whether there are references to an object besides that of its wrapper.");
