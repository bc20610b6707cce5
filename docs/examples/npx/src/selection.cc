/// \file
/// Elements chosen by position or by value: take, where, clip, pad.

#include <algorithm>
#include <vector>

#include "arithmetic.h"
#include "functions.h"

namespace npx {
namespace {

struct Clip {
  template <class T>
  T operator()(T x, T low, T high) const {
    return least(greatest(x, low), high);
  }
};

/// Used if there is no upper bound.
struct ClipBelow {
  template <class T>
  T operator()(T x, T low, T) const {
    return greatest(x, low);
  }
};

struct Choose {
  template <class T>
  T operator()(int64_t condition, T x, T y) const {
    return condition ? x : y;
  }
};

Tensor clip(const Tensor& a, const Optional<Operand>& a_min, const Optional<Operand>& a_max,
            const Optional<Tensor>& out) {
  // Without a lower bound the array itself serves as one.
  Operand x(a), low = a_min.value_or(x), high = a_max.value_or(x);
  DataType dtype = common_dtype({&x, &low, &high});
  Input array(x, dtype), from(low, dtype), to(high, dtype);
  Result result(out, broadcast_shapes(broadcast_shapes(array.array().shape, from.array().shape), to.array().shape),
                dtype);
  for (const Input* input : {&array, &from, &to}) result.reads(input->array());
  Lane lane = lane_of(dtype);
  apply(result.array(), lane, {{array.array(), lane}, {from.array(), lane}, {to.array(), lane}},
        (a_max ? ternary_loops<Clip>() : ternary_loops<ClipBelow>())[lane]);
  return result.finish();
}

}  // namespace

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  using detail::loop_of;
  constexpr Loops kLoops{{loop_of<Choose, int64_t, int64_t, int64_t>(), loop_of<Choose, int64_t, uint64_t, uint64_t>(),
                          loop_of<Choose, int64_t, double, double>(), loop_of<Choose, int64_t, Complex, Complex>()}};
  DataType dtype = common_dtype({&x, &y});
  Input given(condition, common_dtype({&condition})), a(x, dtype), b(y, dtype);
  Tensor truth = copied(given.array(), kBool);
  Dims shape = broadcast_shapes(read(truth).shape, broadcast_shapes(a.array().shape, b.array().shape));
  Tensor result = allocate(shape, dtype);
  Lane lane = lane_of(dtype);
  apply(write(result), lane, {{read(truth), Lane::kSigned}, {a.array(), lane}, {b.array(), lane}}, kLoops[lane]);
  return result;
}

Tensor read_positions(const Positions& positions) {
  if (positions.holds<Tensor>()) {
    Tensor given = positions.get<Tensor>();
    if (!is_whole(given.dtype()) || given.dtype() == kUInt64) {
      throw Error("TypeError",
                  anyffi::join("", Array<String>{"positions must be integers of up to 64 bits with sign, not ",
                                                 given.dtype().text()}));
    }
    return copied(read(given), kInt64);
  }
  bool is_one = positions.holds<int64_t>();
  Array<int64_t> all = is_one ? Array<int64_t>{positions.get<int64_t>()} : positions.get<Array<int64_t>>();
  Tensor result = allocate(is_one ? Dims() : Dims{all.size()}, kInt64);
  for (int64_t i = 0; i < all.size(); ++i) result.data<int64_t>()[i] = all[i];
  return result;
}

int64_t read_position(int64_t position, int64_t size, int axis) {
  if (position < -size || position >= size) {
    fail("IndexError", "index " + std::to_string(position) + " is out of bounds for axis " + std::to_string(axis) +
                           " with size " + std::to_string(size));
  }
  return position < 0 ? position + size : position;
}

Tensor gathered(const Strided& from, int axis, const std::vector<int64_t>& positions) {
  Dims shape = from.shape;
  shape[axis] = static_cast<int64_t>(positions.size());
  Tensor result = allocate(shape, from.dtype);
  Strided to = write(result);
  int64_t place = 0;
  for (int64_t position : positions) {
    assign(to.slice(axis, place, place + 1), from.slice(axis, position, position + 1));
    ++place;
  }
  return result;
}

namespace {

Tensor take(const Tensor& a, const Positions& indices, const Optional<int64_t>& axis, const Optional<Tensor>& out,
            const String& mode) {
  if (!axis && a.ndim() != 1) return take(raveled(read(a)), indices, int64_t{0}, out, mode);
  Strided from = read(a);
  int along = read_axis(axis.value_or(0), from.ndim());
  int64_t size = from.shape[along];
  Tensor given = read_positions(indices);
  // The axes of the positions replace the axis.
  Dims shape = from.shape, at = read(given).shape;
  shape.erase(along);
  for (int i = 0; i < at.size(); ++i) shape.insert(along + i, at[i]);
  bool empty = element_count(shape) == 0;
  if (size == 0 && !empty) fail("IndexError", "cannot do a non-empty take from an empty axes.");
  bool wraps = mode == "wrap", clips = mode == "clip";
  if (!wraps && !clips && mode != "raise") fail("ValueError", "clipmode not understood");
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < given.numel() && !empty; ++i) {
    int64_t position = given.data<const int64_t>()[i];
    positions.push_back(wraps   ? (position % size + size) % size
                        : clips ? std::clamp<int64_t>(position, 0, size - 1)
                                : read_position(position, size, along));
  }
  Tensor compact = empty ? allocate(shape, from.dtype) : reshaped(gathered(from, along, positions), shape);
  if (!out) return compact;
  Result result(out, shape, from.dtype);
  assign(result.array(), read(compact));
  return result.finish();
}

Array<Tensor> nonzero(const Tensor& a) {
  Strided array = read(a);
  Tensor truth = copied(array, kBool);
  const bool* values = truth.data<const bool>();
  int64_t size = truth.numel(), count = std::count(values, values + size, true);
  List<Tensor> result;
  for (int axis = 0; axis < array.ndim(); ++axis) {
    int64_t step = 1;
    for (int i = axis + 1; i < array.ndim(); ++i) step *= array.shape[i];
    Tensor positions = allocate({count}, kInt64);
    auto* next = positions.data<int64_t>();
    for (int64_t i = 0; i < size; ++i) {
      if (values[i]) *next++ = i / step % array.shape[axis];
    }
    result.push_back(positions);
  }
  return std::move(result).freeze();
}

/// A pad width parameter: `n`, `(n,)`, `(before, after)`, or one of the last two for each axis.
using Widths = Variant<int64_t, Array<Variant<int64_t, Array<int64_t>>>>;

/// The number of elements to add before and after each axis.
void read_widths(const Widths& given, int ndim, Dims& before, Dims& after) {
  std::vector<Dims> rows;
  if (given.holds<int64_t>()) {
    rows.push_back({given.get<int64_t>()});
  } else {
    int numbers = 0;
    for (const auto& row : given.get<Array<Variant<int64_t, Array<int64_t>>>>()) {
      if (row.holds<int64_t>() && numbers++ > 0) {
        rows.back().push_back(row.get<int64_t>());
      } else {
        rows.push_back(read_ints(row));
      }
    }
    if (numbers > 0 && rows.size() > 1) fail("ValueError", "pad_width must be nested alike for all axes");
  }
  bool fits = rows.size() == 1 || static_cast<int>(rows.size()) == ndim;
  for (const Dims& row : rows) fits = fits && row.size() == rows[0].size() && (row.size() == 1 || row.size() == 2);
  if (!fits) fail("ValueError", "pad_width cannot be broadcast to the shape (" + std::to_string(ndim) + ", 2)");
  for (int i = 0; i < ndim; ++i) {
    const Dims& row = rows.size() == 1 ? rows[0] : rows[static_cast<size_t>(i)];
    before.push_back(row[0]);
    after.push_back(row[row.size() - 1]);
    if (before[i] < 0 || after[i] < 0) fail("ValueError", "index can't contain negative values");
  }
}

/// The source index, in an axis of `size` elements, of a padded element at `place`.
int64_t pad_source(const String& mode, int64_t place, int64_t size) {
  auto modulo = [&](int64_t period) { return (place % period + period) % period; };
  if (mode == "edge" || (mode == "reflect" && size == 1)) return std::clamp<int64_t>(place, 0, size - 1);
  if (mode == "wrap") return modulo(size);
  if (mode == "reflect") return std::min(modulo(2 * size - 2), 2 * size - 2 - modulo(2 * size - 2));
  return std::min(modulo(2 * size), 2 * size - 1 - modulo(2 * size));
}

Tensor pad(const Tensor& array, const Widths& pad_width, const String& mode, const Operand& constant_values) {
  bool constant = mode == "constant";
  if (!constant && mode != "edge" && mode != "reflect" && mode != "symmetric" && mode != "wrap") {
    throw Error("ValueError", anyffi::join("", Array<String>{"no mode is called ", mode}));
  }
  Strided from = read(array);
  Dims before, after, shape = from.shape;
  read_widths(pad_width, from.ndim(), before, after);
  for (int i = 0; i < from.ndim(); ++i) {
    if (__builtin_add_overflow(shape[i], before[i], &shape[i]) ||
        __builtin_add_overflow(shape[i], after[i], &shape[i])) {
      fail("ValueError", "array is too big");
    }
    if (!constant && from.shape[i] == 0 && shape[i] > 0) {
      fail("ValueError", "can't extend empty axis " + std::to_string(i) + " using modes other than 'constant'");
    }
  }
  Tensor result = allocate(shape, from.dtype);
  Strided to = write(result), middle = to;
  if (constant) assign(to, Input(constant_values, from.dtype).array());
  for (int i = 0; i < from.ndim(); ++i) middle = middle.slice(i, before[i], before[i] + from.shape[i]);
  assign(middle, from);
  for (int i = 0; i < from.ndim() && !constant; ++i) {
    for (int64_t at = 0; at < shape[i]; ++at) {
      int64_t source = before[i] + pad_source(mode, at - before[i], from.shape[i]);
      if (source != at) assign(to.slice(i, at, at + 1), to.slice(i, source, source + 1));
    }
  }
  return result;
}

ANYFFI_REGISTER_GLOBAL("npx.clip")
    .def(&clip, arg("a"), arg("a_min") = nullptr, arg("a_max") = nullptr, arg("out") = nullptr)
    .doc("Limit the elements to the range from a_min to a_max.");
ANYFFI_REGISTER_GLOBAL("npx.where")
    .def(&where, arg("condition"), arg("x"), arg("y"))
    .doc("Return elements of x where the condition is true, else of y.");
ANYFFI_REGISTER_GLOBAL("npx.take")
    .def(&take, arg("a"), arg("indices"), arg("axis") = nullptr, arg("out") = nullptr, arg("mode") = "raise")
    .doc("Return the elements at some positions along an axis, or of the flattened array.");
ANYFFI_REGISTER_GLOBAL("npx.nonzero")
    .def(&nonzero, arg("a"))
    .doc("Return the indices of the elements that are not 0: an array for each axis.");
ANYFFI_REGISTER_GLOBAL("npx.pad")
    .def(&pad, arg("array"), arg("pad_width"), arg("mode") = "constant", arg("constant_values") = 0)
    .doc("Return the padded array; modes are constant, edge, reflect, symmetric and wrap.");

}  // namespace
}  // namespace npx
