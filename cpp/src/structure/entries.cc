/// \file
/// Comparison of mappings and sets, whose order does not matter.
#include <anyffi/inline.h>

#include <algorithm>

#include "structure/comparer.h"

namespace anyffi::runtime {
namespace {

/// Types of keys that have parts: they are paired by hash, all others are looked up.
constexpr uint64_t kKeysWithParts = anyffi_type_bit(ANYFFI_ARRAY) | anyffi_type_bit(ANYFFI_SHAPE) |
                                    anyffi_type_bit(ANYFFI_FROZEN_SET) | anyffi_type_bit(ANYFFI_SLICE) |
                                    anyffi_type_bit(ANYFFI_TENSOR) | uint64_t{1} << 63;

/// Types of keys that are looked up without code of the host.
constexpr uint64_t kPlainKeys = kComparedTypes | anyffi_type_bit(ANYFFI_BIG_INT) | anyffi_type_bit(ANYFFI_DATA_TYPE) |
                                anyffi_type_bit(ANYFFI_DEVICE) | anyffi_type_bit(ANYFFI_POINTER) |
                                anyffi_type_bit(ANYFFI_UNSET);

/// The first live entry with a number from `entry` on, or -1.
int64_t next_entry(const AnyffiMapping* mapping, int64_t entry) noexcept {
  while (entry < mapping->used && mapping->entries[entry].key.type_code == ANYFFI_UNSET) ++entry;
  return entry < mapping->used ? entry : -1;
}

/// The entry of a mapping with the key of entry `number` of another mapping of the same type; -1 if there is none. Runs
/// code of the host; the caller owns a reference to the key.
int find_same(const Mapping* mapping, int64_t hint, const Mapping* other, int64_t entry, const AnyffiValue& key,
              uint32_t flags, int64_t* out) noexcept {
  if (hint < mapping->used && compare_plain(mapping->entries[hint].key, key) == 1) return *out = hint, 0;
  int64_t hash;
  if (hash_entry(other, other->entries[entry], &hash) != 0 || find_entry(mapping, key, hash, out) != 0) return -1;
  if (*out < 0 || *out >= mapping->used) return *out = -1, 0;
  Owned found = retained(mapping->entries[*out].key);
  int status = compare_leaves(key, *found.get(), flags);
  if (status == 0) *out = -1;
  return status < 0 ? -1 : 0;
}

}  // namespace

bool has_simple_keys(const Mapping* mapping) noexcept { return (mapping->key_type_mask & kKeysWithParts) == 0; }

int Comparer::hash_entries(int side, const Mapping* mapping, Vector<HashedEntry>* out) {
  for (int64_t i = next_entry(mapping, 0); i >= 0; i = next_entry(mapping, i + 1)) {
    HashedEntry row{0, 0, i};
    Owned key = retained(mapping->entries[i].key);
    if (hashers_[side].run(*key.get(), &row.key) != 0) return -1;
    out->push_back(row);
  }
  std::sort(out->begin(), out->end());
  // Hashes values only where keys have equal hashes: values may be large.
  for (size_t i = 0; i < out->size(); ++i) {
    HashedEntry& row = (*out)[i];
    bool is_alone = (i == 0 || (*out)[i - 1].key != row.key) && (i + 1 == out->size() || (*out)[i + 1].key != row.key);
    if (is_alone || row.entry >= mapping->used) continue;
    Owned value = retained(mapping->entries[row.entry].value);
    if (hashers_[side].run(*value.get(), &row.value) != 0) return -1;
  }
  std::sort(out->begin(), out->end());
  return 0;
}

/// Pairs entries whose keys have the same hash: first those with equal keys, then the rest in order. -1 after an error.
int Comparer::pair_group(const Mapping* a, const Mapping* b, Vector<HashedEntry>& left, Vector<HashedEntry>& right,
                         Pairs* pairs) {
  for (int by_order = left.size() == 1 && right.size() == 1 ? 1 : 0; by_order < 2; ++by_order) {
    for (HashedEntry& row : left) {
      for (HashedEntry& other : right) {
        if (row.entry < 0 || other.entry < 0) continue;
        int is_same = by_order;
        if (!by_order && row.entry < a->used && other.entry < b->used) {
          Owned key = retained(a->entries[row.entry].key), other_key = retained(b->entries[other.entry].key);
          bool are_leaves = form_of(key->type_code) == Form::kLeaf && form_of(other_key->type_code) == Form::kLeaf;
          is_same = are_leaves ? compare_leaves(*key.get(), *other_key.get(), flags_)
                               : key->type_code == other_key->type_code && key->as_object == other_key->as_object;
          if (is_same < 0) return -1;
        }
        if (is_same == 0) continue;
        pairs->push_back(EntryPair{row.entry, other.entry});
        row.entry = other.entry = -1;
      }
    }
  }
  for (const HashedEntry& row : left) {
    if (row.entry >= 0) pairs->push_back(EntryPair{row.entry, -1});
  }
  for (const HashedEntry& other : right) {
    if (other.entry >= 0) pairs->push_back(EntryPair{-1, other.entry});
  }
  return 0;
}

int Comparer::pair_entries(const Mapping* a, const Mapping* b, Pairs* pairs) {
  Vector<HashedEntry> left, right, left_group, right_group;
  if (hash_entries(0, a, &left) != 0 || hash_entries(1, b, &right) != 0) return -1;
  for (size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    uint64_t key = j == right.size() || (i < left.size() && left[i].key < right[j].key) ? left[i].key : right[j].key;
    left_group.clear();
    right_group.clear();
    for (; i < left.size() && left[i].key == key; ++i) left_group.push_back(left[i]);
    for (; j < right.size() && right[j].key == key; ++j) right_group.push_back(right[j]);
    if (search_ == Search::kAny && left_group.size() != right_group.size()) return 0;
    if (pair_group(a, b, left_group, right_group, pairs) != 0) return -1;
  }
  // In the order of the first mapping; entries that only the second one has come last.
  std::sort(pairs->begin(), pairs->end(), [](const EntryPair& x, const EntryPair& y) {
    return x.a < 0 || y.a < 0 ? (x.a < 0) < (y.a < 0) || (x.a < 0 && y.a < 0 && x.b < y.b) : x.a < y.a;
  });
  return 1;
}

Comparer::Verdict Comparer::advance_pairs() {
  for (;;) {
    Frame& frame = stack_.back();
    scopes_.pop_to((frame.index & 1) == 0 ? frame.height : scopes_.height());
    auto at = static_cast<size_t>(frame.index >> 1);
    if (at >= frame.pairs->size()) return kSame;
    EntryPair pair = (*frame.pairs)[at];
    bool is_value = (frame.index & 1) != 0;
    ++frame.index;
    frame.current = pair.a;
    const Mapping* a = as_mapping(frame.a.as_object);
    const Mapping* b = as_mapping(frame.b.as_object);
    if (pair.a >= a->used || pair.b >= b->used) continue;  // code of the host has changed the mappings
    bool is_set = frame.form == Form::kSet;
    Verdict verdict = kSame;
    if (pair.a < 0 || pair.b < 0) {
      frame.index += 1;
      const AnyffiEntry& entry = pair.a < 0 ? b->entries[pair.b] : a->entries[pair.a];
      Owned key = retained(entry.key), value = retained(is_set ? entry.key : entry.value);
      verdict = record(pair.a < 0 ? nullptr : value.get(), pair.a < 0 ? value.get() : nullptr, key.get());
    } else if (!is_value) {
      verdict = compare_elements(a->entries[pair.a].key, b->entries[pair.b].key, frame.binds);
    } else if (!is_set) {
      verdict = compare_elements(a->entries[pair.a].value, b->entries[pair.b].value, frame.binds);
    }
    if (verdict != kSame) return verdict;
  }
}

Comparer::Verdict Comparer::advance_entries() {
  for (;;) {
    Frame& frame = stack_.back();
    scopes_.pop_to(frame.height);
    const Mapping* a = as_mapping(frame.a.as_object);
    const Mapping* b = as_mapping(frame.b.as_object);
    int64_t entry = next_entry(a, frame.index);
    if (entry < 0) return record_others(a, b);
    frame.index = entry + 1;
    frame.current = entry;
    bool is_set = frame.form == Form::kSet, binds = frame.binds;
    Owned key = retained(a->entries[entry].key);
    int64_t other;
    if (((a->key_type_mask | b->key_type_mask) & ~kPlainKeys) != 0) protect();
    if (find_same(b, entry, a, entry, *key.get(), flags_, &other) != 0) return kFailed;
    Verdict verdict = kSame;
    if (entry >= a->used || other >= b->used) continue;  // code of the host has changed the mappings
    if (other < 0) {
      Owned value = retained(is_set ? a->entries[entry].key : a->entries[entry].value);
      verdict = record(value.get(), nullptr, key.get());
    } else if (!is_set) {
      verdict = compare_elements(a->entries[entry].value, b->entries[other].value, binds);
    }
    if (verdict != kSame) return verdict;
  }
}

Comparer::Verdict Comparer::record_others(const Mapping* a, const Mapping* b) {
  if (search_ == Search::kAny) return a->size == b->size ? kSame : kDiffers;
  bool is_set = stack_.back().form == Form::kSet;
  protect();
  for (int64_t i = next_entry(b, 0); i >= 0; i = next_entry(b, i + 1)) {
    Owned key = retained(b->entries[i].key), value = retained(is_set ? b->entries[i].key : b->entries[i].value);
    int64_t other;
    if (find_same(a, i, b, i, *key.get(), flags_, &other) != 0) return kFailed;
    Verdict verdict = other < 0 ? record(nullptr, value.get(), key.get()) : kSame;
    if (verdict != kSame) return verdict;
  }
  return kSame;
}

}  // namespace anyffi::runtime
