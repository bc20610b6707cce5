/// \file
/// Weighted means and quantiles.

#include <algorithm>

#include "arithmetic.h"
#include "functions.h"
#include "plan.h"

namespace npx {
namespace {

/// The weights as an array of `a`'s shape.
Strided fitted(const Tensor& weights, const Strided& a, const AxisArg& axis) {
  Strided given = read(weights);
  if (given.shape == a.shape) return given;
  if (!axis) fail("TypeError", "Axis must be specified when shapes of a and weights differ.");
  Strided result{given.data, given.dtype, a.shape, Dims(a.ndim(), 0)};
  Dims axes = read_ints(*axis), named;
  for (int i = 0; i < axes.size(); ++i) {
    int at = read_axis(axes[i], a.ndim());
    named.push_back(a.shape[at]);
    if (i < given.ndim()) result.strides[at] = given.strides[i];
  }
  if (named != given.shape) {
    fail("ValueError", "Shape of weights must be consistent with shape of a along specified axis.");
  }
  return result;
}

using MeanAndWeight = anyffi::Tuple<Tensor, Tensor>;

Variant<Tensor, MeanAndWeight> average(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& weights,
                                       bool returned, bool keepdims) {
  Strided array = read(a);
  Tensor result = mean(a, axis, nullptr, nullptr, keepdims);
  if (!weights) {
    if (!returned) return result;
    double count = static_cast<double>(a.numel()) / static_cast<double>(result.numel());
    Tensor counts = allocate(read(result).shape, result.dtype());
    assign(write(counts), Input(count, result.dtype()).array());
    return MeanAndWeight(result, counts);
  }
  Tensor given = *weights;
  bool both_whole = is_whole(array.dtype) && is_whole(given.dtype());
  DataType dtype = promote_all({array.dtype, given.dtype()});
  if (is_whole(array.dtype)) dtype = both_whole ? kFloat64 : promote_all({array.dtype, given.dtype(), kFloat64});
  Tensor weight = copied(fitted(given, array, axis), dtype);
  Tensor total = sum(weight, axis, nullptr, nullptr, keepdims), truth = copied(read(total), kBool);
  const bool* known = truth.data<const bool>();
  if (!std::all_of(known, known + truth.numel(), [](bool nonzero) { return nonzero; })) {
    fail("ZeroDivisionError", "Weights sum to zero, can't be normalized");
  }
  Tensor products = binary("npx.multiply", copied(array, dtype), weight);
  result = binary("npx.divide", sum(products, axis, nullptr, nullptr, keepdims), total);
  if (!returned) return result;
  return MeanAndWeight(result, total);
}

/// The position of a quantile among sorted elements (Hyndman and Fan, 1996): n q + alpha + q (1 - alpha -
/// beta) - 1, made a position by `adjust`.
struct Method {
  const char* name;
  double alpha, beta;
  double (*adjust)(double);
  bool is_element;  ///< the result is one of the elements
};

double as_it_is(double place) { return place; }
double below(double place) { return std::floor(place); }
double above(double place) { return std::ceil(place); }
double nearest(double place) { return std::nearbyint(place); }
double between(double place) { return (std::floor(place) + std::ceil(place)) / 2; }

constexpr Method kMethods[] = {
    {"linear", 1, 1, as_it_is, false},
    {"lower", 1, 1, below, true},
    {"higher", 1, 1, above, true},
    {"nearest", 1, 1, nearest, true},
    {"midpoint", 1, 1, between, false},
    {"inverted_cdf", 0, 1, above, true},
    {"interpolated_inverted_cdf", 0, 1, as_it_is, false},
    {"hazen", 0.5, 0.5, as_it_is, false},
    {"weibull", 0, 0, as_it_is, false},
    {"median_unbiased", 1.0 / 3, 1.0 / 3, as_it_is, false},
    {"normal_unbiased", 3.0 / 8, 3.0 / 8, as_it_is, false},
};

const Method& find_method(const String& name) {
  for (const Method& method : kMethods) {
    if (name == method.name) return method;
  }
  throw Error("ValueError", anyffi::join("", Array<String>{"no method is called ", name}));
}

/// Interpolates between two elements; NaN if the last element is.
struct Interpolate {
  double operator()(double low, double high, double last, double part) const {
    if (std::isnan(last) || part == 0) return std::isnan(last) ? last : low;
    // Interpolates from the nearer end, so that the result stays between the two.
    double step = high - low;
    return part < 0.5 ? low + step * part : high - step * (1 - part);
  }
};

/// A parameter for quantiles.
using Quantiles = Variant<double, Tensor>;

/// The quantiles at `q / whole`.
Tensor quantile(const Tensor& a, const Quantiles& q, double whole, const AxisArg& axis, const Optional<Tensor>& out,
                const String& method_name, bool keepdims) {
  if (is_complex(a.dtype())) fail("TypeError", "a must be an array of real numbers");
  const Method& method = find_method(method_name);
  if (is_bool(a.dtype()) && !method.is_element) fail("TypeError", "bools have no differences");
  DataType inexact = mean_dtype(a.dtype());
  // A Python number adapts to the dtype, and so does its divisor.
  Tensor given = q.holds<Tensor>() ? q.get<Tensor>() : copied(Input(q.get<double>(), inexact).array(), inexact);
  Tensor parts = binary("npx.divide", given, whole);
  Tensor exact = copied(read(parts), kFloat64);
  const auto *first = exact.data<const double>(), *end = first + exact.numel();
  if (!std::all_of(first, end, [](double part) { return part >= 0 && part <= 1; })) {
    fail("ValueError",
         whole == 1 ? "Quantiles must be in the range [0, 1]" : "Percentiles must be in the range [0, 100]");
  }
  Plan plan(a, axis, keepdims);
  Dims shape = read(parts).shape;
  for (int64_t extent : plan.shape) shape.push_back(extent);
  if (q.holds<Tensor>()) inexact = promote(inexact, parts.dtype());
  Result result(out, shape, method.is_element ? a.dtype() : inexact);
  result.reads(plan.array, false);
  if (plan.size == 0 && element_count(shape) > 0) fail("IndexError", "an empty array has no quantiles");

  Tensor rows = plan.rows();
  int last = rows.ndim() - 1;
  rows = sorted(read(rows), last);
  auto element = [&](double place) {
    auto at = static_cast<int64_t>(place);
    return read(rows).slice(last, at, at + 1).without(last);
  };
  Dims extents = element(0).shape;
  extents.insert(0, parts.numel());
  Tensor quantiles = allocate(extents, result.array().dtype);
  for (int64_t i = 0; i < parts.numel() && plan.size > 0; ++i) {
    auto last_place = static_cast<double>(plan.size - 1);
    double place = (last_place + 2 - method.alpha - method.beta) * first[i] + method.alpha - 1;
    place = method.adjust(std::clamp(place, 0.0, last_place));
    double rest = place - std::floor(place);
    Strided to = write(quantiles).slice(0, i, i + 1).without(0), low = element(std::floor(place));
    if (method.is_element && is_whole(a.dtype())) {
      assign(to, low);
    } else {
      Strided weight{reinterpret_cast<char*>(&rest), kFloat64, {}, {}};
      apply(to, Lane::kReal,
            {{low, Lane::kReal},
             {element(std::ceil(place)), Lane::kReal},
             {element(last_place), Lane::kReal},
             {weight, Lane::kReal}},
            detail::loop_of<Interpolate, double, double, double, double>());
    }
  }
  assign(result.array(), read(reshaped(quantiles, shape)));
  return result.finish();
}

void register_quantile(const char* name, double whole, const char* doc) {
  anyffi::Registration(name)
      .def(
          [whole](const Tensor& a, const Quantiles& q, const AxisArg& axis, const Optional<Tensor>& out,
                  const String& method, bool keepdims, const Optional<String>& interpolation) {
            return quantile(a, q, whole, axis, out, interpolation.value_or(method), keepdims);
          },
          arg("a"), arg("q"), arg("axis") = nullptr, arg("out") = nullptr, arg("method") = "linear",
          arg("keepdims") = false, arg("interpolation") = nullptr)
      .doc(doc);
}

[[maybe_unused]] const bool kStatisticsRegistered = [] {
  register_quantile("npx.quantile", 1,
                    "What the part q of the elements lies below; interpolation is the former name of method.");
  register_quantile("npx.percentile", 100,
                    "What q percent of the elements lie below; interpolation is the former name of method.");
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.average")
    .def(&average, arg("a"), arg("axis") = nullptr, arg("weights") = nullptr, arg("returned") = false,
         arg("keepdims") = false)
    .doc("Return the weighted mean; if returned is true, also the sum of the weights.");

}  // namespace
}  // namespace npx
