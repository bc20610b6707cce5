/// \file
/// Changes of several entries that are undone if one fails.
#include "values/entry_changes.h"

#include <algorithm>

#include "core/errors.h"
#include "core/value.h"

namespace anyffi::runtime {
namespace {

/// Finds an entry by the identity of its key. Entries only ever move to lower numbers.
int64_t find_identical(const Mapping* mapping, int64_t number, const AnyffiValue& key) {
  number = std::min(number, mapping->used - 1);
  while (number >= 0 && !is_identical(mapping->entries[number].key, key)) --number;
  return number;
}

/// Sets all entries of a mapping. Any code may run meanwhile, also some that changes that mapping.
int set_each(EntryChanges* changes, const Mapping* from) {
  for (int64_t i = 0;; ++i) {
    AnyffiValue key, value;
    i = anyffi_mapping_next(&from->header, i, 1, &key, &value);
    if (i < 0) return 0;
    if (changes->set(Owned(key), Owned(value)) != 0) return -1;
  }
}

}  // namespace

int EntryChanges::reserve(int64_t count) {
  set_.reserve(static_cast<size_t>(count));
  return anyffi_mapping_reserve(&mapping_->header, count);
}

int EntryChanges::set(Owned key, Owned value) {
  set_.emplace_back();
  Change& change = set_.back();
  AnyffiValue own_key = key.take(), own_value = value.take();
  int status = set_entry(mapping_, &own_key, &own_value, &change.number);
  Owned left_key(own_key);
  change.former = Owned(own_value);
  if (status != 0) {
    set_.pop_back();
    return -1;
  }
  change.is_new = change.number < 0;
  if (change.is_new) change.number = mapping_->used - 1;
  change.key = retained(mapping_->entries[change.number].key);
  return 0;
}

int EntryChanges::find(const AnyffiValue& key) {
  int64_t number;
  if (anyffi_mapping_find(&mapping_->header, &key, &number) != 0) return -1;
  if (number < 0) return 0;
  found_.emplace_back();
  found_.back().number = number;
  found_.back().key = retained(mapping_->entries[number].key);
  return 0;
}

void EntryChanges::erase() noexcept {
  for (const Change& change : found_) {
    int64_t number = find_identical(mapping_, change.number, *change.key.get());
    if (number >= 0) anyffi_mapping_erase(&mapping_->header, number);
  }
}

void EntryChanges::restore() noexcept {
  for (auto change = set_.rbegin(); change != set_.rend(); ++change) {
    int64_t number = find_identical(mapping_, change->number, *change->key.get());
    if (number < 0) continue;
    if (change->is_new) {
      anyffi_mapping_erase(&mapping_->header, number);
    } else {
      AnyffiValue former = change->former.take();
      std::swap(mapping_->entries[number].value, former);
      change->former = Owned(former);
    }
  }
}

int update_or_restore(Mapping* to, const Mapping* from) noexcept {
  EntryChanges changes(to);
  int status = guard([&] { return changes.reserve(from->size) != 0 ? -1 : set_each(&changes, from); });
  if (status != 0) changes.restore();
  return status;
}

int change_elements(Mapping* set, const Mapping* added, const AnyffiSequence* removed) noexcept {
  EntryChanges changes(set);
  int status = guard([&] {
    if (changes.reserve(added->size) != 0) return -1;
    for (int64_t i = 0; i < removed->size; ++i) {
      if (changes.find(removed->data[i]) != 0) return -1;
    }
    return set_each(&changes, added);
  });
  if (status == 0) {
    changes.erase();
  } else {
    changes.restore();
  }
  return status;
}

}  // namespace anyffi::runtime
