/// \file
/// New arrays of rearranged elements: tile, repeat, roll, insert, delete, diff and similar functions.

#include <algorithm>
#include <numeric>
#include <vector>

#include "functions.h"

namespace npx {
namespace {

/// A parameter for shifts and counts: `1` or `(2, 1)`.
using Ints = Variant<int64_t, Array<int64_t>>;

Tensor tile(const Tensor& array, const Ints& reps) {
  Strided from = read(array);
  Dims times = read_ints(reps);
  while (from.ndim() < times.size()) from = from.with_axis(0);
  while (times.size() < from.ndim()) times.insert(0, 1);
  // Splits each axis in two: the copies, and the elements of one copy.
  Dims shape, pairs;
  for (int i = 0; i < times.size(); ++i) {
    pairs.push_back(times[i]);
    pairs.push_back(from.shape[i]);
  }
  Tensor result = allocate(pairs, from.dtype);
  for (int i = 0; i < times.size(); ++i) shape.push_back(times[i] * from.shape[i]);
  for (int i = 0; i < times.size(); ++i) from = from.with_axis(2 * i);
  assign(write(result), from);
  return reshaped(result, shape);
}

Tensor repeat(const Tensor& a, const Positions& repeats, const Optional<int64_t>& axis) {
  if (!axis && a.ndim() != 1) return repeat(raveled(read(a)), repeats, int64_t{0});
  Tensor given = read_positions(repeats);
  Strided from = read(a);
  int along = read_axis(axis.value_or(0), from.ndim());
  int64_t size = from.shape[along], count = given.numel();
  if (given.ndim() > 1) fail("ValueError", "object too deep for desired array");
  if (count != 1 && count != size) {
    fail("ValueError",
         "operands could not be broadcast together with shape " + text_of({size}) + " " + text_of({count}));
  }
  const auto* times = given.data<const int64_t>();
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i) {
    int64_t copies = times[count == 1 ? 0 : i];
    if (copies < 0) fail("ValueError", "repeats may not contain negative values.");
    if (copies > INT64_MAX / 64) fail("ValueError", "array is too big");
    positions.insert(positions.end(), static_cast<size_t>(copies), i);
  }
  return gathered(from, along, positions);
}

Tensor roll(const Tensor& a, const Ints& shift, const Optional<Ints>& axis) {
  if (!axis) return reshaped(roll(raveled(read(a)), shift, Ints(int64_t{0})), read(a).shape);
  Dims shifts = read_ints(shift), axes = read_ints(*axis);
  for (int64_t each : axes) read_axis(each, a.ndim());
  Tensor result = copied(read(a), a.dtype());
  int64_t pairs = broadcast_shapes({shifts.size()}, {axes.size()})[0];
  for (int i = 0; i < pairs; ++i) {
    Strided from = read(result);
    int along = read_axis(axes[axes.size() == 1 ? 0 : i], a.ndim());
    int64_t size = from.shape[along], by = shifts[shifts.size() == 1 ? 0 : i];
    if (size == 0) continue;
    int64_t cut = (size - by % size) % size;
    result = joined({from.slice(along, cut, size), from.slice(along, 0, cut)}, along);
  }
  return result;
}

Tensor rot90(const Tensor& m, int64_t k, const Array<int64_t>& axes) {
  Strided array = read(m);
  int ndim = array.ndim();
  if (axes.size() != 2) fail("ValueError", "len(axes) must be 2.");
  for (int64_t axis : axes) {
    if (axis < -ndim || axis >= ndim) {
      fail("ValueError", "axis " + std::to_string(axis) + " is out of range for array of ndim=" + std::to_string(ndim));
    }
  }
  int from = read_axis(axes[0], ndim), to = read_axis(axes[1], ndim);
  if (from == to) fail("ValueError", "Axes must be different.");
  int64_t turns = (k % 4 + 4) % 4;
  // A quarter turn is a transposition and a reversed axis; a half turn reverses both axes.
  if (turns >= 2) array = array.flipped(from);
  if (turns == 1 || turns == 2) array = array.flipped(to);
  if (turns % 2 == 0) return view_of(m, array);
  Dims order;
  for (int i = 0; i < ndim; ++i) order.push_back(i == from ? to : i == to ? from : i);
  return view_of(m, array.transposed(order));
}

Tensor remove(const Tensor& arr, const Positions& obj, const Optional<int64_t>& axis) {
  if (!axis && arr.ndim() != 1) return remove(raveled(read(arr)), obj, int64_t{0});
  Strided from = read(arr);
  int along = read_axis(axis.value_or(0), from.ndim());
  int64_t size = from.shape[along];
  Tensor given = read_positions(obj);
  const auto* numbers = given.data<const int64_t>();
  std::vector<bool> kept(static_cast<size_t>(size), true);
  if (obj.holds<Tensor>() && is_bool(obj.get<Tensor>().dtype())) {
    if (given.ndim() != 1 || given.numel() != size) {
      fail("ValueError", "boolean array argument obj to delete must be one dimensional and match the axis length of " +
                             std::to_string(size));
    }
    for (int64_t i = 0; i < size; ++i) kept[static_cast<size_t>(i)] = numbers[i] == 0;
  } else {
    for (int64_t i = 0; i < given.numel(); ++i) {
      kept[static_cast<size_t>(read_position(numbers[i], size, along))] = false;
    }
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i) {
    if (kept[static_cast<size_t>(i)]) positions.push_back(i);
  }
  return gathered(from, along, positions);
}

Tensor insert(const Tensor& arr, const Positions& obj, const Operand& values, const Optional<int64_t>& axis) {
  if (!axis && arr.ndim() != 1) return insert(raveled(read(arr)), obj, values, int64_t{0});
  Strided from = read(arr);
  int along = read_axis(axis.value_or(0), from.ndim());
  int64_t size = from.shape[along];
  Tensor given = read_positions(obj);
  if (given.ndim() > 1) fail("ValueError", "index array argument obj to insert must be one dimensional or scalar");
  std::vector<int64_t> before;
  for (int64_t i = 0; i < given.numel(); ++i) {
    int64_t position = given.data<const int64_t>()[i];
    before.push_back(position == size ? size : read_position(position, size, along));
  }
  Input input(values, from.dtype);
  Strided added = input.array();
  if (before.size() == 1) {
    while (added.ndim() < from.ndim()) added = added.with_axis(0);
    // At a single position, the first axis of the values is the one along which they are inserted.
    if (given.ndim() == 0) added = added.moved(0, along);
    before.assign(static_cast<size_t>(added.shape[along]), before[0]);
  }
  while (added.ndim() > from.ndim() && added.shape[0] == 1) added = added.without(0);
  Dims shape = from.shape;
  shape[along] = static_cast<int64_t>(before.size());
  if (broadcast_shapes(shape, added.shape) != shape) {
    fail("ValueError",
         "could not broadcast input array from shape " + text_of(added.shape) + " into shape " + text_of(shape));
  }
  Tensor fitting = copied(added.broadcast(shape), from.dtype);
  // Positions in the array followed by the new elements.
  std::vector<int64_t> order(before.size()), positions;
  std::iota(order.begin(), order.end(), 0);
  auto place = [&](int64_t i) { return before[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return place(a) < place(b); });
  auto next = order.begin();
  for (int64_t i = 0; i <= size; ++i) {
    for (; next != order.end() && place(*next) == i; ++next) positions.push_back(size + *next);
    if (i < size) positions.push_back(i);
  }
  return gathered(read(joined({from, read(fitting)}, along)), along, positions);
}

/// The array without its first element along an axis, minus that without its last.
Tensor difference(const Tensor& a, int along) {
  Strided array = read(a);
  int64_t size = array.shape[along], first = std::min<int64_t>(size, 1);
  Tensor next = view_of(a, array.slice(along, first, size));
  Tensor last = view_of(a, array.slice(along, 0, size - first));
  return binary(is_bool(array.dtype) ? "npx.not_equal" : "npx.subtract", next, last);
}

Tensor diff(const Tensor& a, int64_t n, int64_t axis) {
  if (n < 0) fail("ValueError", "order must be non-negative but got " + std::to_string(n));
  if (n > 0 && a.ndim() == 0) fail("ValueError", "diff requires input that is at least one dimensional");
  if (n == 0) return a;
  int along = read_axis(axis, a.ndim());
  Tensor result = a;
  for (int64_t i = 0; i < n && (i == 0 || result.shape()[along] > 0); ++i) result = difference(result, along);
  return result;
}

Tensor ediff1d(const Tensor& ary, const Optional<Tensor>& to_end, const Optional<Tensor>& to_begin) {
  if (is_bool(ary.dtype())) fail("TypeError", "bools have no differences");
  Tensor differences = difference(raveled(read(ary)), 0);
  std::vector<Tensor> parts{differences};
  if (to_begin) parts.insert(parts.begin(), raveled(read(*to_begin)));
  if (to_end) parts.push_back(raveled(read(*to_end)));
  std::vector<Strided> arrays;
  for (const Tensor& part : parts) arrays.push_back(read(part));
  return joined(arrays, 0, nullptr, DTypeArg(ary.dtype()));
}

ANYFFI_REGISTER_GLOBAL("npx.tile").def(&tile, arg("A"), arg("reps")).doc("Repeat the whole array along each axis.");
ANYFFI_REGISTER_GLOBAL("npx.repeat")
    .def(&repeat, arg("a"), arg("repeats"), arg("axis") = nullptr)
    .doc("Repeat each element, along an axis or of the flattened array.");
ANYFFI_REGISTER_GLOBAL("npx.roll")
    .def(&roll, arg("a"), arg("shift"), arg("axis") = nullptr)
    .doc("Shift the elements cyclically along some axes, or of the flattened array.");
ANYFFI_REGISTER_GLOBAL("npx.rot90")
    .def(&rot90, arg("m"), arg("k") = 1, arg("axes") = Array<int64_t>{0, 1})
    .doc("Return a view rotated by k quarter turns, from the first axis towards the second.");
ANYFFI_REGISTER_GLOBAL("npx.delete")
    .def(&remove, arg("arr"), arg("obj"), arg("axis") = nullptr)
    .doc("Return a copy without the elements at some positions, or where a mask is true.");
ANYFFI_REGISTER_GLOBAL("npx.insert")
    .def(&insert, arg("arr"), arg("obj"), arg("values"), arg("axis") = nullptr)
    .doc("Return a copy with values inserted before some positions.");
ANYFFI_REGISTER_GLOBAL("npx.diff")
    .def(&diff, arg("a"), arg("n") = 1, arg("axis") = -1)
    .doc("Return the n-th differences of neighbours.");
ANYFFI_REGISTER_GLOBAL("npx.ediff1d")
    .def(&ediff1d, arg("ary"), arg("to_end") = nullptr, arg("to_begin") = nullptr)
    .doc("Return the differences of neighbours of the flattened array, with given numbers before and after them.");

}  // namespace
}  // namespace npx
