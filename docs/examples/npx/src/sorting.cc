/// \file
/// Sorting: sort, argsort, unique.

#include <algorithm>
#include <numeric>
#include <vector>

#include "arithmetic.h"
#include "functions.h"

namespace npx {
namespace {

/// Whether a number sorts before another; numbers with NaN sort last.
template <class T>
bool is_before(T a, T b) {
  if constexpr (kIsComplex<T>) {
    auto rank = [](T x) { return 2 * std::isnan(x.real()) + std::isnan(x.imag()); };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.real() < b.real() || (!(b.real() < a.real()) && a.imag() < b.imag());
  } else {
    return a < b || (is_nan(b) && !is_nan(a));
  }
}

/// The positions that sort items of `width` elements each, compared lexicographically. Equal items keep their order.
template <class T>
std::vector<int64_t> order_of(const T* items, int64_t count, int64_t width) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::lexicographical_compare(items + a * width, items + (a + 1) * width, items + b * width,
                                        items + (b + 1) * width, is_before<T>);
  });
  return order;
}

/// Writes `take(row, positions that sort it, element)` for every element of every row along an axis.
template <class Take>
void sort_rows(const Strided& array, int axis, const Strided& to, Take take) {
  Strided rows = array.moved(axis, array.ndim() - 1);
  int64_t size = array.shape[axis], total = element_count(array.shape);
  with_lane(lane_of(array.dtype), [&](auto type) {
    using T = typename decltype(type)::type;
    using R = decltype(take(std::declval<const T*>(), int64_t{0}));
    Tensor values = copied(rows, DataType::of<T>()), results = allocate(rows.shape, DataType::of<R>());
    for (int64_t start = 0; start < total; start += size) {
      const T* row = values.data<const T>() + start;
      R* next = results.data<R>() + start;
      for (int64_t position : order_of(row, size, 1)) *next++ = take(row, position);
    }
    assign(to.moved(axis, array.ndim() - 1), read(results));
  });
}

Tensor argsorted(const Strided& array, int axis) {
  Tensor result = allocate(array.shape, kInt64);
  sort_rows(array, axis, write(result), [](const auto*, int64_t position) { return position; });
  return result;
}

using Sorter = Tensor(const Strided& array, int axis);

/// Registers `name(a, axis, kind)`; every kind is a stable sort.
void register_sort(const char* name, Sorter* sorter, const char* doc) {
  anyffi::Registration(name)
      .def(
          [sorter](const Tensor& a, const Optional<int64_t>& axis, const Optional<String>& kind) {
            String chosen = kind.value_or("stable");
            if (chosen != "quicksort" && chosen != "mergesort" && chosen != "heapsort" && chosen != "stable") {
              fail("ValueError", "sort kind must be one of 'quick', 'heap', or 'stable'");
            }
            if (!axis) return sorter(read(raveled(read(a))), 0);
            return sorter(read(a), read_axis(*axis, a.ndim()));
          },
          arg("a"), arg("axis") = -1, arg("kind") = nullptr)
      .doc(doc);
}

/// Sorted items, and for each whether it differs from the previous one.
struct Groups {
  std::vector<int64_t> order;
  std::vector<bool> begins;
};

/// The parts of `array` along its first axis, sorted.
Groups group(const Strided& array, bool equal_nan) {
  int64_t count = array.shape[0], width = count ? element_count(array.shape) / count : 0;
  return with_lane(lane_of(array.dtype), [&](auto type) {
    using T = typename decltype(type)::type;
    Tensor values = copied(array, DataType::of<T>());
    const T* items = values.data<const T>();
    Groups groups{order_of(items, count, width), {}};
    auto same = [equal_nan](T a, T b) { return a == b || (equal_nan && is_nan(a) && is_nan(b)); };
    for (size_t i = 0; i < groups.order.size(); ++i) {
      const T *item = items + groups.order[i] * width, *previous = items + groups.order[i ? i - 1 : 0] * width;
      groups.begins.push_back(i == 0 || !std::equal(item, item + width, previous, same));
    }
    return groups;
  });
}

Tensor tensor_of(const std::vector<int64_t>& numbers) {
  Tensor result = allocate({static_cast<int64_t>(numbers.size())}, kInt64);
  std::copy(numbers.begin(), numbers.end(), result.data<int64_t>());
  return result;
}

Variant<Tensor, Array<Tensor>> unique(const Tensor& ar, bool return_index, bool return_inverse, bool return_counts,
                                      const Optional<int64_t>& axis, bool equal_nan) {
  Tensor array = axis ? ar : raveled(read(ar));
  int along = read_axis(axis.value_or(0), array.ndim());
  Groups groups = group(read(array).moved(along, 0), equal_nan);
  std::vector<int64_t> first, inverse(groups.order.size()), counts;
  for (size_t i = 0; i < groups.order.size(); ++i) {
    if (groups.begins[i]) first.push_back(groups.order[i]), counts.push_back(0);
    ++counts.back();
    inverse[static_cast<size_t>(groups.order[i])] = static_cast<int64_t>(counts.size()) - 1;
  }
  Tensor elements = gathered(read(array), along, first);
  if (!return_index && !return_inverse && !return_counts) return elements;
  List<Tensor> results{elements};
  if (return_index) results.push_back(tensor_of(first));
  if (return_inverse) results.push_back(axis ? tensor_of(inverse) : reshaped(tensor_of(inverse), read(ar).shape));
  if (return_counts) results.push_back(tensor_of(counts));
  return std::move(results).freeze();
}

}  // namespace

Tensor sorted(const Strided& array, int axis) {
  Tensor result = allocate(array.shape, array.dtype);
  sort_rows(array, axis, write(result), [](const auto* row, int64_t position) { return row[position]; });
  return result;
}

namespace {

[[maybe_unused]] const bool kSortingRegistered = [] {
  register_sort("npx.sort", &sorted, "The elements sorted along an axis, or all of them; NaN behind all others.");
  register_sort("npx.argsort", &argsorted, "The positions that sort the elements along an axis, or all of them.");
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.unique")
    .def(&unique, arg("ar"), arg("return_index") = false, arg("return_inverse") = false, arg("return_counts") = false,
         arg("axis") = nullptr, arg("equal_nan") = true)
    .doc("Return the sorted distinct elements, or parts along an axis; optionally first indices, inverse and counts.");

}  // namespace
}  // namespace npx
