/// \file
/// Reductions along some axes, or all: sum, mean, max, var, argmax and similar functions.

#include "arithmetic.h"
#include "functions.h"
#include "plan.h"

namespace npx {
namespace {

/// Sums of elements; one state for each lane.
template <class T>
struct Sum {
  using Result = T;
  T total{};
  void add(const void* const* in, int, int64_t count) {
    for (int64_t i = 0; i < count; ++i) total = plus(total, static_cast<const T*>(in[0])[i]);
  }
  T result() const { return total; }
};

template <class T>
struct Product {
  using Result = T;
  T total{1};
  void add(const void* const* in, int, int64_t count) {
    for (int64_t i = 0; i < count; ++i) total = times(total, static_cast<const T*>(in[0])[i]);
  }
  T result() const { return total; }
};

/// Sums of squared distances from the second term.
template <class T>
struct Distance {
  using Result = double;
  double total = 0;
  void add(const void* const* in, int, int64_t count) {
    auto *x = static_cast<const T*>(in[0]), *mean = static_cast<const T*>(in[1]);
    for (int64_t i = 0; i < count; ++i) {
      double size = std::abs(Complex(x[i]) - Complex(mean[i]));
      total += size * size;
    }
  }
  double result() const { return total; }
};

template <class T, bool kAll>
struct Truths {
  using Result = bool;
  bool value = kAll;
  void add(const void* const* in, int, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if ((static_cast<const T*>(in[0])[i] != T()) != kAll) value = !kAll;
    }
  }
  bool result() const { return value; }
};
template <class T>
using All = Truths<T, true>;
template <class T>
using Any = Truths<T, false>;

/// The first greatest or least element, where NaN precedes all others, and its position.
template <class T, bool kGreatest>
struct Extreme {
  using Result = T;
  T value{};
  int64_t place = -1, seen = 0;
  void add(const void* const* in, int, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++seen) {
      T x = static_cast<const T*>(in[0])[i];
      bool is_further = kGreatest ? is_less(value, x) : is_less(x, value);
      if (place >= 0 && !is_further && (is_nan(value) || !is_nan(x))) continue;
      value = x;
      place = seen;
    }
  }
  T result() const { return value; }
};
template <class T>
using Max = Extreme<T, true>;
template <class T>
using Min = Extreme<T, false>;

template <class T, bool kGreatest>
struct Place : Extreme<T, kGreatest> {
  using Result = int64_t;
  int64_t result() const { return this->place; }
};
template <class T>
using ArgMax = Place<T, true>;
template <class T>
using ArgMin = Place<T, false>;

struct Folds {
  Fold by_lane[kLanes];
  constexpr const Fold& operator[](Lane lane) const { return by_lane[static_cast<int>(lane)]; }
};
template <template <class> class State>
constexpr Folds folds() {
  return {{fold_by<State<int64_t>>(), fold_by<State<uint64_t>>(), fold_by<State<double>>(), fold_by<State<Complex>>()}};
}

void run(const Plan& plan, const Strided& to, Lane lane, const Folds& folds) {
  fold(plan.kept(to), &plan.array, 1, lane, folds[lane]);
}

/// The default dtype of sums over an array of `dtype`.
DataType summed_dtype(DataType dtype) {
  return !is_whole(dtype) ? dtype : dtype.code == ANYFFI_kDLUInt ? kUInt64 : kInt64;
}

template <template <class> class State>
Tensor total(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out, bool keepdims) {
  DataType to = read_dtype(dtype, out ? (*out).dtype() : summed_dtype(a.dtype()));
  Plan plan(a, axis, keepdims);
  Result result(out, plan.shape, to);
  result.reads(plan.array, false);
  run(plan, result.array(), lane_of(to), folds<State>());
  return result.finish();
}

NPX_BINARY(Add, Same, plus(a, b));
NPX_BINARY(Divide, Inexact, a / b);
NPX_BINARY(RootOfQuotient, Float, std::sqrt(a / b));

/// to = loop(sums, number), where the sums are of float64 or complex128.
void finish(const Strided& to, const Tensor& sums, double number, const Loops& loops) {
  Strided of_all{reinterpret_cast<char*>(&number), kFloat64, {}, {}};
  Lane lane = lane_of(sums.dtype());
  apply(to, lane, {{read(sums), lane}, {of_all, lane}}, loops[lane]);
}

}  // namespace

Tensor mean(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out, bool keepdims) {
  DataType to = read_dtype(dtype, mean_dtype(a.dtype()));
  Plan plan(a, axis, keepdims);
  Result result(out, plan.shape, to);
  result.reads(plan.array, false);
  Tensor sums = allocate(plan.shape, is_complex(to) ? kComplex128 : kFloat64);
  run(plan, write(sums), lane_of(sums.dtype()), folds<Sum>());
  finish(result.array(), sums, static_cast<double>(plan.size), binary_loops<Divide>());
  return result.finish();
}

namespace {

Tensor variance(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out, double ddof,
                bool keepdims, const Loops& loops) {
  DataType to = real_of(read_dtype(dtype, mean_dtype(a.dtype())));
  Plan plan(a, axis, keepdims);
  Result result(out, plan.shape, to);
  result.reads(plan.array, false);
  DTypeArg exact(is_complex(a.dtype()) ? kComplex128 : kFloat64);
  Tensor means = mean(a, axis, exact, nullptr, keepdims);
  Tensor sums = allocate(plan.shape, kFloat64);
  Strided of_kept = plan.kept(read(means)), of_all{of_kept.data, means.dtype(), plan.array.shape, of_kept.strides};
  while (of_all.strides.size() < of_all.ndim()) of_all.strides.push_back(0);
  Strided terms[] = {plan.array, of_all};
  Lane lane = lane_of(means.dtype());
  fold(plan.kept(write(sums)), terms, 2, lane, folds<Distance>()[lane]);
  finish(result.array(), sums, std::fmax(static_cast<double>(plan.size) - ddof, 0), loops);
  return result.finish();
}

template <template <class> class State>
Tensor extreme(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out, bool keepdims) {
  Plan plan(a, axis, keepdims);
  if (plan.size == 0) fail("ValueError", "zero-size array to a reduction which has no identity");
  Result result(out, plan.shape, a.dtype());
  result.reads(plan.array, false);
  run(plan, result.array(), lane_of(a.dtype()), folds<State>());
  return result.finish();
}

template <template <class> class State>
Tensor truth(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out, bool keepdims) {
  Plan plan(a, axis, keepdims);
  Result result(out, plan.shape, kBool);
  result.reads(plan.array, false);
  run(plan, result.array(), lane_of(a.dtype()), folds<State>());
  return result.finish();
}

template <template <class> class State>
Tensor place(const Tensor& a, const Optional<int64_t>& axis, const Optional<Tensor>& out, bool keepdims) {
  Plan plan(a, axis ? AxisArg(*axis) : AxisArg(), keepdims);
  if (plan.size == 0) fail("ValueError", "attempt to get argmax or argmin of an empty sequence");
  Result result(out, plan.shape, kInt64);
  result.reads(plan.array, false);
  run(plan, result.array(), lane_of(a.dtype()), folds<State>());
  return result.finish();
}

Tensor cumsum(const Tensor& a, const Optional<int64_t>& axis, const DTypeArg& dtype, const Optional<Tensor>& out) {
  if (!axis && a.ndim() != 1) return cumsum(raveled(read(a)), int64_t{0}, dtype, out);
  Strided from = read(a);
  int along = read_axis(axis.value_or(0), from.ndim());
  Result result(out, from.shape, read_dtype(dtype, out ? (*out).dtype() : summed_dtype(from.dtype)));
  result.reads(from, false);
  Strided to = result.array();
  Lane lane = lane_of(to.dtype);
  for (int64_t i = 0; i < from.shape[along]; ++i) {
    Strided here = to.slice(along, i, i + 1), next = from.slice(along, i, i + 1);
    if (i == 0) assign(here, next);
    if (i != 0) apply(here, lane, {{to.slice(along, i - 1, i), lane}, {next, lane}}, binary_loops<Add>()[lane]);
  }
  return result.finish();
}

}  // namespace

Tensor sum(const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out, bool keepdims) {
  return total<Sum>(a, axis, dtype, out, keepdims);
}

Tensor amax(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out, bool keepdims) {
  return extreme<Max>(a, axis, out, keepdims);
}

Tensor amin(const Tensor& a, const AxisArg& axis, const Optional<Tensor>& out, bool keepdims) {
  return extreme<Min>(a, axis, out, keepdims);
}

namespace {

void register_total(const char* name, decltype(&mean) function, const char* doc) {
  anyffi::Registration(name)
      .def(function, arg("a"), arg("axis") = nullptr, arg("dtype") = nullptr, arg("out") = nullptr,
           arg("keepdims") = false)
      .doc(doc);
}

void register_choice(const char* name, decltype(&truth<All>) function, const char* doc) {
  anyffi::Registration(name)
      .def(function, arg("a"), arg("axis") = nullptr, arg("out") = nullptr, arg("keepdims") = false)
      .doc(doc);
}

void register_place(const char* name, decltype(&place<ArgMax>) function, const char* doc) {
  anyffi::Registration(name)
      .def(function, arg("a"), arg("axis") = nullptr, arg("out") = nullptr, arg("keepdims") = false)
      .doc(doc);
}

void register_variance(const char* name, const Loops& loops, const char* doc) {
  anyffi::Registration(name)
      .def([loops](const Tensor& a, const AxisArg& axis, const DTypeArg& dtype, const Optional<Tensor>& out,
                   double ddof, bool keepdims) { return variance(a, axis, dtype, out, ddof, keepdims, loops); },
           arg("a"), arg("axis") = nullptr, arg("dtype") = nullptr, arg("out") = nullptr, arg("ddof") = 0,
           arg("keepdims") = false)
      .doc(doc);
}

[[maybe_unused]] const bool kReductionsRegistered = [] {
  register_total("npx.sum", &sum, "The sum along some axes, or of all elements.");
  register_total("npx.prod", &total<Product>, "The product along some axes, or of all elements.");
  register_total("npx.mean", &mean, "The mean along some axes, or of all elements.");
  register_choice("npx.max", &amax, "The greatest element along some axes, or of all; NaN if one is.");
  register_choice("npx.amax", &amax, "The greatest element along some axes, or of all; NaN if one is.");
  register_choice("npx.min", &amin, "The least element along some axes, or of all; NaN if one is.");
  register_choice("npx.amin", &amin, "The least element along some axes, or of all; NaN if one is.");
  register_choice("npx.all", &truth<All>, "Whether no element is 0 along some axes, or at all.");
  register_choice("npx.any", &truth<Any>, "Whether an element is not 0 along some axes, or at all.");
  register_place("npx.argmax", &place<ArgMax>, "Where the first of the greatest elements is.");
  register_place("npx.argmin", &place<ArgMin>, "Where the first of the least elements is.");
  register_variance("npx.var", binary_loops<Divide>(), "The mean of the squared distances from the mean.");
  register_variance("npx.std", binary_loops<RootOfQuotient>(), "The square root of the variance.");
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.cumsum")
    .def(&cumsum, arg("a"), arg("axis") = nullptr, arg("dtype") = nullptr, arg("out") = nullptr)
    .doc("Return the cumulative sums along an axis, or of the flattened array.");

}  // namespace
}  // namespace npx
