/// \file
/// Searches a mapping for a key. A mapping with more keys of the same hash than chance explains is hardened: its index
/// then depends on secrets of this process, so that nobody can choose keys that make searches slow.
#include "values/mapping_search.h"

#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/owned.h"
#include "core/value.h"
#include "values/equal.h"
#include "values/native.h"

namespace anyffi::runtime {
namespace {

enum class Match { kNo, kYes, kFailed, kMoved };

/// Compares keys that are host objects or containers. Any code may run meanwhile, so the entry's key is retained;
/// kMoved means that the search must start again.
__attribute__((noinline)) Match match_slow(const Mapping* mapping, int64_t number, const AnyffiValue& key) {
  // A linear search also meets removed entries.
  if (mapping->entries[number].key.type_code == ANYFFI_UNSET) return Match::kNo;
  uint64_t generation = mapping->generation;
  Owned held = retained(mapping->entries[number].key);
  int32_t equal;
  if (elements_equal(*held.get(), key, &equal) != 0) return Match::kFailed;
  if (mapping->generation != generation || number >= mapping->used ||
      !is_identical(mapping->entries[number].key, *held.get())) {
    return Match::kMoved;
  }
  return equal ? Match::kYes : Match::kNo;
}

inline Match match(const Mapping* mapping, int64_t number, const AnyffiValue& key, int64_t hash) {
  const AnyffiEntry& entry = mapping->entries[number];
  if (entry.hash != hash) return Match::kNo;
  if (is_identical(entry.key, key)) return Match::kYes;
  switch (quick_key_equal(entry.key, key)) {
    case Quick::kDifferent:
      return Match::kNo;
    case Quick::kEqual:
      return Match::kYes;
    default:
      return match_slow(mapping, number, key);
  }
}

/// As `match`, for a native key and without code of the host: kFailed, without an error, if the comparison needs some.
inline Match match_native(const Mapping* mapping, int64_t number, const AnyffiValue& key, int64_t hash) {
  const AnyffiEntry& entry = mapping->entries[number];
  if (entry.hash != hash) return Match::kNo;
  if (is_identical(entry.key, key)) return Match::kYes;
  if (!is_native(entry.key)) return Match::kFailed;
  Quick quick = Quick::kUnknown;
  // Compares the most common types without another call, which would take half of the time.
  if (entry.key.type_code == ANYFFI_ARRAY && key.type_code == ANYFFI_ARRAY) {
    quick = quick_arrays_equal(as_sequence(entry.key.as_object), as_sequence(key.as_object));
  } else if (entry.key.type_code == ANYFFI_STR_OBJECT && anyffi_is_str(key.type_code)) {
    AnyffiTextView mine, other;
    anyffi_view_text(&entry.key, &mine);
    anyffi_view_text(&key, &other);
    if (mine.encoding == other.encoding) {
      size_t size = static_cast<size_t>(mine.length) << anyffi_encoding_shift(mine.encoding);
      bool equal = mine.length == other.length && std::memcmp(mine.data, other.data, size) == 0;
      quick = equal ? Quick::kEqual : Quick::kDifferent;
    }
  }
  if (quick == Quick::kUnknown) return match(mapping, number, key, hash);
  return quick == Quick::kEqual ? Match::kYes : Match::kNo;
}

using Matcher = Match(const Mapping* mapping, int64_t number, const AnyffiValue& key, int64_t hash);

/// Searches once. Adds the number of different keys with the same hash to `collisions`.
template <Matcher* matches = match>
inline Match search(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry,
                    int64_t* collisions) {
  if (mapping->index == nullptr) {
    for (int64_t i = 0; i < mapping->used; ++i) {
      Match result = matches(mapping, i, key, hash);
      if (result == Match::kNo) continue;
      *out_entry = i;
      return result;
    }
    return Match::kNo;
  }
  uint64_t slot = first_slot(hash, mapping->index_mask);
  while (mapping->index[slot] != kFree) {
    uint32_t number = mapping->index[slot] - 1;
    slot = (slot + 1) & mapping->index_mask;
    if (number == kRemoved - 1) continue;
    Match result = matches(mapping, number, key, hash);
    if (result == Match::kNo) {
      *collisions += mapping->entries[number].hash == hash;
      continue;
    }
    *out_entry = number;
    return result;
  }
  return Match::kNo;
}

/// Types of keys that may have a keyed hash while an equal object of the host has none.
constexpr uint64_t kKeyedTypes = anyffi_type_bit(ANYFFI_FLOAT) | anyffi_type_bit(ANYFFI_BIG_INT) |
                                 anyffi_type_bit(ANYFFI_COMPLEX) | anyffi_type_bit(ANYFFI_ARRAY) |
                                 anyffi_type_bit(ANYFFI_SHAPE) | anyffi_type_bit(ANYFFI_SLICE) |
                                 anyffi_type_bit(ANYFFI_FROZEN_SET);
/// Types of keys that neither are nor contain objects of the host.
constexpr uint64_t kNativeTypes = ~kObjectTypes | anyffi_type_bit(ANYFFI_STR_OBJECT) |
                                  anyffi_type_bit(ANYFFI_BYTES_OBJECT) | anyffi_type_bit(ANYFFI_BIG_INT) |
                                  anyffi_type_bit(ANYFFI_COMPLEX);

/// For a key without a keyed hash: compares with every entry that has one.
Match search_keyed_entries(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry) {
  if ((mapping->key_type_mask & kKeyedTypes) == 0) return Match::kNo;
  for (int64_t i = 0; i < mapping->used; ++i) {
    if (!has_keyed_hash(mapping->entries[i].key)) continue;
    int64_t entry_hash;
    if (hash_entry(mapping, mapping->entries[i], &entry_hash) != 0) return Match::kFailed;
    if (entry_hash != hash) continue;
    Match result = match_slow(mapping, i, key);
    if (result == Match::kNo) continue;
    *out_entry = i;
    return result;
  }
  return Match::kNo;
}

/// Searches a hardened mapping once. A native key and an equal object of the host have different hashes there.
__attribute__((noinline)) Match search_hardened(const Mapping* mapping, const AnyffiValue& key, int64_t hash,
                                                int64_t* out_entry) {
  int64_t keyed, collisions = 0;
  Match result = Match::kFailed;
  switch (keyed_hash(key, &keyed)) {
    case Keyed::kYes:
      result = search(mapping, key, keyed, out_entry, &collisions);
      if (result != Match::kNo || keyed == hash || (mapping->key_type_mask & ~kNativeTypes) == 0) return result;
      return search(mapping, key, hash, out_entry, &collisions);
    case Keyed::kNo:
      result = search(mapping, key, hash, out_entry, &collisions);
      return result != Match::kNo ? result : search_keyed_entries(mapping, key, hash, out_entry);
    default:
      return result;
  }
}

inline int find_and_count(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry,
                          int64_t* collisions) {
  // A limit, so that comparisons that change the mapping each time cannot make the search endless.
  constexpr int kMostSearches = 1000;
  for (int searches = 0; searches < kMostSearches; ++searches) {
    Match result = __builtin_expect(mapping->hardened, 0) ? search_hardened(mapping, key, hash, out_entry)
                                                          : search(mapping, key, hash, out_entry, collisions);
    if (result == Match::kYes) return 0;
    if (result == Match::kMoved) continue;
    *out_entry = -1;
    return result == Match::kNo ? 0 : -1;
  }
  *out_entry = -1;
  return anyffi_error_raise("RuntimeError", "mapping changed by each comparison of its keys");
}

/// More different keys with the same hash than this are not due to chance.
constexpr int64_t kMaxCollisions = 32;

/// Replaces the hashes of all keys that have a keyed hash by it, for good. Changes nothing on failure.
int harden(Mapping* mapping) {
  int64_t hash;
  for (int64_t i = 0; i < mapping->used; ++i) {
    if (keyed_hash(mapping->entries[i].key, &hash) == Keyed::kFailed) return -1;
  }
  for (int64_t i = 0; i < mapping->used; ++i) {
    if (keyed_hash(mapping->entries[i].key, &hash) == Keyed::kYes) mapping->entries[i].hash = hash;
  }
  mapping->hardened = true;
  rebuild_index(mapping);
  return 0;
}

/// Replaces a key's hash by the one with which the mapping stores it.
inline int use_keyed_hash(const Mapping* mapping, const AnyffiValue& key, int64_t* hash) {
  if (__builtin_expect(!mapping->hardened, 1)) return 0;
  int64_t keyed;
  Keyed result = keyed_hash(key, &keyed);
  if (result == Keyed::kYes) *hash = keyed;
  return result == Keyed::kFailed ? -1 : 0;
}

}  // namespace

int prepare_entry_slow(Mapping* mapping, const AnyffiValue& key, int64_t* out_hash, int64_t* out_entry) noexcept {
  int64_t collisions = 0;
  if (hash_key(key, out_hash) != 0 || find_and_count(mapping, key, *out_hash, out_entry, &collisions) != 0) return -1;
  if (__builtin_expect(collisions > kMaxCollisions, 0) && *out_entry < 0 && harden(mapping) != 0) return -1;
  return use_keyed_hash(mapping, key, out_hash);
}

int find_entry(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry) noexcept {
  int64_t collisions = 0;
  return find_and_count(mapping, key, hash, out_entry, &collisions);
}

int64_t find_native_slow(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* collisions) noexcept {
  int64_t entry = -1;
  Match result = mapping->hardened ? search_hardened(mapping, key, hash, &entry)
                                   : search<match_native>(mapping, key, hash, &entry, collisions);
  if (result != Match::kFailed) return entry;
  // A RecursionError: the host will fail in the same way.
  Owned error;
  if (has_raised()) anyffi_error_take_raised(error.out());
  return kUnknownEntry;
}

int prepare_native_slow(Mapping* mapping, const AnyffiValue& key, int64_t* hash, int64_t* out_entry) noexcept {
  int64_t collisions = 0;
  *out_entry = find_native_slow(mapping, key, *hash, &collisions);
  if (*out_entry == kUnknownEntry) return 0;
  if (__builtin_expect(collisions > kMaxCollisions, 0) && *out_entry < 0) {
    if (!has_native_keys(mapping)) {
      *out_entry = kUnknownEntry;
      return 0;
    }
    if (harden(mapping) != 0) return -1;
  }
  return use_keyed_hash(mapping, key, hash);
}

int hash_entry(const Mapping* mapping, const AnyffiEntry& entry, int64_t* out) noexcept {
  int64_t keyed;
  *out = entry.hash;
  if (__builtin_expect(!mapping->hardened, 1) || !has_keyed_hash(entry.key)) return 0;
  Keyed result = keyed_hash(entry.key, &keyed);
  // A native key is hashed again, which runs no code of the host.
  return result == Keyed::kYes ? hash_key(entry.key, out) : result == Keyed::kNo ? 0 : -1;
}

}  // namespace anyffi::runtime
