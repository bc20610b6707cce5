/// \file
/// Stacks of matrices: how functions of linear algebra read their arguments and write their results.
#ifndef NPX_LINALG_H_
#define NPX_LINALG_H_

#include <algorithm>
#include <tuple>

#include "matrix.h"
#include "walk.h"

namespace npx {

/// The dtype of linear algebra on an array. TypeError if it has none.
inline DataType field_of(DataType dtype) {
  if (dtype == float_of(16)) fail("TypeError", "array type float16 is unsupported in linalg");
  return mean_dtype(dtype);
}

/// The last two axes of an array as matrices, in double or Complex.
class Stack {
 public:
  DataType dtype;  ///< float or complex: that of results
  Dims outer;      ///< the other axes
  int64_t rows, columns;

  /// LinAlgError for less than two axes, TypeError for an unsupported dtype.
  Stack(const Strided& array, DataType common)
      : dtype(checked(array, common)),
        outer(array.shape.begin(), array.ndim() - 2),
        rows(array.shape[array.ndim() - 2]),
        columns(array.shape[array.ndim() - 1]),
        values_(copied(array, dtype_of(lane_of(dtype)))) {}
  explicit Stack(const Tensor& tensor) : Stack(read(tensor), tensor.dtype()) {}

  void check_square() const {
    if (rows != columns) fail("LinAlgError", "Last 2 dimensions of the array must be square");
  }
  int64_t count() const { return element_count(outer); }
  /// The number of singular values: the smaller extent.
  int64_t rank() const { return std::min(rows, columns); }
  /// T must be double or Complex, according to the dtype.
  template <class T>
  Matrix<T> at(int64_t index) const {
    const T* first = values_.data<const T>() + index * rows * columns;
    return {rows, columns, std::vector<T>(first, first + rows * columns)};
  }

 private:
  static DataType checked(const Strided& array, DataType dtype) {
    if (array.ndim() < 2) {
      fail("LinAlgError",
           std::to_string(array.ndim()) + "-dimensional array given. Array must be at least two-dimensional");
    }
    return field_of(dtype);
  }
  Tensor values_;
};

namespace detail {

template <class T>
const std::vector<T>& values_of(const Matrix<T>& matrix) {
  return matrix.values();
}
template <class T>
const std::vector<T>& values_of(const std::vector<T>& vector) {
  return vector;
}
inline std::vector<double> values_of(double number) { return {number}; }
inline std::vector<Complex> values_of(Complex number) { return {number}; }

/// The results for each matrix of a stack: a matrix, a vector or a number.
template <class R>
class Results {
  using T = typename std::decay_t<decltype(values_of(std::declval<R>()))>::value_type;

 public:
  Results(const Dims& outer, const Dims& inner) : tensor_(allocate(joined(outer, inner), DataType::of<T>())) {
    next_ = tensor_.data<T>();
  }
  void add(const R& result) {
    const auto& values = values_of(result);
    next_ = std::copy(values.begin(), values.end(), next_);
  }
  /// Rounds to the precision of a dtype.
  Tensor finish(DataType dtype) const {
    return copied(read(tensor_), kIsComplex<T> ? complex_of(dtype) : real_of(dtype));
  }

 private:
  static Dims joined(Dims outer, const Dims& inner) {
    for (int64_t extent : inner) outer.push_back(extent);
    return outer;
  }
  Tensor tensor_;
  T* next_;
};

template <class T, class F, size_t... I>
Array<Tensor> collect(const Stack& stack, const Dims* shapes, F& f, std::index_sequence<I...>) {
  using Found = decltype(f(std::declval<Matrix<T>>()));
  std::tuple results(Results<std::tuple_element_t<I, Found>>(stack.outer, shapes[I])...);
  for (int64_t i = 0; i < stack.count(); ++i) {
    Found found = f(stack.at<T>(i));
    (std::get<I>(results).add(std::get<I>(found)), ...);
  }
  return {std::get<I>(results).finish(stack.dtype)...};
}

}  // namespace detail

/// Applies `f` to each matrix: it returns a std::tuple of matrices, vectors or numbers; the result has a tensor for
/// each.
template <size_t N, class F>
Array<Tensor> of_each(const Stack& stack, const Dims (&shapes)[N], F f) {
  constexpr std::make_index_sequence<N> kAll{};
  return is_complex(stack.dtype) ? detail::collect<Complex>(stack, shapes, f, kAll)
                                 : detail::collect<double>(stack, shapes, f, kAll);
}

/// Returns the singular values in descending order, along a new last axis.
Tensor singular_values(const Stack& stack);

}  // namespace npx

#endif  // NPX_LINALG_H_
