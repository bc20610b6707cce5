/// \file
/// Arithmetic on lanes: integers wrap on overflow, complex numbers compare as in NumPy.
#ifndef NPX_ARITHMETIC_H_
#define NPX_ARITHMETIC_H_

#include "walk.h"

namespace npx {

/// The result types of functions of lanes, which also restrict the lanes: `Real` excludes complex ones, `Inexact`
/// integers; `Truth` allows all, and `RealTruth` excludes complex ones.
template <class T>
using Same = T;
template <class T>
using Truth = std::enable_if_t<sizeof(T) != 0, bool>;
template <class T>
using Real = std::enable_if_t<!kIsComplex<T>, T>;
template <class T>
using RealTruth = std::enable_if_t<!kIsComplex<T>, bool>;
template <class T>
using Integer = std::enable_if_t<std::is_integral_v<T>, T>;
template <class T>
using Float = std::enable_if_t<std::is_floating_point_v<T>, T>;
template <class T>
using Inexact = std::enable_if_t<!std::is_integral_v<T>, T>;

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return a + b;
}

template <class T>
T minus(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  return a - b;
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return a * b;
}

/// Multiplies without C++'s recovery of infinities from NaN, as NumPy does.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  if constexpr (kIsComplex<T>) return std::isnan(x.real()) || std::isnan(x.imag());
  return false;
}

/// Complex numbers are ordered by their real parts, and by the imaginary ones where those are equal.
template <class T>
bool is_less(T a, T b) {
  if constexpr (kIsComplex<T>) {
    bool imag_known = !std::isnan(a.imag()) && !std::isnan(b.imag());
    return (a.real() < b.real() && imag_known) || (a.real() == b.real() && a.imag() < b.imag());
  } else {
    return a < b;
  }
}

template <class T>
bool is_less_equal(T a, T b) {
  return is_less(a, b) || a == b;
}

/// The greater and the lesser of two numbers; NaN if either is.
template <class T>
T greatest(T a, T b) {
  return is_nan(a) || is_less_equal(b, a) ? a : b;
}
template <class T>
T least(T a, T b) {
  return is_nan(a) || is_less_equal(a, b) ? a : b;
}

/// A function of the lanes, as a class: `template <class T> Returns<T> operator()(T a, T b)`.
#define NPX_BINARY(Name, Returns, expression) \
  struct Name {                               \
    template <class T>                        \
    Returns<T> operator()(T a, T b) const {   \
      return expression;                      \
    }                                         \
  }
/// The same for one argument, x.
#define NPX_UNARY(Name, Returns, expression)            \
  struct Name {                                         \
    template <class T>                                  \
    Returns<T> operator()([[maybe_unused]] T x) const { \
      return expression;                                \
    }                                                   \
  }

/// A loop for each lane; null if the lane has none.
struct Loops {
  Loop by_lane[kLanes];
  constexpr Loop operator[](Lane lane) const { return by_lane[static_cast<int>(lane)]; }
};

namespace detail {

template <class F, class... T, size_t... I>
auto call_at(const void* const* in, int64_t i, std::index_sequence<I...>) {
  return F()(static_cast<const T*>(in[I])[i]...);
}

template <class F, class... T>
void run_loop(const void* const* in, int64_t count, void* out) {
  using R = std::invoke_result_t<F, T...>;
  using Stored = std::conditional_t<std::is_same_v<R, bool>, int64_t, R>;
  for (int64_t i = 0; i < count; ++i) {
    static_cast<Stored*>(out)[i] = call_at<F, T...>(in, i, std::index_sequence_for<T...>());
  }
}

template <class F, class... T>
constexpr Loop loop_of() {
  if constexpr (std::is_invocable_v<F, T...>) return &run_loop<F, T...>;
  return nullptr;
}

}  // namespace detail

/// The loops of a function of one, two or three arguments.
template <class F>
constexpr Loops unary_loops() {
  using detail::loop_of;
  return {{loop_of<F, int64_t>(), loop_of<F, uint64_t>(), loop_of<F, double>(), loop_of<F, Complex>()}};
}
template <class F>
constexpr Loops binary_loops() {
  using detail::loop_of;
  return {{loop_of<F, int64_t, int64_t>(), loop_of<F, uint64_t, uint64_t>(), loop_of<F, double, double>(),
           loop_of<F, Complex, Complex>()}};
}
template <class F>
constexpr Loops ternary_loops() {
  using detail::loop_of;
  return {{loop_of<F, int64_t, int64_t, int64_t>(), loop_of<F, uint64_t, uint64_t, uint64_t>(),
           loop_of<F, double, double, double>(), loop_of<F, Complex, Complex, Complex>()}};
}

}  // namespace npx

#endif  // NPX_ARITHMETIC_H_
