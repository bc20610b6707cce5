/// \file
/// Views: transpose, squeeze, broadcast_to, diagonal and similar functions.

#include <algorithm>

#include "functions.h"

namespace npx {

Strided diagonal_of(const Strided& array, int64_t offset, int64_t axis1, int64_t axis2) {
  if (array.ndim() < 2) fail("ValueError", "diag requires an array of at least two dimensions");
  int row = read_axis(axis1, array.ndim()), column = read_axis(axis2, array.ndim());
  if (row == column) fail("ValueError", "axis1 and axis2 cannot be the same");
  int64_t rows = array.shape[row], columns = array.shape[column];
  // Beyond the corners all diagonals are empty.
  int64_t first_row = -std::clamp(offset, -rows, int64_t{0}), first_column = std::clamp(offset, int64_t{0}, columns);
  Strided part = array.slice(row, first_row, rows).slice(column, first_column, columns);
  int64_t size = std::min(part.shape[row], part.shape[column]);
  if (size == 0) part.data = array.data;
  part.shape.push_back(size);
  part.strides.push_back(array.strides[row] + array.strides[column]);
  return part.without(std::max(row, column)).without(std::min(row, column));
}

namespace {

Tensor transpose(const Tensor& a, const Optional<Array<int64_t>>& axes) {
  Strided array = read(a);
  Dims order, seen(array.ndim(), 0);
  if (axes) {
    Array<int64_t> given = *axes;
    if (given.size() != array.ndim()) fail("ValueError", "axes don't match array");
    for (int64_t axis : given) {
      order.push_back(read_axis(axis, array.ndim()));
      if (seen[static_cast<int>(order[order.size() - 1])]++) fail("ValueError", "repeated axis in transpose");
    }
  } else {
    for (int i = array.ndim() - 1; i >= 0; --i) order.push_back(i);
  }
  return view_of(a, array.transposed(order));
}

Tensor expand_dims(const Tensor& a, const Variant<int64_t, Array<int64_t>>& axis) {
  Strided array = read(a);
  Dims given = read_ints(axis);
  int ndim = array.ndim() + given.size();
  Dims is_new = read_axes(axis, ndim);
  for (int i = 0; i < ndim; ++i) {
    if (!is_new[i]) continue;
    array.shape.insert(i, 1);
    array.strides.insert(i, 0);
  }
  return view_of(a, array);
}

Tensor squeeze(const Tensor& a, const AxisArg& axis) {
  Strided array = read(a);
  Dims named = read_axes(axis, array.ndim());
  for (int i = array.ndim() - 1; i >= 0; --i) {
    if (!named[i]) continue;
    if (array.shape[i] == 1) {
      array = array.without(i);
    } else if (axis) {
      fail("ValueError", "cannot select an axis to squeeze out which has size not equal to one");
    }
  }
  return view_of(a, array);
}

Tensor broadcast_to(const Tensor& array, const ShapeArg& shape) {
  Dims to = read_shape(shape);
  Strided from = read(array);
  element_count(to);
  if (to.size() < from.ndim() || broadcast_shapes(from.shape, to) != to) {
    fail("ValueError", "an array of shape " + text_of(from.shape) + " does not fit the shape " + text_of(to));
  }
  // Read-only, because several positions may share one element.
  return view_of(array, from.broadcast(to), true);
}

ANYFFI_REGISTER_GLOBAL("npx.transpose")
    .def(&transpose, arg("a"), arg("axes") = nullptr)
    .doc("Return a view with permuted axes; reversed by default.");
ANYFFI_REGISTER_GLOBAL("npx.expand_dims")
    .def(&expand_dims, arg("a"), arg("axis"))
    .doc("Return a view with new axes of size 1.");
ANYFFI_REGISTER_GLOBAL("npx.squeeze")
    .def(&squeeze, arg("a"), arg("axis") = nullptr)
    .doc("Return a view without axes of size 1.");
ANYFFI_REGISTER_GLOBAL("npx.broadcast_to")
    .def(&broadcast_to, arg("array"), arg("shape"))
    .doc("Return a read-only view, broadcast to a shape.");
ANYFFI_REGISTER_GLOBAL("npx.diagonal")
    .def([](const Tensor& a, int64_t offset, int64_t axis1,
            int64_t axis2) { return view_of(a, diagonal_of(read(a), offset, axis1, axis2), true); },
         arg("a"), arg("offset") = 0, arg("axis1") = 0, arg("axis2") = 1)
    .doc("Return a read-only view of a diagonal of two axes.");

}  // namespace
}  // namespace npx
