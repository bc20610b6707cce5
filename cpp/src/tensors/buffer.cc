/// \file
/// Exports the memory of tensors through Python's buffer protocol, PEP 3118.
#include <anyffi/host_api.h>

#include "core/errors.h"
#include "tensors/layout.h"
#include "tensors/names.h"

namespace anyffi::runtime {
namespace {

/// The flags of a consumer's request, as PyBUF_WRITABLE and so on.
enum Request {
  kWritable = 0x01,
  kFormat = 0x04,
  kShape = 0x08,
  kStrides = 0x10,
  kRowMajor = 0x20,
  kColumnMajor = 0x40,
  kAnyMajor = 0x80,
};

static_assert(sizeof(ptrdiff_t) == sizeof(int64_t), "shape and strides are passed as they are");

constexpr bool kLongIs64 = sizeof(long) == sizeof(int64_t);

/// The element format in the syntax of Python's `struct` module, one letter or two; nullptr if there is none.
const char* find_format(const AnyffiDataType& type) noexcept {
  if (type.lanes != 1) return nullptr;
  switch (int{type.code} << 8 | type.bits) {
    case ANYFFI_kDLBool << 8 | 8:
      return "?";
    case ANYFFI_kDLInt << 8 | 8:
      return "b";
    case ANYFFI_kDLInt << 8 | 16:
      return "h";
    case ANYFFI_kDLInt << 8 | 32:
      return "i";
    case ANYFFI_kDLInt << 8 | 64:
      return kLongIs64 ? "l" : "q";  // NumPy's own choice for its int64
    case ANYFFI_kDLUInt << 8 | 8:
      return "B";
    case ANYFFI_kDLUInt << 8 | 16:
      return "H";
    case ANYFFI_kDLUInt << 8 | 32:
      return "I";
    case ANYFFI_kDLUInt << 8 | 64:
      return kLongIs64 ? "L" : "Q";
    case ANYFFI_kDLFloat << 8 | 16:
      return "e";
    case ANYFFI_kDLFloat << 8 | 32:
      return "f";
    case ANYFFI_kDLFloat << 8 | 64:
      return "d";
    case ANYFFI_kDLComplex << 8 | 64:
      return "Zf";
    case ANYFFI_kDLComplex << 8 | 128:
      return "Zd";
    default:
      return nullptr;
  }
}

int refuse(const char* reason) noexcept { return anyffi_error_raise("BufferError", reason); }

/// Computes the size of all elements in bytes, which may overflow: strides of 0 allow more elements than memory.
int find_size(const AnyffiTensorData& data, int64_t item_size, ptrdiff_t* out) noexcept {
  int64_t size = item_size;
  *out = 0;
  if (!has_elements(data)) return 0;
  for (int32_t i = 0; i < data.ndim; ++i) {
    if (__builtin_mul_overflow(size, data.shape[i], &size)) return refuse("the tensor has too many elements");
    int64_t bytes;
    if (data.shape[i] > 1 && __builtin_mul_overflow(data.strides[i], item_size, &bytes)) {
      return refuse("a stride of the tensor is too large");
    }
  }
  *out = size;
  return 0;
}

/// Whether the elements are contiguous, in row-major or column-major order.
bool is_compact(const AnyffiTensorData& data, bool column_major) noexcept {
  int64_t step = 1;
  for (int32_t i = 0; i < data.ndim; ++i) {
    int32_t axis = column_major ? i : data.ndim - 1 - i;
    if (data.shape[axis] > 1 && data.strides[axis] != step) {
      return !has_elements(data);
    }
    // May wrap around, for shapes that `find_size` rejects.
    step = static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(data.shape[axis]));
  }
  return true;
}

int check_layout(const AnyffiTensorData& data, int flags) noexcept {
  bool any = (flags & kAnyMajor) != 0;
  bool rows = (flags & kRowMajor) != 0 || (flags & kStrides) == 0;
  bool columns = (flags & kColumnMajor) != 0;
  if (!any && !rows && !columns) return 0;
  // A compact tensor of row-major order is the usual case.
  if (rows || any) {
    if (is_compact(data, false)) return 0;
    if (rows) return refuse("the tensor is not contiguous");
  }
  return is_compact(data, true) ? 0 : refuse("the tensor is not contiguous in column-major order");
}

/// Returns strides in bytes, valid as long as the tensor. Those of axes with at most one element may wrap around.
ptrdiff_t* fill_byte_strides(const AnyffiTensor& tensor, int64_t item_size) noexcept {
  int64_t* bytes = byte_strides(tensor);
  for (int32_t i = 0; i < tensor.tensor.ndim; ++i) {
    auto step = static_cast<uint64_t>(tensor.tensor.strides[i]) * static_cast<uint64_t>(item_size);
    // Atomic: another export may write the same values concurrently.
    __atomic_store_n(&bytes[i], static_cast<int64_t>(step), __ATOMIC_RELAXED);
  }
  return reinterpret_cast<ptrdiff_t*>(bytes);
}

int fill_buffer(const AnyffiTensor& tensor, AnyffiBuffer* out, int flags) noexcept {
  const AnyffiTensorData& data = tensor.tensor;
  int64_t bits = find_item_bits(data.dtype, tensor.flags);
  const char* format = find_format(data.dtype);
  if (!is_cpu_accessible(data.device)) {
    return raise_format("BufferError", "the memory of the tensor is on %s, not on the CPU",
                        device_name(data.device).text);
  }
  if (bits == 0 || bits % 8 != 0 || (format == nullptr && (flags & kFormat) != 0)) {
    return raise_format("BufferError", "elements of %s have no buffer format", data_type_name(data.dtype).text);
  }
  bool read_only = (tensor.flags & ANYFFI_TENSOR_READ_ONLY) != 0;
  if (read_only && (flags & kWritable) != 0) return refuse("the tensor is read-only");
  if (check_layout(data, flags) != 0 || find_size(data, bits / 8, &out->size) != 0) return -1;
  out->data = data.data == nullptr ? nullptr : static_cast<char*>(data.data) + data.byte_offset;
  if (data.data == nullptr) {
    if (out->size != 0) return refuse("the tensor has elements but no memory");
    // Never NULL: consumers would take NULL for a request to allocate.
    out->data = const_cast<AnyffiTensor*>(&tensor);
  }
  out->item_size = bits / 8;
  out->read_only = read_only;
  // Without a shape, the memory is one-dimensional, as in Python's memoryview.
  out->ndim = (flags & kShape) != 0 ? data.ndim : 1;
  out->format = (flags & kFormat) != 0 ? const_cast<char*>(format) : nullptr;
  out->shape = (flags & kShape) != 0 ? reinterpret_cast<ptrdiff_t*>(data.shape) : nullptr;
  out->strides = (flags & kStrides) == 0 ? nullptr : fill_byte_strides(tensor, bits / 8);
  out->suboffsets = nullptr;
  out->internal = nullptr;
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int32_t anyffi_tensor_is_contiguous(const AnyffiTensorData* data) { return anyffi::runtime::is_compact(*data, false); }

int anyffi_tensor_get_buffer(const AnyffiObject* tensor, AnyffiBuffer* out, int flags) {
  if (tensor == nullptr || tensor->type_code != ANYFFI_TENSOR) {
    return anyffi::runtime::refuse("expected a Tensor that is not empty");
  }
  return anyffi::runtime::fill_buffer(*reinterpret_cast<const AnyffiTensor*>(tensor), out, flags);
}
