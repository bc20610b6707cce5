/// \file
/// Norms of vectors and matrices.

#include "functions.h"
#include "linalg.h"

namespace npx {
namespace {

using Order = Optional<Variant<double, String>>;

AxisArg only(int64_t axis) { return Variant<int64_t, Array<int64_t>>(axis); }

Tensor vector_norm(const Tensor& sizes, double order, const AxisArg& axis) {
  auto total = [&](const Tensor& terms) { return sum(terms, axis, DTypeArg(sizes.dtype()), nullptr, true); };
  if (order == HUGE_VAL) return amax(sizes, axis, nullptr, true);
  if (order == -HUGE_VAL) return amin(sizes, axis, nullptr, true);
  if (order == 0) return total(binary("npx.not_equal", sizes, BigInt(0)));
  if (order == 1) return total(sizes);
  if (order == 2) return unary("npx.sqrt", total(unary("npx.square", sizes)));
  return binary("npx.power", total(binary("npx.power", sizes, order)), 1 / order);
}

/// The greatest number if the order is positive, else the least.
Tensor extreme(const Tensor& numbers, double order, int64_t axis) {
  return (order > 0 ? amax : amin)(numbers, only(axis), nullptr, true);
}

Tensor matrix_norm(const Tensor& x, const Tensor& sizes, const Variant<double, String>& order, int row, int column) {
  if (order.holds<String>() && order.get<String>() != "nuc") {
    throw Error("ValueError", "Invalid norm order for matrices.");
  }
  double number = order.holds<double>() ? order.get<double>() : 0;
  if (std::fabs(number) == 1) return extreme(sum(sizes, only(row), nullptr, nullptr, true), number, column);
  if (std::isinf(number)) return extreme(sum(sizes, only(column), nullptr, nullptr, true), number, row);
  if (order.holds<double>() && std::fabs(number) != 2) fail("ValueError", "Invalid norm order for matrices.");
  Dims places, shape = read(x).shape;
  for (int i = 0; i < x.ndim(); ++i) {
    if (i != row && i != column) places.push_back(i);
  }
  places.push_back(row);
  places.push_back(column);
  Tensor s = singular_values(Stack(read(x).transposed(places), x.dtype()));
  Tensor norms = number == 0 ? sum(s, only(-1)) : extreme(s, number, -1);
  shape[row] = shape[column] = 1;
  return reshaped(norms, shape);
}

Tensor norm_along(const Tensor& x, const Order& ord, const Dims& axes) {
  Tensor sizes = unary("npx.abs", x);
  Variant<double, String> order = ord.value_or(2.0);
  if (axes.size() == 1) {
    if (order.holds<String>()) fail("ValueError", "Invalid norm order for vectors");
    return vector_norm(sizes, order.get<double>(), only(axes[0]));
  }
  if (axes.size() != 2) fail("ValueError", "Improper number of dimensions to norm.");
  int row = read_axis(axes[0], x.ndim()), column = read_axis(axes[1], x.ndim());
  if (row == column) fail("ValueError", "Duplicate axes given.");
  bool is_plain = !ord || (order.holds<String>() && (order.get<String>() == "fro" || order.get<String>() == "f"));
  if (!is_plain) return matrix_norm(x, sizes, order, row, column);
  return vector_norm(sizes, 2, Variant<int64_t, Array<int64_t>>(Array<int64_t>{row, column}));
}

Tensor norm(const Tensor& given, const Order& ord, const AxisArg& axis, bool keepdims) {
  Tensor x = is_whole(given.dtype()) ? copied(read(given), kFloat64) : given;
  Dims axes;
  if (axis) axes = read_ints(*axis);
  for (int i = 0; !axis && i < x.ndim(); ++i) axes.push_back(i);
  Tensor norms = !axis && !ord ? vector_norm(unary("npx.abs", x), 2, nullptr) : norm_along(x, ord, axes);
  if (keepdims) return norms;
  Strided result = read(norms);
  for (int i = x.ndim() - 1; i >= 0; --i) {
    bool gone = std::any_of(axes.begin(), axes.end(), [&](int64_t each) { return read_axis(each, x.ndim()) == i; });
    if (gone) result = result.without(i);
  }
  return view_of(norms, result);
}

ANYFFI_REGISTER_GLOBAL("npx.linalg.norm")
    .def(&norm, arg("x"), arg("ord") = nullptr, arg("axis") = nullptr, arg("keepdims") = false)
    .doc("Return the norm of vectors along an axis, or of matrices along two; an order is a number, 'fro' or 'nuc'.");

}  // namespace
}  // namespace npx
