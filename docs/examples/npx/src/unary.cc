/// \file
/// Functions of one array, element by element.

#include "arithmetic.h"
#include "functions.h"

namespace npx {
namespace {

template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>) return minus(T{0}, x);
  return -x;  // also for 0.0
}

template <class T>
T sign(T x) {
  if constexpr (kIsComplex<T>) {
    return x == T() || is_nan(x) ? x : x / std::abs(x);
  } else {
    return is_nan(x) ? x : static_cast<T>((x > T{0}) - (x < T{0}));
  }
}

/// The absolute value, in the lane of the result.
template <class T>
auto absolute(T x) {
  if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> && x >> 63 ? negated(x) : x;
  if constexpr (!std::is_integral_v<T>) return std::abs(x);
}
template <class T>
using Size = decltype(absolute(T()));

template <class T>
bool is_infinite(T x) {
  if constexpr (kIsComplex<T>) return std::isinf(x.real()) || std::isinf(x.imag());
  if constexpr (std::is_floating_point_v<T>) return std::isinf(x);
  return false;
}

template <class T>
Integer<T> reciprocal(T x) {
  return x == 0 ? 0 : 1 / x;
}
template <class T>
Inexact<T> reciprocal(T x) {
  return 1.0 / x;
}

template <class T>
Inexact<T> rounded(T x) {
  if constexpr (kIsComplex<T>) return {std::nearbyint(x.real()), std::nearbyint(x.imag())};
  if constexpr (!kIsComplex<T>) return std::nearbyint(x);
}

/// Functions that C++ has for floats only, expressed by others for complex numbers.
template <class T>
Inexact<T> exp_minus_1(T x) {
  if constexpr (!kIsComplex<T>) return std::expm1(x);
  if constexpr (kIsComplex<T>) {
    double half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
  }
}
template <class T>
Inexact<T> log_1_plus(T x) {
  if constexpr (!kIsComplex<T>) return std::log1p(x);
  if constexpr (kIsComplex<T>)
    return {std::log(std::hypot(x.real() + 1, x.imag())), std::atan2(x.imag(), x.real() + 1)};
}
template <class T>
Inexact<T> logarithm_2(T x) {
  if constexpr (!kIsComplex<T>) return std::log2(x);
  if constexpr (kIsComplex<T>) return std::log(x) / std::log(2.0);
}

constexpr double kDegree = 57.29577951308232;

NPX_UNARY(Negative, Same, negated(x));
NPX_UNARY(Absolute, Size, absolute(x));
NPX_UNARY(Sign, Same, sign(x));
NPX_UNARY(Square, Same, times(x, x));
NPX_UNARY(Reciprocal, Same, reciprocal(x));
NPX_UNARY(BitwiseNot, Integer, static_cast<T>(~x));
NPX_UNARY(LogicalNot, Truth, x == T());
NPX_UNARY(IsNan, Truth, is_nan(x));
NPX_UNARY(IsInf, Truth, is_infinite(x));
NPX_UNARY(IsFinite, Truth, !is_nan(x) && !is_infinite(x));
NPX_UNARY(IsPositiveInf, RealTruth, x == HUGE_VAL);
NPX_UNARY(IsNegativeInf, RealTruth, x == -HUGE_VAL);
NPX_UNARY(Rint, Inexact, rounded(x));
NPX_UNARY(Floor, Float, std::floor(x));
NPX_UNARY(Ceil, Float, std::ceil(x));
NPX_UNARY(Trunc, Float, std::trunc(x));
NPX_UNARY(Sqrt, Inexact, std::sqrt(x));
NPX_UNARY(Cbrt, Float, std::cbrt(x));
NPX_UNARY(Exp, Inexact, std::exp(x));
NPX_UNARY(Expm1, Inexact, exp_minus_1(x));
NPX_UNARY(Log, Inexact, std::log(x));
NPX_UNARY(Log2, Inexact, logarithm_2(x));
NPX_UNARY(Log10, Inexact, std::log10(x));
NPX_UNARY(Log1p, Inexact, log_1_plus(x));
NPX_UNARY(Sin, Inexact, std::sin(x));
NPX_UNARY(Cos, Inexact, std::cos(x));
NPX_UNARY(Tan, Inexact, std::tan(x));
NPX_UNARY(Arcsin, Inexact, std::asin(x));
NPX_UNARY(Arccos, Inexact, std::acos(x));
NPX_UNARY(Arctan, Inexact, std::atan(x));
NPX_UNARY(Sinh, Inexact, std::sinh(x));
NPX_UNARY(Cosh, Inexact, std::cosh(x));
NPX_UNARY(Tanh, Inexact, std::tanh(x));
NPX_UNARY(Arcsinh, Inexact, std::asinh(x));
NPX_UNARY(Arccosh, Inexact, std::acosh(x));
NPX_UNARY(Arctanh, Inexact, std::atanh(x));
NPX_UNARY(Degrees, Float, x* kDegree);
NPX_UNARY(Radians, Float, x / kDegree);

/// How the result's dtype follows from the array's.
enum class Rule {
  kSame,
  kNumber,  ///< refuses bools
  kBits,    ///< the same; a bool is negated, whatever its bits
  kWhole,   ///< the same; integers are unchanged
  kSize,    ///< complex numbers become real
  kFloat,   ///< integers become the smallest float that holds them by NumPy's rules
  kTruth,   ///< always bool
};

struct Function {
  const char* name;
  Rule rule;
  const char* doc;
  Loops loops;
};

template <class F>
constexpr Function function(const char* name, Rule rule, const char* doc) {
  return {name, rule, doc, unary_loops<F>()};
}

constexpr Function kFunctions[] = {
    function<Negative>("npx.negative", Rule::kNumber, "-x."),
    function<Absolute>("npx.abs", Rule::kSize, "The size of x."),
    function<Absolute>("npx.absolute", Rule::kSize, "The size of x."),
    function<Sign>("npx.sign", Rule::kNumber, "-1, 0 or 1; of complex numbers x / abs(x)."),
    function<Square>("npx.square", Rule::kSame, "x * x."),
    function<Reciprocal>("npx.reciprocal", Rule::kSame, "1 / x, of whole numbers too."),
    function<BitwiseNot>("npx.bitwise_not", Rule::kBits, "All bits the other way round."),
    function<LogicalNot>("npx.logical_not", Rule::kTruth, "Whether x is 0."),
    function<IsNan>("npx.isnan", Rule::kTruth, "Whether x is NaN."),
    function<IsInf>("npx.isinf", Rule::kTruth, "Whether x is infinite."),
    function<IsFinite>("npx.isfinite", Rule::kTruth, "Whether x is neither infinite nor NaN."),
    function<IsPositiveInf>("npx.isposinf", Rule::kTruth, "Whether x is infinity."),
    function<IsNegativeInf>("npx.isneginf", Rule::kTruth, "Whether x is minus infinity."),
    function<Rint>("npx.rint", Rule::kFloat, "The nearest whole number, the even one of two."),
    function<Floor>("npx.floor", Rule::kWhole, "The next whole number below."),
    function<Ceil>("npx.ceil", Rule::kWhole, "The next whole number above."),
    function<Trunc>("npx.trunc", Rule::kWhole, "The next whole number towards 0."),
    function<Trunc>("npx.fix", Rule::kWhole, "The next whole number towards 0."),
    function<Sqrt>("npx.sqrt", Rule::kFloat, "The square root."),
    function<Cbrt>("npx.cbrt", Rule::kFloat, "The cube root."),
    function<Exp>("npx.exp", Rule::kFloat, "e ** x."),
    function<Expm1>("npx.expm1", Rule::kFloat, "e ** x - 1, exact for small x."),
    function<Log>("npx.log", Rule::kFloat, "The natural logarithm."),
    function<Log2>("npx.log2", Rule::kFloat, "The logarithm to base 2."),
    function<Log10>("npx.log10", Rule::kFloat, "The logarithm to base 10."),
    function<Log1p>("npx.log1p", Rule::kFloat, "The natural logarithm of 1 + x, exact for small x."),
    function<Sin>("npx.sin", Rule::kFloat, "The sine."),
    function<Cos>("npx.cos", Rule::kFloat, "The cosine."),
    function<Tan>("npx.tan", Rule::kFloat, "The tangent."),
    function<Arcsin>("npx.arcsin", Rule::kFloat, "The inverse of the sine."),
    function<Arccos>("npx.arccos", Rule::kFloat, "The inverse of the cosine."),
    function<Arctan>("npx.arctan", Rule::kFloat, "The inverse of the tangent."),
    function<Sinh>("npx.sinh", Rule::kFloat, "The hyperbolic sine."),
    function<Cosh>("npx.cosh", Rule::kFloat, "The hyperbolic cosine."),
    function<Tanh>("npx.tanh", Rule::kFloat, "The hyperbolic tangent."),
    function<Arcsinh>("npx.arcsinh", Rule::kFloat, "The inverse of the hyperbolic sine."),
    function<Arccosh>("npx.arccosh", Rule::kFloat, "The inverse of the hyperbolic cosine."),
    function<Arctanh>("npx.arctanh", Rule::kFloat, "The inverse of the hyperbolic tangent."),
    function<Degrees>("npx.degrees", Rule::kFloat, "Radians as degrees."),
    function<Radians>("npx.radians", Rule::kFloat, "Degrees as radians."),
};

Tensor compute(const Function& function, const Operand& x, const Optional<Tensor>& out) {
  DataType dtype = common_dtype({&x});
  bool is_refused = function.rule == Rule::kNumber && is_bool(dtype);
  if (function.rule == Rule::kFloat) dtype = inexact_of(dtype);
  Lane lane = lane_of(dtype);
  Loop loop = function.loops[lane];
  if (function.rule == Rule::kBits && is_bool(dtype)) loop = unary_loops<LogicalNot>()[lane];
  if (function.rule == Rule::kWhole && is_whole(dtype)) {
    loop = [](const void* const* in, int64_t count, void* to) {
      std::memcpy(to, in[0], static_cast<size_t>(count) * sizeof(int64_t));
    };
  }
  if (!loop || is_refused) {
    throw Error("TypeError", anyffi::join("", Array<String>{function.name, " is not defined for ", dtype.text()}));
  }
  bool to_truth = function.rule == Rule::kTruth;
  DataType to = to_truth ? kBool : function.rule == Rule::kSize ? real_of(dtype) : dtype;
  Input input(x, dtype);
  Result result(out, input.array().shape, to);
  result.reads(input.array());
  // If only the result is bool, the computation uses integers.
  apply(result.array(), lane_of(to), {{input.array(), lane}}, loop);
  return result.finish();
}

[[maybe_unused]] const bool kUnaryRegistered = [] {
  for (const Function& function : kFunctions) {
    anyffi::Registration(function.name)
        .def([&function](const Operand& x, const Optional<Tensor>& out) { return compute(function, x, out); }, arg("x"),
             arg("out") = nullptr)
        .doc(function.doc);
  }
  return true;
}();

}  // namespace

Tensor unary(const char* name, const Operand& x, const Optional<Tensor>& out) {
  for (const Function& function : kFunctions) {
    if (std::strcmp(function.name, name) == 0) return compute(function, x, out);
  }
  fail("AttributeError", name);
}

}  // namespace npx
