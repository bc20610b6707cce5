/// \file
/// Tensors made of other values, for parameters with `.convert()`: of tensors, and of numbers in nested sequences.
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/owned.h"
#include "tensors/cast.h"
#include "tensors/layout.h"
#include "tensors/names.h"
#include "tensors/spec.h"
#include "values/containers.h"
#include "values/nested.h"

namespace anyffi::runtime {
namespace {

/// Python's name of the numbers that a tensor has.
const char* number_name(const AnyffiDataType& type) noexcept {
  switch (type.code) {
    case ANYFFI_kDLBool:
      return "bool";
    case ANYFFI_kDLInt:
    case ANYFFI_kDLUInt:
      return "int";
    case ANYFFI_kDLComplex:
      return "complex";
    default:
      return "float";
  }
}

/// The width that a number does not fit.
const char* width_name(const AnyffiDataType& type) noexcept {
  static constexpr const char* kNames[] = {"int8",     "uint8",     "int16",     "uint16",  "int32",
                                           "uint32",   "int64",     "uint64",    "float16", "float32",
                                           "bfloat16", "complex64", "complex128"};
  ShortName name = data_type_name(type);
  for (const char* known : kNames) {
    if (std::strcmp(known, name.text) == 0) return known;
  }
  return number_name(type);
}

/// One conversion: what is required, the new tensor, and where the reason of a failure goes.
struct Conversion {
  const AnyffiTensorSpec& spec;
  AnyffiMismatch& why;
  /// The new tensor; after a failure, the refused value if nobody else owns it.
  Owned made;
  const AnyffiTensorData* target = nullptr;

  int64_t item_size() const { return spec.dtype.bits * spec.dtype.lanes / 8; }
  int64_t step(int32_t axis) const { return target->strides[axis] * item_size(); }

  bool refuse(const AnyffiValue& got, int32_t reason, const char* detail) {
    why.reason = reason;
    why.path_size = 0;
    why.expected = number_name(spec.dtype);
    why.detail = detail;
    why.got = got;
    if (why.got.type_code > 0) why.got.aux = 0;
    return false;
  }
  bool refuse_raised() { return refuse(anyffi_make_none(), ANYFFI_MISMATCH_RAISED, nullptr); }
  /// A number does not fit.
  bool refuse_number(const AnyffiValue& got) {
    if (spec.dtype.code != ANYFFI_kDLBool) return refuse(got, ANYFFI_MISMATCH_RANGE, width_name(spec.dtype));
    return refuse(got, ANYFFI_MISMATCH_VALUE, "an int given as a bool must be 0 or 1");
  }
  bool refuse_at(int64_t index) {
    AnyffiValue key = anyffi_make_int(index);
    anyffi_mismatch_prepend(&why, &key);
    return false;
  }
  bool create(const int64_t* shape, int32_t ndim);
  bool refuse_item(const Run& run, RunType type, int64_t index);
};

bool Conversion::create(const int64_t* shape, int32_t ndim) {
  if (anyffi_tensor_create_empty(shape, ndim, &spec.dtype, made.out()) != 0) return refuse_raised();
  target = &reinterpret_cast<AnyffiTensor*>(made->as_object)->tensor;
  int64_t step = 1;
  for (int32_t axis = 0; spec.order == ANYFFI_ORDER_COL_MAJOR && axis < ndim; ++axis) {
    target->strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  return true;
}

/// Refuses a number of a run; the only one that nobody owns is a big integer.
bool Conversion::refuse_item(const Run& run, RunType type, int64_t index) {
  AnyffiValue got = anyffi_make_int(run.ints[index]);
  if (type == RunType::kFloat || type == RunType::kComplex) {
    double number = run.floats[index];
    if (type == RunType::kComplex) {
      if (anyffi_complex_create(run.parts[2 * index], run.parts[2 * index + 1], made.out()) != 0)
        return refuse_raised();
      return refuse_number(*made.get());
    }
    got.type_code = ANYFFI_FLOAT;
    got.as_float = number;
  } else if (type == RunType::kUnsigned && got.as_int < 0) {
    if (anyffi_big_int_create(&run.words[index], 1, 0, made.out()) != 0) return refuse_raised();
    return refuse_number(*made.get());
  }
  return refuse_number(got);
}

/* ---- from a tensor ---- */

/// Copies the elements of a tensor into the target, behind its first `skipped` axes.
class TensorCopy {
 public:
  TensorCopy(Conversion& to, const AnyffiTensorData& from, int32_t skipped)
      : to_(to), from_(from), skipped_(skipped), item_size_(from.dtype.bits * from.dtype.lanes / 8) {
    is_same_ = std::memcmp(&from.dtype, &to.spec.dtype, sizeof(from.dtype)) == 0;
    if (is_same_) return;
    reader_ = find_reader(from.dtype);
    if (reader_.read != nullptr) write_ = find_writer(to.spec.dtype, reader_.type);
  }
  bool is_possible() const { return is_same_ || write_ != nullptr; }
  bool run(char* to) {
    if (!has_elements(from_)) return true;
    return copy(static_cast<const char*>(from_.data) + from_.byte_offset, to, 0);
  }

 private:
  bool copy(const char* from, char* to, int32_t axis) {
    if (axis >= from_.ndim - 1) return copy_line(from, to);
    int64_t from_step = from_.strides[axis] * item_size_, to_step = to_.step(axis + skipped_);
    for (int64_t i = 0; i < from_.shape[axis]; ++i, from += from_step, to += to_step) {
      if (!copy(from, to, axis + 1)) return to_.refuse_at(i);
    }
    return true;
  }
  /// The last axis; without axes, the only element.
  bool copy_line(const char* from, char* to) {
    int32_t last = from_.ndim - 1;
    int64_t count = last < 0 ? 1 : from_.shape[last];
    int64_t from_step = last < 0 ? 0 : from_.strides[last] * item_size_;
    int64_t to_step = last < 0 ? 0 : to_.step(last + skipped_);
    if (is_same_) {
      auto size = static_cast<size_t>(item_size_);
      for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) std::memcpy(to, from, size);
      return true;
    }
    Run run;
    for (int64_t done = 0; done < count; done += kRunSize) {
      int64_t size = std::min(count - done, kRunSize);
      reader_.read(from + done * from_step, from_step, size, run);
      int64_t written = write_(run, size, to + done * to_step, to_step);
      if (written == size) continue;
      to_.refuse_item(run, reader_.type, written);
      return last < 0 ? false : to_.refuse_at(done + written);
    }
    return true;
  }

  Conversion& to_;
  const AnyffiTensorData& from_;
  int32_t skipped_;
  int64_t item_size_;
  bool is_same_;
  RunReader reader_{RunType::kInt, nullptr};
  WriteRun write_ = nullptr;
};

bool convert_tensor(Conversion& to, const AnyffiTensorData& from) {
  TensorCopy copy(to, from, 0);
  // `why` has the reason already.
  if (!can_be_copied(to.spec, from) || !copy.is_possible()) return false;
  if (!to.create(from.shape, from.ndim)) return false;
  return copy.run(static_cast<char*>(to.target->data));
}

/* ---- from sequences ---- */

/// Writes one number.
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

/// Writes a value at `place`, which is behind the first `axis` axes.
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

/// The axes that sequences without elements do not tell.
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

bool convert_nested(Conversion& to, const AnyffiValue& value) {
  NestedShape shape(value);
  add_unknown_axes(to.spec, shape);
  bool is_number = shape.ndim == 0;
  if (!has_shape(to.spec, shape)) {
    if (!is_number) to.why.expected = kNestedShape;
    return false;
  }
  if (shape.is_too_deep) return false;
  return to.create(shape.extents, shape.ndim) && write_nested(to, value, static_cast<char*>(to.target->data), 0);
}

bool convert_value(Conversion& to, const AnyffiValue& value) {
  uint64_t flags;
  if (const AnyffiTensorData* data = tensor_of(value, &flags)) {
    if (value.type_code > 0 && (value.aux & ANYFFI_EXACT) != 0) return false;
    return to.spec.device_type == ANYFFI_kDLCPU && convert_tensor(to, *data);
  }
  return to.spec.device_type == ANYFFI_kDLCPU && convert_nested(to, value);
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
