/// \file
/// BigInt: an integer of any size.
#ifndef ANYFFI_BIG_INT_H_
#define ANYFFI_BIG_INT_H_

#include <anyffi/object.h>

namespace anyffi {

/// An integer of any size: sign and magnitude. Stored inline if it fits into int64.
class BigInt {
 public:
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  BigInt(T number) : value_(number) {  // NOLINT: implicit, as between the integers of C++
    if constexpr (std::is_same_v<T, bool>) value_ = int64_t{number};
  }
  /// From `size` words of the magnitude, least significant first.
  BigInt(const uint64_t* words, int64_t size, bool negative) {
    detail::check(anyffi_big_int_create(words, size, negative, value_.out()));
  }
  /// Steals an Int or a BigInt.
  BigInt(detail::Adopt, const AnyffiValue& owned) noexcept : value_(detail::Adopt{}, owned) {}

  bool fits_int64() const noexcept { return value_.type_code() == ANYFFI_INT; }
  bool negative() const noexcept { return fits_int64() ? value_.raw().as_int < 0 : object()->negative != 0; }
  /// Words of the magnitude, without leading zeros: none for 0.
  int64_t size() const noexcept { return fits_int64() ? value_.raw().as_int != 0 : object()->size; }
  /// A word of the magnitude, least significant first; 0 beyond its end.
  uint64_t word(int64_t index) const noexcept {
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size())) return 0;
    if (!fits_int64()) return object()->words[index];
    auto bits = static_cast<uint64_t>(value_.raw().as_int);
    return negative() ? 0 - bits : bits;
  }
  /// OverflowError if it does not fit.
  int64_t to_int64() const { return value_.cast<int64_t>(); }
  /// The nearest double, as Python's `float(x)`; OverflowError if it is too large.
  double to_double() const { return value_.cast<double>(); }
  const AnyValue& value() const noexcept { return value_; }

  /// Negative, 0 or positive.
  int compare(const BigInt& other) const noexcept {
    if (negative() != other.negative()) return negative() ? -1 : 1;
    int sign = negative() ? -1 : 1;
    if (size() != other.size()) return size() < other.size() ? -sign : sign;
    for (int64_t i = size(); i-- > 0;) {
      if (word(i) != other.word(i)) return word(i) < other.word(i) ? -sign : sign;
    }
    return 0;
  }
  friend bool operator==(const BigInt& a, const BigInt& b) { return a.compare(b) == 0; }
  friend bool operator!=(const BigInt& a, const BigInt& b) { return a.compare(b) != 0; }
  friend bool operator<(const BigInt& a, const BigInt& b) { return a.compare(b) < 0; }
  friend bool operator>(const BigInt& a, const BigInt& b) { return a.compare(b) > 0; }
  friend bool operator<=(const BigInt& a, const BigInt& b) { return a.compare(b) <= 0; }
  friend bool operator>=(const BigInt& a, const BigInt& b) { return a.compare(b) >= 0; }

 private:
  const AnyffiBigInt* object() const noexcept { return reinterpret_cast<const AnyffiBigInt*>(value_.raw().as_object); }
  AnyValue value_;
};

/// Accepts Int, BigInt and Bool.
template <>
struct Traits<BigInt> {
  static constexpr FixedText name{"int"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_INT, ANYFFI_BIG_INT, ANYFFI_BOOL);
  static constexpr bool kBorrows = true;
  using Holder = AnyValue;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    if (given.type_code == ANYFFI_BIG_INT) return detail::hold_object(given, holder);
    const AnyffiValue& value = detail::unboxed(given);
    if (value.type_code != ANYFFI_INT && value.type_code != ANYFFI_BOOL) return detail::refuse(why, value, name);
    *holder.out() = Traits<int64_t>::store(value.as_int);
    return true;
  }
  static BigInt take(Holder& holder) { return BigInt(detail::Adopt{}, holder.release()); }
  static AnyffiValue borrow(const BigInt& number) { return number.value().raw(); }
  static AnyffiValue store(const BigInt& number) { return AnyValue(number.value()).release(); }
};

}  // namespace anyffi

#endif  // ANYFFI_BIG_INT_H_
