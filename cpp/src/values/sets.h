/// \file
/// What operations on sets share. None of it runs code of the host: all elements are native.
#ifndef ANYFFI_SRC_VALUES_SETS_H_
#define ANYFFI_SRC_VALUES_SETS_H_

#include <anyffi/inline.h>

#include <memory>

#include "core/owned.h"
#include "core/value.h"
#include "values/mapping_search.h"
#include "values/native.h"

namespace anyffi::runtime {

/// The entry of a native element with this `hash_key`, or -1.
inline int64_t find_native(const Mapping* set, const AnyffiValue& key, int64_t hash) {
  if (is_found_by_words(set, key)) return find_by_words(set, key, hash);
  int64_t found = -1;
  // Cannot fail: only code of the host could.
  find_entry(set, key, hash, &found);
  return found;
}

inline int64_t find_native(const Mapping* set, const Mapping* other, const AnyffiEntry& entry) {
  int64_t hash;
  hash_entry(other, entry, &hash);
  return find_native(set, entry.key, hash);
}

/// Appends a copy of a value that a set does not have, with the hash that `prepare_hashed` wrote.
int append_element(Mapping* set, const AnyffiValue& value, int64_t hash);

/// Adds a copy of a native value, unless a set has it.
int add_element(Mapping* set, const AnyffiValue& value, int64_t hash);

/// The hash of a borrowed value.
int hash_value(const AnyffiValue& value, int64_t* out);

/// The hashes of borrowed native values, and their entries in a set.
class SoughtValues {
 public:
  /// Looks all of them up; -1 without memory.
  int seek(const Mapping* set, const AnyffiValue* values, int64_t count);

  int64_t count() const { return count_; }
  int64_t hash(int64_t value) const { return sought_[value].hash; }
  bool has_entry(int64_t value) const { return sought_[value].entry >= 0; }
  /// Whether a value is the element of an entry.
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
