/// \file
/// C++ structs for records: checks what libraries expect of a type against what front ends declare.
#include "records/structs.h"

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "core/immortal.h"
#include "core/mutex.h"
#include "core/types.h"

namespace anyffi::runtime {
namespace {

/// The fields that a struct in a library expects of the type with a key.
struct Expected {
  String key;
  const AnyffiFieldInfo* fields;
  int32_t num_fields;
};

/// Never destroyed, because types are not.
struct Expectations {
  Mutex mutex;
  Vector<Expected> list;
};

Expectations& expectations() {
  static Immortal<Expectations> made;
  return *made;
}

/// `x: int at 0`
String show_field(const AnyffiFieldInfo* field) {
  if (field == nullptr) return "no field";
  String text = field->name;
  return text + ": " + field->type_name + " at " + std::to_string(field->offset).c_str();
}

bool agrees(const AnyffiFieldInfo& declared, const AnyffiFieldInfo& expected) {
  if (std::strcmp(declared.name, expected.name) != 0 || declared.offset != expected.offset) return false;
  if (declared.storage != expected.storage) return false;
  // An AnyValue member accepts a field of any type, an ObjectRef member any object type.
  bool is_any = std::strcmp(expected.type_name, "Any") == 0 || std::strcmp(expected.type_name, "Object") == 0;
  return is_any || std::strcmp(declared.type_name, expected.type_name) == 0;
}

/// Raises the first difference between the fields of a type and those that a struct expects.
int compare_fields(const char* key, const AnyffiRecord& record, const AnyffiFieldInfo* fields, int32_t num_fields) {
  if (record.has_base()) {
    return raise_format("ValueError",
                        "type '%s' derives from a class of C++, so that there is no struct for it: read its fields "
                        "by anyffi_type_find_field",
                        key);
  }
  auto num_declared = static_cast<int32_t>(record.fields.size());
  for (int32_t i = 0; i < std::max(num_fields, num_declared); ++i) {
    const AnyffiFieldInfo* declared = i < num_declared ? &record.fields[static_cast<size_t>(i)] : nullptr;
    const AnyffiFieldInfo* expected = i < num_fields ? &fields[i] : nullptr;
    if (declared != nullptr && expected != nullptr && agrees(*declared, *expected)) continue;
    return raise_format(
        "ValueError",
        "the struct in C++ of type '%s' differs from the class in Python: field %d is %s in C++, and %s "
        "in Python; write the struct again by python -m anyffi stubgen --cpp",
        key, i, show_field(expected).c_str(), show_field(declared).c_str());
  }
  return 0;
}

}  // namespace

std::unique_lock<Mutex> lock_expectations() { return std::unique_lock(expectations().mutex); }

void require_expected(const char* key, const AnyffiRecord& record) {
  for (const Expected& expected : expectations().list) {
    if (expected.key != key) continue;
    detail::check(compare_fields(key, record, expected.fields, expected.num_fields));
  }
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_type_check_fields(const char* type_key, const AnyffiFieldInfo* fields, int32_t num_fields) {
  return guard([&] {
    Expectations& all = expectations();
    std::lock_guard<Mutex> lock(all.mutex);
    const AnyffiTypeInfo* info = anyffi_type_find(type_key);
    if (info != nullptr && info->record != nullptr) {
      if (int status = compare_fields(type_key, *info->record, fields, num_fields)) return status;
    }
    all.list.push_back({type_key, fields, num_fields});
    return 0;
  });
}
