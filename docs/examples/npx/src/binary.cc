/// \file
/// Operators of two arrays, broadcast against each other.

#include "arithmetic.h"
#include "functions.h"

namespace npx {
namespace {

/// The remainder has the sign of the divisor; 0 for integers divided by 0.
template <class T>
Real<T> remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == static_cast<T>(-1)) return b == 0 || std::is_signed_v<T> ? 0 : a % b;
    T rest = a % b;
    return rest != 0 && (rest ^ b) >> 63 ? rest + b : rest;
  } else {
    T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T{0}, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

/// Rounds towards minus infinity; 0 for integers divided by 0.
template <class T>
Real<T> floor_divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return minus(T{0}, a);
    return a / b - (a % b != remainder(a, b) ? 1 : 0);
  } else {
    if (b == 0) return a / b;
    T rest = std::fmod(a, b);
    T quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
    if (quotient == 0) return std::copysign(T{0}, a / b);
    T whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }
}

template <class T>
T power(T base, T exponent) {
  if constexpr (!std::is_integral_v<T>) {
    return std::pow(base, exponent);
  } else {
    if (std::is_signed_v<T> && exponent >> 63) {
      throw Error("ValueError", "Integers to negative integer powers are not allowed.");
    }
    T result = 1;
    for (; exponent != 0; exponent /= 2, base = times(base, base)) {
      if (exponent % 2) result = times(result, base);
    }
    return result;
  }
}

template <class T>
Integer<T> gcd(T a, T b) {
  while (b != 0) {
    T rest = remainder(a, b);
    a = b;
    b = rest;
  }
  return std::is_signed_v<T> && a >> 63 ? minus(T{0}, a) : a;
}

template <class T>
Integer<T> lcm(T a, T b) {
  auto size = [](T x) { return static_cast<uint64_t>(std::is_signed_v<T> && x >> 63 ? minus(T{0}, x) : x); };
  auto divisor = static_cast<uint64_t>(gcd(a, b));
  return divisor == 0 ? 0 : static_cast<T>(size(a) / divisor * size(b));
}

NPX_BINARY(Add, Same, plus(a, b));
NPX_BINARY(Subtract, Same, minus(a, b));
NPX_BINARY(Multiply, Same, times(a, b));
NPX_BINARY(Divide, Inexact, a / b);
NPX_BINARY(FloorDivide, Real, floor_divide(a, b));
NPX_BINARY(Remainder, Real, remainder(a, b));
NPX_BINARY(Power, Same, power(a, b));
NPX_BINARY(Maximum, Same, greatest(a, b));
NPX_BINARY(Minimum, Same, least(a, b));
NPX_BINARY(Arctan2, Float, std::atan2(a, b));
NPX_BINARY(Hypot, Float, std::hypot(a, b));
NPX_BINARY(Copysign, Float, std::copysign(a, b));
NPX_BINARY(Gcd, Integer, gcd(a, b));
NPX_BINARY(Lcm, Integer, lcm(a, b));
NPX_BINARY(BitwiseAnd, Integer, a& b);
NPX_BINARY(BitwiseOr, Integer, a | b);
NPX_BINARY(BitwiseXor, Integer, a ^ b);
NPX_BINARY(LogicalAnd, Truth, a != T() && b != T());
NPX_BINARY(LogicalOr, Truth, a != T() || b != T());
NPX_BINARY(LogicalXor, Truth, (a != T()) != (b != T()));
NPX_BINARY(Equal, Truth, a == b);
NPX_BINARY(NotEqual, Truth, a != b);
NPX_BINARY(Less, Truth, is_less(a, b));
NPX_BINARY(LessEqual, Truth, is_less_equal(a, b));
NPX_BINARY(Greater, Truth, is_less(b, a));
NPX_BINARY(GreaterEqual, Truth, is_less_equal(b, a));

/// How the result's dtype follows from the common dtype of the operands.
enum class Rule {
  kSame,
  kNumber,  ///< refuses bools
  kInt8,    ///< bools are treated as int8
  kDivide,  ///< whole numbers become float64
  kFloat,   ///< each integer operand becomes the smallest float that holds it by NumPy's rules
  kTruth,   ///< always bool
};

struct Operator {
  const char* name;
  Rule rule;
  const char* doc;
  Loops loops;
};

template <class F>
constexpr Operator op(const char* name, Rule rule, const char* doc) {
  return {name, rule, doc, binary_loops<F>()};
}

constexpr Operator kOperators[] = {
    op<Add>("npx.add", Rule::kSame, "x1 + x2; of bools whether one is true."),
    op<Subtract>("npx.subtract", Rule::kNumber, "x1 - x2."),
    op<Multiply>("npx.multiply", Rule::kSame, "x1 * x2."),
    op<Divide>("npx.divide", Rule::kDivide, "x1 / x2, never whole numbers."),
    op<Divide>("npx.true_divide", Rule::kDivide, "x1 / x2, never whole numbers."),
    op<FloorDivide>("npx.floor_divide", Rule::kInt8, "x1 // x2."),
    op<Remainder>("npx.mod", Rule::kInt8, "x1 % x2, of the sign of x2."),
    op<Remainder>("npx.remainder", Rule::kInt8, "x1 % x2, of the sign of x2."),
    op<Power>("npx.power", Rule::kInt8, "x1 ** x2."),
    op<Maximum>("npx.maximum", Rule::kSame, "The greater element of two; NaN if one is."),
    op<Minimum>("npx.minimum", Rule::kSame, "The lesser element of two; NaN if one is."),
    op<Arctan2>("npx.arctan2", Rule::kFloat, "The angle of the point (x2, x1)."),
    op<Hypot>("npx.hypot", Rule::kFloat, "The distance of the point (x1, x2) from the origin."),
    op<Copysign>("npx.copysign", Rule::kFloat, "x1 with the sign of x2."),
    op<Gcd>("npx.gcd", Rule::kNumber, "The greatest common divisor."),
    op<Lcm>("npx.lcm", Rule::kNumber, "The least common multiple."),
    op<BitwiseAnd>("npx.bitwise_and", Rule::kSame, "The bits that are set in both."),
    op<BitwiseOr>("npx.bitwise_or", Rule::kSame, "The bits that are set in one at least."),
    op<BitwiseXor>("npx.bitwise_xor", Rule::kSame, "The bits that are set in one alone."),
    op<LogicalAnd>("npx.logical_and", Rule::kTruth, "Whether both are true."),
    op<LogicalOr>("npx.logical_or", Rule::kTruth, "Whether one at least is true."),
    op<LogicalXor>("npx.logical_xor", Rule::kTruth, "Whether one alone is true."),
    op<Equal>("npx.equal", Rule::kTruth, "Whether x1 == x2."),
    op<NotEqual>("npx.not_equal", Rule::kTruth, "Whether x1 != x2."),
    op<Less>("npx.less", Rule::kTruth, "Whether x1 < x2."),
    op<LessEqual>("npx.less_equal", Rule::kTruth, "Whether x1 <= x2."),
    op<Greater>("npx.greater", Rule::kTruth, "Whether x1 > x2."),
    op<GreaterEqual>("npx.greater_equal", Rule::kTruth, "Whether x1 >= x2."),
};

[[noreturn]] void refuse(const Operator& op, DataType dtype) {
  throw Error("TypeError", anyffi::join("", Array<String>{op.name, " is not defined for ", dtype.text()}));
}

/// The dtype in which the operands are computed.
DataType dtype_of(const Operator& op, const Operand& x1, const Operand& x2) {
  DataType common = common_dtype({&x1, &x2});
  if (op.rule == Rule::kNumber && is_bool(common)) refuse(op, common);
  if (op.rule == Rule::kInt8 && is_bool(common)) return kInt8;
  if (op.rule == Rule::kDivide && is_whole(common)) return kFloat64;
  if (op.rule != Rule::kFloat) return common;
  if (!x1.holds<Tensor>() || !x2.holds<Tensor>()) return inexact_of(common);
  return promote(inexact_of(x1.get<Tensor>().dtype()), inexact_of(x2.get<Tensor>().dtype()));
}

Tensor compute(const Operator& op, const Operand& x1, const Operand& x2, const Optional<Tensor>& out) {
  DataType dtype = dtype_of(op, x1, x2);
  Lane lane = lane_of(dtype);
  Loop loop = op.loops[lane];
  if (!loop) refuse(op, dtype);
  Input a(x1, dtype), b(x2, dtype);
  bool to_truth = op.rule == Rule::kTruth;
  Result result(out, broadcast_shapes(a.array().shape, b.array().shape), to_truth ? kBool : dtype);
  result.reads(a.array());
  result.reads(b.array());
  apply(result.array(), to_truth ? Lane::kSigned : lane, {{a.array(), lane}, {b.array(), lane}}, loop);
  return result.finish();
}

[[maybe_unused]] const bool kBinaryRegistered = [] {
  for (const Operator& op : kOperators) {
    anyffi::Registration(op.name)
        .def([&op](const Operand& x1, const Operand& x2,
                   const Optional<Tensor>& out) { return compute(op, x1, x2, out); },
             arg("x1"), arg("x2"), arg("out") = nullptr)
        .doc(op.doc);
  }
  return true;
}();

}  // namespace

Tensor binary(const char* name, const Operand& x1, const Operand& x2, const Optional<Tensor>& out) {
  for (const Operator& op : kOperators) {
    if (std::strcmp(op.name, name) == 0) return compute(op, x1, x2, out);
  }
  fail("AttributeError", name);
}

}  // namespace npx
