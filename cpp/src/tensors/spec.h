/// \file
/// Checks tensors against typed parameters, and describes both in messages.
#ifndef ANYFFI_SRC_TENSORS_SPEC_H_
#define ANYFFI_SRC_TENSORS_SPEC_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// The tensor of a value, or NULL, and its flags.
const AnyffiTensorData* tensor_of(const AnyffiValue& value, uint64_t* flags) noexcept;
/// Appends `a row-major tensor of float64 with shape (*, 3)`.
void append_requirement(String* out, const AnyffiTensorSpec& spec, const AnyffiValue& got);
/// Appends `float32 with shape (2, 2)`, and the properties that violate the specification, if one is given.
void append_tensor(String* out, const AnyffiTensorSpec* spec, const AnyffiTensorData& data, uint64_t flags);
/// Whether the elements are contiguous in an AnyffiTensorOrder.
bool is_in_order(const AnyffiTensorData& data, int32_t order) noexcept;
/// Whether a tensor has the required number of axes and extents, and the CPU can read its memory.
bool can_be_copied(const AnyffiTensorSpec& spec, const AnyffiTensorData& data) noexcept;
/// Appends `(2, 3)` or `(2,)`, as Python writes tuples. If `is_pattern`, -1 is written as `*`.
void append_sizes(String* out, const int64_t* sizes, int32_t count, bool is_pattern);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TENSORS_SPEC_H_
