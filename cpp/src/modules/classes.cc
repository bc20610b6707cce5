/// \file
/// The classes of a library.
#include "modules/classes.h"

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/types.h"
#include "text/suggest.h"

namespace anyffi::runtime {
namespace {

/// An attribute name, with the class or function that has it.
struct Named {
  String name;
  const AnyffiTypeInfo* info;  // NULL: a function
};

bool precedes(const Named& a, const Named& b) { return a.name < b.name; }

/// How a class with dots between the first and the last part of its key gets a place of its own; else empty.
String submodule_hint(const Named& named) {
  if (named.info == nullptr || named.name.find('.') != String::npos) return {};
  const char* first = std::strchr(named.info->type_key, '.');
  const char* last = std::strrchr(named.info->type_key, '.');
  if (first == last) return {};
  return ", or declare the submodule of " + String(named.info->type_key) + ": ANYFFI_SUBMODULE(" +
         String(first + 1, last) + ", \"...\")";
}

int raise_same_name(const Named& a, const Named& b) {
  if (a.info == nullptr && b.info == nullptr) {
    return raise_format("ValueError",
                        "%s is exported twice: further overloads follow the first by .def(...), in one declaration",
                        a.name.c_str());
  }
  const AnyffiTypeInfo* info = a.info != nullptr ? a.info : b.info;
  bool are_classes = a.info != nullptr && b.info != nullptr;
  String hint = submodule_hint(a);
  if (hint.empty()) hint = submodule_hint(b);
  return raise_format("ValueError",
                      "the class %s and the %s %s would be one attribute of the module, %s: give one of them "
                      "another name%s",
                      info->type_key, are_classes ? "class" : "function",
                      are_classes ? b.info->type_key : a.name.c_str(), a.name.c_str(), hint.c_str());
}

/// Raises ValueError if a member's name is also the name of a submodule: of one with members in `all`, which is sorted.
int check_submodules(const Vector<Named>& all, const Named& member) {
  for (size_t dot = member.name.find('.'); dot != String::npos; dot = member.name.find('.', dot + 1)) {
    const Named submodule{member.name.substr(0, dot), nullptr};
    auto found = std::lower_bound(all.begin(), all.end(), submodule, &precedes);
    if (found == all.end() || found->name != submodule.name) continue;
    return raise_format("ValueError",
                        "the %s %s and the submodule of %s would be one attribute of the module: give one of them "
                        "another name",
                        found->info != nullptr ? "class" : "function", found->name.c_str(), member.name.c_str());
  }
  return 0;
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

int check_names(const AnyffiModuleTable* table) {
  if (table == nullptr) return 0;
  Vector<Named> all;
  for (const AnyffiModuleClass* row = first_class(table); row != nullptr; row = row->next) {
    const AnyffiTypeInfo* info = class_of(*row);
    if (info != nullptr && !is_nested(*info)) all.push_back({attribute_of_class(*info, table), info});
  }
  for (const AnyffiModuleEntry* entry = *table->entries; entry != nullptr; entry = entry->next) {
    all.push_back({entry->name, nullptr});
  }
  std::sort(all.begin(), all.end(), &precedes);
  for (size_t i = 0; i < all.size(); ++i) {
    const Named& each = all[i];
    // One class may be listed twice.
    bool is_same = i > 0 && !precedes(all[i - 1], each) && (each.info == nullptr || all[i - 1].info != each.info);
    if (is_same) return raise_same_name(all[i - 1], each);
    if (int status = check_submodules(all, each)) return status;
  }
  return 0;
}

int check_exceptions(const AnyffiModuleTable* table, const Vector<String>& of_host) {
  for (const AnyffiModuleClass* row = first_class(table); row != nullptr; row = row->next) {
    const AnyffiTypeInfo* info = class_of(*row);
    if (info == nullptr || info->num_fields == 0 || !names_exception_base(info->fields[0])) continue;
    const char* base = info->fields[0].name;
    // A base from another library may be loaded later.
    bool is_known = std::strchr(base, '.') != nullptr || anyffi_type_find(base) != nullptr ||
                    std::find(of_host.begin(), of_host.end(), base) != of_host.end();
    if (is_known) continue;
    return raise_format(
        "ValueError", "%s: its base '%s' is neither a builtin exception class of this Python nor the key of a class%s",
        info->type_key, base, did_you_mean(base, of_host).c_str());
  }
  return 0;
}

}  // namespace anyffi::runtime
