/// \file
/// New arrays: zeros, full, eye, arange, linspace, indices and similar functions.

#include <algorithm>

#include "functions.h"

namespace npx {
namespace {

/// A new array whose elements are `f(0)`, `f(1)`, ... in the lane of f's result.
template <class F>
Tensor generate(int64_t size, DataType dtype, F f) {
  using T = decltype(f(int64_t{0}));
  Tensor tensor = allocate({size}, dtype);
  Strided to = write(tensor);
  Store store = storer(lane_of_type<T>(), dtype);
  T block[kBlock];
  for (int64_t start = 0; start < size; start += kBlock) {
    int64_t count = std::min(kBlock, size - start);
    for (int64_t i = 0; i < count; ++i) block[i] = f(start + i);
    store(block, count, to.data + start * to.strides[0], to.strides[0]);
  }
  return tensor;
}

Tensor filled(const Dims& shape, const Operand& value, DataType dtype) {
  Tensor tensor = allocate(shape, dtype);
  Input input(value, dtype);
  if (broadcast_shapes(shape, input.array().shape) != shape) {
    fail("ValueError", "could not broadcast input array from shape " + text_of(input.array().shape) + " into shape " +
                           text_of(shape));
  }
  assign(write(tensor), input.array());
  return tensor;
}

Tensor zeros(const ShapeArg& shape, const DTypeArg& dtype) {
  return filled(read_shape(shape), false, read_dtype(dtype, kFloat64));
}

Tensor ones(const ShapeArg& shape, const DTypeArg& dtype) {
  return filled(read_shape(shape), true, read_dtype(dtype, kFloat64));
}

Tensor full(const ShapeArg& shape, const Operand& fill_value, const DTypeArg& dtype) {
  return filled(read_shape(shape), fill_value, read_dtype(dtype, common_dtype({&fill_value})));
}

Tensor full_like(const Tensor& a, const Operand& fill_value, const DTypeArg& dtype) {
  return filled(read(a).shape, fill_value, read_dtype(dtype, a.dtype()));
}

Tensor eye(int64_t rows, Optional<int64_t> columns, int64_t k, const DTypeArg& dtype) {
  Dims shape{rows, columns.value_or(rows)};
  DataType type = read_dtype(dtype, kFloat64);
  Tensor tensor = filled(shape, false, type);
  assign(diagonal_of(write(tensor), k, 0, 1), Input(true, type).array());
  return tensor;
}

Tensor identity(int64_t n, const DTypeArg& dtype) { return eye(n, nullptr, 0, dtype); }

using Number = Variant<int64_t, double>;

Tensor arange(const Number& start, const Optional<Number>& stop, const Number& step, const DTypeArg& dtype) {
  if (!stop) return arange(int64_t{0}, start, step, dtype);
  double first = start.any(), end = stop.any(), by = step.any();
  if (by == 0) fail("ZeroDivisionError", "division by zero");
  if (start.holds<int64_t>() && (*stop).holds<int64_t>() && step.holds<int64_t>()) {
    int64_t from = start.any(), step_by = step.any();
    double size = std::ceil((end - first) / by);
    return generate(size > 0 ? static_cast<int64_t>(size) : 0, read_dtype(dtype, kInt64),
                    [=](int64_t i) { return from + i * step_by; });
  }
  double size = std::ceil((end - first) / by);
  if (std::isnan(size) || size >= 0x1p63) fail("ValueError", "Maximum allowed size exceeded");
  double delta = (first + by) - first;
  return generate(size > 0 ? static_cast<int64_t>(size) : 0, read_dtype(dtype, kFloat64),
                  // The first element may be -0.0.
                  [=](int64_t i) { return i == 0 ? first : first + static_cast<double>(i) * delta; });
}

/// Calls `f` with each of the numbers of `linspace`.
template <class F>
Tensor spaced(double start, double stop, int64_t num, bool endpoint, const DTypeArg& dtype, F f) {
  if (num < 0) fail("ValueError", "Number of samples, " + std::to_string(num) + ", must be non-negative.");
  DataType type = read_dtype(dtype, kFloat64);
  auto parts = static_cast<double>(endpoint ? num - 1 : num);
  double delta = stop - start, step = parts > 0 ? delta / parts : delta;
  return generate(num, type, [=](int64_t i) {
    auto at = static_cast<double>(i);
    double value = (step == 0 ? at / parts * delta : at * step) + start;
    if (endpoint && i > 0 && i == num - 1) value = stop;
    if (parts == 0) value = start;
    value = f(value);
    return is_whole(type) ? std::floor(value) : value;
  });
}

}  // namespace

Tensor linspace(double start, double stop, int64_t num, bool endpoint, const DTypeArg& dtype) {
  return spaced(start, stop, num, endpoint, dtype, [](double x) { return x; });
}

namespace {

Tensor logspace(double start, double stop, int64_t num, bool endpoint, double base, const DTypeArg& dtype) {
  return spaced(start, stop, num, endpoint, dtype, [base](double x) { return std::pow(base, x); });
}

Tensor indices(const ShapeArg& dimensions, const DTypeArg& dtype) {
  Dims shape = read_shape(dimensions);
  Dims all = shape;
  all.insert(0, shape.size());
  DataType type = read_dtype(dtype, kInt64);
  Tensor tensor = allocate(all, type);
  Strided grids = write(tensor);
  for (int axis = 0; axis < shape.size(); ++axis) {
    Tensor numbers = generate(shape[axis], type, [](int64_t i) { return i; });
    Strided along{read(numbers).data, type, shape, Dims(shape.size(), 0)};
    along.strides[axis] = type.item_size();
    assign(grids.slice(0, axis, axis + 1).without(0), along);
  }
  return tensor;
}

/// A window of signal processing: a sum of cosines.
Tensor window(int64_t size, double a0, double a1, double a2) {
  return generate(std::max<int64_t>(size, 0), kFloat64, [=](int64_t i) {
    double angle =
        size == 1 ? 0 : std::acos(-1.0) * static_cast<double>(1 - size + 2 * i) / static_cast<double>(size - 1);
    return a0 + a1 * std::cos(angle) + a2 * std::cos(2 * angle);
  });
}

}  // namespace

Tensor tri(int64_t rows, Optional<int64_t> columns, int64_t k, const DTypeArg& dtype) {
  Dims shape{rows, columns.value_or(rows)};
  DataType type = read_dtype(dtype, kFloat64);
  Tensor tensor = filled(shape, false, type);
  Strided matrix = write(tensor);
  Input one(true, type);
  k = std::max(-shape[0], std::min(k, shape[1]));
  for (int64_t i = 0; i < shape[0]; ++i) {
    int64_t size = std::max<int64_t>(0, std::min(i + k + 1, shape[1]));
    assign(matrix.slice(0, i, i + 1).slice(1, 0, size), one.array());
  }
  return tensor;
}

namespace {

ANYFFI_REGISTER_GLOBAL("npx.zeros")
    .def(&zeros, arg("shape"), arg("dtype") = nullptr)
    .doc("Return a new array of zeros; float64 by default.");
ANYFFI_REGISTER_GLOBAL("npx.ones")
    .def(&ones, arg("shape"), arg("dtype") = nullptr)
    .doc("Return a new array of ones; float64 by default.");
ANYFFI_REGISTER_GLOBAL("npx.full")
    .def(&full, arg("shape"), arg("fill_value"), arg("dtype") = nullptr)
    .doc("Return a new array filled with a number or a broadcast array; by default with the dtype of the value.");
ANYFFI_REGISTER_GLOBAL("npx.zeros_like")
    .def([](const Tensor& a, const DTypeArg& dtype) { return full_like(a, false, dtype); }, arg("a"),
         arg("dtype") = nullptr)
    .doc("Return a new array of zeros with the shape and dtype of another one.");
ANYFFI_REGISTER_GLOBAL("npx.ones_like")
    .def([](const Tensor& a, const DTypeArg& dtype) { return full_like(a, true, dtype); }, arg("a"),
         arg("dtype") = nullptr)
    .doc("Return a new array of ones with the shape and dtype of another one.");
ANYFFI_REGISTER_GLOBAL("npx.full_like")
    .def(&full_like, arg("a"), arg("fill_value"), arg("dtype") = nullptr)
    .doc("Return a new array of one value with the shape and dtype of another array.");
ANYFFI_REGISTER_GLOBAL("npx.eye")
    .def(&eye, arg("N"), arg("M") = nullptr, arg("k") = 0, arg("dtype") = nullptr)
    .doc("Return a matrix with ones on its k-th diagonal and zeros elsewhere.");
ANYFFI_REGISTER_GLOBAL("npx.identity")
    .def(&identity, arg("n"), arg("dtype") = nullptr)
    .doc("Return a square matrix with ones on its diagonal and zeros elsewhere.");
ANYFFI_REGISTER_GLOBAL("npx.tri")
    .def(&tri, arg("N"), arg("M") = nullptr, arg("k") = 0, arg("dtype") = nullptr)
    .doc("Return a matrix with ones at and below its k-th diagonal and zeros elsewhere.");
ANYFFI_REGISTER_GLOBAL("npx.arange")
    .def(&arange, arg("start"), arg("stop") = nullptr, arg("step") = 1, arg("dtype") = nullptr)
    .doc("Return evenly spaced numbers in [start, stop), or in [0, start) if stop is omitted.");
ANYFFI_REGISTER_GLOBAL("npx.linspace")
    .def(&linspace, arg("start"), arg("stop"), arg("num") = 50, arg("endpoint") = true, arg("dtype") = nullptr)
    .doc("Return num evenly spaced numbers.");
ANYFFI_REGISTER_GLOBAL("npx.logspace")
    .def(&logspace, arg("start"), arg("stop"), arg("num") = 50, arg("endpoint") = true, arg("base") = 10.0,
         arg("dtype") = nullptr)
    .doc("Return the powers of base with exponents as of linspace.");
ANYFFI_REGISTER_GLOBAL("npx.indices")
    .def(&indices, arg("dimensions"), arg("dtype") = nullptr)
    .doc("Return the indices of a grid: an array for each axis, stacked.");
ANYFFI_REGISTER_GLOBAL("npx.hanning")
    .def([](int64_t size) { return window(size, 0.5, 0.5, 0); }, arg("M"))
    .doc("Return the Hann window.");
ANYFFI_REGISTER_GLOBAL("npx.hamming")
    .def([](int64_t size) { return window(size, 0.54, 0.46, 0); }, arg("M"))
    .doc("Return the Hamming window.");
ANYFFI_REGISTER_GLOBAL("npx.blackman")
    .def([](int64_t size) { return window(size, 0.42, 0.5, 0.08); }, arg("M"))
    .doc("Return the Blackman window.");

}  // namespace
}  // namespace npx
