/// \file
/// Tensors made of other values, for parameters with `.convert()`: of tensors, and of numbers in nested sequences.
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>

#include "core/owned.h"
#include "functions/tensor_copy.h"
#include "tensors/layout.h"
#include "tensors/spec.h"
#include "values/containers.h"
#include "values/host_sequences.h"
#include "values/nested.h"

namespace anyffi::runtime {
namespace {

bool convert_tensor(Conversion& to, const AnyffiTensorData& from) {
  TensorCopy copy(to, from, 0);
  // `why` is already filled.
  if (!can_be_copied(to.spec, from) || !copy.is_possible()) return false;
  if (!to.create(from.shape, from.ndim)) return false;
  return copy.run(static_cast<char*>(to.target->data));
}

/* ---- from sequences ---- */

/// Converts and writes one number.
bool write_number(Conversion& to, const AnyffiValue& given, char* place) {
  const AnyffiValue& value =
      given.type_code == ANYFFI_BOX ? reinterpret_cast<const AnyffiBox*>(given.as_object)->value : given;
  Run run;
  RunType type = RunType::kInt;
  run.ints[0] = value.as_int;
  if (value.type_code == ANYFFI_FLOAT) {
    type = RunType::kFloat;
    run.floats[0] = value.as_float;
  } else if (value.type_code == ANYFFI_COMPLEX) {
    auto* number = reinterpret_cast<const AnyffiComplex*>(value.as_object);
    type = RunType::kComplex;
    run.parts[0] = number->real;
    run.parts[1] = number->imag;
  } else if (value.type_code == ANYFFI_BIG_INT) {
    auto* big = reinterpret_cast<const AnyffiBigInt*>(value.as_object);
    bool is_integer = find_writer(to.spec.dtype, RunType::kFloat) == nullptr;
    type = is_integer ? RunType::kUnsigned : RunType::kFloat;
    if (is_integer && (big->negative || big->size != 1)) return to.refuse_number(value);
    if (is_integer) run.words[0] = big->words[0];
    if (!is_integer && anyffi_big_int_get_float(value.as_object, &run.floats[0]) != 0) return to.refuse_raised();
  } else if (value.type_code != ANYFFI_INT && value.type_code != ANYFFI_BOOL) {
    return to.refuse(value, ANYFFI_MISMATCH_TYPE, nullptr);
  }
  WriteRun write = find_writer(to.spec.dtype, type);
  if (write == nullptr) return to.refuse(value, ANYFFI_MISMATCH_TYPE, nullptr);
  return write(run, 1, place, 0) == 1 || to.refuse_number(value);
}

constexpr const char* kRagged = "nested sequences must have equal lengths";

/// Writes a value at `place`, the position that the first `axis` indices select.
bool write_nested(Conversion& to, const AnyffiValue& value, char* place, int32_t axis) {
  int32_t rest = to.target->ndim - axis;
  uint64_t flags;
  if (const AnyffiTensorData* part = tensor_of(value, &flags)) {
    bool has_shape = part->ndim == rest && std::equal(part->shape, part->shape + rest, to.target->shape + axis);
    if (!has_shape) return to.refuse(value, ANYFFI_MISMATCH_VALUE, kRagged);
    TensorCopy copy(to, *part, axis);
    if (!is_cpu_accessible(part->device) || !copy.is_possible()) {
      to.refuse(value, ANYFFI_MISMATCH_TENSOR, nullptr);
      return false;
    }
    return copy.run(place);
  }
  if (rest == 0) return write_number(to, value, place);
  if (!is_sequence(value.type_code)) {
    to.refuse(value, ANYFFI_MISMATCH_TYPE, nullptr);
    to.why.expected = "Sequence";
    return false;
  }
  const AnyffiSequence* items = as_sequence(value.as_object);
  if (items->size != to.target->shape[axis]) return to.refuse(value, ANYFFI_MISMATCH_VALUE, kRagged);
  int64_t step = to.step(axis);
  for (int64_t i = 0; i < items->size; ++i, place += step) {
    if (!write_nested(to, items->data[i], place, axis + 1)) return to.refuse_at(i);
  }
  return true;
}

/// Adds the axes that empty sequences leave unknown.
void add_unknown_axes(const AnyffiTensorSpec& spec, NestedShape& shape) {
  bool is_open = shape.is_open();
  while (is_open && shape.ndim < spec.ndim) shape.add(std::max<int64_t>(spec.shape[shape.ndim], 0));
}

bool has_shape(const AnyffiTensorSpec& spec, const NestedShape& shape) {
  if (spec.ndim >= 0 && spec.ndim != shape.ndim) return false;
  for (int32_t axis = 0; axis < spec.ndim; ++axis) {
    if (spec.shape[axis] >= 0 && spec.shape[axis] != shape.extents[axis]) return false;
  }
  return true;
}

/// `given` is the argument; `value` is the same, or a copy of it with Lists for the host's sequences.
bool convert_nested(Conversion& to, const AnyffiValue& value, const AnyffiValue& given) {
  NestedShape shape(value);
  add_unknown_axes(to.spec, shape);
  if (!has_shape(to.spec, shape)) {
    if (is_sequence(given.type_code)) to.why.expected = kNestedShape;
    return false;
  }
  if (shape.is_too_deep) return false;
  return to.create(shape.extents, shape.ndim) && write_nested(to, value, static_cast<char*>(to.target->data), 0);
}

bool convert_sequence(Conversion& to, const AnyffiValue& given) {
  // Deeper elements are numbers, or errors. For any rank, two levels of the host's sequences are converted.
  int32_t levels = to.spec.ndim < 0 ? 2 : to.spec.ndim;
  if (!has_host_sequence(given, levels)) return convert_nested(to, given, given);
  AnyffiValue copy = given;
  anyffi_value_retain(&copy);
  if (copy.type_code > 0) copy.aux = 0;
  bool converted = false;
  if (replace_host_sequences(copy, levels) != 0) {
    to.refuse_raised();
  } else {
    converted = convert_nested(to, copy, given);
    if (!converted) anyffi_mismatch_detach(&to.why);
  }
  anyffi_value_release(&copy);
  return converted;
}

/// Bytes convert as a tensor of uint8.
bool convert_bytes(Conversion& to, const AnyffiValue& value) {
  AnyffiTextView bytes;
  anyffi_view_text(&value, &bytes);
  int64_t extent = bytes.length, stride = 1;
  AnyffiTensorData data{
      const_cast<void*>(bytes.data), {ANYFFI_kDLCPU, 0}, 1, {ANYFFI_kDLUInt, 8, 1}, &extent, &stride, 0};
  bool same_type = std::memcmp(&data.dtype, &to.spec.dtype, sizeof(data.dtype)) == 0;
  return same_type && convert_tensor(to, data);
}

/// Converts array objects of the host that do not support DLPack, and sequences of the host.
bool convert_object(Conversion& to, const AnyffiValue& value) {
  Owned array;
  if (anyffi_value_convert(&value, ANYFFI_AS_TENSOR, array.out()) != 0) return to.refuse_raised();
  uint64_t flags;
  const AnyffiTensorData* data = tensor_of(*array.get(), &flags);
  if (data == nullptr) return convert_sequence(to, value);
  if (convert_tensor(to, *data)) return true;
  if (to.why.reason == ANYFFI_MISMATCH_TENSOR) {
    to.why.got = *array.get();
    anyffi_mismatch_detach(&to.why);
  }
  return false;
}

bool convert_value(Conversion& to, const AnyffiValue& value) {
  uint64_t flags;
  if (const AnyffiTensorData* data = tensor_of(value, &flags)) {
    if (value.type_code > 0 && (value.aux & ANYFFI_EXACT) != 0) return false;
    return to.spec.device_type == ANYFFI_kDLCPU && convert_tensor(to, *data);
  }
  if (to.spec.device_type != ANYFFI_kDLCPU) return false;
  if (may_be_host_sequence(value.type_code)) return convert_object(to, value);
  return anyffi_is_bytes(value.type_code) ? convert_bytes(to, value) : convert_sequence(to, value);
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_tensor_convert(const AnyffiValue* value, const AnyffiTensorSpec* spec, AnyffiValue* out,
                              AnyffiMismatch* why) {
  *out = anyffi_make_none();
  if (anyffi_tensor_match(value, spec, why)) return anyffi_value_own(value, out) == 0;
  Conversion conversion{*spec, *why, Owned(), nullptr};
  bool converted = convert_value(conversion, *value);
  *out = conversion.made.take();
  return converted;
}
