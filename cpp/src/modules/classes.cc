/// \file
/// The classes of a library.
#include "modules/classes.h"

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "core/memory.h"

namespace anyffi::runtime {
namespace {

/// A name of an attribute, and what has it.
struct Named {
  String name;
  const AnyffiTypeInfo* info;  // NULL: a function
};

bool precedes(const Named& a, const Named& b) { return a.name < b.name; }

int raise_same_name(const Named& a, const Named& b) {
  const AnyffiTypeInfo* info = a.info != nullptr ? a.info : b.info;
  bool are_classes = a.info != nullptr && b.info != nullptr;
  return raise_format("ValueError",
                      "the class %s and the %s %s would be one attribute of the module, %s: give one of them "
                      "another name",
                      info->type_key, are_classes ? "class" : "function",
                      are_classes ? b.info->type_key : a.name.c_str(), a.name.c_str());
}

}  // namespace

const AnyffiModuleClass* first_class(const AnyffiModuleTable* table) noexcept {
  constexpr size_t kSize = offsetof(AnyffiModuleTable, classes) + sizeof(table->classes);
  return table != nullptr && table->struct_size >= kSize ? *table->classes : nullptr;
}

const AnyffiTypeInfo* class_of(const AnyffiModuleClass& row) noexcept {
  return row.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE ? anyffi_type_get_info(row.type_code) : nullptr;
}

bool is_nested(const AnyffiTypeInfo& info) {
  const char* last = std::strrchr(info.type_key, '.');
  if (last == nullptr) return false;
  const AnyffiTypeInfo* outer = anyffi_type_find(String(info.type_key, last).c_str());
  return outer != nullptr && outer->type_code >= ANYFFI_FIRST_DYNAMIC_TYPE;
}

String attribute_of_class(const AnyffiTypeInfo& info, const AnyffiModuleTable* table) {
  const char* first = std::strchr(info.type_key, '.');
  const char* last = std::strrchr(info.type_key, '.');
  if (first == last || table == nullptr) return info.python_name;
  String submodule(first + 1, last + 1);  // with the dot
  for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr; entry = entry->next) {
    if (std::strncmp(entry->name, submodule.c_str(), submodule.size()) == 0) return submodule + info.python_name;
  }
  return info.python_name;
}

int check_class_names(const AnyffiModuleTable* table) {
  Vector<Named> all;
  for (const AnyffiModuleClass* row = first_class(table); row != nullptr; row = row->next) {
    const AnyffiTypeInfo* info = class_of(*row);
    if (info != nullptr && !is_nested(*info)) all.push_back({attribute_of_class(*info, table), info});
  }
  if (all.empty()) return 0;
  for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr; entry = entry->next) {
    all.push_back({entry->name, nullptr});
  }
  std::sort(all.begin(), all.end(), &precedes);
  for (size_t i = 1; i < all.size(); ++i) {
    const Named &first = all[i - 1], &second = all[i];
    bool is_class = first.info != nullptr || second.info != nullptr;
    if (is_class && first.info != second.info && !precedes(first, second)) return raise_same_name(first, second);
  }
  return 0;
}

}  // namespace anyffi::runtime
