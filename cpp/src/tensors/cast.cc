/// \file
/// Converts elements of one type to another.
#include "tensors/cast.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace anyffi::runtime {
namespace {

/// A 16-bit floating-point type with kFraction fraction bits and 15 - kFraction exponent bits.
template <int kFraction>
struct Small {
  static constexpr int kBias = (1 << (14 - kFraction)) - 1;
  static constexpr int kMostExponent = (1 << (15 - kFraction)) - 1;
  uint16_t bits;

  double value() const noexcept {
    int exponent = bits >> kFraction & kMostExponent, fraction = bits & ((1 << kFraction) - 1);
    double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - kBias - kFraction)
                                     : std::ldexp(fraction + (1 << kFraction), exponent - kBias - kFraction);
    if (exponent == kMostExponent) {
      magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    }
    return std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0 : 1.0);
  }
  /// Rounds to the nearest, ties to even. False for a finite number that is too large.
  static bool round(double number, Small& out) noexcept {
    int sign = std::signbit(number) ? 0x8000 : 0, result = kMostExponent << kFraction;
    if (std::isnan(number)) {
      result |= 1 << (kFraction - 1);
    } else if (number == 0) {
      result = 0;
    } else if (!std::isinf(number)) {
      int exponent;
      std::frexp(number, &exponent);
      int lowest = exponent - 1 < 1 - kBias ? 1 - kBias : exponent - 1;
      // In units of the last place. Normal numbers have a leading bit in front of the kFraction bits.
      double fraction = std::nearbyint(std::ldexp(std::fabs(number), kFraction - lowest));
      double units = fraction + std::ldexp(lowest + kBias - 1, kFraction);
      if (units >= result) return false;
      result = static_cast<int>(units);
    }
    out.bits = static_cast<uint16_t>(sign | result);
    return true;
  }
};
using Float16 = Small<10>;
using Bfloat16 = Small<7>;

struct Complex64 {
  float real, imag;
};
struct Complex128 {
  double real, imag;
};
struct Bool {
  uint8_t byte;
};

template <class T>
constexpr RunType kRunTypeOf = std::is_same_v<T, uint64_t>                                     ? RunType::kUnsigned
                               : std::is_integral_v<T> || std::is_same_v<T, Bool>              ? RunType::kInt
                               : std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128> ? RunType::kComplex
                                                                                               : RunType::kFloat;

template <class T>
void read_one(const T& item, Run& to, int64_t i) noexcept {
  if constexpr (std::is_same_v<T, Bool>) {
    to.ints[i] = item.byte != 0;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    to.words[i] = item;
  } else if constexpr (std::is_integral_v<T>) {
    to.ints[i] = item;
  } else if constexpr (std::is_floating_point_v<T>) {
    to.floats[i] = static_cast<double>(item);
  } else if constexpr (kRunTypeOf<T> == RunType::kComplex) {
    to.parts[2 * i] = static_cast<double>(item.real);
    to.parts[2 * i + 1] = static_cast<double>(item.imag);
  } else {
    to.floats[i] = item.value();
  }
}

template <class T>
void read_run(const char* from, int64_t step, int64_t count, Run& to) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    T item;
    std::memcpy(&item, from + i * step, sizeof(T));
    read_one(item, to, i);
  }
}

bool convert(double number, double& out) noexcept {
  out = number;
  return true;
}
bool convert(double number, float& out) noexcept {
  out = static_cast<float>(number);
  return std::isfinite(out) || !std::isfinite(number);
}
template <int kFraction>
bool convert(double number, Small<kFraction>& out) noexcept {
  return Small<kFraction>::round(number, out);
}
template <class N, class T, std::enable_if_t<std::is_integral_v<N>, int> = 0>
bool convert(N number, T& out) noexcept {
  if constexpr (std::is_same_v<T, Bool>) {
    out.byte = number != 0;
    return number == 0 || number == 1;
  } else if constexpr (std::is_integral_v<T>) {
    out = static_cast<T>(number);
    return static_cast<N>(out) == number && (out < 0) == (number < 0);
  } else if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(number);
    return true;
  } else {
    return convert(static_cast<double>(number), out);
  }
}
template <class C>
bool convert_parts(double real, double imag, C& out) noexcept {
  bool fits = convert(real, out.real);
  return convert(imag, out.imag) && fits;
}

template <class T, RunType kFrom>
bool write_one(const Run& from, int64_t i, T& item) noexcept {
  if constexpr (kRunTypeOf<T> == RunType::kComplex) {
    if constexpr (kFrom == RunType::kComplex) return convert_parts(from.parts[2 * i], from.parts[2 * i + 1], item);
    if constexpr (kFrom == RunType::kFloat) return convert_parts(from.floats[i], 0.0, item);
    if constexpr (kFrom == RunType::kInt) return convert_parts(static_cast<double>(from.ints[i]), 0.0, item);
    if constexpr (kFrom == RunType::kUnsigned) return convert_parts(static_cast<double>(from.words[i]), 0.0, item);
  } else {
    if constexpr (kFrom == RunType::kFloat) return convert(from.floats[i], item);
    if constexpr (kFrom == RunType::kInt) return convert(from.ints[i], item);
    if constexpr (kFrom == RunType::kUnsigned) return convert(from.words[i], item);
  }
}

template <class T, RunType kFrom>
int64_t write_run(const Run& from, int64_t count, char* to, int64_t step) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    T item;
    if (!write_one<T, kFrom>(from, i, item)) return i;
    std::memcpy(to + i * step, &item, sizeof(T));
  }
  return count;
}

template <class T>
WriteRun writer_of(RunType from) noexcept {
  constexpr bool kTakesFloats = kRunTypeOf<T> == RunType::kFloat || kRunTypeOf<T> == RunType::kComplex;
  if (from == RunType::kInt) return &write_run<T, RunType::kInt>;
  if (from == RunType::kUnsigned) return &write_run<T, RunType::kUnsigned>;
  if constexpr (kTakesFloats) {
    if (from == RunType::kFloat) return &write_run<T, RunType::kFloat>;
  }
  if constexpr (kRunTypeOf<T> == RunType::kComplex) {
    if (from == RunType::kComplex) return &write_run<T, RunType::kComplex>;
  }
  return nullptr;
}

template <class T>
struct TypeTag {
  using Type = T;
};

/// Calls `visit` with the TypeTag of an element type, and returns its result; `unknown` for types without arithmetic.
template <class Visit, class Result>
Result visit_type(const AnyffiDataType& type, Visit visit, Result unknown) noexcept {
  if (type.lanes != 1) return unknown;
  switch (type.code << 8 | type.bits) {
    case ANYFFI_kDLBool << 8 | 8:
      return visit(TypeTag<Bool>());
    case ANYFFI_kDLInt << 8 | 8:
      return visit(TypeTag<int8_t>());
    case ANYFFI_kDLInt << 8 | 16:
      return visit(TypeTag<int16_t>());
    case ANYFFI_kDLInt << 8 | 32:
      return visit(TypeTag<int32_t>());
    case ANYFFI_kDLInt << 8 | 64:
      return visit(TypeTag<int64_t>());
    case ANYFFI_kDLUInt << 8 | 8:
      return visit(TypeTag<uint8_t>());
    case ANYFFI_kDLUInt << 8 | 16:
      return visit(TypeTag<uint16_t>());
    case ANYFFI_kDLUInt << 8 | 32:
      return visit(TypeTag<uint32_t>());
    case ANYFFI_kDLUInt << 8 | 64:
      return visit(TypeTag<uint64_t>());
    case ANYFFI_kDLFloat << 8 | 16:
      return visit(TypeTag<Float16>());
    case ANYFFI_kDLFloat << 8 | 32:
      return visit(TypeTag<float>());
    case ANYFFI_kDLFloat << 8 | 64:
      return visit(TypeTag<double>());
    case ANYFFI_kDLBfloat << 8 | 16:
      return visit(TypeTag<Bfloat16>());
    case ANYFFI_kDLComplex << 8 | 64:
      return visit(TypeTag<Complex64>());
    case ANYFFI_kDLComplex << 8 | 128:
      return visit(TypeTag<Complex128>());
    default:
      return unknown;
  }
}

}  // namespace

RunReader find_reader(const AnyffiDataType& type) noexcept {
  auto find = [](auto tag) {
    using T = typename decltype(tag)::Type;
    return RunReader{kRunTypeOf<T>, &read_run<T>};
  };
  return visit_type(type, find, RunReader{RunType::kInt, nullptr});
}

WriteRun find_writer(const AnyffiDataType& type, RunType from) noexcept {
  auto find = [from](auto tag) { return writer_of<typename decltype(tag)::Type>(from); };
  return visit_type(type, find, WriteRun{nullptr});
}

}  // namespace anyffi::runtime
