/// \file
/// Counts of elements: bincount, histogram.

#include <algorithm>
#include <vector>

#include "functions.h"

namespace npx {
namespace {

/// The weights as float64, of which there must be `count`; None: all are 1.
Tensor read_weights(const Optional<Tensor>& weights, int64_t count) {
  Tensor result = allocate({count}, kFloat64);
  if (!weights) {
    std::fill(result.data<double>(), result.data<double>() + count, 1.0);
    return result;
  }
  if (is_complex((*weights).dtype())) fail("TypeError", "weights must be real numbers");
  if ((*weights).numel() != count) fail("ValueError", "The weights and list don't have the same length.");
  return reshaped(copied(read(*weights), kFloat64), {count});
}

Tensor bincount(const Tensor& x, const Optional<Tensor>& weights, int64_t minlength) {
  if (x.ndim() != 1) fail("ValueError", "x must have one dimension");
  Tensor given = read_positions(x);
  if (minlength < 0) fail("ValueError", "'minlength' must not be negative");
  const auto *first = given.data<const int64_t>(), *last = first + given.numel();
  if (std::any_of(first, last, [](int64_t number) { return number < 0; })) {
    fail("ValueError", "'list' argument must have no negative elements");
  }
  Tensor weight = read_weights(weights, given.numel());
  int64_t greatest = first == last ? -1 : *std::max_element(first, last);
  if (greatest == INT64_MAX) fail("MemoryError", "too many bins");
  Tensor sums = allocate({std::max(greatest + 1, minlength)}, kFloat64);
  assign(write(sums), Input(false, kFloat64).array());
  const double* next = weight.data<double>();
  for (const auto* number = first; number != last; ++number) sums.data<double>()[*number] += *next++;
  return weights ? sums : copied(read(sums), kInt64);
}

/// The number of bins of equal width, or their edges.
using Bins = Variant<int64_t, Array<double>, Tensor>;
using Range = anyffi::Tuple<double, double>;

/// The range of the bins of equal width.
std::pair<double, double> read_range(const Optional<Range>& range, const double* first, const double* last) {
  double low = 0, high = 1;
  if (range) {
    low = (*range).get<0>(), high = (*range).get<1>();
    if (low > high) fail("ValueError", "max must be larger than min in range parameter.");
  } else if (first != last) {
    // NaN, if there is one, is found below.
    low = *std::min_element(first, last), high = *std::max_element(first, last);
    if (std::any_of(first, last, [](double x) { return std::isnan(x); })) low = NAN;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) fail("ValueError", "the range of the bins is not finite");
  return low == high ? std::pair(low - 0.5, high + 0.5) : std::pair(low, high);
}

Tensor read_edges(const Bins& bins, DataType dtype, const Optional<Range>& range, const double* first,
                  const double* last) {
  if (bins.holds<int64_t>()) {
    int64_t count = bins.get<int64_t>();
    if (count == INT64_MAX) fail("ValueError", "array is too big");
    if (count < 1) fail("ValueError", "`bins` must be positive, when an integer");
    auto [low, high] = read_range(range, first, last);
    return linspace(low, high, count + 1, true, DTypeArg(mean_dtype(dtype)));
  }
  if (bins.holds<Tensor>()) {
    Tensor edges = bins.get<Tensor>();
    if (edges.ndim() != 1) fail("ValueError", "`bins` must be 1d, when an array");
    return edges;
  }
  Array<double> given = bins.get<Array<double>>();
  Tensor edges = allocate({given.size()}, kFloat64);
  double* next = edges.data<double>();
  for (double edge : given) *next++ = edge;
  return edges;
}

Array<Tensor> histogram(const Tensor& a, const Bins& bins, const Optional<Range>& range, bool density,
                        const Optional<Tensor>& weights) {
  if (is_complex(a.dtype())) fail("TypeError", "complex numbers have no order of bins");
  Tensor values = copied(read(a), kFloat64);
  const double *first = values.data<double>(), *last = first + values.numel();
  Tensor weight = read_weights(weights, values.numel()), edges = read_edges(bins, a.dtype(), range, first, last);
  Tensor limits = copied(read(edges), kFloat64);
  if (limits.numel() == 0) fail("ValueError", "`bins` must have one edge at least");
  const double *low = limits.data<double>(), *high = low + limits.numel() - 1;
  if (!std::is_sorted(low, low + limits.numel())) {
    fail("ValueError", "`bins` must increase monotonically, when an array");
  }
  std::vector<double> sums(static_cast<size_t>(high - low), 0.0);
  double total = 0;
  const double* next = weight.data<double>();
  for (const double* x = first; x != last; ++x, ++next) {
    if (!(*x >= *low && *x <= *high) || low == high) continue;
    // The last bin holds both of its edges.
    sums[static_cast<size_t>(std::upper_bound(low, high, *x) - low - 1)] += *next;
    total += *next;
  }
  Tensor result = allocate({high - low}, kFloat64);
  for (int64_t i = 0; i < high - low; ++i) {
    double sum = sums[static_cast<size_t>(i)];
    result.data<double>()[i] = density ? sum / (low[i + 1] - low[i]) / total : sum;
  }
  DataType dtype = density ? kFloat64 : weights ? (*weights).dtype() : kInt64;
  return {copied(read(result), dtype), edges};
}

ANYFFI_REGISTER_GLOBAL("npx.bincount")
    .def(&bincount, arg("x"), arg("weights") = nullptr, arg("minlength") = 0)
    .doc("Count the occurrences of each integer from 0 on, or sum their weights.");
ANYFFI_REGISTER_GLOBAL("npx.histogram")
    .def(&histogram, arg("a"), arg("bins") = 10, arg("range") = nullptr, arg("density") = false,
         arg("weights") = nullptr)
    .doc("Count the elements in each bin, or sum their weights; also return the edges of the bins.");

}  // namespace
}  // namespace npx
