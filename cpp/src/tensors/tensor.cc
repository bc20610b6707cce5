/// \file
/// Creates, copies and accesses tensors.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/host.h"
#include "core/memory.h"
#include "core/object.h"
#include "core/owned.h"
#include "tensors/layout.h"
#include "tensors/names.h"

namespace anyffi::runtime {
namespace {

/// The object is followed by shape, strides, and space for `byte_strides`.
size_t tensor_bytes(int32_t ndim) { return sizeof(AnyffiTensor) + 3 * static_cast<size_t>(ndim) * sizeof(int64_t); }

void delete_tensor(AnyffiObject* self, int32_t what) {
  auto* tensor = reinterpret_cast<AnyffiTensor*>(self);
  if ((what & ANYFFI_DELETE_CONTENTS) && tensor->release_owner != nullptr) {
    tensor->release_owner(std::exchange(tensor->owner, nullptr));
  }
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiTensor>(self, tensor_bytes(tensor->tensor.ndim));
}

/// Sets row-major strides, in elements. Returns false if the number of elements overflows.
bool fill_compact_strides(const int64_t* shape, int32_t ndim, int64_t* strides) {
  int64_t step = 1;
  for (int32_t i = ndim - 1; i >= 0; --i) {
    strides[i] = step;
    // An axis of size 0 counts as size 1 here, as in NumPy.
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[i], 1), &step)) return false;
  }
  return true;
}

int check_shape(const AnyffiTensorData& data) {
  if (data.ndim < 0 || (data.ndim > 0 && data.shape == nullptr)) {
    return anyffi_error_raise("ValueError", "a tensor needs a shape");
  }
  if (std::any_of(data.shape, data.shape + data.ndim, [](int64_t size) { return size < 0; })) {
    return anyffi_error_raise("ValueError", "negative dimensions are not allowed");
  }
  return 0;
}

int create_tensor(const AnyffiTensorData& data, uint64_t flags, AnyffiValue* out) {
  if (check_shape(data) != 0) return -1;
  auto ndim = static_cast<size_t>(data.ndim);
  auto* tensor = allocate_object<AnyffiTensor>(ANYFFI_TENSOR, &delete_tensor, tensor_bytes(data.ndim));
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
  *out = anyffi_make_object(&tensor->header);
  return 0;
}

/// The size in bytes of a compact tensor; -1 after MemoryError if it overflows.
int64_t find_size(const int64_t* shape, int32_t ndim, int64_t item_bits) {
  if (std::find(shape, shape + ndim, 0) != shape + ndim) return 0;
  int64_t bits = item_bits;
  for (int32_t i = 0; i < ndim; ++i) {
    if (__builtin_mul_overflow(bits, shape[i], &bits)) return raise_no_memory();
  }
  return bits / 8 + (bits % 8 != 0);
}

int get_size(const AnyffiTensorData& data, uint64_t flags, int64_t* out) {
  if (check_shape(data) != 0) return -1;
  *out = find_size(data.shape, data.ndim, find_item_bits(data.dtype, flags));
  return *out < 0 ? -1 : 0;
}

int create_empty(const int64_t* shape, int32_t ndim, const AnyffiDataType& type, uint64_t flags, AnyffiValue* out) {
  AnyffiTensorData data{nullptr, {ANYFFI_kDLCPU, 0}, ndim, type, const_cast<int64_t*>(shape), nullptr, 0};
  Owned made;
  if (anyffi_tensor_create(&data, flags, nullptr, nullptr, made.out()) != 0) return -1;
  auto* tensor = reinterpret_cast<AnyffiTensor*>(made.get()->as_object);
  int64_t size = find_size(shape, ndim, find_item_bits(type, flags));
  if (size < 0) return -1;
  constexpr uintptr_t kRoom = ANYFFI_TENSOR_ALIGNMENT - 1;
  tensor->owner = anyffi_alloc(static_cast<size_t>(size) + kRoom + 1);
  if (tensor->owner == nullptr) return raise_no_memory();
  tensor->release_owner = &anyffi_free;
  tensor->tensor.data = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(tensor->owner) + kRoom) & ~kRoom);
  *out = made.take();
  return 0;
}

/// Copies all elements, at least one, in row-major order.
void copy_elements(const AnyffiTensorData& from, size_t item_size, char* to) {
  Vector<int64_t> index(static_cast<size_t>(from.ndim));
  const char* source = static_cast<const char*>(from.data) + from.byte_offset;
  for (;;) {
    std::memcpy(to, source, item_size);
    to += item_size;
    int32_t axis = from.ndim - 1;
    for (; axis >= 0; --axis) {
      // The stride of an axis with one element is arbitrary.
      int64_t step = from.shape[axis] == 1 ? 0 : from.strides[axis] * static_cast<int64_t>(item_size);
      if (++index[static_cast<size_t>(axis)] < from.shape[axis]) {
        source += step;
        break;
      }
      source -= step * (from.shape[axis] - 1);
      index[static_cast<size_t>(axis)] = 0;
    }
    if (axis < 0) return;
  }
}

int copy_tensor(const AnyffiTensorData& data, uint64_t flags, AnyffiValue* out) {
  if (!is_cpu_accessible(data.device)) {
    return raise_format("BufferError", "a tensor on %s cannot be copied by the CPU", device_name(data.device).text);
  }
  int64_t bits = find_item_bits(data.dtype, flags);
  if (bits % 8 != 0) return raise_format("BufferError", "elements of %s share bytes", data_type_name(data.dtype).text);
  Owned made;
  uint64_t copy_flags = (flags & ANYFFI_TENSOR_PADDED) | ANYFFI_TENSOR_COPIED;
  if (create_empty(data.shape, data.ndim, data.dtype, copy_flags, made.out()) != 0) return -1;
  return guard([&] {
    // If elements have no bytes, their number is not limited by memory.
    if (has_elements(data) && bits > 0) {
      void* memory = reinterpret_cast<AnyffiTensor*>(made.get()->as_object)->tensor.data;
      copy_elements(data, static_cast<size_t>(bits / 8), static_cast<char*>(memory));
    }
    *out = made.take();
    return 0;
  });
}

int check_access(const AnyffiTensorData& data, uint64_t flags, const AnyffiDataType* type, uint64_t alignment,
                 int32_t access) {
  if (!(access & ANYFFI_ACCESS_DEVICE) && !is_cpu_accessible(data.device)) {
    return raise_format("BufferError", "the memory of the tensor is on %s, not on the CPU",
                        device_name(data.device).text);
  }
  if (type != nullptr && std::memcmp(type, &data.dtype, sizeof(*type)) != 0) {
    return raise_format("TypeError", "expected a tensor of %s, got one of %s", data_type_name(*type).text,
                        data_type_name(data.dtype).text);
  }
  if ((access & ANYFFI_ACCESS_WRITE) && (flags & ANYFFI_TENSOR_READ_ONLY)) {
    return anyffi_error_raise("ValueError", "the tensor is read-only; only a const type reads it");
  }
  if ((reinterpret_cast<uintptr_t>(data.data) + data.byte_offset) % alignment != 0) {
    return raise_format("ValueError", "the memory of the tensor is not aligned to %llu bytes",
                        static_cast<unsigned long long>(alignment));
  }
  return 0;
}

int find_element(const AnyffiTensorData& data, const int64_t* positions, int32_t count, int64_t* out) {
  if (count != data.ndim) {
    return raise_format("IndexError", "expected %d indices, one for each axis, got %d", static_cast<int>(data.ndim),
                        static_cast<int>(count));
  }
  *out = 0;
  for (int32_t axis = 0; axis < count; ++axis) {
    if (positions[axis] < 0 || positions[axis] >= data.shape[axis]) {
      return raise_format("IndexError", "index %lld is out of bounds for axis %d with size %lld",
                          static_cast<long long>(positions[axis]), static_cast<int>(axis),
                          static_cast<long long>(data.shape[axis]));
    }
    *out += positions[axis] * data.strides[axis];
  }
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_tensor_create(const AnyffiTensorData* data, uint64_t flags, void* owner, void (*release_owner)(void* owner),
                         AnyffiValue* out) {
  *out = anyffi_make_none();
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

int anyffi_tensor_copy(const AnyffiTensorData* data, uint64_t flags, AnyffiValue* out) {
  *out = anyffi_make_none();
  return anyffi::runtime::copy_tensor(*data, flags, out);
}

int anyffi_tensor_get_nbytes(const AnyffiTensorData* data, uint64_t flags, int64_t* out) {
  return anyffi::runtime::get_size(*data, flags, out);
}

int anyffi_tensor_create_empty(const int64_t* shape, int32_t ndim, const AnyffiDataType* data_type, AnyffiValue* out) {
  *out = anyffi_make_none();
  return anyffi::runtime::create_empty(shape, ndim, *data_type, 0, out);
}

int anyffi_tensor_check_access(const AnyffiTensorData* data, uint64_t flags, const AnyffiDataType* data_type,
                               uint64_t alignment, int32_t access) {
  if (anyffi::runtime::check_access(*data, flags, data_type, alignment, access) == 0) return 0;
  return anyffi::runtime::mark_raised_about(static_cast<const char*>(data->data) + data->byte_offset);
}

int anyffi_tensor_get_element_offset(const AnyffiTensorData* data, const int64_t* positions, int32_t count,
                                     int64_t* out) {
  return anyffi::runtime::find_element(*data, positions, count, out);
}
