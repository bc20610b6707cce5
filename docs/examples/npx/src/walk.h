/// \file
/// The one iteration core: elementwise work and folds over strided arrays, block by block.
#ifndef NPX_WALK_H_
#define NPX_WALK_H_

#include "arrays.h"

namespace npx {

/// An array to read from, and the lane in which it is read.
struct Term {
  Strided array;
  Lane lane;
};

/// Computes `count` elements: blocks of the terms' lanes in, a block of the result's lane out.
using Loop = void (*)(const void* const* in, int64_t count, void* out);

/// The maximum number of terms.
constexpr int kMaxTerms = 32;

/// out[i] = loop(terms[0][i], ...). Terms are broadcast to the shape of `out`; a term that shares memory with `out`
/// must be the same view.
void apply(const Strided& out, Lane result, std::initializer_list<Term> terms, Loop loop);

/// Folds blocks of elements into a state, such as a sum.
struct Fold {
  /// The type that `finish` writes.
  Lane result;
  void (*start)(void* state);
  /// A block from each of `terms` arrays.
  void (*add)(void* state, const void* const* in, int terms, int64_t count);
  void (*finish)(const void* state, void* result);
};

/// A Fold of a class that has `Result`, `add(in, terms, count)` and `Result result() const`.
template <class State>
constexpr Fold fold_by() {
  using Result = typename State::Result;
  static_assert(sizeof(State) <= sizeof(Complex) * 4 && std::is_trivially_destructible_v<State>);
  return {lane_of_type<Result>(), [](void* state) { new (state) State; },
          [](void* state, const void* const* in, int terms, int64_t count) {
            static_cast<State*>(state)->add(in, terms, count);
          },
          [](const void* state, void* result) {
            auto value = static_cast<const State*>(state)->result();
            using Stored = std::conditional_t<std::is_same_v<Result, bool>, int64_t, Result>;
            *static_cast<Stored*>(result) = static_cast<Stored>(value);
          }};
}

/// out[i] = fold over j of (terms[0][i, j], terms[1][i, j], ...). The terms have one shape: `out`'s axes, then those
/// that are folded. No term shares memory with `out`.
void fold(const Strided& out, const Strided* terms, int count, Lane lane, const Fold& by);

/// Whether the memory ranges of two arrays overlap.
bool may_overlap(const Strided& a, const Strided& b);

/// Copies elements, converted and broadcast. The arrays may only overlap if they are the same view.
void assign(const Strided& to, const Strided& from);

/// A converted compact copy.
Tensor copied(const Strided& array, DataType dtype);
/// A flat copy: the elements in row-major order.
Tensor raveled(const Strided& array);

/// The output of a function: `out`, which must have this shape, or a new tensor.
class Result {
 public:
  /// ValueError or TypeError if `out` does not fit.
  Result(const Optional<Tensor>& out, const Dims& shape, DataType dtype);
  /// Declares an input; if it overlaps `out`, the result is computed in a temporary.
  void reads(const Strided& input, bool elementwise = true);
  const Strided& array() const { return array_; }
  /// The result.
  Tensor finish();

 private:
  void use_other_place(DataType dtype);
  Tensor tensor_;
  Strided array_;
  Optional<Tensor> elsewhere_;
};

}  // namespace npx

#endif  // NPX_WALK_H_
