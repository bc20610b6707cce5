/// \file
/// `_npi.zeros`: a tensor of zeros over memory of the runtime.

#include <anyffi/anyffi.h>

#include <cstring>

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::arg;
using anyffi::DataType;
using anyffi::Device;
using anyffi::Error;
using anyffi::Optional;
using anyffi::String;
using anyffi::Tensor;

/// The maximum number of axes, as in NumPy.
constexpr int32_t kMaxDims = 64;

constexpr DataType kFloat64 = DataType::of<double>();

struct Shape {
  int64_t dims[kMaxDims];
  int32_t ndim = 0;

  /// TypeError for a bool, as in NumPy.
  void add(AnyView dim) {
    if (dim.family() == ANYFFI_BOOL) throw Error("TypeError", "a bool is no dimension");
    dims[ndim++] = dim;
  }
};

/// Reads a shape from an int, or from an Array or List of ints.
Shape read_shape(AnyView given) {
  Shape shape;
  if (given.family() != ANYFFI_ARRAY && given.family() != ANYFFI_LIST) {
    shape.add(given);
    return shape;
  }
  if (given.size() > kMaxDims) throw Error("ValueError", "an array has at most 64 dimensions");
  for (AnyValue dim : given) shape.add(dim);
  return shape;
}

/// The size in bytes. Like NumPy, refuses a shape that is too large even if its dimensions of length zero are ignored.
int64_t read_size(const Shape& shape, int64_t item_size) {
  int64_t size = item_size;
  bool empty = false;
  for (int32_t i = 0; i < shape.ndim; ++i) {
    if (shape.dims[i] < 0) throw Error("ValueError", "negative dimensions are not allowed");
    empty = empty || shape.dims[i] == 0;
    if (shape.dims[i] > 0 && __builtin_mul_overflow(size, shape.dims[i], &size)) {
      throw Error("ValueError", "an array of this shape is too big");
    }
  }
  return empty ? 0 : size;
}

bool is_text(AnyView value, const char* text) { return value.family() == ANYFFI_STR && value.cast<String>() == text; }

Tensor zeros(AnyView given, Optional<DataType> given_dtype, AnyView order, const String& ctx) {
  Shape shape = read_shape(given);
  DataType dtype = given_dtype.value_or(kFloat64);
  if (!is_text(order, "C") && !is_text(order, "F")) {
    throw Error("NotImplementedError", "the only orders are 'C' and 'F'");
  }
  if (ctx != "cpu") throw Error("NotImplementedError", "the only ctx is 'cpu'");

  int64_t strides[kMaxDims];
  int64_t stride = 1;
  int64_t size = read_size(shape, dtype.item_size());
  for (int32_t i = 0; i < shape.ndim; ++i) {
    int32_t axis = is_text(order, "C") ? shape.ndim - 1 - i : i;
    strides[axis] = stride;
    if (shape.dims[axis] > 0) stride *= shape.dims[axis];
  }

  void* memory = anyffi_alloc(static_cast<size_t>(size > 0 ? size : 1));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, static_cast<size_t>(size));
  AnyffiTensorData data{memory, Device(), shape.ndim, dtype, shape.dims, strides, 0};
  return Tensor(data, 0, memory, &anyffi_free);
}

}  // namespace

ANYFFI_REGISTER_GLOBAL("_npi.zeros")
    .def(&zeros, arg("shape"), arg("dtype") = nullptr, arg("order") = "C", arg("ctx") = "cpu")
    .doc("A new tensor of zeros; float64 unless a dtype is given.");
