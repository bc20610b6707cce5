/// \file
/// Comparison and hashes of values without parts.
#include "structure/leaves.h"

#include <anyffi/inline.h>

#include <cmath>
#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "tensors/spec.h"
#include "values/equal.h"

namespace anyffi::runtime {
namespace {

bool are_same_floats(double a, double b) noexcept { return a == b || (std::isnan(a) && std::isnan(b)); }

uint64_t bits_of(double number) noexcept {
  if (std::isnan(number)) return 0x7FF8000000000000u;
  if (number == 0) return 0;
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

uint64_t hash_memory(uint64_t sum, const void* memory, size_t size) noexcept {
  auto* bytes = static_cast<const unsigned char*>(memory);
  uint64_t words[2];
  sum = add_hash(sum, size);
  for (; size >= 16; bytes += 16, size -= 16) {
    std::memcpy(words, bytes, 16);
    sum = fold(sum ^ words[0] ^ kStructureSeeds[0], words[1] ^ kStructureSeeds[1]) + sum;
  }
  words[0] = words[1] = 0;
  std::memcpy(words, bytes, size);
  return add_hash(add_hash(sum, words[0]), words[1]);
}

/// The elements of a tensor, compact and readable by the CPU; `holder` owns a copy if one is needed.
int read_elements(const AnyffiTensorData& data, uint64_t flags, Owned* holder, const void** out, int64_t* size) {
  const AnyffiTensorData* compact = &data;
  if (anyffi_tensor_get_nbytes(&data, flags, size) != 0) return -1;
  if (*size == 0) return *out = "", 0;
  if (anyffi_tensor_check_access(&data, flags, nullptr, 1, ANYFFI_ACCESS_READ) != 0) return -1;
  if (!is_in_order(data, ANYFFI_ORDER_ROW_MAJOR)) {
    if (anyffi_tensor_copy(&data, flags, holder->out()) != 0) return -1;
    compact = &reinterpret_cast<AnyffiTensor*>(holder->get()->as_object)->tensor;
  }
  *out = static_cast<const char*>(compact->data) + compact->byte_offset;
  return 0;
}

int compare_tensors(const AnyffiTensorData& a, uint64_t a_flags, const AnyffiTensorData& b, uint64_t b_flags,
                    bool skips_content) noexcept {
  if (std::memcmp(&a.dtype, &b.dtype, sizeof(a.dtype)) != 0 || a.ndim != b.ndim) return 0;
  for (int32_t i = 0; i < a.ndim; ++i) {
    if (a.shape[i] != b.shape[i]) return 0;
  }
  if (skips_content) return 1;
  bool is_same_memory = a.data == b.data && a.byte_offset == b.byte_offset && a.device.type == b.device.type &&
                        a.device.index == b.device.index;
  for (int32_t i = 0; i < a.ndim && is_same_memory; ++i) is_same_memory = a.strides[i] == b.strides[i];
  if (is_same_memory) return 1;
  Owned left, right;
  const void* left_data;
  const void* right_data;
  int64_t left_size, right_size;
  if (read_elements(a, a_flags, &left, &left_data, &left_size) != 0) return -1;
  if (read_elements(b, b_flags, &right, &right_data, &right_size) != 0) return -1;
  return left_size == right_size && std::memcmp(left_data, right_data, static_cast<size_t>(left_size)) == 0;
}

int hash_tensor(const AnyffiTensorData& data, uint64_t flags, bool skips_content, uint64_t* out) noexcept {
  uint64_t sum = begin_hash(ANYFFI_TENSOR);
  sum = add_hash(sum, uint64_t{data.dtype.code} | uint64_t{data.dtype.bits} << 8 | uint64_t{data.dtype.lanes} << 16);
  for (int32_t i = 0; i < data.ndim; ++i) sum = add_hash(sum, static_cast<uint64_t>(data.shape[i]));
  if (!skips_content) {
    Owned holder;
    const void* elements;
    int64_t size;
    if (read_elements(data, flags, &holder, &elements, &size) != 0) return -1;
    sum = hash_memory(sum, elements, static_cast<size_t>(size));
  }
  *out = sum;
  return 0;
}

}  // namespace

uint64_t hash_key_of_type(const char* type_key) noexcept {
  return hash_memory(begin_hash(ANYFFI_OBJECT), type_key, std::strlen(type_key));
}

int find_plain(const AnyffiValue& value, Owned* holder, const AnyffiValue** out) noexcept {
  *out = &value;
  if (value.type_code != ANYFFI_PY_OBJECT) return 0;
  if (anyffi_value_convert(&value, ANYFFI_AS_PLAIN, holder->out()) != 0) return -1;
  int32_t code = holder->get()->type_code;
  if (code != ANYFFI_NONE && code != ANYFFI_PY_OBJECT) *out = holder->get();
  return 0;
}

int compare_leaves(const AnyffiValue& a, const AnyffiValue& b, uint32_t flags) noexcept {
  if (void *handle = handle_of(a), *other = handle_of(b); handle != other) {
    Owned holders[2];
    const AnyffiValue* values[2];
    if (find_plain(a, &holders[0], &values[0]) != 0 || find_plain(b, &holders[1], &values[1]) != 0) return -1;
    if (values[0] != &a || values[1] != &b) return compare_leaves(*values[0], *values[1], flags);
  }
  int32_t family = anyffi_type_get_family(a.type_code);
  if (family != anyffi_type_get_family(b.type_code)) return 0;
  if (family == ANYFFI_FLOAT) return are_same_floats(a.as_float, b.as_float);
  if (family == ANYFFI_COMPLEX) {
    auto* left = reinterpret_cast<AnyffiComplex*>(a.as_object);
    auto* right = reinterpret_cast<AnyffiComplex*>(b.as_object);
    return are_same_floats(left->real, right->real) && are_same_floats(left->imag, right->imag);
  }
  uint64_t a_flags, b_flags;
  if (const AnyffiTensorData* left = tensor_of(a, &a_flags)) {
    const AnyffiTensorData* right = tensor_of(b, &b_flags);
    return compare_tensors(*left, a_flags, *right, b_flags, (flags & ANYFFI_SKIP_TENSOR_CONTENT) != 0);
  }
  int32_t is_equal;
  return elements_equal(a, b, &is_equal) == 0 ? is_equal : -1;
}

int hash_leaf(const AnyffiValue& value, uint32_t flags, uint64_t* out) noexcept {
  int32_t code = value.type_code;
  if (code == ANYFFI_PY_OBJECT) {
    Owned holder;
    const AnyffiValue* plain;
    if (find_plain(value, &holder, &plain) != 0) return -1;
    if (plain->type_code != ANYFFI_PY_OBJECT) return hash_leaf(*plain, flags, out);
  }
  if (code == ANYFFI_NONE || code == ANYFFI_INT || code == ANYFFI_BOOL) {
    *out = add_hash(begin_hash(code), static_cast<uint64_t>(value.as_int));
    return 0;
  }
  AnyffiTextView text;
  if (anyffi_value_get_text_view(&value, &text) == 0) {
    uint64_t sum = begin_hash(anyffi_type_get_family(value.type_code));
    *out = hash_memory(sum, text.data, static_cast<size_t>(text.length) << anyffi_encoding_shift(text.encoding));
    return 0;
  }
  uint64_t tensor_flags;
  if (const AnyffiTensorData* data = tensor_of(value, &tensor_flags)) {
    return hash_tensor(*data, tensor_flags, (flags & ANYFFI_SKIP_TENSOR_CONTENT) != 0, out);
  }
  uint64_t sum = begin_hash(value.type_code);
  switch (value.type_code) {
    case ANYFFI_FLOAT:
      sum = add_hash(sum, bits_of(value.as_float));
      break;
    case ANYFFI_BIG_INT: {
      auto* number = reinterpret_cast<AnyffiBigInt*>(value.as_object);
      sum = add_hash(sum, static_cast<uint64_t>(number->negative));
      sum = hash_memory(sum, number->words, static_cast<size_t>(number->size) * sizeof(uint64_t));
      break;
    }
    case ANYFFI_COMPLEX: {
      auto* number = reinterpret_cast<AnyffiComplex*>(value.as_object);
      sum = add_hash(add_hash(sum, bits_of(number->real)), bits_of(number->imag));
      break;
    }
    default:
      // Objects of the host and objects without fields define equality themselves, so all get the same hash.
      if (value.type_code <= 0) sum = add_hash(sum, static_cast<uint64_t>(value.as_int));
      break;
  }
  *out = sum;
  return 0;
}

}  // namespace anyffi::runtime
