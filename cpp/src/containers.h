/// \file
/// What the files about containers, hashing and comparing share.
#ifndef ANYFFI_SRC_CONTAINERS_H_
#define ANYFFI_SRC_CONTAINERS_H_

#include "internal.h"

namespace anyffi::runtime {

/// The bits of a summary of kinds that stand for objects: without them there is nothing to count.
constexpr uint64_t kObjectKinds = ~uint64_t{0xFFFF};

inline bool is_sequence(int32_t code) noexcept { return code == ANYFFI_ARRAY || code == ANYFFI_LIST; }
inline bool is_mapping(int32_t code) noexcept { return code == ANYFFI_MAP || code == ANYFFI_DICT; }

inline AnyffiSequence* as_sequence(AnyffiObject* object) noexcept { return reinterpret_cast<AnyffiSequence*>(object); }
inline const AnyffiSequence* as_sequence(const AnyffiObject* object) noexcept {
  return reinterpret_cast<const AnyffiSequence*>(object);
}

/// A mapping as its own functions see it.
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

/// What `anyffi_value_own` does, without a call for the most frequent values.
inline int own_value(const AnyffiValue* value, AnyffiValue* out) noexcept {
  int32_t code = value->type_code;
  if (code > ANYFFI_BOX) {
    anyffi_retain_inline(value->as_object);
    *out = anyffi_from_words_inline(static_cast<uint32_t>(code), static_cast<uint64_t>(value->as_int));
    return 0;
  }
  bool plain = code <= ANYFFI_NONE && code >= ANYFFI_FLOAT && value->aux == 0;
  bool short_ascii = code == ANYFFI_STR && (value->as_int >> 60) == 0;
  if (plain || short_ascii) {
    *out = *value;
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

/// A sequence or mapping of the given type with the same elements.
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
