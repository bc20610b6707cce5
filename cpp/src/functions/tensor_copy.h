/// \file
/// Copies tensors to new ones with another element type or order.
#ifndef ANYFFI_SRC_FUNCTIONS_TENSOR_COPY_H_
#define ANYFFI_SRC_FUNCTIONS_TENSOR_COPY_H_

#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>

#include "core/owned.h"
#include "tensors/cast.h"
#include "tensors/layout.h"
#include "tensors/names.h"
#include "tensors/spec.h"

namespace anyffi::runtime {

/// Python's name for the kind of number that a tensor holds.
inline const char* number_name(const AnyffiDataType& type) noexcept {
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

/// The type named in the error for a number that is out of range.
inline const char* width_name(const AnyffiDataType& type) noexcept {
  static constexpr const char* kNames[] = {"int8",     "uint8",     "int16",     "uint16",  "int32",
                                           "uint32",   "int64",     "uint64",    "float16", "float32",
                                           "bfloat16", "complex64", "complex128"};
  ShortName name = data_type_name(type);
  for (const char* known : kNames) {
    if (std::strcmp(known, name.text) == 0) return known;
  }
  return number_name(type);
}

/// One conversion: the requirements, the new tensor, and the reason of a failure.
struct Conversion {
  const AnyffiTensorSpec& spec;
  AnyffiMismatch& why;
  /// The new tensor; after a failure, the rejected value if it has no other owner.
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
    why.got_text[0] = 0;
    if (why.got.type_code > 0) why.got.aux = 0;
    return false;
  }
  bool refuse_raised() { return refuse(anyffi_make_none(), ANYFFI_MISMATCH_RAISED, nullptr); }
  /// Rejects a number that is out of range.
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

inline bool Conversion::create(const int64_t* shape, int32_t ndim) {
  if (anyffi_tensor_create_empty(shape, ndim, &spec.dtype, made.out()) != 0) return refuse_raised();
  target = &reinterpret_cast<AnyffiTensor*>(made->as_object)->tensor;
  int64_t step = 1;
  for (int32_t axis = 0; spec.order == ANYFFI_ORDER_COL_MAJOR && axis < ndim; ++axis) {
    target->strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  return true;
}

/// Rejects a number of a run. A big integer or complex number is created for the message and kept in `made`.
inline bool Conversion::refuse_item(const Run& run, RunType type, int64_t index) {
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
  /// The stride of an axis with one element may be any number.
  int64_t step(int32_t axis) const { return from_.shape[axis] <= 1 ? 0 : from_.strides[axis] * item_size_; }
  bool copy(const char* from, char* to, int32_t axis) {
    if (axis >= from_.ndim - 1) return copy_line(from, to);
    int64_t from_step = step(axis), to_step = to_.step(axis + skipped_);
    for (int64_t i = 0; i < from_.shape[axis]; ++i) {
      if (!copy(from + i * from_step, to + i * to_step, axis + 1)) return to_.refuse_at(i);
    }
    return true;
  }
  /// Copies the last axis; for a tensor without axes, the only element.
  bool copy_line(const char* from, char* to) {
    int32_t last = from_.ndim - 1;
    int64_t count = last < 0 ? 1 : from_.shape[last];
    int64_t from_step = last < 0 ? 0 : step(last);
    int64_t to_step = last < 0 ? 0 : to_.step(last + skipped_);
    if (is_same_) {
      auto size = static_cast<size_t>(item_size_);
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, size);
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

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_TENSOR_COPY_H_
