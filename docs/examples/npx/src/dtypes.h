/// \file
/// The fourteen dtypes, and NumPy's rules for the dtype of a result.
#ifndef NPX_DTYPES_H_
#define NPX_DTYPES_H_

#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>

#include <cmath>
#include <complex>
#include <cstring>

namespace npx {

using anyffi::DataType;
using anyffi::Error;
using Complex = std::complex<double>;

/// A 16-bit float for storage only: arithmetic uses double.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  /// Rounds once, to the nearest, ties to even.
  explicit Half(double value) {
    double size = std::fabs(value);
    int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
    if (std::isnan(value)) {
      bits = 0x7e00;
    } else if (size >= 65520) {
      bits = 0x7c00;
    } else {
      // The ten bits of the fraction; their carry goes to the exponent above them.
      auto significand = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
      bits = static_cast<uint16_t>(((exponent + 14) << 10) + significand);
    }
    if (std::signbit(value)) bits |= 0x8000;
  }
  explicit operator double() const {
    int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double size = exponent == 0    ? std::ldexp(fraction, -24)
                  : exponent != 31 ? std::ldexp(fraction + 1024, exponent - 25)
                  : fraction == 0  ? HUGE_VAL
                                   : std::nan("");
    return bits & 0x8000 ? -size : size;
  }
};

}  // namespace npx

template <>
struct anyffi::DataTypeOf<npx::Half> {
  static constexpr AnyffiDataType value{ANYFFI_kDLFloat, 16, 1};
};

namespace npx {

constexpr DataType kBool = DataType::of<bool>(), kInt8 = DataType::of<int8_t>(), kInt64 = DataType::of<int64_t>(),
                   kUInt64 = DataType::of<uint64_t>(), kFloat64 = DataType::of<double>(),
                   kComplex128 = DataType::of<Complex>();

/// A type as a function argument (a tag).
template <class T>
struct Type {
  using type = T;
};

/// Calls `f` with the `Type` of a dtype. TypeError for a dtype that NumPy does not have.
template <class F>
auto with_type(DataType dtype, F&& f) {
  if (dtype.lanes == 1) {
    switch (dtype.code << 8 | dtype.bits) {
      case ANYFFI_kDLBool << 8 | 8:
        return f(Type<bool>());
      case ANYFFI_kDLInt << 8 | 8:
        return f(Type<int8_t>());
      case ANYFFI_kDLInt << 8 | 16:
        return f(Type<int16_t>());
      case ANYFFI_kDLInt << 8 | 32:
        return f(Type<int32_t>());
      case ANYFFI_kDLInt << 8 | 64:
        return f(Type<int64_t>());
      case ANYFFI_kDLUInt << 8 | 8:
        return f(Type<uint8_t>());
      case ANYFFI_kDLUInt << 8 | 16:
        return f(Type<uint16_t>());
      case ANYFFI_kDLUInt << 8 | 32:
        return f(Type<uint32_t>());
      case ANYFFI_kDLUInt << 8 | 64:
        return f(Type<uint64_t>());
      case ANYFFI_kDLFloat << 8 | 16:
        return f(Type<Half>());
      case ANYFFI_kDLFloat << 8 | 32:
        return f(Type<float>());
      case ANYFFI_kDLFloat << 8 | 64:
        return f(Type<double>());
      case ANYFFI_kDLComplex << 8 | 64:
        return f(Type<std::complex<float>>());
      case ANYFFI_kDLComplex << 8 | 128:
        return f(Type<Complex>());
    }
  }
  throw Error("TypeError", anyffi::join("", anyffi::Array<anyffi::String>{"no arrays of dtype ", dtype.text()}));
}

constexpr bool is_bool(DataType dtype) { return dtype.code == ANYFFI_kDLBool; }
constexpr bool is_float(DataType dtype) { return dtype.code == ANYFFI_kDLFloat; }
constexpr bool is_complex(DataType dtype) { return dtype.code == ANYFFI_kDLComplex; }
/// Whether the elements are whole numbers, bools included.
constexpr bool is_whole(DataType dtype) { return !is_float(dtype) && !is_complex(dtype); }

/// bool, unsigned, signed, float, complex, in NumPy's order of promotion.
constexpr int kind_order(DataType dtype) {
  return is_bool(dtype)                  ? 0
         : dtype.code == ANYFFI_kDLUInt  ? 1
         : dtype.code == ANYFFI_kDLInt   ? 2
         : dtype.code == ANYFFI_kDLFloat ? 3
                                         : 4;
}

/// Whether a result of dtype `from` may be written to an output of dtype `to`: NumPy's casting rule "same_kind".
constexpr bool is_same_kind(DataType from, DataType to) { return kind_order(from) <= kind_order(to); }

/// Bits of the smallest float that holds all values of a dtype by NumPy's rules.
constexpr int float_bits(DataType dtype) {
  if (is_complex(dtype)) return dtype.bits / 2;
  if (is_float(dtype)) return dtype.bits;
  return dtype.bits == 8 ? 16 : dtype.bits == 16 ? 32 : 64;
}
constexpr DataType float_of(int bits) { return DataType(ANYFFI_kDLFloat, static_cast<uint8_t>(bits)); }
/// The dtype of a function such as `sqrt`: float or complex.
constexpr DataType inexact_of(DataType dtype) { return is_whole(dtype) ? float_of(float_bits(dtype)) : dtype; }
/// The dtype of a mean, and of linear algebra.
constexpr DataType mean_dtype(DataType dtype) { return is_whole(dtype) ? kFloat64 : dtype; }
/// The dtype of real parts and sizes.
constexpr DataType real_of(DataType dtype) { return is_complex(dtype) ? float_of(dtype.bits / 2) : dtype; }
constexpr DataType complex_of(DataType dtype) {
  return is_complex(dtype) ? dtype : DataType(ANYFFI_kDLComplex, float_bits(dtype) == 64 ? 128 : 64);
}

/// The smallest dtype to which both convert without loss, as in NumPy.
constexpr DataType promote(DataType a, DataType b) {
  if (kind_order(a) > kind_order(b)) return promote(b, a);
  if (is_bool(a)) return b;
  if (a.code == b.code) return a.bits > b.bits ? a : b;
  if (!is_whole(b)) {
    int bits = float_bits(a) > float_bits(b) ? float_bits(a) : float_bits(b);
    return is_complex(b) ? complex_of(float_of(bits)) : float_of(bits);
  }
  // Unsigned and signed: the signed one needs a bit more.
  if (b.bits > a.bits) return b;
  return a.bits == 64 ? kFloat64 : DataType(ANYFFI_kDLInt, static_cast<uint8_t>(2 * a.bits));
}

}  // namespace npx

#endif  // NPX_DTYPES_H_
