/// \file
/// The shape of numbers in nested sequences.
#ifndef ANYFFI_SRC_VALUES_NESTED_H_
#define ANYFFI_SRC_VALUES_NESTED_H_

#include "tensors/spec.h"
#include "values/containers.h"

namespace anyffi::runtime {

/// `AnyffiMismatch.expected` for nested sequences that do not have the shape of a tensor.
inline constexpr char kNestedShape[] = "Tensor";

/// The shape of nested sequences, determined from the first element at each level; a tensor inside adds its own shape.
struct NestedShape {
  static constexpr int32_t kMostAxes = 32;
  int64_t extents[kMostAxes];
  int32_t ndim = 0;
  bool is_too_deep = false;

  explicit NestedShape(AnyffiValue value) noexcept {
    while (is_sequence(value.type_code) && !is_too_deep) {
      const AnyffiSequence* items = as_sequence(value.as_object);
      add(items->size);
      if (items->size == 0) return;
      value = items->data[0];
    }
    uint64_t flags;
    const AnyffiTensorData* data = tensor_of(value, &flags);
    for (int32_t axis = 0; data != nullptr && axis < data->ndim; ++axis) add(data->shape[axis]);
  }
  void add(int64_t extent) noexcept {
    is_too_deep = ndim == kMostAxes;
    if (!is_too_deep) extents[ndim++] = extent;
  }
  /// Whether the last sequence is empty, so that more axes are possible.
  bool is_open() const noexcept { return ndim > 0 && extents[ndim - 1] == 0; }
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_NESTED_H_
