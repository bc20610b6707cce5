/// \file
/// The elements of a tensor as values, for parameters that are sequences of numbers.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/owned.h"
#include "tensors/names.h"

namespace anyffi::runtime {
namespace {

AnyffiValue number_of(bool item) noexcept {
  AnyffiValue value = anyffi_make_int(item);
  value.type_code = ANYFFI_BOOL;
  return value;
}
AnyffiValue number_of(int64_t item) noexcept { return anyffi_make_int(item); }
AnyffiValue number_of(double item) noexcept {
  AnyffiValue value = anyffi_make_none();
  value.type_code = ANYFFI_FLOAT;
  value.as_float = item;
  return value;
}

/// Appends the elements, each a T in memory that need not be aligned, as a Number of Python. Memory is reserved.
template <class T, class Number>
int append_items(const AnyffiTensorData& data, AnyffiSequence& list) noexcept {
  const char* place = static_cast<const char*>(data.data) + data.byte_offset;
  int64_t count = data.shape[0], step = data.strides[0] * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i, place += step) {
    T item;
    std::memcpy(&item, place, sizeof(T));
    AnyffiValue value = number_of(static_cast<Number>(item));
    if (std::is_same_v<T, uint64_t> && value.as_int < 0) {
      uint64_t word = static_cast<uint64_t>(item);
      if (anyffi_big_int_create(&word, 1, 0, &value) != 0) return -1;
    }
    list.type_mask |= anyffi_type_bit(value.type_code);
    list.data[list.size++] = value;
  }
  return 0;
}

using Append = int (*)(const AnyffiTensorData& data, AnyffiSequence& list) noexcept;

/// NULL for elements that are no numbers of Python, or not of whole machine words.
Append find_append(const AnyffiDataType& type) noexcept {
  if (type.lanes != 1) return nullptr;
  switch (type.code << 8 | type.bits) {
    case ANYFFI_kDLInt << 8 | 8:
      return &append_items<int8_t, int64_t>;
    case ANYFFI_kDLInt << 8 | 16:
      return &append_items<int16_t, int64_t>;
    case ANYFFI_kDLInt << 8 | 32:
      return &append_items<int32_t, int64_t>;
    case ANYFFI_kDLInt << 8 | 64:
      return &append_items<int64_t, int64_t>;
    case ANYFFI_kDLUInt << 8 | 8:
      return &append_items<uint8_t, int64_t>;
    case ANYFFI_kDLUInt << 8 | 16:
      return &append_items<uint16_t, int64_t>;
    case ANYFFI_kDLUInt << 8 | 32:
      return &append_items<uint32_t, int64_t>;
    case ANYFFI_kDLUInt << 8 | 64:
      return &append_items<uint64_t, int64_t>;
    case ANYFFI_kDLFloat << 8 | 32:
      return &append_items<float, double>;
    case ANYFFI_kDLFloat << 8 | 64:
      return &append_items<double, double>;
    case ANYFFI_kDLBool << 8 | 8:
      return &append_items<uint8_t, bool>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_tensor_get_items(const AnyffiValue* tensor, AnyffiValue* out) {
  *out = anyffi_make_none();
  const AnyffiTensorData& data = tensor->type_code == ANYFFI_TENSOR
                                     ? reinterpret_cast<const AnyffiTensor*>(tensor->as_object)->tensor
                                     : *static_cast<const AnyffiTensorData*>(tensor->as_pointer);
  if (data.ndim != 1) {
    return raise_format("ValueError", "expected a tensor of one axis, got one of %d", static_cast<int>(data.ndim));
  }
  Append append = find_append(data.dtype);
  if (append == nullptr) {
    return raise_format("TypeError", "expected a tensor of numbers, got one of %s", data_type_name(data.dtype).text);
  }
  if (anyffi_tensor_check_access(&data, 0, nullptr, 1, ANYFFI_ACCESS_READ) != 0) return -1;
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, data.shape[0], list.out()) != 0) return -1;
  if (append(data, *reinterpret_cast<AnyffiSequence*>(list->as_object)) != 0) return -1;
  *out = list.take();
  return 0;
}
