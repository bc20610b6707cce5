/// \file
/// Map, Dict, FrozenSet and Set. The entries of a set have the value None.
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/object.h"
#include "core/owned.h"
#include "core/value.h"
#include "values/containers.h"
#include "values/entry_changes.h"
#include "values/equal.h"
#include "values/hash.h"
#include "values/mapping_block.h"
#include "values/mapping_search.h"

namespace anyffi::runtime {
namespace {

const AnyffiValue kUnset = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);

void release_entries(const AnyffiEntry* entries, int64_t used) {
  for (int64_t i = 0; i < used; ++i) {
    anyffi_value_drop(&entries[i].key);
    anyffi_value_drop(&entries[i].value);
  }
}

bool has_objects(const Mapping* mapping) {
  return ((mapping->key_type_mask | mapping->value_type_mask) & kObjectTypes) != 0;
}

void delete_mapping(AnyffiObject* self, int32_t what) {
  Mapping* mapping = as_mapping(self);
  if (what & ANYFFI_DELETE_CONTENTS) {
    if (has_objects(mapping)) release_entries(mapping->entries, mapping->used);
    if (mapping->entries != inline_mapping_block(mapping)) anyffi_free(mapping->entries);
  }
  if (!(what & ANYFFI_DELETE_MEMORY)) return;
  if (mapping->entries == inline_mapping_block(mapping)) {
    free_object<Mapping>(self, sizeof(Mapping) + block_bytes(mapping->capacity));
  } else {
    // The size of the object's block is no longer known, so the block cannot go to a free list.
    anyffi_free(self);
  }
}

/// Converts an owned value in place to the form in which containers store it.
int make_canonical(AnyffiValue* value) {
  if (is_canonical(*value)) return 0;
  Owned given(std::exchange(*value, anyffi_make_none()));
  return anyffi_value_own(given.get(), value);
}

/// Indexes the entries of a new mapping that has an index. Stops at the first entry that cannot be found by comparing
/// words, or whose key equals an earlier key, and returns it; else -1. The loop keeps all state in registers.
int64_t index_words(Mapping* mapping, int64_t count) {
  const uint64_t mask = mapping->index_mask;
  uint32_t* const index = mapping->index;
  AnyffiEntry* const entries = mapping->entries;
  int64_t i = 0, found = -1;
  for (; i < count && is_found_by_words(mapping, entries[i].key); ++i) {
    AnyffiEntry& entry = entries[i];
    entry.hash = hash_by_words(entry.key);
    uint64_t slot = first_slot(entry.hash, mask);
    for (; index[slot] != kFree && found < 0; slot = (slot + 1) & mask) {
      if (same_words(entries[index[slot] - 1].key, entry.key)) found = index[slot] - 1;
    }
    if (found >= 0) break;
    index[slot] = static_cast<uint32_t>(i + 1);
  }
  mapping->used = mapping->size = i;
  mapping->filled = static_cast<uint64_t>(i);
  return found;
}

/// Indexes `count` stored entries, up to the first whose key equals an earlier one.
int index_entries(Mapping* mapping, int64_t count, int64_t* out_first) {
  if (mapping->index != nullptr && (*out_first = index_words(mapping, count)) >= 0) return 0;
  for (int64_t i = mapping->used; i < count; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    int64_t hash;
    if (is_found_by_words(mapping, entry.key)) {
      uint64_t slot;
      hash = hash_by_words(entry.key);
      *out_first = find_by_words(mapping, entry.key, hash, &slot);
      if (*out_first >= 0) return 0;
      link_entry(mapping, hash, slot);
      continue;
    }
    if (prepare_entry_slow(mapping, entry.key, &hash, out_first) != 0) return -1;
    if (*out_first >= 0) return 0;
    link_entry(mapping, hash, find_free_slot(mapping, hash));
  }
  return 0;
}

/// Whether an entry's key can be found by comparing words, and its value is a number, a bool or None, which is stored
/// unchanged.
inline bool is_plain_entry(const Mapping* mapping, const AnyffiValue& key, const AnyffiValue& value) {
  bool is_plain = static_cast<uint32_t>(-value.type_code) <= static_cast<uint32_t>(-ANYFFI_FLOAT) && value.aux == 0;
  if (!is_plain || !is_found_by_words(mapping, key)) return false;
  return value.type_code == ANYFFI_NONE || !is_set(mapping->header.type_code);
}

/// As `set_entry`, to be inlined.
inline int set_owned(Mapping* mapping, AnyffiValue* key, AnyffiValue* value, int64_t* out_former) {
  if (__builtin_expect(is_set(mapping->header.type_code) && value->type_code != ANYFFI_NONE, 0)) {
    return anyffi_error_raise("ValueError", "the entries of a set have no values");
  }
  if (make_canonical(key) != 0 || make_canonical(value) != 0) return -1;
  int64_t hash, number;
  if (prepare_entry(mapping, *key, &hash, &number) != 0) return -1;
  anyffi_add_types(&mapping->header, &mapping->value_type_mask, anyffi_type_bit(value->type_code));
  *out_former = number;
  if (number >= 0) {
    // By words: a swap would load 16 bytes that were just stored as two words.
    AnyffiValue former;
    anyffi_copy_value(&mapping->entries[number].value, &former);
    anyffi_copy_value(value, &mapping->entries[number].value);
    anyffi_copy_value(&former, value);
    return 0;
  }
  if (__builtin_expect(!has_room(mapping), 0) && make_room(mapping) != 0) return -1;
  uint64_t key_bit = anyffi_type_bit(key->type_code);
  bool is_new_type = !(mapping->key_type_mask & key_bit);
  mapping->key_type_mask |= key_bit;
  append_entry(mapping, *key, *value, hash);
  if (__builtin_expect(is_new_type, 0) && (key_bit & ANYFFI_REFERRING)) anyffi_container_note_types(&mapping->header);
  *key = anyffi_make_none();
  *value = anyffi_make_none();
  return 0;
}

// Two functions in tail position, so that neither has to save the other's registers.

__attribute__((noinline)) int set_slow(Mapping* mapping, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed) {
  int64_t former = -1;
  int status = set_owned(mapping, key, value, &former);
  *out_existed = former >= 0;
  if (key->type_code > 0) anyffi_value_release(key);
  if (value->type_code > 0) anyffi_value_release(value);
  return status;
}

/// Sets an entry for which `is_plain_entry` is true.
__attribute__((noinline)) int set_plain(Mapping* mapping, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed) {
  AnyffiValue plain_key = read_halves(*key);
  int64_t hash = hash_by_words(plain_key);
  uint64_t slot;
  int64_t number = find_by_words(mapping, plain_key, hash, &slot);
  if (number >= 0) {
    if (mapping->entries[number].value.type_code > 0) return set_slow(mapping, key, value, out_existed);
    anyffi_copy_value(value, &mapping->entries[number].value);
  } else {
    if (!has_room(mapping)) return set_slow(mapping, key, value, out_existed);
    mapping->key_type_mask |= anyffi_type_bit(plain_key.type_code);
    append_entry_at(mapping, plain_key, *value, hash, slot);
  }
  anyffi_add_types(&mapping->header, &mapping->value_type_mask, uint64_t{1} << -value->type_code);
  *out_existed = number >= 0;
  // Not `*key = *value = ...`, which loads 16 bytes just stored as two words: that costs a third of the time.
  *key = anyffi_make_none();
  *value = anyffi_make_none();
  return 0;
}

__attribute__((noinline)) int find(const Mapping* mapping, const AnyffiValue* key, int64_t* out_entry) {
  *out_entry = -1;
  Owned holder;
  const AnyffiValue* canonical = canonical_key(key, &holder);
  int64_t hash;
  if (canonical == nullptr || hash_key(*canonical, &hash) != 0) return -1;
  return find_entry(mapping, *canonical, hash, out_entry);
}

/// Copies the value of an entry; Unset if the entry is -1.
inline void copy_found(const Mapping* mapping, int64_t entry, AnyffiValue* out) {
  *out = anyffi_own_element(entry < 0 ? &kUnset : &mapping->entries[entry].value);
}

__attribute__((noinline)) int get_slow(const Mapping* mapping, const AnyffiValue* key, AnyffiValue* out) {
  int64_t entry;
  *out = anyffi_make_none();
  if (find(mapping, key, &entry) != 0) return -1;
  copy_found(mapping, entry, out);
  return 0;
}

/// Copies all entries to an empty mapping with room for them.
void copy_entries(Mapping* to, const Mapping* from) {
  for (int64_t i = 0; i < from->used; ++i) {
    const AnyffiEntry& entry = from->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    anyffi_value_retain(&entry.key);
    anyffi_value_retain(&entry.value);
    append_entry(to, entry.key, entry.value, entry.hash);
  }
  to->hardened = from->hardened;
  to->key_type_mask = from->key_type_mask;
  to->value_type_mask = from->value_type_mask & ~ANYFFI_CHECKED;
}

}  // namespace

int set_entry(Mapping* mapping, AnyffiValue* key, AnyffiValue* value, int64_t* out_former) noexcept {
  return set_owned(mapping, key, value, out_former);
}

int copy_mapping(const AnyffiMapping* from, int32_t type_code, AnyffiValue* out) noexcept {
  if (anyffi_mapping_create(type_code, from->size, out) != 0) return -1;
  copy_entries(as_mapping(out->as_object), static_cast<const Mapping*>(from));
  return 0;
}

int assign_entries(Mapping* to, const Mapping* from) noexcept {
  if (to == from) return 0;
  int64_t capacity = from->size;
  auto* block = static_cast<AnyffiEntry*>(anyffi_alloc(block_bytes(capacity) + 1));
  if (block == nullptr) return raise_no_memory();
  AnyffiEntry* former = to->entries;
  int64_t used = to->used;
  // Must happen before the mark is cleared.
  if (to->value_type_mask & ANYFFI_CHECKED) anyffi_container_forget_checks(&to->header);
  install_block(to, block, capacity);
  copy_entries(to, from);
  release_entries(former, used);
  if (former != inline_mapping_block(to)) anyffi_free(former);
  return 0;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_mapping_create(int32_t type_code, int64_t capacity, AnyffiValue* out) {
  *out = anyffi_make_none();
  if (!has_entries(type_code) || capacity < 0) {
    return anyffi_error_raise("ValueError",
                              "expected the type code of a Map, Dict, FrozenSet or Set, and a capacity of at least 0");
  }
  if (capacity > kMaxEntries) {
    return anyffi_error_raise("OverflowError", "a mapping holds at most 4294967294 entries");
  }
  auto* mapping = allocate_object<Mapping>(type_code, &delete_mapping, sizeof(Mapping) + block_bytes(capacity));
  if (mapping == nullptr) return -1;
  mapping->generation = 0;
  mapping->hardened = false;
  mapping->key_type_mask = 0;
  mapping->value_type_mask = 0;
  mapping->host_hash = 0;
  install_block(mapping, inline_mapping_block(mapping), capacity);
  *out = anyffi_make_object(&mapping->header);
  return 0;
}

int anyffi_mapping_finish(AnyffiObject* object, int64_t* out_first, int64_t* out_second) {
  *out_first = *out_second = -1;
  Mapping* mapping = as_mapping(object);
  if (is_set(object->type_code) && (mapping->value_type_mask & ~anyffi_type_bit(ANYFFI_NONE)) != 0) {
    return anyffi_error_raise("ValueError", "the entries of a set have no values");
  }
  int64_t count = std::exchange(mapping->used, 0);
  int status = index_entries(mapping, count, out_first);
  if (*out_first >= 0) *out_second = mapping->used;
  // Counted first, so that the mapping releases all of them, also after a failure.
  mapping->used = count;
  return status;
}

int anyffi_mapping_set(AnyffiObject* object, AnyffiValue* key, AnyffiValue* value, int32_t* out_existed) {
  Mapping* mapping = as_mapping(object);
  if (is_plain_entry(mapping, *key, *value)) return set_plain(mapping, key, value, out_existed);
  return set_slow(mapping, key, value, out_existed);
}

int anyffi_mapping_find(const AnyffiObject* object, const AnyffiValue* key, int64_t* out_entry) {
  const Mapping* mapping = as_mapping(object);
  if (!is_found_by_words(mapping, *key)) return find(mapping, key, out_entry);
  *out_entry = find_by_words(mapping, *key, mapping->index == nullptr ? 0 : hash_by_words(*key));
  return 0;
}

int64_t anyffi_mapping_find_int(const AnyffiObject* object, int64_t key) {
  const Mapping* mapping = as_mapping(object);
  if (__builtin_expect((mapping->key_type_mask & ~kNeverEqualInt) != 0, 0)) return kUnknownEntry;
  AnyffiValue value = anyffi_make_int(key);
  return find_by_words(mapping, value, mapping->index == nullptr ? 0 : hash_int(key));
}

int anyffi_mapping_get(const AnyffiObject* object, const AnyffiValue* key, AnyffiValue* out) {
  const Mapping* mapping = as_mapping(object);
  // A tail call, so that the fast path saves no registers.
  if (!is_found_by_words(mapping, *key)) return get_slow(mapping, key, out);
  copy_found(mapping, find_by_words(mapping, *key, mapping->index == nullptr ? 0 : hash_by_words(*key)), out);
  return 0;
}

int64_t anyffi_mapping_next(const AnyffiObject* object, int64_t number, int32_t step, AnyffiValue* out_key,
                            AnyffiValue* out_value) {
  const Mapping* mapping = as_mapping(object);
  if (step < 0) number = std::min(number, mapping->used - 1);
  for (; 0 <= number && number < mapping->used; number += step < 0 ? -1 : 1) {
    const AnyffiEntry& entry = mapping->entries[number];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    *out_key = anyffi_own_element(&entry.key);
    *out_value = anyffi_own_element(&entry.value);
    return number;
  }
  *out_key = *out_value = kUnset;
  return -1;
}

int anyffi_mapping_erase(AnyffiObject* object, int64_t number) {
  Mapping* mapping = as_mapping(object);
  if (static_cast<uint64_t>(number) >= static_cast<uint64_t>(mapping->used) ||
      mapping->entries[number].key.type_code == ANYFFI_UNSET) {
    return anyffi_error_raise("IndexError", "no such entry");
  }
  AnyffiEntry& entry = mapping->entries[number];
  free_slot(mapping, number, entry.hash);
  Owned key(entry.key);
  Owned value(entry.value);
  entry.key = kUnset;
  entry.value = anyffi_make_none();
  --mapping->size;
  while (mapping->used > 0 && mapping->entries[mapping->used - 1].key.type_code == ANYFFI_UNSET) --mapping->used;
  return 0;
}

int anyffi_mapping_update(AnyffiObject* to, const AnyffiObject* from) {
  if (to == from) return 0;
  if (!compares_alone(as_mapping(to)) || !compares_alone(as_mapping(from))) {
    return update_or_restore(as_mapping(to), as_mapping(from));
  }
  if (anyffi_mapping_reserve(to, as_mapping(from)->size) != 0) return -1;
  // Entry by entry, because finalizers of former values may change either mapping.
  for (int64_t entry = 0;; ++entry) {
    AnyffiValue key, value;
    entry = anyffi_mapping_next(from, entry, 1, &key, &value);
    if (entry < 0) return 0;
    int32_t existed;
    if (anyffi_mapping_set(to, &key, &value, &existed) != 0) return -1;
  }
}

void anyffi_mapping_clear(AnyffiObject* object) {
  Mapping* mapping = as_mapping(object);
  AnyffiEntry* block = mapping->entries;
  int64_t capacity = mapping->capacity;
  int64_t used = mapping->used;
  bool with_objects = has_objects(mapping);
  // Must happen before the mark is cleared.
  if (mapping->value_type_mask & ANYFFI_CHECKED) anyffi_container_forget_checks(object);
  mapping->key_type_mask = 0;
  mapping->value_type_mask = 0;
  if (with_objects) {
    // Emptied before the entries are released, since finalizers may use the mapping.
    install_block(mapping, nullptr, 0);
    release_entries(block, used);
  }
  if (!with_objects || mapping->entries == nullptr) {
    install_block(mapping, block, capacity);
  } else if (block != inline_mapping_block(mapping)) {
    anyffi_free(block);
  }
}
