/// \file
/// Linear equations: solve, inv, det, cholesky, qr and similar functions.

#include "linalg.h"

#include "functions.h"

namespace npx {
namespace {

template <class T>
Lu<T> invertible(const Matrix<T>& a) {
  Lu<T> result = lu(a);
  if (result.is_singular()) fail("LinAlgError", "Singular matrix");
  return result;
}

Tensor det(const Tensor& a) {
  Stack stack(a);
  stack.check_square();
  return of_each(stack, {Dims()}, [](const auto& matrix) {
    auto found = lu(matrix);
    auto product = found.sign;
    for (int64_t i = 0; i < matrix.rows(); ++i) product *= found.both(i, i);
    return std::tuple(product);
  })[0];
}

Array<Tensor> slogdet(const Tensor& a) {
  Stack stack(a);
  stack.check_square();
  return of_each(stack, {Dims(), Dims()}, [](const auto& matrix) {
    auto found = lu(matrix);
    auto sign = found.sign;
    double logarithm = 0;
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      double size = std::abs(found.both(i, i));
      sign *= size == 0 ? 0 : found.both(i, i) / size;
      logarithm += std::log(size);
    }
    return std::tuple(sign, logarithm);
  });
}

Tensor inv(const Tensor& a) {
  Stack stack(a);
  stack.check_square();
  return of_each(stack, {{stack.rows, stack.rows}}, [](const auto& matrix) {
    using M = std::decay_t<decltype(matrix)>;
    return std::tuple(invertible(matrix).solve(M::identity(matrix.rows())));
  })[0];
}

Tensor solve(const Tensor& a, const Tensor& b) {
  Strided left = read(a), right = read(b);
  bool is_vector = right.ndim() == 1;
  if (is_vector) right = right.with_axis(1);
  DataType common = promote(field_of(a.dtype()), field_of(b.dtype()));
  Stack own(left, common), given(right, common);
  own.check_square();
  if (own.rows != given.rows) fail("ValueError", "solve: the matrices have different numbers of rows");
  Dims outer = broadcast_shapes(own.outer, given.outer);
  auto spread = [&](const Strided& array, int64_t rows, int64_t columns) {
    Dims shape = outer;
    shape.push_back(rows);
    shape.push_back(columns);
    return Stack(array.broadcast(shape), common);
  };
  Stack matrices = spread(left, own.rows, own.columns), sides = spread(right, given.rows, given.columns);
  Dims shape{given.rows};
  if (!is_vector) shape.push_back(given.columns);
  int64_t next = 0;
  return of_each(matrices, {shape}, [&](const auto& matrix) {
    using T = typename std::decay_t<decltype(matrix)>::Element;
    return std::tuple(invertible(matrix).solve(sides.at<T>(next++)));
  })[0];
}

Tensor cholesky_of(const Tensor& a, bool upper) {
  Stack stack(a);
  stack.check_square();
  return of_each(stack, {{stack.rows, stack.rows}}, [upper](const auto& matrix) {
    return std::tuple(upper ? adjoint(cholesky(adjoint(matrix))) : cholesky(matrix));
  })[0];
}

Variant<Tensor, Array<Tensor>> qr_of(const Tensor& a, const String& mode) {
  bool reduced = mode == "reduced", complete = mode == "complete";
  if (!reduced && !complete && mode != "r") {
    throw Error("ValueError", anyffi::join("", Array<String>{"Unrecognized mode '", mode, "'"}));
  }
  Stack stack(a);
  int64_t rows = complete ? stack.rows : stack.rank();
  Array<Tensor> both = of_each(stack, {{stack.rows, rows}, {rows, stack.columns}}, [rows](const auto& matrix) {
    auto found = qr(matrix);
    return std::tuple(found.q.head(matrix.rows(), rows), found.r.head(rows, matrix.columns()));
  });
  if (mode == "r") return both[1];
  return both;
}

/// A compact copy with other axes.
Tensor refolded(const Strided& array, const Dims& shape) { return reshaped(raveled(array), shape); }

Tensor tensorinv(const Tensor& a, int64_t ind) {
  if (ind <= 0) fail("ValueError", "Invalid ind argument.");
  Dims shape, first, old = read(a).shape;
  for (int i = 0; i < old.size(); ++i) (i < ind ? first : shape).push_back(old[i]);
  int64_t rows = element_count(shape), columns = element_count(first);
  for (int64_t extent : first) shape.push_back(extent);
  return reshaped(inv(refolded(read(a), {rows, columns})), shape);
}

Tensor tensorsolve(const Tensor& a, const Tensor& b, const Optional<Array<int64_t>>& axes) {
  Strided array = read(a);
  if (axes) {
    // These axes become the last ones.
    for (int64_t axis : *axes) array = array.moved(read_axis(axis, array.ndim()), array.ndim() - 1);
  }
  Dims shape;
  int first = b.ndim() < array.ndim() ? b.ndim() : 0;
  for (int i = first; i < array.ndim(); ++i) shape.push_back(array.shape[i]);
  int64_t size = element_count(shape), square;
  if (__builtin_mul_overflow(size, size, &square) || element_count(array.shape) != square) {
    fail("LinAlgError", "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])");
  }
  return reshaped(solve(refolded(array, {size, size}), raveled(read(b))), shape);
}

ANYFFI_REGISTER_GLOBAL("npx.linalg.det").def(&det, arg("a")).doc("Return the determinant.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.slogdet")
    .def(&slogdet, arg("a"))
    .doc("Return the sign of the determinant and the logarithm of its absolute value.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.inv").def(&inv, arg("a")).doc("Return the inverse matrix.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.solve").def(&solve, arg("a"), arg("b")).doc("Solve a x = b for x.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.cholesky")
    .def(&cholesky_of, arg("a"), arg("upper") = false)
    .doc("Return the Cholesky decomposition: the lower triangle l with a = l l', or its adjoint.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.qr")
    .def(&qr_of, arg("a"), arg("mode") = "reduced")
    .doc("Return the QR decomposition of a; modes are reduced, complete and r.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.tensorinv")
    .def(&tensorinv, arg("a"), arg("ind") = 2)
    .doc("Return the inverse of a for tensordot; the first ind axes are the rows.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.tensorsolve")
    .def(&tensorsolve, arg("a"), arg("b"), arg("axes") = nullptr)
    .doc("Solve tensordot(a, x, x.ndim) = b for x; axes of a are first moved to its end.");

}  // namespace
}  // namespace npx
