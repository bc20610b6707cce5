/// \file
/// Extents, axes and views of memory; conversion of arguments.
#ifndef NPX_ARRAYS_H_
#define NPX_ARRAYS_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "lanes.h"

namespace npx {

using anyffi::AnyValue;
using anyffi::arg;
using anyffi::Array;
using anyffi::BigInt;
using anyffi::List;
using anyffi::Optional;
using anyffi::String;
using anyffi::Tensor;
using anyffi::Variant;

/// The maximum number of axes, as in NumPy.
constexpr int kMaxDims = 64;

/// One number for each axis of an array: extents, strides, positions.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), static_cast<int>(values.size())) {}
  Dims(const int64_t* values, int size) {
    for (int i = 0; i < size; ++i) push_back(values[i]);
  }
  Dims(int size, int64_t value) {
    for (int i = 0; i < size; ++i) push_back(value);
  }
  Dims(const Dims& other) : Dims(other.values_, other.size_) {}
  Dims& operator=(const Dims& other) {
    size_ = other.size_;
    for (int i = 0; i < size_; ++i) values_[i] = other.values_[i];
    return *this;
  }
  int size() const { return size_; }
  int64_t& operator[](int index) { return values_[index]; }
  int64_t operator[](int index) const { return values_[index]; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + size_; }
  /// ValueError if there are too many.
  void push_back(int64_t value) { insert(size_, value); }
  void insert(int index, int64_t value);
  void erase(int index);
  friend bool operator==(const Dims& a, const Dims& b);
  friend bool operator!=(const Dims& a, const Dims& b) { return !(a == b); }

 private:
  int64_t values_[kMaxDims];
  int size_ = 0;
};

/// "(2, 3)"
std::string text_of(const Dims& dims);
/// The product of all extents; ValueError if it would be too big even without the extents that are 0.
int64_t element_count(const Dims& shape, int64_t item_size = 1);

[[noreturn]] inline void fail(const char* kind, const std::string& message) { throw Error(kind, message.c_str()); }

/// A view of memory as an array; strides are in bytes.
struct Strided {
  char* data;
  DataType dtype;
  Dims shape, strides;

  int ndim() const { return shape.size(); }
  /// Removes an axis: its first element remains.
  Strided without(int axis) const;
  /// Permutes the axes.
  Strided transposed(const Dims& order) const;
  /// Broadcasts to `shape`, which must fit.
  Strided broadcast(const Dims& to) const;
  /// Moves an axis to another position.
  Strided moved(int axis, int place) const;
  /// Selects elements `start` to `stop` along an axis.
  Strided slice(int axis, int64_t start, int64_t stop) const;
  /// Inserts an axis of size 1.
  Strided with_axis(int axis) const;
  /// Reverses an axis.
  Strided flipped(int axis) const;
};

/// A tensor's memory for reading; BufferError if it is not on the CPU.
Strided read(const Tensor& tensor);
/// A tensor's memory for writing; ValueError if it is read-only.
Strided write(const Tensor& tensor);
Tensor allocate(const Dims& shape, DataType dtype);
/// A tensor on the memory of `base`, which it keeps alive.
Tensor view_of(const Tensor& base, const Strided& part, bool read_only = false);
/// A compact tensor with other axes, on the same memory.
Tensor reshaped(const Tensor& compact, const Dims& shape);

/// The shape to which both broadcast; ValueError if there is none.
Dims broadcast_shapes(const Dims& a, const Dims& b);

/// A shape parameter: `3` or `(2, 3)`. BigInt, since NumPy raises ValueError for large ints.
using ShapeArg = Variant<BigInt, Array<BigInt>>;
/// An axis parameter: None, `1` or `(0, -1)`.
using AxisArg = Optional<Variant<int64_t, Array<int64_t>>>;
/// A dtype parameter: one of anyffi or NumPy, or a name.
using DTypeArg = Optional<Variant<DataType, String>>;

/// The common dtype, promoted from the highest kind down: int8, uint8 and float16 become float16.
DataType promote_all(std::vector<DataType> dtypes);

Dims read_shape(const ShapeArg& shape);
/// The non-negative number of an axis. AxisError if it is out of range.
int read_axis(int64_t axis, int ndim);
/// For each axis whether it is in `axes`; None: all axes are. ValueError for a repeated axis.
Dims read_axes(const AxisArg& axes, int ndim);
Dims read_ints(const Variant<int64_t, Array<int64_t>>& numbers);
DataType read_dtype(const DTypeArg& dtype, DataType otherwise);

}  // namespace npx

#endif  // NPX_ARRAYS_H_
