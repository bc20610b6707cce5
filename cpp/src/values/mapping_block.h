/// \file
/// The block of a mapping: its entries, followed by an index once there are more than a few.
#ifndef ANYFFI_SRC_VALUES_MAPPING_BLOCK_H_
#define ANYFFI_SRC_VALUES_MAPPING_BLOCK_H_

#include <anyffi/inline.h>

#include <cstddef>
#include <cstring>

#include "values/containers.h"
#include "values/hash.h"

namespace anyffi::runtime {

/// Up to this many entries a linear search is faster than an index.
constexpr int64_t kMaxLinear = 8;
constexpr int64_t kMaxEntries = 0xFFFFFFFE;
constexpr uint32_t kFree = 0;
constexpr uint32_t kRemoved = 0xFFFFFFFF;

/// The number of slots in the index. At most half of them hold live entries, so that probes are short: each probe is a
/// cache miss.
inline uint64_t count_slots(int64_t capacity) {
  if (capacity <= kMaxLinear) return 0;
  uint64_t slots = 32;
  while (slots < static_cast<uint64_t>(capacity) * 2) slots *= 2;
  return slots;
}

/// The slot at which the search for a hash begins. Python's hashes of numbers are the numbers themselves, so with a
/// fixed function whoever chooses the keys could choose the slots. The hash is folded twice: once would keep multiples
/// of a number almost evenly spaced, and for one secret in a hundred they would crowd into a few slots.
inline uint64_t first_slot(int64_t hash, uint64_t mask) {
  return fold(fold(static_cast<uint64_t>(hash) ^ hash_secrets[2], hash_secrets[3]), hash_secrets[1]) & mask;
}

inline size_t block_bytes(int64_t capacity) {
  return static_cast<size_t>(capacity) * sizeof(AnyffiEntry) + count_slots(capacity) * sizeof(uint32_t);
}

inline AnyffiEntry* inline_mapping_block(Mapping* mapping) { return reinterpret_cast<AnyffiEntry*>(mapping + 1); }

/// Empties a mapping, and gives it a block of at least `block_bytes(capacity)`, which it owns.
inline void install_block(Mapping* mapping, AnyffiEntry* block, int64_t capacity) {
  uint64_t slots = count_slots(capacity);
  mapping->entries = block;
  mapping->index = slots == 0 ? nullptr : reinterpret_cast<uint32_t*>(block + capacity);
  mapping->size = 0;
  mapping->used = 0;
  mapping->capacity = capacity;
  mapping->index_mask = slots == 0 ? 0 : slots - 1;
  mapping->filled = 0;
  ++mapping->generation;
  if (slots > 0) std::memset(mapping->index, 0, slots * sizeof(uint32_t));
}

/// The first slot for a hash that is free or holds a removed entry.
inline uint64_t find_free_slot(const Mapping* mapping, int64_t hash) {
  if (mapping->index == nullptr) return 0;
  uint64_t slot = first_slot(hash, mapping->index_mask);
  while (mapping->index[slot] != kFree && mapping->index[slot] != kRemoved) slot = (slot + 1) & mapping->index_mask;
  return slot;
}

/// Counts the entry after the last one, whose key is known to be new, and links it at a slot that is free or removed.
inline void link_entry(Mapping* mapping, int64_t hash, uint64_t slot) {
  int64_t number = mapping->used++;
  mapping->entries[number].hash = hash;
  ++mapping->size;
  if (mapping->index == nullptr) return;
  mapping->filled += mapping->index[slot] == kFree;
  mapping->index[slot] = static_cast<uint32_t>(number + 1);
}

/// Appends an entry whose key is known to be new, at a slot that is free or removed; steals key and value. The block
/// must have room.
inline void append_entry_at(Mapping* mapping, const AnyffiValue& key, const AnyffiValue& value, int64_t hash,
                            uint64_t slot) {
  AnyffiEntry& entry = mapping->entries[mapping->used];
  anyffi_copy_value(&key, &entry.key);
  anyffi_copy_value(&value, &entry.value);
  link_entry(mapping, hash, slot);
}

/// As `append_entry_at`, at the first slot.
inline void append_entry(Mapping* mapping, const AnyffiValue& key, const AnyffiValue& value, int64_t hash) {
  append_entry_at(mapping, key, value, hash, find_free_slot(mapping, hash));
}

/// Marks the slot of an entry as removed; if no search continues after it, frees it and the removed slots before it.
inline void free_slot(Mapping* mapping, int64_t number, int64_t hash) {
  if (mapping->index == nullptr) return;
  uint64_t mask = mapping->index_mask, slot = first_slot(hash, mask);
  while (mapping->index[slot] != static_cast<uint32_t>(number + 1)) slot = (slot + 1) & mask;
  mapping->index[slot] = kRemoved;
  if (mapping->index[(slot + 1) & mask] != kFree) return;
  for (; mapping->index[slot] == kRemoved; slot = (slot - 1) & mask) {
    mapping->index[slot] = kFree;
    --mapping->filled;
  }
}

/// Whether an entry can be appended without growing.
inline bool has_room(const Mapping* mapping) {
  return mapping->used < mapping->capacity &&
         (mapping->index == nullptr || mapping->filled <= mapping->index_mask - mapping->index_mask / 4);
}

/// Indexes the entries again, after their hashes have changed.
void rebuild_index(Mapping* mapping) noexcept;

/// Makes room for at least one entry.
int make_room(Mapping* mapping) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_MAPPING_BLOCK_H_
