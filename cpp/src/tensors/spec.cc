/// \file
/// Checks tensors against typed parameters, and describes why one does not match.
#include "tensors/spec.h"

#include <algorithm>
#include <cstring>

#include "tensors/layout.h"
#include "tensors/names.h"

namespace anyffi::runtime {
namespace {

/// The requirements, in the order in which a violation is reported.
enum class Unmet { kNothing, kType, kRank, kShape, kOrder, kDevice, kWritable, kAlignment };

bool has_shape(const AnyffiTensorSpec& spec, const AnyffiTensorData& data) {
  for (int32_t axis = 0; axis < spec.ndim; ++axis) {
    if (spec.shape[axis] >= 0 && spec.shape[axis] != data.shape[axis]) return false;
  }
  return true;
}

bool is_on_device(const AnyffiTensorSpec& spec, const AnyffiTensorData& data) {
  if (spec.device_type == ANYFFI_kDLCPU) return is_cpu_accessible(data.device);
  return spec.device_type == 0 || spec.device_type == data.device.type;
}

bool is_aligned(const AnyffiTensorSpec& spec, const AnyffiTensorData& data) {
  return (reinterpret_cast<uintptr_t>(data.data) + data.byte_offset) % spec.alignment == 0;
}

Unmet find_unmet(const AnyffiTensorSpec& spec, const AnyffiTensorData& data, uint64_t flags) {
  if (std::memcmp(&spec.dtype, &data.dtype, sizeof(spec.dtype)) != 0) return Unmet::kType;
  if (spec.ndim >= 0 && spec.ndim != data.ndim) return Unmet::kRank;
  if (!has_shape(spec, data)) return Unmet::kShape;
  if (spec.order != ANYFFI_ORDER_STRIDED && !is_in_order(data, spec.order)) return Unmet::kOrder;
  if (!is_on_device(spec, data)) return Unmet::kDevice;
  if (spec.writable && (flags & ANYFFI_TENSOR_READ_ONLY) != 0) return Unmet::kWritable;
  return is_aligned(spec, data) ? Unmet::kNothing : Unmet::kAlignment;
}

void append_device(String* out, const AnyffiDevice& device, bool with_index) {
  ShortName name = device_name(device);
  if (!with_index) *std::strchr(name.text, ':') = 0;
  *out += device.type == ANYFFI_kDLCPU ? "the CPU" : name.text;
}

}  // namespace

void append_sizes(String* out, const int64_t* sizes, int32_t count, bool is_pattern) {
  *out += '(';
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) *out += ", ";
    *out += is_pattern && sizes[i] < 0 ? String("*") : String(std::to_string(sizes[i]).c_str());
  }
  *out += count == 1 ? ",)" : ")";
}

bool is_in_order(const AnyffiTensorData& data, int32_t order) noexcept {
  uint64_t step = 1;
  for (int32_t i = 0; i < data.ndim; ++i) {
    int32_t axis = order == ANYFFI_ORDER_ROW_MAJOR ? data.ndim - 1 - i : i;
    if (data.shape[axis] > 1 && data.strides[axis] != static_cast<int64_t>(step)) return !has_elements(data);
    step *= static_cast<uint64_t>(data.shape[axis]);
  }
  return true;
}

bool can_be_copied(const AnyffiTensorSpec& spec, const AnyffiTensorData& data) noexcept {
  bool has_rank = spec.ndim < 0 || spec.ndim == data.ndim;
  return has_rank && has_shape(spec, data) && is_on_device(spec, data) && is_cpu_accessible(data.device);
}

const AnyffiTensorData* tensor_of(const AnyffiValue& value, uint64_t* flags) noexcept {
  if (value.type_code == ANYFFI_TENSOR) {
    auto* tensor = reinterpret_cast<const AnyffiTensor*>(value.as_object);
    *flags = tensor->flags;
    return &tensor->tensor;
  }
  *flags = value.aux;
  return value.type_code == ANYFFI_TENSOR_VIEW ? static_cast<const AnyffiTensorData*>(value.as_pointer) : nullptr;
}

void append_requirement(String* out, const AnyffiTensorSpec& spec, const AnyffiValue& got) {
  uint64_t flags;
  const AnyffiTensorData* data = tensor_of(got, &flags);
  Unmet unmet = data != nullptr ? find_unmet(spec, *data, flags) : Unmet::kNothing;
  *out += "a ";
  if (spec.writable && unmet == Unmet::kWritable) *out += "writable ";
  if (spec.order == ANYFFI_ORDER_ROW_MAJOR) *out += "row-major ";
  if (spec.order == ANYFFI_ORDER_COL_MAJOR) *out += "column-major ";
  out->append("tensor of ").append(data_type_name(spec.dtype).text);
  if (spec.ndim >= 0) {
    *out += " with shape ";
    append_sizes(out, spec.shape, spec.ndim, true);
  }
  bool is_plain = spec.device_type == ANYFFI_kDLCPU || spec.device_type == 0;
  if (is_plain && unmet != Unmet::kDevice) return;
  *out += " on ";
  append_device(out, {static_cast<AnyffiDeviceType>(spec.device_type), 0}, false);
}

void append_tensor(String* out, const AnyffiTensorSpec* spec, const AnyffiTensorData& data, uint64_t flags) {
  Unmet unmet = spec != nullptr ? find_unmet(*spec, data, flags) : Unmet::kNothing;
  *out += data_type_name(data.dtype).text;
  *out += " with shape ";
  append_sizes(out, data.shape, data.ndim, false);
  if (unmet == Unmet::kOrder) {
    *out += " and strides ";
    append_sizes(out, data.strides, data.ndim, false);
  } else if (unmet == Unmet::kDevice) {
    *out += " on ";
    append_device(out, data.device, true);
  } else if (unmet == Unmet::kWritable) {
    *out += " that is read-only";
  } else if (unmet == Unmet::kAlignment) {
    out->append(" that is not aligned to ").append(std::to_string(spec->alignment).c_str()).append(" bytes");
  }
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_tensor_match(const AnyffiValue* value, const AnyffiTensorSpec* spec, AnyffiMismatch* why) {
  uint64_t flags;
  const AnyffiTensorData* data = tensor_of(*value, &flags);
  if (data != nullptr && find_unmet(*spec, *data, flags) == Unmet::kNothing) return 1;
  why->reason = ANYFFI_MISMATCH_TENSOR;
  why->path_size = 0;
  why->expected = "Tensor";
  why->detail = reinterpret_cast<const char*>(spec);
  why->got = *value;
  why->got_text[0] = 0;
  return 0;
}
