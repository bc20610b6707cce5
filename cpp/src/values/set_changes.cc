/// \file
/// Changing a set by another one, or by values, as far as that needs no code of the host.
#include <anyffi/inline.h>

#include <algorithm>

#include "values/sets.h"

namespace anyffi::runtime {
namespace {

bool adds(int32_t operation) { return operation == ANYFFI_SET_OR || operation == ANYFFI_SET_XOR; }

/// Prepares a set for changes of its elements: `most` new ones.
int begin_change(Mapping* set, int32_t operation, int64_t most) {
  if (adds(operation) && anyffi_mapping_reserve(&set->header, most) != 0) return -1;
  if (set->value_type_mask & ANYFFI_CHECKED) anyffi_container_forget_checks(&set->header);
  return 0;
}

void erase(Mapping* set, int64_t entry) { anyffi_mapping_erase(&set->header, entry); }

/// Erases the elements for whose entries the predicate is true.
template <class IsErased>
void erase_if(Mapping* set, IsErased is_erased) {
  for (int64_t i = 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code != ANYFFI_UNSET && is_erased(i)) erase(set, i);
  }
}

/// Changes a set by one element of the other operand, which is not ANYFFI_SET_AND.
int change_by(Mapping* set, const AnyffiValue& key, int64_t hash, int32_t operation) {
  if (!adds(operation)) {
    int64_t found = find_native(set, key, hash);
    if (found >= 0) erase(set, found);
    return 0;
  }
  int64_t found;
  if (prepare_hashed(set, key, &hash, &found) != 0) return -1;
  if (found < 0) return append_element(set, key, hash);
  if (operation == ANYFFI_SET_XOR) erase(set, found);
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_set_change(AnyffiObject* object, const AnyffiObject* other, int32_t operation) {
  Mapping* set = as_mapping(object);
  const Mapping* from = as_mapping(other);
  if (set == from) {
    if (operation == ANYFFI_SET_SUB || operation == ANYFFI_SET_XOR) anyffi_mapping_clear(object);
    return 1;
  }
  if (!has_native_keys(set) || !has_native_keys(from)) return 0;
  if (begin_change(set, operation, from->size) != 0) return -1;
  if (operation == ANYFFI_SET_AND || (operation == ANYFFI_SET_SUB && set->size < from->size)) {
    bool erased = operation == ANYFFI_SET_SUB;
    erase_if(set, [=](int64_t i) { return (find_native(from, set, set->entries[i]) >= 0) == erased; });
    return 1;
  }
  for (int64_t i = 0; i < from->used; ++i) {
    const AnyffiEntry& entry = from->entries[i];
    int64_t hash;
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (hash_entry(from, entry, &hash) != 0 || change_by(set, entry.key, hash, operation) != 0) return -1;
  }
  return 1;
}

int32_t anyffi_set_change_values(AnyffiObject* object, const AnyffiValue* values, int64_t count, int32_t operation) {
  Mapping* set = as_mapping(object);
  if (!has_native_keys(set) || !std::all_of(values, values + count, &is_native)) return 0;
  if (begin_change(set, operation, count) != 0) return -1;
  if (operation == ANYFFI_SET_AND) {
    SoughtValues sought;
    if (sought.seek(set, values, count) != 0) return -1;
    erase_if(set, [&sought](int64_t i) { return !sought.is_found(i); });
    return 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t hash;
    if (hash_value(values[i], &hash) != 0 || change_by(set, values[i], hash, operation) != 0) return -1;
  }
  return 1;
}
