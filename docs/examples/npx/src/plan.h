/// \file
/// The axes of a reduction.
#ifndef NPX_PLAN_H_
#define NPX_PLAN_H_

#include "walk.h"

namespace npx {

/// The reduced and the remaining axes of an array.
struct Plan {
  Strided array;  ///< the kept axes before the others
  Dims shape;     ///< the result's
  int64_t size;   ///< elements reduced to one

  Plan(const Tensor& tensor, const AxisArg& axis, bool keepdims)
      : array(read(tensor)), size(1), folded_(read_axes(axis, array.ndim())), keepdims_(keepdims) {
    Dims order, last;
    for (int i = 0; i < array.ndim(); ++i) {
      (folded_[i] ? last : order).push_back(i);
      if (folded_[i]) size *= array.shape[i];
      if (!folded_[i] || keepdims) shape.push_back(folded_[i] ? 1 : array.shape[i]);
    }
    for (int64_t i : last) order.push_back(i);
    array = array.transposed(order);
  }

  /// Views `to`, which has this plan's shape, as an array that only has the kept axes.
  Strided kept(Strided to) const {
    for (int i = folded_.size() - 1; i >= 0 && keepdims_; --i) {
      if (folded_[i]) to = to.without(i);
    }
    return to;
  }

  /// A copy whose last axis has all elements to be reduced.
  Tensor rows() const {
    Dims extents;
    for (int i = 0; i < folded_.size(); ++i) {
      if (!folded_[i]) extents.push_back(array.shape[extents.size()]);
    }
    extents.push_back(size);
    return reshaped(copied(array, array.dtype), extents);
  }

 private:
  Dims folded_;
  bool keepdims_;
};

}  // namespace npx

#endif  // NPX_PLAN_H_
