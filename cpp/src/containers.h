/// \file
/// What the files about containers, hashing and comparing share.
#ifndef ANYFFI_SRC_CONTAINERS_H_
#define ANYFFI_SRC_CONTAINERS_H_

#include <cstring>

#include "internal.h"

namespace anyffi::runtime {

/// The bits of a summary of kinds that stand for objects: without them there is nothing to count.
constexpr uint64_t kObjectTypes = ~uint64_t{0xFFFF};

inline bool is_sequence(int32_t code) noexcept {
  return code == ANYFFI_ARRAY || code == ANYFFI_LIST || code == ANYFFI_SHAPE;
}
inline bool is_mapping(int32_t code) noexcept { return code == ANYFFI_MAP || code == ANYFFI_DICT; }
inline bool is_set(int32_t code) noexcept { return code == ANYFFI_SET || code == ANYFFI_FROZEN_SET; }
/// What has the layout of a mapping: a set is one whose values are all None.
inline bool has_entries(int32_t code) noexcept { return is_mapping(code) || is_set(code); }

inline AnyffiSequence* as_sequence(AnyffiObject* object) noexcept { return reinterpret_cast<AnyffiSequence*>(object); }
inline const AnyffiSequence* as_sequence(const AnyffiObject* object) noexcept {
  return reinterpret_cast<const AnyffiSequence*>(object);
}

/// A mapping or set as its own functions see it.
///
/// The index is an open hash table with linear probing. A removed entry leaves a mark in its slot, so that no
/// other entry's slot ever moves between two rebuilds: a search that was interrupted by the host's code can go on
/// where it was, unless `generation` changed.
struct Mapping : AnyffiMapping {
  uint64_t filled;     /* slots that are not free, marks included */
  uint64_t generation; /* changes whenever entries move or slots are given out anew */
};

inline Mapping* as_mapping(AnyffiObject* object) noexcept {
  return static_cast<Mapping*>(reinterpret_cast<AnyffiMapping*>(object));
}
inline const Mapping* as_mapping(const AnyffiObject* object) noexcept {
  return static_cast<const Mapping*>(reinterpret_cast<const AnyffiMapping*>(object));
}

/// The same 16 bytes, apart from an argument's flags: Python's `is`, as far as values can tell.
inline bool is_identical(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  return a.type_code == b.type_code && a.as_int == b.as_int && (a.type_code > 0 || a.aux == b.aux);
}

/// True for values whose bytes are all there is to own: numbers, None, short ASCII.
inline bool is_plain(const AnyffiValue& value) noexcept {
  int32_t code = value.type_code;
  bool number = code <= ANYFFI_NONE && code >= ANYFFI_FLOAT && value.aux == 0;
  return number || (code == ANYFFI_STR && (value.as_int >> 60) == ANYFFI_ASCII);
}

/// True for owned values that are as containers hold them, without looking closer.
inline bool is_canonical(const AnyffiValue& value) noexcept {
  return is_plain(value) || (value.type_code > ANYFFI_BOX && value.aux == 0);
}

/// What `anyffi_value_own` does, without a call for the most frequent values.
inline int own_value(const AnyffiValue* value, AnyffiValue* out) noexcept {
  if (is_plain(*value)) {
    anyffi_copy_inline(value, out);
    return 0;
  }
  return anyffi_value_own(value, out);
}

/// Borrows or, if it must, copies a value so that it is as containers hold it, except that a long string or
/// long bytes may stay borrowed. NULL after an error.
const AnyffiValue* canonical_key(const AnyffiValue* value, Owned* holder) noexcept;

/// The host's object behind a value, which then compares, hashes and prints as that object does; or NULL.
inline void* handle_of(const AnyffiValue& value) noexcept {
  if (value.type_code == ANYFFI_PY_OBJECT) return reinterpret_cast<AnyffiPyObject*>(value.as_object)->handle;
  if (value.type_code == ANYFFI_FUNCTION) return reinterpret_cast<AnyffiFunction*>(value.as_object)->handle;
  if (value.type_code == ANYFFI_ERROR) return reinterpret_cast<AnyffiError*>(value.as_object)->handle;
  return nullptr;
}

/// Multiplies to 128 bits and folds them: every bit of the result depends on every bit of both.
inline uint64_t fold(uint64_t a, uint64_t b) noexcept {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Numbers without structure: digits of pi.
constexpr uint64_t kMix[] = {0x243F6A8885A308D3u, 0x13198A2E03707345u, 0xA4093822299F31D1u, 0x082EFA98EC4E6C89u};

/// -1 is never a hash: Python keeps it for failure.
constexpr int64_t spare_minus_one(int64_t hash) noexcept { return hash == -1 ? -2 : hash; }

/// The hash of text in place, which is its two words: equal text has equal words.
inline int64_t hash_words(const AnyffiValue& value) noexcept {
  uint64_t first = static_cast<uint32_t>(value.type_code) | static_cast<uint64_t>(value.aux) << 32;
  return spare_minus_one(static_cast<int64_t>(fold(first ^ kMix[0], static_cast<uint64_t>(value.as_int) ^ kMix[1])));
}

/// The hash of a canonical key.
int hash_key(const AnyffiValue& key, int64_t* out) noexcept;

/// Whether two values are equal, as far as that can be said without the host and without recursion.
enum class Quick { kDifferent, kEqual, kUnknown };
Quick quick_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;
/// "Identical or equal", as Python compares what lies in containers. May run the host's code: both values must be
/// held by the caller.
int elements_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) noexcept;
/// The same for keys, for which NaN equals NaN.
Quick quick_key_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;

/// Finds a canonical key; `out_entry` is -1 if it is not there.
int find_entry(const Mapping* mapping, const AnyffiValue& key, int64_t hash, int64_t* out_entry) noexcept;

/// Room for so many entries more.
int reserve_entries(Mapping* mapping, int64_t more) noexcept;

/// Puts `num_cells` elements of another sequence in the place of `count` elements from `index` on. All or nothing.
int splice_sequence(AnyffiSequence* sequence, int64_t index, int64_t count, const AnyffiValue* cells,
                    int64_t num_cells) noexcept;

/// A sequence, mapping or set of the given type with the same elements.
int copy_sequence(const AnyffiSequence* from, int32_t type_code, AnyffiValue* out) noexcept;
int copy_mapping(const AnyffiMapping* from, int32_t type_code, AnyffiValue* out) noexcept;

/// One level of recursion through containers.
class DepthGuard {
 public:
  DepthGuard() noexcept : entered_(anyffi_depth_enter() == 0) {}
  ~DepthGuard() {
    if (entered_) anyffi_depth_leave();
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  /// False: RecursionError was raised.
  explicit operator bool() const noexcept { return entered_; }

 private:
  bool entered_;
};

/// Holds a value that somebody else may let go of.
inline Owned hold(const AnyffiValue& value) noexcept {
  anyffi_value_retain_inline(&value);
  return Owned(value);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CONTAINERS_H_
