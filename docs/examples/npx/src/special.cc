/// \file
/// Elementwise functions with special rules: around, nan_to_num, ldexp, polyval, cross.

#include <algorithm>
#include <cfloat>

#include "arithmetic.h"
#include "functions.h"

namespace npx {
namespace {

/// Views real and imaginary parts as a new last axis.
Strided parts_of(const Strided& array) {
  Strided parts = array.with_axis(array.ndim());
  parts.dtype = real_of(array.dtype);
  parts.shape[array.ndim()] = 2;
  parts.strides[array.ndim()] = parts.dtype.item_size();
  return parts;
}

/// Rounds to a multiple of 10 ** -decimals.
Tensor rounded(const Tensor& a, int64_t decimals) {
  Operand power(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
  if (decimals == 0) return unary("npx.rint", a);
  if (decimals > 0) return binary("npx.divide", unary("npx.rint", binary("npx.multiply", a, power)), power);
  return binary("npx.multiply", unary("npx.rint", binary("npx.divide", a, power)), power);
}

Tensor around(const Tensor& a, int64_t decimals, const Optional<Tensor>& out) {
  Strided array = read(a);
  bool truth = is_bool(array.dtype);
  if (truth && decimals != 0) fail("TypeError", "bools cannot be rounded to decimals");
  Result result(out, array.shape, truth ? inexact_of(array.dtype) : array.dtype);
  result.reads(array);
  if (is_complex(array.dtype)) {
    assign(parts_of(result.array()), read(rounded(view_of(a, parts_of(array)), decimals)));
  } else if (is_whole(array.dtype) && !truth && decimals >= 0) {
    assign(result.array(), array);
  } else {
    assign(result.array(), read(rounded(a, decimals)));
  }
  return result.finish();
}

struct Replace {
  double operator()(double x, double nan, double high, double low) const {
    return std::isnan(x) ? nan : std::isfinite(x) ? x : x > 0 ? high : low;
  }
};

/// The greatest number of a float's dtype.
double greatest_of(DataType dtype) { return dtype.bits == 16 ? 65504 : dtype.bits == 32 ? FLT_MAX : DBL_MAX; }

Tensor nan_to_num(const Tensor& x, bool copy, double nan, const Optional<double>& posinf,
                  const Optional<double>& neginf) {
  Tensor result = copy ? copied(read(x), x.dtype()) : x;
  Strided array = write(result);
  if (is_whole(array.dtype)) return result;
  if (is_complex(array.dtype)) array = parts_of(array);
  double limit = greatest_of(array.dtype), numbers[] = {nan, posinf.value_or(limit), neginf.value_or(-limit)};
  auto number = [&](int i) -> Term { return {{reinterpret_cast<char*>(&numbers[i]), kFloat64, {}, {}}, Lane::kReal}; };
  apply(array, Lane::kReal, {{array, Lane::kReal}, number(0), number(1), number(2)},
        detail::loop_of<Replace, double, double, double, double>());
  return result;
}

struct Ldexp {
  double operator()(double x, int64_t exponent) const {
    // All results beyond this exponent are 0 or infinite.
    return std::ldexp(x, static_cast<int>(std::clamp<int64_t>(exponent, -9999, 9999)));
  }
};

Tensor ldexp(const Operand& x1, const Operand& x2, const Optional<Tensor>& out) {
  DataType dtype = inexact_of(common_dtype({&x1})), exponents = common_dtype({&x2});
  if (is_complex(dtype) || !is_whole(exponents) || exponents == kUInt64) {
    fail("TypeError", "ldexp is defined for real numbers, and exponents of up to 64 bits with sign");
  }
  Input x(x1, dtype), exponent(x2, exponents);
  Result result(out, broadcast_shapes(x.array().shape, exponent.array().shape), dtype);
  for (const Input* input : {&x, &exponent}) result.reads(input->array());
  apply(result.array(), Lane::kReal, {{x.array(), Lane::kReal}, {exponent.array(), Lane::kSigned}},
        detail::loop_of<Ldexp, double, int64_t>());
  return result.finish();
}

Tensor polyval(const Tensor& p, const Tensor& x) {
  Strided coefficients = read(p);
  if (coefficients.ndim() == 0) fail("TypeError", "iteration over a 0-d array");
  Tensor value = allocate(read(x).shape, x.dtype());
  assign(write(value), Input(false, x.dtype()).array());
  for (int64_t i = 0; i < coefficients.shape[0]; ++i) {
    Tensor next = view_of(p, coefficients.slice(0, i, i + 1).without(0));
    value = binary("npx.add", binary("npx.multiply", value, x), next);
  }
  return value;
}

/// The i-th elements along the last axis, or 0 past the end.
Operand component(const Tensor& vectors, int64_t i) {
  Strided array = read(vectors);
  int last = array.ndim() - 1;
  if (i == array.shape[last]) return BigInt(0);
  return view_of(vectors, array.slice(last, i, i + 1).without(last));
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axisa, int64_t axisb, int64_t axisc,
             const Optional<int64_t>& axis) {
  auto arranged = [](const Tensor& vectors, int64_t along) {
    Strided array = read(vectors).moved(read_axis(along, vectors.ndim()), vectors.ndim() - 1);
    return view_of(vectors, array);
  };
  Tensor x = arranged(a, axis.value_or(axisa)), y = arranged(b, axis.value_or(axisb));
  int64_t sizes[] = {x.shape()[x.ndim() - 1], y.shape()[y.ndim() - 1]};
  for (int64_t size : sizes) {
    if (size != 2 && size != 3) {
      fail("ValueError", "incompatible dimensions for cross product\n(dimension must be 2 or 3)");
    }
  }
  auto element = [&](int64_t i, int64_t j) {
    return binary("npx.subtract", binary("npx.multiply", component(x, i), component(y, j)),
                  binary("npx.multiply", component(x, j), component(y, i)));
  };
  if (sizes[0] == 2 && sizes[1] == 2) return element(0, 1);
  std::vector<Strided> parts;
  std::vector<Tensor> elements{element(1, 2), element(2, 0), element(0, 1)};
  for (const Tensor& each : elements) parts.push_back(read(each).with_axis(each.ndim()));
  Tensor result = joined(parts, -1);
  int place = read_axis(axis.value_or(axisc), result.ndim());
  return view_of(result, read(result).moved(result.ndim() - 1, place));
}

[[maybe_unused]] const bool kSpecialRegistered = [] {
  for (const char* name : {"npx.around", "npx.round"}) {
    anyffi::Registration(name)
        .def(&around, arg("a"), arg("decimals") = 0, arg("out") = nullptr)
        .doc("Round to the given number of decimals, half to even.");
  }
  return true;
}();

ANYFFI_REGISTER_GLOBAL("npx.nan_to_num")
    .def(&nan_to_num, arg("x"), arg("copy") = true, arg("nan") = 0.0, arg("posinf") = nullptr, arg("neginf") = nullptr)
    .doc("Replace NaN and infinities by numbers; in place unless copy is true.");
ANYFFI_REGISTER_GLOBAL("npx.ldexp").def(&ldexp, arg("x1"), arg("x2"), arg("out") = nullptr).doc("x1 * 2 ** x2.");
ANYFFI_REGISTER_GLOBAL("npx.polyval")
    .def(&polyval, arg("p"), arg("x"))
    .doc("Evaluate a polynomial with coefficients p, highest power first.");
ANYFFI_REGISTER_GLOBAL("npx.cross")
    .def(&cross, arg("a"), arg("b"), arg("axisa") = -1, arg("axisb") = -1, arg("axisc") = -1, arg("axis") = nullptr)
    .doc("Return vector products along an axis of 3 elements, or of 2, where the third is 0.");
ANYFFI_REGISTER_GLOBAL("npx.may_share_memory")
    .def([](const Tensor& a, const Tensor& b) { return may_overlap(read(a), read(b)); }, arg("a"), arg("b"))
    .doc("Return whether the memory ranges of two arrays overlap.");

}  // namespace
}  // namespace npx
