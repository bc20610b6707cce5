/// \file
/// Direct decompositions (elimination, Householder's reflections, Cholesky) and the Schur form.
/// Algorithms as in Golub and Van Loan, Matrix Computations (2013).

#include <algorithm>
#include <cfloat>
#include <numeric>

#include "matrix.h"

namespace npx {

template <class T>
bool Lu<T>::is_singular() const {
  for (int64_t i = 0; i < both.rows(); ++i) {
    if (both(i, i) == T()) return true;
  }
  return false;
}

template <class T>
Matrix<T> Lu<T>::solve(const Matrix<T>& b) const {
  int64_t n = both.rows();
  Matrix<T> x(n, b.columns());
  for (int64_t column = 0; column < b.columns(); ++column) {
    for (int64_t i = 0; i < n; ++i) {
      x(i, column) = b(order[static_cast<size_t>(i)], column);
      for (int64_t k = 0; k < i; ++k) x(i, column) -= both(i, k) * x(k, column);
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < n; ++k) x(i, column) -= both(i, k) * x(k, column);
      x(i, column) /= both(i, i);
    }
  }
  return x;
}

template <class T>
Lu<T> lu(Matrix<T> a) {
  int64_t n = a.rows();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  T sign = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(pivot)]);
      sign = -sign;
    }
    if (a(k, k) == T()) continue;
    for (int64_t i = k + 1; i < n; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return {std::move(a), std::move(order), sign};
}

namespace {

/// A reflection 1 - tau v v' that makes all but one of some elements of a column zero.
template <class T>
struct Reflection {
  std::vector<T> v;  ///< beginning at `first`
  T tau;
  int64_t first;

  Reflection(const Matrix<T>& a, int64_t row, int64_t column) : tau(0), first(row) {
    double size = 0;
    for (int64_t i = row; i < a.rows(); ++i) {
      v.push_back(a(i, column));
      size = std::hypot(size, std::abs(v.back()));
    }
    double rest = 0;
    for (size_t i = 1; i < v.size(); ++i) rest = std::hypot(rest, std::abs(v[i]));
    if (rest == 0 && Complex(v[0]).imag() == 0) return;
    T head = v[0], to = std::signbit(Complex(head).real()) ? size : -size;
    tau = (to - head) / to;
    for (T& each : v) each /= head - to;
    v[0] = 1;
  }
  /// a = (1 - tau' v v') a
  void apply_left(Matrix<T>& a) const {
    for (int64_t j = 0; j < a.columns() && tau != T(); ++j) {
      T product{};
      for (size_t i = 0; i < v.size(); ++i) product += conjugate(v[i]) * a(first + static_cast<int64_t>(i), j);
      for (size_t i = 0; i < v.size(); ++i) a(first + static_cast<int64_t>(i), j) -= conjugate(tau) * product * v[i];
    }
  }
  /// a = a (1 - tau v v')
  void apply_right(Matrix<T>& a) const {
    for (int64_t j = 0; j < a.rows() && tau != T(); ++j) {
      T product{};
      for (size_t i = 0; i < v.size(); ++i) product += a(j, first + static_cast<int64_t>(i)) * v[i];
      for (size_t i = 0; i < v.size(); ++i) a(j, first + static_cast<int64_t>(i)) -= tau * product * conjugate(v[i]);
    }
  }
};

/// Sets the elements more than `offset` rows below the diagonal to zero.
template <class T>
void clear_below(Matrix<T>& a, int64_t offset) {
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < std::min(i - offset, a.columns()); ++j) a(i, j) = 0;
  }
}

}  // namespace

template <class T>
Qr<T> qr(Matrix<T> a) {
  Matrix<T> q = Matrix<T>::identity(a.rows());
  for (int64_t k = 0; k < std::min(a.rows(), a.columns()); ++k) {
    Reflection<T> reflection(a, k, k);
    reflection.apply_left(a);
    reflection.apply_right(q);
  }
  clear_below(a, 0);
  return {std::move(q), std::move(a)};
}

template <class T>
Matrix<T> cholesky(const Matrix<T>& a) {
  int64_t n = a.rows();
  Matrix<T> l(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      T rest = a(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * conjugate(l(j, k));
      double diagonal = Complex(rest).real();
      if (i == j && !(diagonal > 0)) fail("LinAlgError", "Matrix is not positive definite");
      l(i, j) = i == j ? T(std::sqrt(diagonal)) : rest / l(j, j);
    }
  }
  return l;
}

namespace {

/// (x, y) of each pair becomes (c' x + s' y, c y - s x), where |c|^2 + |s|^2 = 1.
struct Givens {
  Complex c, s;
  Givens(Complex x, Complex y) {
    double size = std::hypot(std::abs(x), std::abs(y));
    c = x / size, s = y / size;
  }
  void turn_rows(Matrix<Complex>& a, int64_t row) const {
    for (int64_t j = 0; j < a.columns(); ++j) {
      Complex x = a(row, j), y = a(row + 1, j);
      a(row, j) = std::conj(c) * x + std::conj(s) * y;
      a(row + 1, j) = c * y - s * x;
    }
  }
  void turn_columns(Matrix<Complex>& a, int64_t column) const {
    for (int64_t i = 0; i < a.rows(); ++i) {
      Complex x = a(i, column), y = a(i, column + 1);
      a(i, column) = c * x + s * y;
      a(i, column + 1) = std::conj(c) * y - std::conj(s) * x;
    }
  }
};

/// Wilkinson's shift: the eigenvalue of rows and columns `last - 1` and `last` that is nearer to the last element.
Complex shift_of(const Matrix<Complex>& a, int64_t last) {
  Complex half = (a(last - 1, last - 1) - a(last, last)) / 2.0;
  Complex product = a(last - 1, last) * a(last, last - 1), root = std::sqrt(half * half + product);
  Complex far = half + (std::real(std::conj(half) * root) < 0 ? -root : root);
  return far == Complex() ? a(last, last) : a(last, last) - product / far;
}

/// Makes `a` an upper triangle `q' a q`, by the QR algorithm on the Hessenberg form.
Matrix<Complex> to_schur(Matrix<Complex>& a) {
  int64_t n = a.rows();
  Matrix<Complex> q = Matrix<Complex>::identity(n);
  for (int64_t k = 0; k + 2 < n; ++k) {
    Reflection<Complex> reflection(a, k + 1, k);
    reflection.apply_left(a);
    reflection.apply_right(a);
    reflection.apply_right(q);
  }
  clear_below(a, 1);
  constexpr int kMost = 300;
  for (int64_t last = n - 1, steps = 0; last > 0; ++steps) {
    int64_t first = last;
    for (; first > 0; --first) {
      double near = std::abs(a(first, first)) + std::abs(a(first - 1, first - 1));
      if (!(std::abs(a(first, first - 1)) > DBL_EPSILON * near)) break;
    }
    if (first > 0) a(first, first - 1) = 0;
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (steps == kMost) fail("LinAlgError", "Eigenvalues did not converge");
    // Uses an exceptional shift occasionally: with Wilkinson's, some matrices do not converge.
    Complex shift = steps % 10 == 9 ? a(last, last) + std::abs(a(last, last - 1)) : shift_of(a, last);
    for (int64_t i = first; i <= last; ++i) a(i, i) -= shift;
    std::vector<Givens> turns;
    for (int64_t k = first; k < last; ++k) {
      turns.emplace_back(a(k, k), a(k + 1, k));
      turns.back().turn_rows(a, k);
      a(k + 1, k) = 0;
    }
    for (int64_t k = first; k < last; ++k) {
      turns[static_cast<size_t>(k - first)].turn_columns(a, k);
      turns[static_cast<size_t>(k - first)].turn_columns(q, k);
    }
    for (int64_t i = first; i <= last; ++i) a(i, i) += shift;
    anyffi::check_signals();
  }
  return q;
}

}  // namespace

Eigen<Complex> eig(Matrix<Complex> a) {
  int64_t n = a.rows();
  double size = DBL_MIN;
  for (const Complex& each : a.values()) {
    size = std::fmax(size, std::abs(each));
    if (!std::isfinite(std::abs(each))) fail("LinAlgError", "Array must not contain infs or NaNs");
  }
  Matrix<Complex> q = to_schur(a), vectors(n, n);
  std::vector<Complex> values;
  for (int64_t k = 0; k < n; ++k) {
    values.push_back(a(k, k));
    // Back substitution in the triangle; equal eigenvalues are perturbed slightly.
    Matrix<Complex> v(n, 1);
    v(k, 0) = 1;
    for (int64_t i = k - 1; i >= 0; --i) {
      Complex sum, gap = a(k, k) - a(i, i);
      for (int64_t j = i + 1; j <= k; ++j) sum += a(i, j) * v(j, 0);
      v(i, 0) = sum / (std::abs(gap) < DBL_EPSILON * size ? DBL_EPSILON * size : gap);
      if (std::abs(v(i, 0)) < 1e100) continue;
      for (int64_t j = i; j <= k; ++j) v(j, 0) *= 1e-100;
    }
    Matrix<Complex> x = q * v;
    double length = 0;
    Complex greatest;
    for (const Complex& each : x.values()) {
      length = std::hypot(length, std::abs(each));
      if (std::abs(each) > std::abs(greatest)) greatest = each;
    }
    // Normalise to length 1, with a real greatest element.
    for (int64_t i = 0; i < n; ++i) vectors(i, k) = x(i, 0) / length * (std::abs(greatest) / greatest);
  }
  return {std::move(values), std::move(vectors)};
}

template struct Lu<double>;
template struct Lu<Complex>;
template Lu<double> lu(Matrix<double>);
template Lu<Complex> lu(Matrix<Complex>);
template Qr<double> qr(Matrix<double>);
template Qr<Complex> qr(Matrix<Complex>);
template Matrix<double> cholesky(const Matrix<double>&);
template Matrix<Complex> cholesky(const Matrix<Complex>&);

}  // namespace npx
