/// \file
/// Comparison of values by their structure.
#ifndef ANYFFI_SRC_STRUCTURE_COMPARER_H_
#define ANYFFI_SRC_STRUCTURE_COMPARER_H_

#include <memory>
#include <utility>

#include "structure/hasher.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// What to search for: whether there is a difference, the first one, or all of them.
enum class Search { kAny, kFirst, kAll };

/// Whether all keys of a mapping can be looked up, since none has parts.
bool has_simple_keys(const Mapping* mapping) noexcept;

/// Compares two values, with a stack of its own. Two cycles are equal if they unfold to the same infinite tree.
class Comparer {
 public:
  /// A limit for the total length of all paths: each path may be as long as the values are large.
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
  /// The differences, each an Array of the path (an Array of Arrays: StepType, then field, index or key), the left
  /// value, the right value, and 1 if there is a left value plus 2 if there is a right one.
  Vector<Owned>& differences() noexcept { return differences_; }

 private:
  /// The entries of two mappings or sets that correspond; -1 if there is none.
  struct EntryPair {
    int64_t a;
    int64_t b;
  };
  using Pairs = Vector<EntryPair>;
  /// An entry with the hash of its key, and of its value if several keys have the same hash.
  struct HashedEntry {
    uint64_t key;
    uint64_t value;
    int64_t entry;
    bool operator<(const HashedEntry& other) const noexcept {
      return key != other.key ? key < other.key : value != other.value ? value < other.value : entry < other.entry;
    }
  };

  /// Two values and the progress of their comparison. Borrowed from their containers until code of the host may run:
  /// see `protect`.
  struct Frame {
    AnyffiValue a;
    AnyffiValue b;
    const ObjectType* type;
    std::unique_ptr<Pairs> pairs; /* NULL: the keys are looked up */
    int64_t index;
    int64_t current; /* the element, entry of `a` or field that is being compared */
    int32_t row;     /* in results_, or -1 */
    uint32_t height; /* the height of the scopes when the frame began */
    uint32_t first_use;
    Form form;
    bool binds; /* its elements are variables */
    Variable variable;
    bool needs_all;
    bool owns;
  };

  /// Retains everything that is being compared. Must be called before code of the host runs.
  void protect() noexcept;
  /// Begins the comparison of two borrowed values.
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
  /// The same for parts that were created for the comparison.
  Verdict compare_parts(Owned& a, Owned& b, bool by_identity, bool binds);

  /// Continue the last frame: kSame if it is done.
  Verdict advance();
  Verdict advance_sequence();
  Verdict advance_entries();
  Verdict advance_parts();
  Verdict advance_pairs();
  /// Records the entries of `b` that are missing in `a`.
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

  /// Records a difference; returns kDiffers if the search is finished.
  Verdict record(const AnyffiValue* left, const AnyffiValue* right, const AnyffiValue* last_key);
  int make_step(const Frame& frame, AnyffiValue* out);
  /// The path step of a frame, shared with the previous path where possible.
  const AnyffiValue* find_step(size_t level);

  uint32_t flags_;
  Search search_;
  bool maps_; /* variables are mapped, so even the same object must be compared with itself */
  bool owns_ = false;
  size_t num_steps_ = 0; /* in all paths */
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
  /// The steps of the previous path whose frames are still open: most steps of successive paths are the same.
  struct Step {
    int64_t current;
    Owned row;
  };
  Vector<Step> steps_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_COMPARER_H_
