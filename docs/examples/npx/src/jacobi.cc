/// \file
/// Jacobi's rotations: eigenvalues of Hermitian matrices, and singular values by Hestenes' one-sided form.
/// Algorithms as in Golub and Van Loan, Matrix Computations (2013).

#include <algorithm>
#include <cfloat>
#include <numeric>

#include "matrix.h"

namespace npx {
namespace {

constexpr int kMostSweeps = 60;

/// Columns p and q become (c p - s' q, s p + c q), which makes a Hermitian pair diagonal: ((pp, pq), (pq', qq)).
template <class T>
struct Rotation {
  double c;
  T s;
  Rotation(double pp, double qq, T pq) {
    double size = std::abs(pq), theta = (qq - pp) / (2 * size);
    double tangent = std::copysign(1, theta) / (std::fabs(theta) + std::hypot(theta, 1));
    c = 1 / std::hypot(tangent, 1);
    s = tangent * c * (pq / size);
  }
  void turn_columns(Matrix<T>& a, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < a.rows(); ++i) {
      T x = a(i, p), y = a(i, q);
      a(i, p) = c * x - conjugate(s) * y;
      a(i, q) = s * x + c * y;
    }
  }
  /// Applies the rotation to rows, too, which makes it a similarity.
  void turn_rows(Matrix<T>& a, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < a.columns(); ++j) {
      T x = a(p, j), y = a(q, j);
      a(p, j) = c * x - s * y;
      a(q, j) = conjugate(s) * x + c * y;
    }
  }
};

/// Calls `turn(p, q)` for all pairs of columns, until it returns false for all of them.
template <class Turn>
void sweep(int64_t columns, Turn turn) {
  bool goes_on = true;
  for (int sweeps = 0; goes_on; ++sweeps) {
    if (sweeps == kMostSweeps) fail("LinAlgError", "Jacobi's rotations did not converge");
    goes_on = false;
    for (int64_t p = 0; p < columns; ++p) {
      for (int64_t q = p + 1; q < columns; ++q) goes_on |= turn(p, q);
    }
    anyffi::check_signals();
  }
}

/// The greatest absolute value of an element: dividing by it avoids overflow in squares.
template <class T>
double scale_of(const Matrix<T>& a) {
  double scale = 0;
  for (const T& each : a.values()) {
    if (!std::isfinite(std::abs(each))) fail("LinAlgError", "Array must not contain infs or NaNs");
    scale = std::fmax(scale, std::abs(each));
  }
  return scale == 0 ? 1 : scale;
}

/// The indices that sort numbers.
template <class Before>
std::vector<int64_t> order_by(const std::vector<double>& numbers, Before before) {
  std::vector<int64_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  auto number = [&](int64_t i) { return numbers[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return before(number(a), number(b)); });
  return order;
}

/// Completes an orthonormal basis from column `known` on: orthogonalises unit vectors, each time the one with the
/// smallest projection on the previous columns.
template <class T>
void complete(Matrix<T>& u, int64_t known) {
  for (int64_t column = known; column < u.columns(); ++column) {
    int64_t best = 0;
    double least = HUGE_VAL;
    for (int64_t i = 0; i < u.rows(); ++i) {
      double reached = 0;
      for (int64_t j = 0; j < column; ++j) reached += std::norm(u(i, j));
      if (reached < least) best = i, least = reached;
    }
    for (int64_t i = 0; i < u.rows(); ++i) u(i, column) = i == best ? 1 : 0;
    // Twice, to remove rounding errors.
    for (int64_t j = 0; j < 2 * column; ++j) {
      T product{};
      for (int64_t i = 0; i < u.rows(); ++i) product += conjugate(u(i, j % column)) * u(i, column);
      for (int64_t i = 0; i < u.rows(); ++i) u(i, column) -= product * u(i, j % column);
    }
    double length = 0;
    for (int64_t i = 0; i < u.rows(); ++i) length = std::hypot(length, std::abs(u(i, column)));
    for (int64_t i = 0; i < u.rows(); ++i) u(i, column) /= length;
  }
}

}  // namespace

template <class T>
HermitianEigen<T> eigh(Matrix<T> a) {
  int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    a(i, i) = Complex(a(i, i)).real();
    for (int64_t j = 0; j < i; ++j) a(j, i) = conjugate(a(i, j));
  }
  double scale = scale_of(a);
  Matrix<T> v = Matrix<T>::identity(n);
  sweep(n, [&](int64_t p, int64_t q) {
    if (std::abs(a(p, q)) <= DBL_EPSILON * DBL_EPSILON * scale) return false;
    Rotation<T> rotation(Complex(a(p, p)).real(), Complex(a(q, q)).real(), a(p, q));
    rotation.turn_columns(a, p, q);
    rotation.turn_rows(a, p, q);
    rotation.turn_columns(v, p, q);
    a(p, q) = a(q, p) = 0;
    return true;
  });
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(Complex(a(i, i)).real());
  std::vector<int64_t> order = order_by(values, std::less<>());
  HermitianEigen<T> result{{}, Matrix<T>(n, n)};
  for (int64_t from : order) {
    auto to = static_cast<int64_t>(result.values.size());
    result.values.push_back(values[static_cast<size_t>(from)]);
    for (int64_t i = 0; i < n; ++i) result.vectors(i, to) = v(i, from);
  }
  return result;
}

template <class T>
Svd<T> svd(const Matrix<T>& a, bool full) {
  if (a.rows() < a.columns()) {
    Svd<T> other = svd(adjoint(a), full);
    return {adjoint(other.vh), std::move(other.s), adjoint(other.u)};
  }
  int64_t m = a.rows(), n = a.columns();
  double scale = scale_of(a), precision = DBL_EPSILON * static_cast<double>(m);
  Matrix<T> b = a, v = Matrix<T>::identity(n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) b(i, j) /= scale;
  }
  auto product = [&](int64_t p, int64_t q) {
    T sum{};
    for (int64_t i = 0; i < m; ++i) sum += conjugate(b(i, p)) * b(i, q);
    return sum;
  };
  double total = 0;
  for (int64_t j = 0; j < n; ++j) total += std::abs(product(j, j));
  // Shorter columns are zero except for rounding errors.
  double shortest = precision * std::sqrt(total);
  auto length = [&](int64_t j) { return std::sqrt(std::abs(product(j, j))); };
  sweep(n, [&](int64_t p, int64_t q) {
    double first = length(p), second = length(q);
    T pq = product(p, q);
    if (std::min(first, second) <= shortest || std::abs(pq) <= precision * first * second) return false;
    Rotation<T> rotation(first * first, second * second, pq);
    rotation.turn_columns(b, p, q);
    rotation.turn_columns(v, p, q);
    return true;
  });
  std::vector<double> lengths;
  for (int64_t j = 0; j < n; ++j) lengths.push_back(length(j));
  Svd<T> result{Matrix<T>(m, full ? m : n), {}, Matrix<T>(n, n)};
  int64_t known = 0;
  for (int64_t from : order_by(lengths, std::greater<>())) {
    auto to = static_cast<int64_t>(result.s.size());
    double size = lengths[static_cast<size_t>(from)];
    bool counts = size > shortest;
    result.s.push_back(size * scale);
    for (int64_t i = 0; i < n; ++i) result.vh(to, i) = conjugate(v(i, from));
    for (int64_t i = 0; i < m && counts; ++i) result.u(i, to) = b(i, from) / size;
    known += counts;
  }
  complete(result.u, known);
  return result;
}

template HermitianEigen<double> eigh(Matrix<double>);
template HermitianEigen<Complex> eigh(Matrix<Complex>);
template Svd<double> svd(const Matrix<double>&, bool);
template Svd<Complex> svd(const Matrix<Complex>&, bool);

}  // namespace npx
