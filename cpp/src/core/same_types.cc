/// \file
/// Whether registrations of one type key agree.
#include "core/same_types.h"

#include <anyffi/c_api.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/errors.h"
#include "core/memory.h"

namespace anyffi::runtime {
namespace {

/// `16 bytes, aligned to 8, beginning with int64, pointer`, without the header, which all objects have.
String describe_layout(const AnyffiTypeInfo& info) {
  static constexpr const char* kNames[] = {nullptr, "int8", "int16", "int32", "int64", "float32", "float64", "pointer"};
  String text = std::to_string(info.instance_size - int64_t{sizeof(AnyffiObject)}).c_str();
  text += " bytes";
  if (info.alignment != 0) text.append(", aligned to ").append(std::to_string(info.alignment).c_str());
  for (uint64_t members = info.member_types; members != 0; members >>= ANYFFI_MEMBER_BITS) {
    uint64_t member = members & ((1 << ANYFFI_MEMBER_BITS) - 1);
    if (member == 0 || member >= std::size(kNames)) break;
    text.append(members == info.member_types ? ", beginning with " : ", ").append(kNames[member]);
  }
  return text;
}

/// Whether two registrations agree on the layout, where both give it.
bool is_same_layout(const AnyffiTypeInfo& a, const AnyffiTypeInfo& b) {
  auto agree = [](auto x, auto y) { return x == 0 || y == 0 || x == y; };
  return agree(a.instance_size, b.instance_size) && agree(a.alignment, b.alignment) &&
         agree(a.member_types, b.member_types);
}

bool is_same_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
}

}  // namespace

bool is_same_class(const AnyffiTypeInfo& a, const AnyffiTypeInfo& b) {
  bool is_same_base = a.parent_offset == b.parent_offset && (a.get_parent == nullptr) == (b.get_parent == nullptr);
  return a.parent == b.parent && is_same_base && is_same_layout(a, b);
}

bool are_same_fields(const AnyffiTypeInfo& a, const AnyffiTypeInfo& b) {
  return std::equal(a.fields, a.fields + a.num_fields, b.fields, b.fields + b.num_fields,
                    [](const AnyffiFieldInfo& x, const AnyffiFieldInfo& y) {
                      return is_same_text(x.name, y.name) && is_same_text(x.type_name, y.type_name) &&
                             x.offset == y.offset;
                    });
}

int raise_other_class(const AnyffiTypeInfo& former, const AnyffiTypeInfo& given) {
  if (former.parent != given.parent) {
    return raise_format("ValueError",
                        "type '%s' is already registered by another library, with the parent '%s', and here with '%s'; "
                        "give it the same base in both libraries, or one of the types another key, and start a new "
                        "process",
                        given.type_key, anyffi_type_get_info(former.parent)->type_key,
                        anyffi_type_get_info(given.parent)->type_key);
  }
  return raise_format("ValueError",
                      "type '%s' is already registered by another library, with another layout: its objects take %s "
                      "there, and %s here; build both libraries with the same definition of it, or give one of the "
                      "types another key, and start a new process",
                      given.type_key, describe_layout(former).c_str(), describe_layout(given).c_str());
}

}  // namespace anyffi::runtime
