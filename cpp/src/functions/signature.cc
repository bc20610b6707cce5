/// \file
/// Signatures in messages.
#include "functions/signature.h"

#include <anyffi/c_api.h>
#include <anyffi/inline.h>

#include <algorithm>

#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

/// Python's name of the object that a container was converted from, or NULL if the caller passed a container of the
/// runtime: those have a wrapper.
const char* converted_name(const AnyffiValue& got) {
  if (got.type_code <= 0 || (got.aux & ANYFFI_MOVABLE) == 0 || got.as_object->wrapper != nullptr) return nullptr;
  switch (got.type_code) {
    case ANYFFI_ARRAY:
      return "tuple";
    case ANYFFI_LIST:
      return "list";
    case ANYFFI_MAP:
      return "mappingproxy";
    case ANYFFI_DICT:
      return "dict";
    case ANYFFI_FROZEN_SET:
      return "frozenset";
    case ANYFFI_SET:
      return "set";
    default:
      return nullptr;
  }
}

/// Appends the name of an enumeration's member, which C++ stores as a number; false for another value.
bool append_member(String* out, const char* type_key, int64_t number) {
  const AnyffiTypeInfo* type = anyffi_type_find(type_key);
  for (int32_t i = 0; type != nullptr && i < type->num_fields; ++i) {
    const AnyffiFieldInfo& field = type->fields[i];
    if (field.get != nullptr || field.offset != number) continue;
    *out += type->python_name;
    *out += '.';
    *out += field.name;
    return true;
  }
  return false;
}

/// Appends the default of a parameter; `type_name`: a type or a union, or NULL.
void append_default(String* out, const char* type_name, const AnyffiValue* value) {
  String names = type_name == nullptr || value->type_code != ANYFFI_INT ? "" : type_name;
  String member;
  for (size_t begin = 0, end; begin < names.size(); begin = end + 3) {
    end = std::min(names.find(" | ", begin), names.size());
    String name = names.substr(begin, end - begin);
    // A variant holds the number, where it may.
    if (name == "int") return append_repr(out, value);
    if (member.empty()) append_member(&member, name.c_str(), value->as_int);
  }
  if (member.empty()) return append_repr(out, value);
  *out += member;
}

}  // namespace

const char* name_of(const AnyffiFunctionInfo* info) noexcept {
  return info != nullptr && info->name != nullptr ? info->name : "function";
}

void append_param_name(String* out, const AnyffiFunctionInfo& info, int32_t index) {
  if (info.params != nullptr && index < info.num_params && info.params[index].name != nullptr) {
    *out += info.params[index].name;
    return;
  }
  bool is_method = (info.flags & ANYFFI_METHOD) != 0;
  if (is_method && index == 0) {
    *out += "self";
  } else {
    *out += "arg";
    *out += std::to_string(is_method ? index - 1 : index).c_str();
  }
}

void append_repr(String* out, const AnyffiValue* value) {
  Owned text;
  if (anyffi_value_repr(value, text.out()) == 0) {
    append_text(out, text.get());
  } else {
    Owned ignored;
    anyffi_error_take_raised(ignored.out());
    *out += "...";
  }
}

void append_signature(String* out, const AnyffiFunctionInfo& info) {
  *out += name_of(&info);
  *out += '(';
  for (int32_t i = 0; info.params != nullptr && i < info.num_params; ++i) {
    if (i > 0) *out += ", ";
    if (i == num_positional(info)) *out += "*, ";
    append_param_name(out, info, i);
    if (info.params[i].type_name != nullptr) {
      *out += ": ";
      *out += info.params[i].type_name;
    }
    if (info.params[i].default_value != nullptr) {
      *out += " = ";
      append_default(out, info.params[i].type_name, info.params[i].default_value);
    }
  }
  *out += ')';
  if (info.result_type != nullptr) {
    *out += " -> ";
    *out += info.result_type;
  }
}

void append_type_name(String* out, const AnyffiValue& value) {
  Owned name;
  const AnyffiTypeInfo* info = value.type_code > 0 ? nullptr : anyffi_type_get_info(value.type_code);
  if (info != nullptr) {
    *out += info->python_name;
  } else if (const char* converted = converted_name(value)) {
    *out += converted;
  } else if (type_name_of(&value, name.out()) == 0) {
    append_text(out, name.get());
  }
}

}  // namespace anyffi::runtime
