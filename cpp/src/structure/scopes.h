/// \file
/// Bound variables, and cached results that depend on them.
#ifndef ANYFFI_SRC_STRUCTURE_SCOPES_H_
#define ANYFFI_SRC_STRUCTURE_SCOPES_H_

#include <anyffi/c_api.h>

#include "structure/tables.h"
#include "values/hash.h"

namespace anyffi::runtime {

/// What an object becomes after its parts are visited: nothing, a bound variable, or a mapped free variable.
enum class Variable : uint8_t { kNone, kBound, kMapped };

/// Which variables of two values correspond to each other, with the innermost binding last.
class Scopes {
 public:
  static constexpr int32_t kFree = -1;
  /// Numbers from here on belong to mapped free variables, which are never unbound.
  static constexpr int32_t kFirstMapped = 1 << 30;

  bool is_empty() const noexcept { return stack_.empty() && num_mapped_ == 0; }
  /// False for types of which no object was ever bound.
  bool may_be_bound(const AnyffiObject* object) const noexcept {
    return (bound_types_ >> (object->type_code & 63) & 1) != 0;
  }
  /// The number of the binding of a variable on side 0 (first value) or 1 (second value), or kFree.
  int32_t find(int side, const AnyffiObject* variable) const noexcept {
    int32_t row = rows_[side].find(variable, nullptr);
    return row < 0 ? kFree : numbers_[static_cast<size_t>(row)];
  }
  /// Binds two variables to each other; one may be NULL.
  void bind(const AnyffiObject* a, const AnyffiObject* b) {
    auto number = static_cast<int32_t>(stack_.size());
    Binding binding{a, b, set(0, a, number), set(1, b, number), mix(a, b)};
    // Binding the same two variables again must not change `content`, or cycles would never end.
    int32_t former = a != nullptr ? binding.former_a : binding.former_b;
    if (former >= 0 && former < number) {
      const Binding& hidden = stack_[static_cast<size_t>(former)];
      if (hidden.a == a && hidden.b == b) binding.content = 0;
    }
    stack_.push_back(binding);
    content_ += binding.content;
    num_crossed_ += a != b;
  }
  /// The same for free variables, which stay mapped.
  void map_free(const AnyffiObject* a, const AnyffiObject* b) {
    int32_t number = kFirstMapped + num_mapped_++;
    set(0, a, number);
    set(1, b, number);
    mapped_content_ += mix(a, b);
    num_crossed_ += a != b;
  }
  size_t height() const noexcept { return stack_.size(); }
  void pop_to(size_t height) noexcept {
    while (stack_.size() > height) {
      const Binding& last = stack_.back();
      reset(0, last.a, last.former_a);
      reset(1, last.b, last.former_b);
      content_ -= last.content;
      num_crossed_ -= last.a != last.b;
      stack_.pop_back();
    }
  }
  /// A fingerprint of the current bindings, equal for equal bindings.
  uint64_t content() const noexcept { return content_ + mapped_content_; }
  /// The same without the free variables that were mapped.
  uint64_t bound_content() const noexcept { return content_; }
  /// Whether some variable corresponds to a different one: then even an object may not equal itself.
  bool has_crossed() const noexcept { return num_crossed_ != 0; }
  int32_t num_mapped() const noexcept { return num_mapped_; }

 private:
  struct Binding {
    const AnyffiObject* a;
    const AnyffiObject* b;
    int32_t former_a;
    int32_t former_b;
    uint64_t content;
  };

  static uint64_t mix(const AnyffiObject* a, const AnyffiObject* b) noexcept {
    return fold(reinterpret_cast<uintptr_t>(a) ^ 0x9E3779B97F4A7C15u,
                reinterpret_cast<uintptr_t>(b) ^ 0xBF58476D1CE4E5B9u);
  }
  int32_t set(int side, const AnyffiObject* variable, int32_t number) {
    if (variable == nullptr) return kFree;
    bound_types_ |= uint64_t{1} << (variable->type_code & 63);
    int32_t& row = rows_[side].insert(variable, nullptr);
    if (row < 0) {
      row = static_cast<int32_t>(numbers_.size());
      numbers_.push_back(kFree);
    }
    int32_t former = numbers_[static_cast<size_t>(row)];
    numbers_[static_cast<size_t>(row)] = number;
    return former;
  }
  void reset(int side, const AnyffiObject* variable, int32_t number) noexcept {
    if (variable != nullptr) numbers_[static_cast<size_t>(rows_[side].find(variable, nullptr))] = number;
  }

  Vector<Binding> stack_;
  PairTable rows_[2];
  Vector<int32_t> numbers_;
  uint64_t content_ = 0;
  uint64_t mapped_content_ = 0;
  uint64_t bound_types_ = 0;
  int32_t num_mapped_ = 0;
  int32_t num_crossed_ = 0;
};

/// A variable that was visited, and the number of its binding.
struct Use {
  const AnyffiObject* a;
  const AnyffiObject* b;
  int32_t number;

  bool operator==(const Use& other) const noexcept { return a == other.a && b == other.b && number == other.number; }
};

/// Results for pairs of objects. A result is valid wherever the variables that it depends on have the same
/// correspondence.
class Results {
 public:
  static constexpr size_t kMostUses = 8;

  struct Row {
    int32_t next; /* of the same pair */
    uint32_t first_use;
    uint32_t num_uses;
    bool is_done;
    bool needs_all;  /* depends on too many variables to list */
    bool is_dropped; /* not valid anywhere */
    bool is_closed;  /* visited no free variable that was not mapped before */
    uint64_t content;
    uint64_t bound_content;
    uint64_t num_free; /* visited before it */
    uint64_t value;
  };

  /// The variables visited by the computations in progress.
  Vector<Use> uses;

  /// Records that a variable was met.
  void meet(const Use& use) {
    num_free_ += use.number == Scopes::kFree;
    uses.push_back(use);
  }
  /// Begins a result; returns its row number.
  int32_t begin(const void* a, const void* b, const Scopes& scopes) {
    auto number = static_cast<int32_t>(rows_.size());
    int32_t& head = heads_.insert(a, b);
    rows_.push_back(
        Row{head, 0, 0, false, false, false, false, scopes.content(), scopes.bound_content(), num_free_, 0});
    head = number;
    return number;
  }
  /// Records a result that depends on the variables in `uses` from `first` on; `needs_all`: and on others.
  void finish(int32_t number, uint64_t value, size_t first, bool needs_all) {
    Row& row = rows_[static_cast<size_t>(number)];
    row.value = value;
    row.is_done = true;
    row.needs_all = needs_all;
    row.is_closed = row.num_free == num_free_;
    row.first_use = static_cast<uint32_t>(kept_.size());
    row.num_uses = static_cast<uint32_t>(uses.size() - first);
    kept_.insert(kept_.end(), uses.begin() + static_cast<ptrdiff_t>(first), uses.end());
  }
  void drop(int32_t number) noexcept { rows_[static_cast<size_t>(number)].is_dropped = true; }
  /// The row of a valid result, or of one in progress with the same bindings; NULL if there is none. Its variables
  /// count as visited again.
  const Row* find(const void* a, const void* b, const Scopes& scopes, bool by_number, bool only_begun = false) {
    for (int32_t at = heads_.find(a, b); at >= 0; at = rows_[static_cast<size_t>(at)].next) {
      const Row& row = rows_[static_cast<size_t>(at)];
      if ((only_begun && row.is_done) || !holds(row, scopes, by_number)) continue;
      for (uint32_t i = 0; i < row.num_uses; ++i) {
        Use use = kept_[row.first_use + i];
        // With its current binding, which may be further inside than when the result was computed.
        use.number = number_of(use, scopes);
        meet(use);
      }
      // Counts the free variables that are not listed.
      num_free_ += row.needs_all && !row.is_closed;
      return &row;
    }
    return nullptr;
  }
  /// Removes variables bound above `height`, and duplicates, from the part of `uses` that begins at `first`. Returns
  /// false, and removes all of them, if too many are left.
  bool reduce(size_t first, size_t height) {
    size_t end = first;
    for (size_t i = first; i < uses.size(); ++i) {
      Use use = uses[i];
      if (use.number >= static_cast<int32_t>(height) && use.number < Scopes::kFirstMapped) continue;
      bool is_known = false;
      for (size_t j = first; j < end && !is_known; ++j) is_known = uses[j] == use;
      if (!is_known) uses[end++] = use;
      if (end - first > kMostUses) break;
    }
    bool fits = end - first <= kMostUses;
    uses.resize(fits ? end : first);
    return fits;
  }

 private:
  static int32_t number_of(const Use& use, const Scopes& scopes) noexcept {
    if (use.a != nullptr) return scopes.find(0, use.a);
    return use.b != nullptr ? scopes.find(1, use.b) : use.number;
  }
  bool holds(const Row& row, const Scopes& scopes, bool by_number) const noexcept {
    if (row.is_dropped) return false;
    // Mapped variables keep their counterparts for good.
    if (row.needs_all && row.is_closed) return row.bound_content == scopes.bound_content();
    if (!row.is_done || row.needs_all) return row.content == scopes.content();
    for (uint32_t i = 0; i < row.num_uses; ++i) {
      const Use& use = kept_[row.first_use + i];
      int32_t a = use.a == nullptr ? use.number : scopes.find(0, use.a);
      int32_t b = use.b == nullptr ? use.number : scopes.find(1, use.b);
      bool is_same = by_number ? a == use.number && b == use.number : a == b && (a < 0) == (use.number < 0);
      if (!is_same) return false;
    }
    return true;
  }

  PairTable heads_;
  Vector<Row> rows_;
  Vector<Use> kept_;
  uint64_t num_free_ = 0; /* how often a free variable was visited */
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_SCOPES_H_
