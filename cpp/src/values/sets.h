/// \file
/// Helpers of the operations on sets. None of them runs code of the host: all elements are native.
#ifndef ANYFFI_SRC_VALUES_SETS_H_
#define ANYFFI_SRC_VALUES_SETS_H_

#include <anyffi/inline.h>

#include <memory>

#include "core/owned.h"
#include "core/value.h"
#include "values/mapping_search.h"
#include "values/native.h"

namespace anyffi::runtime {

/// Returned (besides 0, and -1 with an error) if only code of the host can compare some elements.
constexpr int kNeedsHost = 1;

/// Finds the element of another set's entry. Returns as `find_native`, and kUnknownEntry for an element that is not
/// native.
inline int64_t find_element(const Mapping* set, const Mapping* other, const AnyffiEntry& entry) {
  int64_t hash;
  if (!is_native(entry.key) || hash_entry(other, entry, &hash) != 0) return kUnknownEntry;
  return find_native(set, entry.key, hash);
}

/// Owns a value; an array in the caller's memory is copied.
int own_element(const AnyffiValue& value, AnyffiValue* out);

/// Appends a copy of a value that a set does not have, with the hash that `prepare_native` wrote.
int append_element(Mapping* set, const AnyffiValue& value, int64_t hash);

/// The hash of a borrowed value.
int hash_value(const AnyffiValue& value, int64_t* out);

/// Borrowed values with their hashes, and the entries of a set that equal them.
class SoughtValues {
 public:
  /// Looks up all values.
  int seek(const Mapping* set, const AnyffiValue* values, int64_t count);

  int64_t count() const { return count_; }
  int64_t hash(int64_t value) const { return sought_[value].hash; }
  bool has_entry(int64_t value) const { return sought_[value].entry >= 0; }
  /// The entry of a value for which `has_entry` is true.
  int64_t entry(int64_t value) const { return sought_[value].entry; }
  /// Whether some value equals the element of an entry.
  bool is_found(int64_t entry) const { return found_[entry] != 0; }

 private:
  struct Sought {
    int64_t hash, entry;
  };
  struct Free {
    void operator()(Sought* block) const { anyffi_free(block); }
  };
  std::unique_ptr<Sought[], Free> sought_;
  char* found_ = nullptr;  // a mark for each entry, in the same block
  int64_t count_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_SETS_H_
