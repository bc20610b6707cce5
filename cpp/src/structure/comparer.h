/// \file
/// Comparison of values by their structure.
#ifndef ANYFFI_SRC_STRUCTURE_COMPARER_H_
#define ANYFFI_SRC_STRUCTURE_COMPARER_H_

#include <memory>
#include <utility>

#include "structure/hasher.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// What is found: whether there is a difference, the first one, or all of them.
enum class Search { kAny, kFirst, kAll };

/// Whether all keys are looked up, since they have no parts.
bool has_simple_keys(const Mapping* mapping) noexcept;

/// Compares two values, with a stack of its own. Cycles are the same if they unfold to the same tree.
class Comparer {
 public:
  /// Of the paths of all differences: a path may be as long as the values are large.
  static constexpr size_t kMostSteps = 10'000'000;

  enum Verdict { kFailed = -1, kSame = 0, kBegun = 1, kDiffers = 2 };

  Comparer(uint32_t flags, Search search)
      : flags_(flags),
        search_(search),
        maps_((flags & ANYFFI_MAP_FREE_VARIABLES) != 0 || may_meet_dags()),
        hashers_{{types_, scopes_, 0, flags}, {types_, scopes_, 1, flags}} {
    hashers_[0].serve_comparison();
    hashers_[1].serve_comparison();
  }
  Comparer(const Comparer&) = delete;
  Comparer& operator=(const Comparer&) = delete;
  ~Comparer() {
    for (const Frame& frame : stack_) release(frame);
  }

  /// 1 if the values are the same, 0 if not; -1 after an error. May throw bad_alloc, and run code of the host.
  int run(const AnyffiValue& a, const AnyffiValue& b);
  /// Each difference, an Array: the path, an Array of Arrays (StepType, field, index or key), the value on the left and
  /// on the right, and 1 if there is one on the left, plus 2 if there is one on the right.
  Vector<Owned>& differences() noexcept { return differences_; }

 private:
  /// Which entries of two mappings or sets belong to each other; -1: none.
  struct EntryPair {
    int64_t a;
    int64_t b;
  };
  using Pairs = Vector<EntryPair>;
  /// An entry with the hash of its key and, where several have that, of its value.
  struct HashedEntry {
    uint64_t key;
    uint64_t value;
    int64_t entry;
    bool operator<(const HashedEntry& other) const noexcept {
      return key != other.key ? key < other.key : value != other.value ? value < other.value : entry < other.entry;
    }
  };

  /// Two values that are compared, and how far. They are borrowed from what holds them, unless code of the host may
  /// have changed that: see `protect`.
  struct Frame {
    AnyffiValue a;
    AnyffiValue b;
    const ObjectType* type;
    std::unique_ptr<Pairs> pairs; /* NULL: the keys are looked up */
    int64_t index;
    int64_t current; /* the element, entry of `a` or field that is compared */
    int32_t row;     /* in results_, or -1 */
    uint32_t height; /* of the scopes, at the beginning */
    uint32_t first_use;
    Form form;
    bool binds; /* its elements are variables */
    Variable variable;
    bool needs_all;
    bool owns;
  };

  /// Owns, from now on, all that is compared. To be called before code of the host runs.
  void protect() noexcept;
  /// Begins two borrowed values.
  Verdict meet(const AnyffiValue& a, const AnyffiValue& b, bool may_return, bool binds);
  Verdict begin(const AnyffiValue& a, const AnyffiValue& b, const ObjectType* type, std::unique_ptr<Pairs> pairs,
                int32_t row, Form form, bool binds, Variable variable);
  Verdict compare_objects(const AnyffiValue& a, const AnyffiValue& b);
  Verdict compare_borrowed(const AnyffiValue& a, const AnyffiValue& b, bool may_return, bool binds);
  Verdict meet_leaves(const AnyffiValue& a, const AnyffiValue& b);
  Verdict meet_object(const AnyffiValue& a, const AnyffiValue& b, const ObjectType& type, bool binds,
                      Variable* variable);
  bool is_known(AnyffiObject* a, AnyffiObject* b, bool only_begun, int32_t* row);
  bool unite(AnyffiObject* a, AnyffiObject* b);
  size_t root_of(size_t node) noexcept;
  /// Compares two parts, and records if they differ.
  Verdict compare_elements(const AnyffiValue& a, const AnyffiValue& b, bool binds);
  /// The same for parts that were made to be compared.
  Verdict compare_parts(Owned& a, Owned& b, bool by_identity, bool binds);

  /// Continue the last frame: kSame if it is done.
  Verdict advance();
  Verdict advance_sequence();
  Verdict advance_entries();
  Verdict advance_parts();
  Verdict advance_pairs();
  /// Records the entries of `b` that `a` lacks.
  Verdict record_others(const Mapping* a, const Mapping* b);
  void finish();
  static void release(const Frame& frame) noexcept {
    if (!frame.owns) return;
    anyffi_value_drop(&frame.a);
    anyffi_value_drop(&frame.b);
  }

  int pair_entries(const Mapping* a, const Mapping* b, Pairs* pairs);
  int pair_group(const Mapping* a, const Mapping* b, Vector<HashedEntry>& left, Vector<HashedEntry>& right,
                 Pairs* pairs);
  int hash_entries(int side, const Mapping* mapping, Vector<HashedEntry>* out);

  /// Records a difference; kDiffers if the search ends.
  Verdict record(const AnyffiValue* left, const AnyffiValue* right, const AnyffiValue* last_key);
  int make_step(const Frame& frame, AnyffiValue* out);
  /// The step of a frame, from what the paths before this one have.
  const AnyffiValue* find_step(size_t level);

  uint32_t flags_;
  Search search_;
  bool maps_; /* an object may stand for another one, so it is compared with itself, too */
  bool owns_ = false;
  size_t num_steps_ = 0; /* of all paths */
  ObjectTypes types_;
  Scopes scopes_;
  Hasher hashers_[2];
  Vector<Frame> stack_;
  Vector<Owned> kept_;
  Results results_;
  PairTable nodes_;
  Vector<int32_t> parents_;
  PairTable declaring_;
  Vector<Owned> differences_;
  /// Of the last path, as far as its frames are still open: paths have most of their steps in common.
  struct Step {
    int64_t current;
    Owned row;
  };
  Vector<Step> steps_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_COMPARER_H_
