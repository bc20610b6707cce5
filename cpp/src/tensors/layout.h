/// \file
/// The layout of a tensor's elements in memory.
#ifndef ANYFFI_SRC_TENSORS_LAYOUT_H_
#define ANYFFI_SRC_TENSORS_LAYOUT_H_

#include <anyffi/c_api.h>

#include <algorithm>

namespace anyffi::runtime {

inline bool has_elements(const AnyffiTensorData& data) noexcept {
  return std::find(data.shape, data.shape + data.ndim, 0) == data.shape + data.ndim;
}

/// Whether the CPU can access the memory of a device.
inline bool is_cpu_accessible(const AnyffiDevice& device) noexcept {
  switch (device.type) {
    case ANYFFI_kDLCPU:
    case ANYFFI_kDLCUDAHost:
    case ANYFFI_kDLROCMHost:
    case ANYFFI_kDLCUDAManaged:
      return true;
    default:
      return false;
  }
}

/// The distance in bits between adjacent elements of a compact tensor.
inline int64_t find_item_bits(const AnyffiDataType& type, uint64_t flags) noexcept {
  int64_t bits = int64_t{type.bits} * type.lanes;
  return flags & ANYFFI_TENSOR_PADDED ? (bits + 7) / 8 * 8 : bits;
}

/// Space for strides in bytes, which are computed when the tensor is first exported as a buffer: few tensors are.
inline int64_t* byte_strides(const AnyffiTensor& tensor) noexcept { return tensor.tensor.strides + tensor.tensor.ndim; }

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TENSORS_LAYOUT_H_
