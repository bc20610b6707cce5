/// \file
/// Changes a set in place by another set, or by values, as far as that needs no code of the host.
#include <anyffi/inline.h>

#include <algorithm>

#include "core/errors.h"
#include "core/memory.h"
#include "core/owned.h"
#include "values/sets.h"

namespace anyffi::runtime {
namespace {

bool adds(int32_t operation) { return operation == ANYFFI_SET_OR || operation == ANYFFI_SET_XOR; }

/// Prepares a set for changes that add at most `most` elements.
int begin_change(Mapping* set, int32_t operation, int64_t most) {
  if (adds(operation) && anyffi_mapping_reserve(&set->header, most) != 0) return -1;
  if (set->value_type_mask & ANYFFI_CHECKED) anyffi_container_forget_checks(&set->header);
  return 0;
}

void erase(Mapping* set, int64_t entry) { anyffi_mapping_erase(&set->header, entry); }

/// Erases the elements that `find` finds in the other operand (if `wanted`), or those that it does not find; none if
/// one needs the host.
template <class Find>
int erase_elements(Mapping* set, bool is_certain, bool wanted, Find find) {
  for (int64_t i = is_certain ? set->used : 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code != ANYFFI_UNSET && find(i) == kUnknownEntry) return kNeedsHost;
  }
  for (int64_t i = 0; i < set->used; ++i) {
    if (set->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int64_t found = find(i);
    if (found == kUnknownEntry) return kNeedsHost;
    if ((found >= 0) == wanted) erase(set, i);
  }
  return 0;
}

/// Changes a set by one native element of the other operand. The operation is not ANYFFI_SET_AND.
int change_by(Mapping* set, const AnyffiValue& key, int64_t hash, int32_t operation) {
  int64_t found = -1;
  if (!adds(operation)) {
    found = find_native(set, key, hash);
  } else if (prepare_native(set, key, &hash, &found) != 0) {
    return -1;
  }
  if (found == kUnknownEntry) return kNeedsHost;
  if (found < 0) return adds(operation) ? append_element(set, key, hash) : 0;
  if (operation != ANYFFI_SET_OR) erase(set, found);
  return 0;
}

/// Erases the last elements until `size` are left: what was appended before a change that needs the host.
void erase_appended(Mapping* set, int64_t size) {
  while (set->size > size) erase(set, set->used - 1);
}

/// Converts to a result of the C ABI.
int32_t as_result(int status) { return status < 0 ? -1 : status != kNeedsHost; }

bool can_change(const Mapping* set, int32_t operation) {
  return operation == ANYFFI_SET_XOR ? has_native_keys(set) : is_searchable(set);
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
  if (!can_change(set, operation) || !can_change(from, operation)) return 0;
  if (begin_change(set, operation, from->size) != 0) return -1;
  if (operation == ANYFFI_SET_AND || (operation == ANYFFI_SET_SUB && set->size < from->size)) {
    auto find = [=](int64_t i) { return find_element(from, set, set->entries[i]); };
    bool is_certain = compares_alone(set) && compares_alone(from);
    return as_result(erase_elements(set, is_certain, operation == ANYFFI_SET_SUB, find));
  }
  if (operation == ANYFFI_SET_SUB && !(compares_alone(set) && compares_alone(from))) {
    for (int64_t i = 0; i < from->used; ++i) {
      const AnyffiEntry& entry = from->entries[i];
      if (entry.key.type_code != ANYFFI_UNSET && find_element(set, from, entry) == kUnknownEntry) return 0;
    }
  }
  int64_t size = set->size;
  int status = 0;
  for (int64_t i = 0; status == 0 && i < from->used; ++i) {
    const AnyffiEntry& entry = from->entries[i];
    int64_t hash;
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (!is_native(entry.key)) {
      status = kNeedsHost;
    } else {
      status = hash_entry(from, entry, &hash) != 0 ? -1 : change_by(set, entry.key, hash, operation);
    }
  }
  if (status != 0 && operation == ANYFFI_SET_OR) erase_appended(set, size);
  return as_result(status);
}

namespace {

/// Changes a set by values, one after the other.
int change_by_values(Mapping* set, const AnyffiValue* values, int64_t count, int32_t operation) {
  int status = 0;
  if (operation == ANYFFI_SET_SUB && !compares_alone(set)) {
    SoughtValues sought;
    status = sought.seek(set, values, count);
  }
  int64_t size = set->size;
  for (int64_t i = 0; status == 0 && i < count; ++i) {
    int64_t hash;
    status = hash_value(values[i], &hash) != 0 ? -1 : change_by(set, values[i], hash, operation);
  }
  if (status != 0 && operation == ANYFFI_SET_OR) erase_appended(set, size);
  return status;
}

/// The same for values that must be copied: if copying or hashing one fails, the set is unchanged.
int add_copies(Mapping* set, const AnyffiValue* values, int64_t count, int32_t operation) {
  Vector<Owned> owned;
  Vector<int64_t> hashes;
  return guard([&] {
    hashes.resize(static_cast<size_t>(count));
    owned.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < hashes.size(); ++i) {
      if (hash_value(values[i], &hashes[i]) != 0) return -1;
      if (own_element(values[i], owned[i].out()) != 0) return -1;
    }
    int status = 0;
    int64_t size = set->size;
    for (size_t i = 0; status == 0 && i < hashes.size(); ++i) {
      status = change_by(set, *owned[i].get(), hashes[i], operation);
    }
    if (status != 0 && operation == ANYFFI_SET_OR) erase_appended(set, size);
    return status;
  });
}

}  // namespace

int32_t anyffi_set_change_values(AnyffiObject* object, const AnyffiValue* values, int64_t count, int32_t operation) {
  Mapping* set = as_mapping(object);
  if (!can_change(set, operation) || !std::all_of(values, values + count, &is_native)) return 0;
  if (begin_change(set, operation, count) != 0) return -1;
  if (operation == ANYFFI_SET_AND) {
    SoughtValues sought;
    int status = sought.seek(set, values, count);
    if (status != 0) return as_result(status);
    auto find = [&](int64_t i) { return is_native(set->entries[i].key) ? sought.is_found(i) - 1 : kUnknownEntry; };
    return as_result(erase_elements(set, compares_alone(set), false, find));
  }
  bool copies = adds(operation) && !std::all_of(values, values + count, &is_plain);
  return as_result((copies ? add_copies : change_by_values)(set, values, count, operation));
}
