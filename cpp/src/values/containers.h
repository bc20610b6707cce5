/// \file
/// Sequences, mappings and sets.
#ifndef ANYFFI_SRC_VALUES_CONTAINERS_H_
#define ANYFFI_SRC_VALUES_CONTAINERS_H_

#include <anyffi/inline.h>

namespace anyffi::runtime {

/// The type mask bits of object types: a container without them has nothing to release.
constexpr uint64_t kObjectTypes = ~uint64_t{0xFFFF} & ~ANYFFI_CHECKED;

/// Types of values without elements that the host compares exactly as the runtime does.
constexpr uint64_t kComparedTypes =
    anyffi_type_bit(ANYFFI_NONE) | anyffi_type_bit(ANYFFI_BOOL) | anyffi_type_bit(ANYFFI_INT) |
    anyffi_type_bit(ANYFFI_FLOAT) | anyffi_type_bit(ANYFFI_STR) | anyffi_type_bit(ANYFFI_BYTES) |
    anyffi_type_bit(ANYFFI_STR_VIEW) | anyffi_type_bit(ANYFFI_BYTES_VIEW) | anyffi_type_bit(ANYFFI_ELLIPSIS) |
    anyffi_type_bit(ANYFFI_STR_OBJECT) | anyffi_type_bit(ANYFFI_BYTES_OBJECT);

inline bool is_sequence(int32_t code) noexcept {
  return code == ANYFFI_ARRAY || code == ANYFFI_LIST || code == ANYFFI_SHAPE;
}
inline bool is_mapping(int32_t code) noexcept { return code == ANYFFI_MAP || code == ANYFFI_DICT; }
inline bool is_set(int32_t code) noexcept { return code == ANYFFI_SET || code == ANYFFI_FROZEN_SET; }
/// Whether a type has the layout of a mapping: a set is a mapping whose values are all None.
inline bool has_entries(int32_t code) noexcept { return is_mapping(code) || is_set(code); }

inline AnyffiSequence* as_sequence(AnyffiObject* object) noexcept { return reinterpret_cast<AnyffiSequence*>(object); }
inline const AnyffiSequence* as_sequence(const AnyffiObject* object) noexcept {
  return reinterpret_cast<const AnyffiSequence*>(object);
}

/// The full layout of a mapping or set.
///
/// The index is an open hash table with linear probing. A removed entry leaves a mark in its slot, so entries change
/// their slots only when the index is rebuilt: a search interrupted by code of the host can continue at its slot,
/// unless `generation` changed.
struct Mapping : AnyffiMapping {
  uint64_t filled;     /* slots that are not free, including marks of removed entries */
  uint64_t generation; /* changes whenever entries move or slots are reused */
  bool hardened;       /* entries store keyed hashes, where the key has one */
};

inline Mapping* as_mapping(AnyffiObject* object) noexcept {
  return static_cast<Mapping*>(reinterpret_cast<AnyffiMapping*>(object));
}
inline const Mapping* as_mapping(const AnyffiObject* object) noexcept {
  return static_cast<const Mapping*>(reinterpret_cast<const AnyffiMapping*>(object));
}

/// Finds a canonical key, given its `hash_key`; `out_entry` is -1 if it is absent.
int find_entry(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry) noexcept;

/// The `hash_key` of an entry's key, also if the entry stores the keyed hash. The only error is RecursionError.
int hash_entry(const Mapping* mapping, const AnyffiEntry& entry, int64_t* out) noexcept;

/// Converts an index, which counts from the end if negative, to a position; negative if it is out of range.
inline int64_t find_position(const AnyffiSequence& sequence, int64_t index) noexcept {
  int64_t position = index < 0 ? index + sequence.size : index;
  return position < sequence.size ? position : -1;
}

/// The number of values in which `peek` returns what it found.
constexpr int kPeeked = 3;
/// Finds what `pop` removes: the element at an index of a List, the entry of a key of a Dict, or (`key` is null) the
/// last entry of a Dict or Set. Sets the owned `parts`: the index or the entry's number, the element or key, and the
/// value. Returns 1, 0 if there is nothing, -1 with an error.
int peek(const AnyffiObject* container, const AnyffiValue* key, AnyffiValue* parts) noexcept;
/// Sets `out` to an Array of the parts, or to None if there is nothing; 0, or -1 with an error.
int peek_array(const AnyffiObject* container, const AnyffiValue* key, AnyffiValue* out) noexcept;
/// Removes what `peek` found, and returns whether it was still there. Cannot fail, so that the caller can convert the
/// parts first.
bool erase_peeked(AnyffiObject* container, const AnyffiValue* parts) noexcept;

/// Replaces `count` elements from `index` on by copies of `num_cells` elements of another sequence, or changes nothing
/// on failure.
int splice_sequence(AnyffiSequence* sequence, int64_t index, int64_t count, const AnyffiValue* cells,
                    int64_t num_cells) noexcept;

/// Makes a sequence, mapping or set of the given type with the same elements.
int copy_sequence(const AnyffiSequence* from, int32_t type_code, AnyffiValue* out) noexcept;
int copy_mapping(const AnyffiMapping* from, int32_t type_code, AnyffiValue* out) noexcept;

/// Sets an entry to owned values, and `out_former` to its number, or to -1 if it is new: then it is the last one. The
/// caller then releases what is left in `key` and `value`, such as the former value.
int set_entry(Mapping* mapping, AnyffiValue* key, AnyffiValue* value, int64_t* out_former) noexcept;

/// Replaces all entries of a mapping or set by those of another, or changes nothing on failure.
int assign_entries(Mapping* to, const Mapping* from) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_CONTAINERS_H_
