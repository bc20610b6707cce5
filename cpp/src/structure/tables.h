/// \file
/// A hash table keyed by pairs of addresses.
#ifndef ANYFFI_SRC_STRUCTURE_TABLES_H_
#define ANYFFI_SRC_STRUCTURE_TABLES_H_

#include "core/memory.h"

namespace anyffi::runtime {

/// Maps pairs of addresses to numbers, by linear probing. Nothing is ever removed.
class PairTable {
 public:
  static constexpr int32_t kAbsent = -1;

  /// The number of a pair, or kAbsent.
  int32_t find(const void* a, const void* b) const noexcept {
    if (slots_.empty()) return kAbsent;
    const Slot& slot = slots_[position_of(a, b)];
    return slot.value;
  }
  /// The number of a pair, for reading or writing; kAbsent at first. The reference is valid until the next insertion.
  int32_t& insert(const void* a, const void* b) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position_of(a, b)];
    if (slot.a == nullptr && slot.b == nullptr) {
      slot = Slot{a, b, kAbsent};
      ++count_;
    }
    return slot.value;
  }

 private:
  struct Slot {
    const void* a;
    const void* b;
    int32_t value;
  };

  size_t position_of(const void* a, const void* b) const noexcept {
    size_t mask = slots_.size() - 1;
    // Addresses are multiples of 16.
    uint64_t mixed = (reinterpret_cast<uintptr_t>(a) >> 4) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 29) ^ (reinterpret_cast<uintptr_t>(b) >> 3)) * 0xBF58476D1CE4E5B9u;
    size_t at = (mixed >> 20) & mask;
    while ((slots_[at].a != a || slots_[at].b != b) && (slots_[at].a != nullptr || slots_[at].b != nullptr)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void grow() {
    Vector<Slot> former(slots_.empty() ? 16 : 2 * slots_.size(), Slot{nullptr, nullptr, kAbsent});
    former.swap(slots_);
    for (const Slot& slot : former) {
      if (slot.a != nullptr || slot.b != nullptr) slots_[position_of(slot.a, slot.b)] = slot;
    }
  }

  Vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_TABLES_H_
