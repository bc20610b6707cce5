/// \file
/// Searches a mapping for a key.
#ifndef ANYFFI_SRC_VALUES_MAPPING_SEARCH_H_
#define ANYFFI_SRC_VALUES_MAPPING_SEARCH_H_

#include "values/containers.h"
#include "values/hash.h"
#include "values/mapping_block.h"
#include "values/native.h"

namespace anyffi::runtime {

/// Types of keys that equal short ASCII text only if their words are equal.
constexpr uint64_t kNeverEqualText =
    ~kObjectTypes | anyffi_type_bit(ANYFFI_STR_OBJECT) | anyffi_type_bit(ANYFFI_BYTES_OBJECT);

/// Types of keys that equal an Int only if they are the same Int.
constexpr uint64_t kNeverEqualInt = anyffi_type_bit(ANYFFI_INT) | anyffi_type_bit(ANYFFI_NONE) |
                                    anyffi_type_bit(ANYFFI_STR) | anyffi_type_bit(ANYFFI_BYTES) |
                                    anyffi_type_bit(ANYFFI_STR_OBJECT) | anyffi_type_bit(ANYFFI_BYTES_OBJECT);

/// Whether a key can be found by comparing words: it is short ASCII or an Int, and all keys of the mapping are of types
/// that equal it only as words.
inline bool is_found_by_words(const Mapping* mapping, const AnyffiValue& key) {
  if (key.type_code == ANYFFI_STR) {
    return (key.as_int >> 60) == ANYFFI_ASCII && (mapping->key_type_mask & ~kNeverEqualText) == 0;
  }
  return key.type_code == ANYFFI_INT && key.aux == 0 && (mapping->key_type_mask & ~kNeverEqualInt) == 0;
}

/// The hash of a key found by words.
inline int64_t hash_by_words(const AnyffiValue& key) {
  return key.type_code == ANYFFI_INT ? hash_int(key.as_int) : hash_words(key);
}

inline bool same_words(const AnyffiValue& a, const AnyffiValue& b) {
  return a.as_int == b.as_int && a.aux == b.aux && a.type_code == b.type_code;
}

/// The entry of a key found by words; or -1, and in `out_slot` the slot for appending it.
inline int64_t find_by_words(const Mapping* mapping, const AnyffiValue& key, int64_t hash, uint64_t* out_slot) {
  *out_slot = 0;
  const AnyffiEntry* entries = mapping->entries;
  if (mapping->index == nullptr) {
    for (int64_t i = 0; i < mapping->used; ++i) {
      if (same_words(entries[i].key, key)) return i;
    }
    return -1;
  }
  constexpr uint64_t kNone = ~uint64_t{0};
  uint64_t slot = first_slot(hash, mapping->index_mask), removed = kNone;
  for (; mapping->index[slot] != kFree; slot = (slot + 1) & mapping->index_mask) {
    uint32_t number = mapping->index[slot] - 1;
    if (__builtin_expect(number == kRemoved - 1, 0)) {
      if (removed == kNone) removed = slot;
    } else if (same_words(entries[number].key, key)) {
      return number;
    }
  }
  // Reuses a removed slot: otherwise each key that comes and goes would lengthen the search.
  *out_slot = removed == kNone ? slot : removed;
  return -1;
}

inline int64_t find_by_words(const Mapping* mapping, const AnyffiValue& key, int64_t hash) {
  uint64_t slot;
  return find_by_words(mapping, key, hash, &slot);
}

/// As `prepare_entry`, for keys that have to be hashed.
int prepare_entry_slow(Mapping* mapping, const AnyffiValue& key, int64_t* out_hash, int64_t* out_entry) noexcept;

/// Finds a canonical key (-1 if it is absent), and the hash with which to append it.
inline int prepare_entry(Mapping* mapping, const AnyffiValue& key, int64_t* out_hash, int64_t* out_entry) noexcept {
  if (!is_found_by_words(mapping, key)) return prepare_entry_slow(mapping, key, out_hash, out_entry);
  *out_hash = hash_by_words(key);
  *out_entry = find_by_words(mapping, key, *out_hash);
  return 0;
}

/// The result of a search that would need code of the host.
constexpr int64_t kUnknownEntry = -2;

/// Whether the functions below can search a mapping. For a hardened mapping, this looks at all keys.
inline bool is_searchable(const Mapping* mapping) noexcept { return !mapping->hardened || has_native_keys(mapping); }

int64_t find_native_slow(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* collisions) noexcept;

/// Finds a native key by its `hash_key`: the entry, -1 or kUnknownEntry.
inline int64_t find_native(const Mapping* mapping, const AnyffiValue& key, int64_t hash) noexcept {
  int64_t collisions = 0;
  return is_found_by_words(mapping, key) ? find_by_words(mapping, key, hash)
                                         : find_native_slow(mapping, key, hash, &collisions);
}

/// As `prepare_entry`, for a native key whose `hash_key` is in `hash`; `out_entry` as from `find_native`.
int prepare_native_slow(Mapping* mapping, const AnyffiValue& key, int64_t* hash, int64_t* out_entry) noexcept;

inline int prepare_native(Mapping* mapping, const AnyffiValue& key, int64_t* hash, int64_t* out_entry) noexcept {
  if (!is_found_by_words(mapping, key)) return prepare_native_slow(mapping, key, hash, out_entry);
  *out_entry = find_by_words(mapping, key, *hash);
  return 0;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_MAPPING_SEARCH_H_
