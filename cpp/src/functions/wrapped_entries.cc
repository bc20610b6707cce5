/// \file
/// Operations on the mappings and sets of wrappers.
#include "functions/wrapped.h"
#include "values/native.h"
#include "values/sets.h"

namespace anyffi::runtime {

int32_t compare_sets(const AnyffiObject* a, const AnyffiObject* b, int32_t operation) {
  int64_t mine = as_mapping(a)->size, theirs = as_mapping(b)->size;
  if (operation == kNotEqual) {
    int32_t is_equal = compare_sets(a, b, kEqual);
    return is_equal < 0 ? is_equal : !is_equal;
  }
  if (a == b && operation == kEqual) return 1;
  if (!holds(operation, mine, theirs)) return 0;
  return mine <= theirs ? anyffi_set_relate(a, b, 1) : anyffi_set_relate(b, a, 1);
}

namespace {

/// Whether comparing a key needs no code of the host, and the key is no NaN: the runtime treats a NaN key as equal to
/// itself, the host does not.
bool is_plain_key(const AnyffiValue& key) {
  return (anyffi_type_bit(key.type_code) & ~kAlwaysNative) == 0 || is_native_container(key);
}

bool has_plain_keys(const Mapping* mapping) {
  if ((mapping->key_type_mask & ~kAlwaysNative) == 0) return true;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiValue& key = mapping->entries[i].key;
    if (key.type_code != ANYFFI_UNSET && !is_plain_key(key)) return false;
  }
  return true;
}

/// The entry of `mapping` with the key of entry `number` of `from`, most often at the same number; -1 if there is none,
/// -2 with an error.
int64_t find_same(const Mapping* mapping, const Mapping* from, int64_t number) {
  const AnyffiEntry& entry = from->entries[number];
  if (number < mapping->used && equal_native(entry.key, mapping->entries[number].key, 0) == 1) return number;
  int64_t found = -1, hash;
  if (hash_entry(from, entry, &hash) != 0 || find_entry(mapping, entry.key, hash, &found) != 0) return -2;
  return found;
}

/// Compares the keys, and the values unless `keys_only`.
int32_t equal_entries(const Mapping* mine, const Mapping* theirs, bool keys_only) {
  // The host's comparison of keys views hashes every key: the shortcut must not skip users' code.
  if (mine == theirs && (!keys_only || has_plain_keys(mine))) return 1;
  if (mine->size != theirs->size) return 0;
  if (!has_plain_keys(mine) || !has_plain_keys(theirs)) return ANYFFI_UNDECIDED;
  for (int64_t i = 0; i < mine->used; ++i) {
    if (mine->entries[i].key.type_code == ANYFFI_UNSET) continue;
    int64_t found = find_same(theirs, mine, i);
    if (found == -2) {
      // The host compares again, and raises the error itself.
      AnyffiValue error;
      anyffi_error_take_raised(&error);
      anyffi_value_release(&error);
      return ANYFFI_UNDECIDED;
    }
    int32_t is_equal = found < 0   ? 0
                       : keys_only ? 1
                                   : anyffi_value_equal_native(&mine->entries[i].value, &theirs->entries[found].value);
    if (is_equal != 1) return is_equal;
  }
  return 1;
}

}  // namespace

int32_t equal_mappings(const AnyffiObject* a, const AnyffiObject* b) {
  return equal_entries(as_mapping(a), as_mapping(b), false);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

// ---- entries --------------------------------------------------------------------------------------------------------

int32_t anyffi_wrapper_get_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                                AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built key(recipe, size);
  if (!key.is_built() || anyffi_mapping_get(object, key.values(), out) != 0) return -1;
  return out->type_code != ANYFFI_UNSET;
}

int32_t anyffi_wrapper_has_key(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built key(recipe, size);
  int64_t entry;
  return !key.is_built() || anyffi_mapping_find(object, key.values(), &entry) != 0 ? -1 : entry >= 0;
}

int32_t anyffi_wrapper_set_item(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size) {
  AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built pair(recipe, size);
  AnyffiValue key, value;
  int32_t existed;
  if (!pair.is_built() || anyffi_value_own(&pair.values()[0], &key) != 0) return -1;
  if (pair.count() == 1) {
    value = anyffi_make_none();
  } else if (anyffi_value_own(&pair.values()[1], &value) != 0) {
    anyffi_value_release(&key);
    return -1;
  }
  return anyffi_mapping_set(object, &key, &value, &existed) == 0 ? 1 : -1;
}

int32_t anyffi_wrapper_erase_key(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size) {
  AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built key(recipe, size);
  int64_t entry;
  if (!key.is_built() || anyffi_mapping_find(object, key.values(), &entry) != 0) return -1;
  if (entry < 0) return 0;
  return anyffi_mapping_erase(object, entry) == 0 ? 1 : -1;
}

int32_t anyffi_wrapper_compare_keys(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other) {
  const AnyffiObject *a = self->object, *b = other->object;
  if (a == nullptr || b == nullptr || !is_mapping(a->type_code) || !is_mapping(b->type_code)) return ANYFFI_UNDECIDED;
  return equal_entries(as_mapping(a), as_mapping(b), true);
}

int32_t anyffi_wrapper_compare_pairs(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t count,
                                     int32_t type_code, int32_t operation) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
  const Mapping* mine = as_mapping(object);
  if (mine->size != count) return operation == kNotEqual;
  Built pairs(recipe, size);
  if (!pairs.is_built()) return ANYFFI_UNDECIDED - 1;
  if (!has_plain_keys(mine)) return ANYFFI_UNDECIDED;
  for (int32_t i = 0; i + 1 < pairs.count(); i += 2) {
    const AnyffiValue &key = pairs.values()[i], &value = pairs.values()[i + 1];
    int64_t found;
    if (!is_plain_key(key)) return ANYFFI_UNDECIDED;
    if (anyffi_mapping_find(object, &key, &found) != 0) return ANYFFI_UNDECIDED - 1;
    int32_t is_equal = found < 0 ? 0 : anyffi_value_equal_native(&mine->entries[found].value, &value);
    if (is_equal < 0) return ANYFFI_UNDECIDED;
    if (is_equal == 0) return operation == kNotEqual;
  }
  return operation == kEqual;
}

// ---- sets -----------------------------------------------------------------------------------------------------------

int32_t anyffi_wrapper_is_disjoint(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code) {
  const AnyffiObject *a = find(self, type_code), *b = other->object;
  if (a == nullptr || b == nullptr || !is_set(a->type_code) || !is_set(b->type_code)) return ANYFFI_UNDECIDED;
  return as_mapping(a)->size <= as_mapping(b)->size ? anyffi_set_relate(a, b, 0) : anyffi_set_relate(b, a, 0);
}

int32_t anyffi_wrapper_combine(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation, AnyffiValue* out) {
  const AnyffiObject *a = find(self, type_code), *b = other->object;
  if (a == nullptr || b == nullptr || !is_set(a->type_code) || !is_set(b->type_code)) return ANYFFI_UNDECIDED - 1;
  return anyffi_set_combine(a, b, operation, type_code, out);
}

int32_t anyffi_wrapper_combine_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                      int32_t type_code, int32_t operation, int32_t is_reflected, AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built items(recipe, size);
  if (!items.is_built()) return -1;
  return anyffi_set_combine_values(object, items.values(), items.count(), operation, is_reflected, type_code, out);
}

int32_t anyffi_wrapper_change(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t operation) {
  AnyffiObject* object = find(self, ANYFFI_SET);
  const AnyffiObject* from = other->object;
  if (object == nullptr || from == nullptr || !is_set(from->type_code)) return 0;
  return anyffi_set_change(object, from, operation);
}

int32_t anyffi_wrapper_change_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                     int32_t operation) {
  AnyffiObject* object = find(self, ANYFFI_SET);
  if (object == nullptr) return 0;
  Built items(recipe, size);
  return items.is_built() ? anyffi_set_change_values(object, items.values(), items.count(), operation) : -1;
}

int32_t anyffi_wrapper_count_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                    int32_t type_code) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
  Built items(recipe, size);
  int64_t found = 0;
  int32_t status = items.is_built() ? anyffi_set_count_values(object, items.values(), items.count(), &found) : -1;
  return status < 0 ? ANYFFI_UNDECIDED - 1 : status == 0 ? ANYFFI_UNDECIDED : static_cast<int32_t>(found);
}
