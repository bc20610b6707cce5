/// \file
/// Changes of several entries of a mapping or set, between which code of the host runs to hash and compare the keys. If
/// that fails, such as without memory, the mapping is as before.
#ifndef ANYFFI_SRC_VALUES_ENTRY_CHANGES_H_
#define ANYFFI_SRC_VALUES_ENTRY_CHANGES_H_

#include "core/memory.h"
#include "core/owned.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// Sets entries one after the other, and can restore what they replaced. Its functions other than `restore` and `erase`
/// throw std::bad_alloc.
class EntryChanges {
 public:
  explicit EntryChanges(Mapping* mapping) : mapping_(mapping) {}

  /// Reserves memory to set `count` entries.
  int reserve(int64_t count);
  /// Sets an entry; 0, or -1 with an error.
  int set(Owned key, Owned value);
  /// Finds the entry of a key, for `erase`; 0, or -1 with an error.
  int find(const AnyffiValue& key);

  /// Erases all entries found that are still there. Cannot fail.
  void erase() noexcept;
  /// Restores the entries that were set, as far as code of the host has not changed them meanwhile. Cannot fail.
  void restore() noexcept;

 private:
  /// An entry of the mapping with a reference to its key, by which it is found if entries have moved.
  struct Change {
    int64_t number = -1;
    bool is_new = false;
    Owned key, former;
  };

  Mapping* mapping_;
  Vector<Change> set_;
  Vector<Change> found_;
};

/// `anyffi_mapping_update` for keys of which some may be compared by code of the host.
int update_or_restore(Mapping* to, const Mapping* from) noexcept;

/// Adds all elements of one set, and removes the elements of a sequence; or changes nothing on failure.
int change_elements(Mapping* set, const Mapping* added, const AnyffiSequence* removed) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_ENTRY_CHANGES_H_
