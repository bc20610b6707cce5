/// \file
/// Matrices and their decompositions, in double or Complex.
#ifndef NPX_MATRIX_H_
#define NPX_MATRIX_H_

#include <vector>

#include "arrays.h"

namespace npx {

/// A matrix, row by row.
template <class T>
class Matrix {
 public:
  using Element = T;
  Matrix(int64_t rows, int64_t columns) : Matrix(rows, columns, std::vector<T>(static_cast<size_t>(rows * columns))) {}
  Matrix(int64_t rows, int64_t columns, std::vector<T> values)
      : values_(std::move(values)), rows_(rows), columns_(columns) {}
  static Matrix identity(int64_t size) {
    Matrix result(size, size);
    for (int64_t i = 0; i < size; ++i) result(i, i) = 1;
    return result;
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const std::vector<T>& values() const { return values_; }
  T& operator()(int64_t row, int64_t column) { return values_[static_cast<size_t>(row * columns_ + column)]; }
  const T& operator()(int64_t row, int64_t column) const {
    return values_[static_cast<size_t>(row * columns_ + column)];
  }
  /// The leading rows and columns.
  Matrix head(int64_t rows, int64_t columns) const {
    Matrix result(rows, columns);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) result(i, j) = (*this)(i, j);
    }
    return result;
  }

 private:
  std::vector<T> values_;
  int64_t rows_, columns_;
};

inline double conjugate(double x) { return x; }
inline Complex conjugate(Complex x) { return std::conj(x); }

/// Transposed and conjugated.
template <class T>
Matrix<T> adjoint(const Matrix<T>& a) {
  Matrix<T> result(a.columns(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) result(j, i) = conjugate(a(i, j));
  }
  return result;
}

template <class T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.rows(), b.columns());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t k = 0; k < a.columns(); ++k) {
      for (int64_t j = 0; j < b.columns(); ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

/// LU decomposition: the permuted rows of the matrix are `l`, with a unit diagonal, times `u`.
template <class T>
struct Lu {
  Matrix<T> both;  ///< `u`, and below its diagonal `l`
  std::vector<int64_t> order;
  T sign;  ///< of the permutation
  bool is_singular() const;
  /// x of `a x = b`.
  Matrix<T> solve(const Matrix<T>& b) const;
};
template <class T>
Lu<T> lu(Matrix<T> a);

/// a = q r, where q is unitary and r has zeros below its diagonal.
template <class T>
struct Qr {
  Matrix<T> q, r;
};
template <class T>
Qr<T> qr(Matrix<T> a);

/// a = l times its adjoint; reads the lower triangle of `a`. LinAlgError unless `a` is positive definite.
template <class T>
Matrix<T> cholesky(const Matrix<T>& a);

/// a v = v diag(values).
template <class T>
struct Eigen {
  std::vector<T> values;
  Matrix<T> vectors;
};
Eigen<Complex> eig(Matrix<Complex> a);
/// Eigenvalues of a Hermitian matrix, from its lower triangle: values in ascending order, unitary vectors.
template <class T>
struct HermitianEigen {
  std::vector<double> values;
  Matrix<T> vectors;
};
template <class T>
HermitianEigen<T> eigh(Matrix<T> a);

/// a = u diag(s) vh; u and vh are unitary, s in descending order.
template <class T>
struct Svd {
  Matrix<T> u;
  std::vector<double> s;
  Matrix<T> vh;
};
/// `full`: u and vh are square; else they have as many columns and rows as there are values.
template <class T>
Svd<T> svd(const Matrix<T>& a, bool full);

}  // namespace npx

#endif  // NPX_MATRIX_H_
