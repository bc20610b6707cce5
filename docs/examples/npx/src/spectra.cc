/// \file
/// Eigenvalues and singular values: eig, svd, pinv, matrix_rank, lstsq.

#include <cfloat>

#include "functions.h"
#include "linalg.h"

namespace npx {

Tensor singular_values(const Stack& stack) {
  return of_each(stack, {{stack.rank()}}, [](const auto& matrix) { return std::tuple(svd(matrix, false).s); })[0];
}

namespace {

/// The machine epsilon of a dtype.
double epsilon_of(DataType dtype) { return float_bits(dtype) == 32 ? FLT_EPSILON : DBL_EPSILON; }

/// Whether all imaginary parts are rounding errors; only for a real stack.
bool is_real(const Stack& stack, const Tensor& values) {
  Tensor exact = copied(read(values), kComplex128);
  double size = 0, imaginary = 0;
  for (int64_t i = 0; i < exact.numel(); ++i) {
    Complex value = exact.data<const Complex>()[i];
    size = std::fmax(size, std::abs(value));
    imaginary = std::fmax(imaginary, std::fabs(value.imag()));
  }
  return imaginary <= 16 * static_cast<double>(stack.rows) * epsilon_of(stack.dtype) * size;
}

/// Eigenvalues and eigenvectors; real if the matrices and all eigenvalues are.
Array<Tensor> eig_of(const Tensor& a) {
  DataType dtype = field_of(a.dtype());
  Stack stack(read(a), complex_of(dtype));
  stack.check_square();
  Array<Tensor> both = of_each(stack, {{stack.rows}, {stack.rows, stack.rows}}, [](const auto& matrix) {
    Eigen<Complex> found =
        eig(Matrix<Complex>(matrix.rows(), matrix.columns(), {matrix.values().begin(), matrix.values().end()}));
    return std::tuple(found.values, found.vectors);
  });
  if (is_complex(dtype) || !is_real(stack, both[0])) return both;
  return {copied(read(both[0]), dtype), copied(read(both[1]), dtype)};
}

Array<Tensor> eigh_of(const Tensor& a, const String& uplo) {
  bool upper = uplo == "U" || uplo == "u";
  if (!upper && uplo != "L" && uplo != "l") fail("ValueError", "UPLO argument must be 'L' or 'U'");
  Stack stack(a);
  stack.check_square();
  return of_each(stack, {{stack.rows}, {stack.rows, stack.rows}}, [upper](const auto& matrix) {
    auto found = eigh(upper ? adjoint(matrix) : matrix);
    return std::tuple(found.values, found.vectors);
  });
}

Variant<Tensor, Array<Tensor>> svd_of(const Tensor& a, bool full_matrices, bool compute_uv, bool) {
  Stack stack(a);
  if (!compute_uv) return singular_values(stack);
  int64_t left = full_matrices ? stack.rows : stack.rank(), right = full_matrices ? stack.columns : stack.rank();
  return of_each(stack, {{stack.rows, left}, {stack.rank()}, {right, stack.columns}}, [&](const auto& matrix) {
    auto found = svd(matrix, full_matrices);
    return std::tuple(found.u, found.s, found.vh);
  });
}

/// The pseudo-inverse, which ignores singular values of at most `cutoff` times the greatest, and the number of the
/// others.
template <class T>
std::pair<Matrix<T>, int64_t> pseudo_inverse(const Matrix<T>& a, const Svd<T>& parts, double cutoff) {
  Matrix<T> scaled = adjoint(parts.vh);
  int64_t rank = 0;
  for (int64_t j = 0; j < scaled.columns(); ++j) {
    double s = parts.s[static_cast<size_t>(j)];
    bool counts = s > cutoff * parts.s[0];
    rank += counts;
    for (int64_t i = 0; i < a.columns(); ++i) scaled(i, j) *= counts ? 1 / s : 0;
  }
  return {scaled * adjoint(parts.u), rank};
}

Tensor pinv(const Tensor& a, const Operand& rcond, bool) {
  Stack stack(a);
  Input given(rcond, rcond.holds<Tensor>() ? rcond.get<Tensor>().dtype() : kFloat64);
  if (broadcast_shapes(stack.outer, given.array().shape) != stack.outer) {
    fail("ValueError", "rcond of shape " + text_of(given.array().shape) + " does not fit the matrices");
  }
  Tensor cutoffs = copied(given.array().broadcast(stack.outer), kFloat64);
  const double* next = cutoffs.data<double>();
  return of_each(stack, {{stack.columns, stack.rows}}, [&](const auto& matrix) {
    return std::tuple(pseudo_inverse(matrix, svd(matrix, false), *next++).first);
  })[0];
}

Tensor matrix_rank(const Tensor& A, const Optional<Operand>& tol, bool, const Optional<Operand>& rtol) {
  AxisArg last(Variant<int64_t, Array<int64_t>>(int64_t{-1}));
  if (A.ndim() < 2) {
    Tensor count = sum(binary("npx.not_equal", A, BigInt(0)), nullptr);
    return copied(read(binary("npx.not_equal", count, BigInt(0))), kInt64);
  }
  if (tol && rtol) fail("ValueError", "`tol` and `rtol` can't be both set.");
  Stack stack(A);
  Tensor s = singular_values(stack);
  // Add an axis for the values.
  auto spread = [](const Operand& limit) -> Operand {
    if (!limit.holds<Tensor>()) return limit;
    Tensor given = limit.get<Tensor>();
    return view_of(given, read(given).with_axis(given.ndim()));
  };
  if (tol) return sum(binary("npx.greater", s, spread(*tol)), last);
  if (stack.rank() == 0) return sum(s, last, DTypeArg(kInt64));
  Operand part(static_cast<double>(std::max(stack.rows, stack.columns)) * epsilon_of(stack.dtype));
  if (rtol) part = spread(*rtol);
  Tensor greatest = view_of(s, read(s).slice(s.ndim() - 1, 0, 1));
  return sum(binary("npx.greater", s, binary("npx.multiply", greatest, part)), last);
}

using LeastSquares = anyffi::Tuple<Tensor, Tensor, int64_t, Tensor>;

LeastSquares lstsq(const Tensor& a, const Tensor& b, const Optional<double>& rcond) {
  Strided right = read(b);
  bool is_vector = right.ndim() == 1;
  if (is_vector) right = right.with_axis(1);
  if (a.ndim() != 2 || right.ndim() != 2) fail("LinAlgError", "Array must be two-dimensional");
  if (a.shape()[0] != right.shape[0]) fail("LinAlgError", "Incompatible dimensions");
  DataType common = promote(field_of(a.dtype()), field_of(b.dtype()));
  Stack stack(read(a), common), sides(right, common);
  double cutoff = rcond.value_or(epsilon_of(common) * static_cast<double>(std::max(stack.rows, stack.columns)));
  if (cutoff < 0) cutoff = epsilon_of(common);
  int64_t rank = 0;
  Dims shape{stack.columns};
  if (!is_vector) shape.push_back(sides.columns);
  Array<Tensor> found = of_each(stack, {shape, {sides.columns}, {stack.rank()}}, [&](const auto& matrix) {
    using T = typename std::decay_t<decltype(matrix)>::Element;
    Matrix<T> side = sides.at<T>(0);
    Svd<T> parts = svd(matrix, false);
    auto [inverse, known] = pseudo_inverse(matrix, parts, cutoff);
    rank = known;
    Matrix<T> x = inverse * side, near = matrix * x;
    std::vector<double> squares(static_cast<size_t>(sides.columns));
    for (int64_t i = 0; i < side.rows(); ++i) {
      for (int64_t j = 0; j < side.columns(); ++j)
        squares[static_cast<size_t>(j)] += std::norm(side(i, j) - near(i, j));
    }
    return std::tuple(x, squares, parts.s);
  });
  // No residuals if the solution is not unique, or exact because there are no excess equations.
  bool has_distances = rank == stack.columns && stack.rows > stack.columns;
  Tensor distances = has_distances ? found[1] : allocate({0}, real_of(common));
  return {found[0], distances, rank, found[2]};
}

ANYFFI_REGISTER_GLOBAL("npx.linalg.eig").def(&eig_of, arg("a")).doc("Return eigenvalues, and eigenvectors as columns.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.eigvals")
    .def([](const Tensor& a) { return eig_of(a)[0]; }, arg("a"))
    .doc("Return eigenvalues.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.eigh")
    .def(&eigh_of, arg("a"), arg("UPLO") = "L")
    .doc("Return eigenvalues, and eigenvectors as columns, of a Hermitian matrix; reads one triangle.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.eigvalsh")
    .def([](const Tensor& a, const String& uplo) { return eigh_of(a, uplo)[0]; }, arg("a"), arg("UPLO") = "L")
    .doc("Return eigenvalues of a Hermitian matrix; reads one triangle.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.svd")
    .def(&svd_of, arg("a"), arg("full_matrices") = true, arg("compute_uv") = true, arg("hermitian") = false)
    .doc("Return the singular value decomposition: unitary columns, singular values, unitary rows.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.pinv")
    .def(&pinv, arg("a"), arg("rcond") = 1e-15, arg("hermitian") = false)
    .doc("Return the pseudo-inverse; singular values up to rcond times the greatest count as 0.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.matrix_rank")
    .def(&matrix_rank, arg("A"), arg("tol") = nullptr, arg("hermitian") = false, arg("rtol") = nullptr)
    .doc("Count the singular values above tol, or rtol times the greatest.");
ANYFFI_REGISTER_GLOBAL("npx.linalg.lstsq")
    .def(&lstsq, arg("a"), arg("b"), arg("rcond") = nullptr)
    .doc("Return the least-squares solution of a x = b, squared residuals, the rank of a, and its singular values.");

}  // namespace
}  // namespace npx
