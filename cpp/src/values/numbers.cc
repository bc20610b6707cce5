/// \file
/// Numbers that are objects: integers outside of int64, and complex numbers. They hash and compare as in Python, also
/// with Int, Bool and Float.
#include <anyffi/inline.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/object.h"
#include "core/owned.h"
#include "core/types.h"
#include "core/value.h"
#include "values/equal.h"
#include "values/hash.h"

namespace anyffi::runtime {
namespace {

/// Python's factor for the hash of an imaginary part (`sys.hash_info.imag`).
constexpr uint64_t kImaginaryFactor = 1000003;
/// CPython's limit for the number of digits in an integer's text (`sys.int_info.default_max_str_digits`).
constexpr size_t kMostDigits = 4300;
/// The number of decimal digits that fit in one word.
constexpr size_t kBlockDigits = 19;
constexpr uint64_t kTenTo19 = 10000000000000000000u;

const AnyffiBigInt& big(const AnyffiValue& value) { return *reinterpret_cast<const AnyffiBigInt*>(value.as_object); }
const AnyffiComplex& complex(const AnyffiValue& value) {
  return *reinterpret_cast<const AnyffiComplex*>(value.as_object);
}

size_t big_bytes(int64_t size) { return sizeof(AnyffiBigInt) + static_cast<size_t>(size) * sizeof(uint64_t); }

void delete_big(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_MEMORY) {
    free_object<AnyffiBigInt>(self, big_bytes(reinterpret_cast<AnyffiBigInt*>(self)->size));
  }
}

void delete_complex(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiComplex>(self);
}

int hash_big(const AnyffiValue* self, int64_t* out) {
  const AnyffiBigInt& number = big(*self);
  uint64_t hash = 0;
  for (int64_t i = number.size; i-- > 0;) {
    // 2**64 is 8 modulo the prime 2**61 - 1.
    auto sum = static_cast<unsigned __int128>(hash) * 8 + number.words[i];
    hash = static_cast<uint64_t>(sum & kModulus) + static_cast<uint64_t>(sum >> kModulusBits);
    if (hash >= kModulus) hash -= kModulus;
  }
  *out = avoid_minus_one(number.negative ? -static_cast<int64_t>(hash) : static_cast<int64_t>(hash));
  return 0;
}

bool same_integer(const AnyffiBigInt& a, const AnyffiBigInt& b) {
  return a.negative == b.negative && a.size == b.size &&
         std::memcmp(a.words, b.words, static_cast<size_t>(a.size) * sizeof(uint64_t)) == 0;
}

/// Exact comparison: neither number is rounded.
bool equals_float(const AnyffiBigInt& number, double other) {
  if (!std::isfinite(other) || std::signbit(other) != (number.negative != 0)) return false;
  int exponent;
  double fraction = std::frexp(std::fabs(other), &exponent);
  if (exponent <= 0 || (exponent - 1) / 64 + 1 != number.size) return false;
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  int shift = exponent - 53;  // negative only for numbers that fit int64, which are Ints
  if (shift < 0) return false;
  for (int64_t i = 0; i < number.size; ++i) {
    int64_t offset = i * 64 - shift;
    uint64_t word = 0;
    if (offset > -64 && offset < 64) word = offset >= 0 ? mantissa >> offset : mantissa << -offset;
    if (word != number.words[i]) return false;
  }
  return true;
}

int equal_big(const AnyffiValue* self, const AnyffiValue* other, int32_t* out) {
  *out = (other->type_code == ANYFFI_BIG_INT && same_integer(big(*self), big(*other))) ||
         (other->type_code == ANYFFI_FLOAT && equals_float(big(*self), other->as_float)) ||
         (other->type_code == ANYFFI_COMPLEX && complex(*other).imag == 0 &&
          equals_float(big(*self), complex(*other).real));
  return 0;
}

int repr_big(const AnyffiValue* self, AnyffiValue* out) {
  const AnyffiBigInt& number = big(*self);
  return guard([&] {
    Vector<uint64_t> rest(number.words, number.words + number.size);
    Vector<uint64_t> blocks;  // blocks of digits, the lowest first
    blocks.reserve(rest.size() + 1);
    while (!rest.empty() && blocks.size() * kBlockDigits <= kMostDigits) {
      uint64_t block = 0;
      for (size_t i = rest.size(); i-- > 0;) {
        auto dividend = static_cast<unsigned __int128>(block) << 64 | rest[i];
        rest[i] = static_cast<uint64_t>(dividend / kTenTo19);
        block = static_cast<uint64_t>(dividend % kTenTo19);
      }
      while (!rest.empty() && rest.back() == 0) rest.pop_back();
      blocks.push_back(block);
    }
    String text = number.negative ? "-" : "";
    for (size_t i = blocks.size(); i-- > 0;) {
      char digits[kBlockDigits];
      auto size = static_cast<size_t>(std::to_chars(digits, std::end(digits), blocks[i]).ptr - digits);
      if (i + 1 < blocks.size()) text.append(kBlockDigits - size, '0');
      text.append(digits, size);
    }
    if (!rest.empty() || text.size() - (number.negative != 0) > kMostDigits) {
      return anyffi_error_raise("ValueError", "Exceeds the limit (4300 digits) for integer string conversion");
    }
    return anyffi_str_create(text.data(), static_cast<int64_t>(text.size()), ANYFFI_ASCII, out);
  });
}

int hash_complex(const AnyffiValue* self, int64_t* out) {
  int64_t real, imag;
  if (hash_key(float_value(complex(*self).real), &real) != 0) return -1;
  if (hash_key(float_value(complex(*self).imag), &imag) != 0) return -1;
  *out = avoid_minus_one(
      static_cast<int64_t>(static_cast<uint64_t>(real) + kImaginaryFactor * static_cast<uint64_t>(imag)));
  return 0;
}

int equal_complex(const AnyffiValue* self, const AnyffiValue* other, int32_t* out) {
  const AnyffiComplex& number = complex(*self);
  if (other->type_code == ANYFFI_COMPLEX) {
    *out = number.real == complex(*other).real && number.imag == complex(*other).imag;
  } else if (other->type_code == ANYFFI_BIG_INT) {
    return equal_big(other, self, out);
  } else {
    *out = number.imag == 0 && quick_equal(float_value(number.real), *other) == Quick::kEqual;
  }
  return 0;
}

int repr_complex(const AnyffiValue* self, AnyffiValue* out) {
  const AnyffiComplex& number = complex(*self);
  return guard([&] {
    // In complex numbers, Python writes whole parts without ".0": (1+2j), 3j, (-0+1j).
    auto append_part = [](String* text, double part, bool with_sign) {
      if (with_sign && !std::signbit(part)) *text += '+';
      AnyffiValue value = float_value(part);
      Owned piece;
      if (with_sign && std::isnan(part) && std::signbit(part)) *text += '+';
      if (anyffi_value_repr(&value, piece.out()) != 0) return -1;
      size_t before = text->size();
      append_text(text, piece.get());
      if (text->size() - before > 2 && text->compare(text->size() - 2, 2, ".0") == 0) text->resize(text->size() - 2);
      return 0;
    };
    bool imaginary_alone = number.real == 0 && !std::signbit(number.real);
    String text;
    if (!imaginary_alone) {
      text += '(';
      if (append_part(&text, number.real, false) != 0) return -1;
    }
    if (append_part(&text, number.imag, !imaginary_alone) != 0) return -1;
    text += imaginary_alone ? "j" : "j)";
    return anyffi_str_create(text.data(), static_cast<int64_t>(text.size()), ANYFFI_ASCII, out);
  });
}

[[maybe_unused]] const bool hooks_installed =
    install_type_hooks(ANYFFI_BIG_INT, {&hash_big, &equal_big, nullptr, &repr_big}) &&
    install_type_hooks(ANYFFI_COMPLEX, {&hash_complex, &equal_complex, nullptr, &repr_complex});

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_big_int_create(const uint64_t* words, int64_t size, int32_t negative, AnyffiValue* out) {
  *out = anyffi_make_none();
  while (size > 0 && words[size - 1] == 0) --size;
  constexpr uint64_t kSmallest = uint64_t{1} << 63;
  uint64_t first = size > 0 ? words[0] : 0;
  if (size <= 1 && first < kSmallest + (negative != 0)) {
    out->type_code = ANYFFI_INT;
    out->as_int = static_cast<int64_t>(negative ? uint64_t{0} - first : first);
    return 0;
  }
  if (size > PTRDIFF_MAX / 16) return raise_no_memory();
  auto* number = allocate_object<AnyffiBigInt>(ANYFFI_BIG_INT, &delete_big, big_bytes(size));
  if (number == nullptr) return -1;
  std::memcpy(number + 1, words, static_cast<size_t>(size) * sizeof(uint64_t));
  number->negative = negative != 0;
  number->reserved = 0;
  number->size = size;
  number->words = reinterpret_cast<uint64_t*>(number + 1);
  *out = anyffi_make_object(&number->header);
  return 0;
}

int anyffi_big_int_get_float(const AnyffiObject* object, double* out) {
  auto* number = reinterpret_cast<const AnyffiBigInt*>(object);
  // The highest 64 bits. The last bit is set if any lower bit is, so that ties round as in Python.
  int64_t last = number->size - 1;
  int empty = __builtin_clzll(number->words[last]);
  uint64_t high = number->words[last] << empty;
  if (empty > 0 && last > 0) high |= number->words[last - 1] >> (64 - empty);
  bool rest = last > 0 && empty < 64 && (number->words[last - 1] << empty) != 0;
  for (int64_t i = 0; i + 1 < last && !rest; ++i) rest = number->words[i] != 0;
  double magnitude = last > 16 ? HUGE_VAL
                               : std::ldexp(static_cast<double>(high | static_cast<uint64_t>(rest)),
                                            static_cast<int>(last * 64 - empty));
  if (std::isinf(magnitude)) {
    *out = 0;
    return anyffi_error_raise("OverflowError", "int too large to convert to float");
  }
  *out = number->negative ? -magnitude : magnitude;
  return 0;
}

int anyffi_complex_create(double real, double imag, AnyffiValue* out) {
  auto* number = allocate_object<AnyffiComplex>(ANYFFI_COMPLEX, &delete_complex);
  if (number == nullptr) return fail(out);
  number->real = real;
  number->imag = imag;
  *out = anyffi_make_object(&number->header);
  return 0;
}
