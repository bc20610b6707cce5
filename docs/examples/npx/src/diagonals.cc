/// \file
/// Diagonals and triangles of matrices: diag, trace, tril and similar functions.

#include <algorithm>

#include "functions.h"

namespace npx {
namespace {

Tensor diag(const Tensor& v, int64_t k) {
  Strided array = read(v);
  if (array.ndim() == 2) return view_of(v, diagonal_of(array, k, 0, 1), true);
  if (array.ndim() != 1) fail("ValueError", "Input must be 1- or 2-d.");
  int64_t size, size_beyond = k < 0 ? ~k : k - 1;
  if (__builtin_add_overflow(array.shape[0], size_beyond, &size) || __builtin_add_overflow(size, 1, &size)) {
    fail("ValueError", "array is too big");
  }
  Tensor result = allocate({size, size}, array.dtype);
  assign(write(result), Input(false, array.dtype).array());
  assign(diagonal_of(write(result), k, 0, 1), array);
  return result;
}

Array<Tensor> diag_indices_from(const Tensor& arr) {
  Dims shape = read(arr).shape;
  if (shape.size() < 2) fail("ValueError", "input array must be at least 2-d");
  if (Dims(shape.size(), shape[0]) != shape) fail("ValueError", "All dimensions of input must be of equal length");
  List<Tensor> result;
  for (int axis = 0; axis < shape.size(); ++axis) {
    Tensor positions = allocate({shape[0]}, kInt64);
    for (int64_t i = 0; i < shape[0]; ++i) positions.data<int64_t>()[i] = i;
    result.push_back(positions);
  }
  return std::move(result).freeze();
}

/// `m` with zeros above its k-th diagonal, or (without `above`) on and below it.
Tensor triangle(const Tensor& m, int64_t k, bool above) {
  if (m.ndim() == 0) fail("TypeError", "an array of no dimensions has no triangles");
  int64_t rows = m.shape()[std::max(m.ndim() - 2, 0)], columns = m.shape()[m.ndim() - 1];
  Tensor lower = tri(rows, columns, std::clamp(k, -rows - 1, columns), DTypeArg(kBool));
  return above ? where(lower, m, false) : where(lower, false, m);
}

Tensor trace(const Tensor& a, int64_t offset, int64_t axis1, int64_t axis2, const DTypeArg& dtype,
             const Optional<Tensor>& out) {
  Variant<int64_t, Array<int64_t>> last(int64_t{-1});
  return sum(view_of(a, diagonal_of(read(a), offset, axis1, axis2)), last, dtype, out);
}

ANYFFI_REGISTER_GLOBAL("npx.diag")
    .def(&diag, arg("v"), arg("k") = 0)
    .doc("Return a read-only view of the k-th diagonal of a matrix, or a matrix with a given k-th diagonal.");
ANYFFI_REGISTER_GLOBAL("npx.diagflat")
    .def([](const Tensor& v, int64_t k) { return diag(raveled(read(v)), k); }, arg("v"), arg("k") = 0)
    .doc("Return a matrix with all elements on its k-th diagonal and zeros elsewhere.");
ANYFFI_REGISTER_GLOBAL("npx.diag_indices_from")
    .def(&diag_indices_from, arg("arr"))
    .doc("Return the indices of the main diagonal: an array for each axis.");
ANYFFI_REGISTER_GLOBAL("npx.tril")
    .def([](const Tensor& m, int64_t k) { return triangle(m, k, true); }, arg("m"), arg("k") = 0)
    .doc("Return a copy with zeros above the k-th diagonal.");
ANYFFI_REGISTER_GLOBAL("npx.triu")
    .def([](const Tensor& m, int64_t k) { return triangle(m, std::max(k, -INT64_MAX) - 1, false); }, arg("m"),
         arg("k") = 0)
    .doc("Return a copy with zeros below the k-th diagonal.");
ANYFFI_REGISTER_GLOBAL("npx.trace")
    .def(&trace, arg("a"), arg("offset") = 0, arg("axis1") = 0, arg("axis2") = 1, arg("dtype") = nullptr,
         arg("out") = nullptr)
    .doc("Sum the elements on a diagonal of two axes.");

}  // namespace
}  // namespace npx
