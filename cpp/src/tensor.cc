/// \file
/// Tensors over memory that somebody else owns.
#include <algorithm>

#include "internal.h"

namespace anyffi::runtime {
namespace {

void delete_tensor(AnyffiObject* self, int32_t what) {
  auto* tensor = reinterpret_cast<AnyffiTensor*>(self);
  if ((what & ANYFFI_DELETE_CONTENTS) && tensor->release_owner != nullptr) {
    tensor->release_owner(std::exchange(tensor->owner, nullptr));
  }
  if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
}

/// Row-major strides, in elements. False if the number of elements does not fit.
bool fill_compact_strides(const int64_t* shape, int32_t ndim, int64_t* strides) {
  int64_t step = 1;
  for (int32_t i = ndim - 1; i >= 0; --i) {
    strides[i] = step;
    // An axis of no elements leaves the others what they would be for one.
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[i], 1), &step)) return false;
  }
  return true;
}

int create_tensor(const AnyffiTensorData& data, uint64_t flags, AnyffiValue* out) {
  if (data.ndim < 0 || (data.ndim > 0 && data.shape == nullptr)) {
    return anyffi_error_raise("ValueError", "a tensor needs a shape");
  }
  auto ndim = static_cast<size_t>(data.ndim);
  if (std::any_of(data.shape, data.shape + ndim, [](int64_t size) { return size < 0; })) {
    return anyffi_error_raise("ValueError", "negative dimensions are not allowed");
  }
  auto* tensor =
      allocate_object<AnyffiTensor>(ANYFFI_TENSOR, &delete_tensor, sizeof(AnyffiTensor) + 2 * ndim * sizeof(int64_t));
  if (tensor == nullptr) return -1;
  tensor->tensor = data;
  tensor->tensor.shape = reinterpret_cast<int64_t*>(tensor + 1);
  tensor->tensor.strides = tensor->tensor.shape + ndim;
  std::copy(data.shape, data.shape + ndim, tensor->tensor.shape);
  if (data.strides != nullptr) {
    std::copy(data.strides, data.strides + ndim, tensor->tensor.strides);
  } else if (!fill_compact_strides(data.shape, data.ndim, tensor->tensor.strides)) {
    anyffi_free(tensor);
    return anyffi_error_raise("ValueError", "the shape has too many elements");
  }
  tensor->flags = flags;
  *out = anyffi_object_inline(&tensor->header);
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_tensor_create(const AnyffiTensorData* data, uint64_t flags, void* owner, void (*release_owner)(void* owner),
                         AnyffiValue* out) {
  *out = anyffi_none_inline();
  if (anyffi::runtime::create_tensor(*data, flags, out) != 0) {
    if (release_owner != nullptr) release_owner(owner);
    return -1;
  }
  auto* tensor = reinterpret_cast<AnyffiTensor*>(out->as_object);
  tensor->owner = owner;
  tensor->release_owner = release_owner;
  return 0;
}

int anyffi_tensor_create_host(const AnyffiTensorData* data, uint64_t flags, void* handle, AnyffiValue* out) {
  return anyffi_tensor_create(data, flags, handle, &anyffi::runtime::release_handle, out);
}
