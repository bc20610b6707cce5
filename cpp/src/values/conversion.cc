/// \file
/// Conversions for parameters that accept more than their own type: from sequences and sets of the host, tensors, paths
/// and times.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <cstring>

#include "core/depth.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/owned.h"
#include "core/utf8.h"

namespace anyffi::runtime {
namespace {

AnyffiSequence& sequence_of(const Owned& list) { return *reinterpret_cast<AnyffiSequence*>(list->as_object); }

/// Appends an owned value; the capacity must be reserved.
void append(AnyffiSequence& list, const AnyffiValue& value) noexcept {
  list.type_mask |= anyffi_type_bit(value.type_code);
  list.data[list.size++] = value;
}

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

/// Elements in memory, possibly unaligned; `step` is in bytes.
struct Elements {
  const char* first;
  int64_t count;
  int64_t step;
};

/// Appends elements of type T as numbers of type Number. The capacity must be reserved.
template <class T, class Number>
int append_items(const Elements& elements, AnyffiSequence& list) noexcept {
  for (int64_t i = 0; i < elements.count; ++i) {
    T item;
    std::memcpy(&item, elements.first + i * elements.step, sizeof(T));
    AnyffiValue value = number_of(static_cast<Number>(item));
    if (std::is_same_v<T, uint64_t> && value.as_int < 0) {
      uint64_t word = static_cast<uint64_t>(item);
      if (anyffi_big_int_create(&word, 1, 0, &value) != 0) return -1;
    }
    append(list, value);
  }
  return 0;
}

using Append = int (*)(const Elements& elements, AnyffiSequence& list) noexcept;

/// NULL for elements that are not numbers in Python, or not whole machine words.
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

int read_elements(const Elements& elements, Append append_all, AnyffiValue* out) noexcept {
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, elements.count, list.out()) != 0) return -1;
  if (append_all(elements, sequence_of(list)) != 0) return -1;
  *out = list.take();
  return 0;
}

void release_parent(void* parent) { anyffi_object_release(static_cast<AnyffiObject*>(parent)); }

/// A List of the tensor's subarrays along the first axis, on the same memory.
int split_rows(const AnyffiValue& tensor, const AnyffiTensorData& data, AnyffiValue* out) noexcept {
  Owned parent, list;
  if (anyffi_value_own(&tensor, parent.out()) != 0) return -1;
  uint64_t flags = reinterpret_cast<const AnyffiTensor*>(parent->as_object)->flags;
  if (anyffi_sequence_create(ANYFFI_LIST, data.shape[0], list.out()) != 0) return -1;
  for (int64_t i = 0; i < data.shape[0]; ++i) {
    AnyffiTensorData row = data;
    row.ndim -= 1;
    row.shape += 1;
    row.strides += 1;
    row.byte_offset += static_cast<uint64_t>(i * data.strides[0] * (data.dtype.bits / 8));
    anyffi_object_retain(parent->as_object);
    AnyffiValue made;
    if (anyffi_tensor_create(&row, flags, parent->as_object, &release_parent, &made) != 0) return -1;
    append(sequence_of(list), made);
  }
  *out = list.take();
  return 0;
}

int convert_tensor(const AnyffiValue& tensor, AnyffiValue* out) noexcept {
  const AnyffiTensorData& data = tensor.type_code == ANYFFI_TENSOR
                                     ? reinterpret_cast<const AnyffiTensor*>(tensor.as_object)->tensor
                                     : *static_cast<const AnyffiTensorData*>(tensor.as_pointer);
  Append append_all = find_append(data.dtype);
  if (data.ndim < 1 || append_all == nullptr) return 0;
  if (anyffi_tensor_check_access(&data, 0, nullptr, 1, ANYFFI_ACCESS_READ) != 0) return -1;
  if (data.ndim > 1) return tensor.type_code == ANYFFI_TENSOR ? split_rows(tensor, data, out) : 0;
  // The stride of a single element is arbitrary.
  int64_t step = data.shape[0] <= 1 ? 0 : data.strides[0] * static_cast<int64_t>(data.dtype.bits / 8);
  return read_elements({static_cast<const char*>(data.data) + data.byte_offset, data.shape[0], step}, append_all, out);
}

/// The ints of a range, given as a Slice of start, count and step.
int expand_range(const AnyffiValue& slice, AnyffiValue* out) noexcept {
  auto* range = reinterpret_cast<const AnyffiSlice*>(slice.as_object);
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, range->stop.as_int, list.out()) != 0) return -1;
  // Unsigned, because computing the element after the last one may overflow.
  auto next = static_cast<uint64_t>(range->start.as_int);
  for (int64_t i = 0; i < range->stop.as_int; ++i, next += static_cast<uint64_t>(range->step.as_int)) {
    append(sequence_of(list), anyffi_make_int(static_cast<int64_t>(next)));
  }
  *out = list.take();
  return 0;
}

/// Reads elements from an Array of a data type and Bytes.
int read_memory(const AnyffiValue& described, AnyffiValue* out) noexcept {
  auto* parts = reinterpret_cast<const AnyffiSequence*>(described.as_object);
  const AnyffiDataType& type = parts->data[0].as_data_type;
  Append append_all = find_append(type);
  if (append_all == nullptr) return 0;
  AnyffiTextView bytes;
  anyffi_view_text(&parts->data[1], &bytes);
  int64_t size = type.bits / 8;
  return read_elements({static_cast<const char*>(bytes.data), bytes.length / size, size}, append_all, out);
}

/// Encodes a path for the system as `os.fsencode` does with UTF-8.
int encode_path(const AnyffiValue& path, AnyffiValue* out) noexcept {
  if (!anyffi_is_str(path.type_code)) return anyffi_is_bytes(path.type_code) ? anyffi_value_own(&path, out) : 0;
  AnyffiTextView text;
  anyffi_view_text(&path, &text);
  return guard([&] {
    String native;
    for (int64_t i = 0; i < text.length; ++i) {
      uint32_t code_point = anyffi_get_code_point(&text, i);
      char encoded[4];
      // In Python, bytes that are not UTF-8 are lone surrogates.
      if (code_point >= 0xDC80 && code_point <= 0xDCFF) {
        native += static_cast<char>(code_point - 0xDC00);
      } else if (is_surrogate(code_point)) {
        return anyffi_str_to_utf8(&path, out);
      } else {
        native.append(encoded, static_cast<size_t>(encode_step(code_point, encoded)));
      }
    }
    return anyffi_bytes_create(native.data(), static_cast<int64_t>(native.size()), out);
  });
}

/// Converts the hook's description of a sequence to a List, and a path to its bytes.
int finish(const Owned& found, int32_t conversion, AnyffiValue* out) noexcept {
  if (conversion == ANYFFI_AS_PATH) return encode_path(*found.get(), out);
  if (found->type_code == ANYFFI_SLICE) return expand_range(*found.get(), out);
  if (found->type_code == ANYFFI_ARRAY) return read_memory(*found.get(), out);
  return anyffi_value_own(found.get(), out);
}

int convert_handle(void* handle, int32_t conversion, AnyffiValue* out) noexcept {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->handle_convert == nullptr) return 0;
  // Bounds recursion: users' code may call back into a function with such a parameter.
  DepthGuard depth;
  if (!depth) return -1;
  Owned found;
  AnyffiValue* made = found.out();
  if (call_hook(made, [&] { return hooks->handle_convert(handle, conversion, made); }) != 0) return -1;
  return finish(found, conversion, out);
}

/// A List of the keys of a mapping or set.
int list_keys(const AnyffiValue& given, AnyffiValue* out) noexcept {
  auto* mapping = reinterpret_cast<const AnyffiMapping*>(given.as_object);
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, mapping->used, list.out()) != 0) return -1;
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiValue& key = mapping->entries[i].key;
    if (key.type_code == ANYFFI_UNSET) continue;
    anyffi_value_retain(&key);
    append(sequence_of(list), key);
  }
  *out = list.take();
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_value_convert(const AnyffiValue* value, int32_t conversion, AnyffiValue* out) {
  *out = anyffi_make_none();
  const AnyffiValue& given = *value;
  bool wants_items = conversion == ANYFFI_AS_SEQUENCE || conversion == ANYFFI_AS_ITERABLE;
  switch (given.type_code) {
    case ANYFFI_TENSOR:
    case ANYFFI_TENSOR_VIEW:
      return wants_items ? convert_tensor(given, out) : 0;
    case ANYFFI_DICT:
    case ANYFFI_MAP:
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET:
      return conversion == ANYFFI_AS_ITERABLE ? list_keys(given, out) : 0;
    default:
      break;
  }
  if (conversion == ANYFFI_AS_PATH && (anyffi_is_str(given.type_code) || anyffi_is_bytes(given.type_code))) {
    return encode_path(given, out);
  }
  // The host's class of an object may have the methods of a sequence, a path or an array.
  Owned kept, instance;
  bool may_be_one =
      wants_items || conversion == ANYFFI_AS_SET || conversion == ANYFFI_AS_PATH || conversion == ANYFFI_AS_TENSOR;
  if (may_be_one && given.type_code >= ANYFFI_FIRST_DYNAMIC_TYPE) {
    // Such a method could otherwise move the object to C++, which frees it.
    if (anyffi_value_own(value, kept.out()) != 0) return -1;
    if (anyffi_value_create_host(ANYFFI_AS_INSTANCE, value, instance.out()) != 0) return -1;
  }
  void* handle = handle_of(instance->type_code == ANYFFI_NONE ? given : *instance.get());
  return handle == nullptr ? 0 : convert_handle(handle, conversion, out);
}

int anyffi_value_create_host(int32_t conversion, const AnyffiValue* from, AnyffiValue* out) {
  *out = anyffi_make_none();
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->handle_create == nullptr) return anyffi_value_own(from, out);
  return call_hook(out, [&] { return hooks->handle_create(conversion, from, out); });
}
