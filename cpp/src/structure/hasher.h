/// \file
/// Hashes of values by their structure.
#ifndef ANYFFI_SRC_STRUCTURE_HASHER_H_
#define ANYFFI_SRC_STRUCTURE_HASHER_H_

#include "core/owned.h"
#include "structure/leaves.h"
#include "structure/parts.h"
#include "structure/scopes.h"

namespace anyffi::runtime {

/// Computes hashes, with a stack of its own. An object that contains itself gets the hash of the tree that it unfolds
/// to, down to a few levels, which does not depend on how the cycle is built.
class Hasher {
 public:
  /// Variables are looked up as those of one side of `scopes`.
  Hasher(ObjectTypes& types, Scopes& scopes, int side, uint32_t flags) noexcept
      : types_(types), scopes_(scopes), side_(side), flags_(flags) {}

  /// -1 after an error. May throw bad_alloc, and run code of the host.
  int run(const AnyffiValue& value, uint64_t* out);
  /// For hashing many parts: remembers the hashes of all objects, and does not map free variables.
  void serve_comparison() noexcept { serves_comparison_ = true; }

 private:
  static constexpr int32_t kNoLimit = 15;
  static constexpr int32_t kLevelsOfCycles = 6;

  struct Frame {
    Owned value;
    const ObjectType* type;
    Position position;
    uint64_t sum;
    uint64_t key;
    int32_t row; /* in results_, or -1 */
    int32_t levels;
    uint32_t height; /* the height of the scopes when the frame began */
    uint32_t first_use;
    Form form;
    bool binds; /* its elements are variables */
    Variable variable;
    bool needs_all;
    bool is_unordered; /* it lies in an unordered container */
  };

  int run_once(const AnyffiValue& value, int32_t levels, uint64_t* out);
  /// Adds `result_` to the hash of the last frame.
  void absorb() noexcept;
  /// Begins a value: 0 if its hash is in `result_`, 1 if a frame was pushed for it.
  int meet(Owned value, bool is_shared, bool binds);
  /// The same for a possible variable: 0 if its hash is in `result_`.
  int meet_variable(AnyffiObject* object, const ObjectType& type, bool binds, Variable* variable);
  Use use_of(const AnyffiObject* variable, int32_t number) const noexcept;
  /// Continues the last frame: 1 if another frame was pushed, 0 if it is complete.
  int advance();
  void finish();

  ObjectTypes& types_;
  Scopes& scopes_;
  int side_;
  uint32_t flags_;
  bool serves_comparison_ = false;
  int32_t limit_ = kNoLimit;
  bool has_cycle_ = false;
  uint64_t result_ = 0;
  Vector<Frame> stack_;
  Vector<Owned> kept_;
  Results results_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_HASHER_H_
