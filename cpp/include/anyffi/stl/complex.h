/// \file
/// Conversions of std::complex<double> and std::complex<float>: Python's complex.
#ifndef ANYFFI_STL_COMPLEX_H_
#define ANYFFI_STL_COMPLEX_H_

#include <anyffi/data_type.h>
#include <anyffi/detail/host_items.h>
#include <anyffi/detail/items_writer.h>

#include <complex>

namespace anyffi {

template <class T>
struct DataTypeOf<std::complex<T>> {
  static constexpr AnyffiDataType value{ANYFFI_kDLComplex, 8 * sizeof(std::complex<T>), 1};
};

/// Accepts Complex, and the real numbers that T accepts; OverflowError for a finite part that is out of range.
template <class T>
struct Traits<std::complex<T>> {
  static constexpr FixedText name{"complex"};
  static constexpr uint64_t type_mask =
      sizeof(T) < 8 ? Traits<T>::type_mask : Traits<T>::type_mask | detail::type_bits(ANYFFI_COMPLEX);
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kLoadsQuietly = true;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = sizeof(T) <= sizeof(double);
  using Holder = std::complex<T>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    T real{}, imag{};
    bool fits;
    bool is_item = detail::is_items_of(value, ANYFFI_COMPLEX, ANYFFI_COMPLEX);
    if (is_item && sizeof(T) == sizeof(double)) {
      auto* numbers = static_cast<const double*>(value.as_pointer);
      holder = std::complex<T>(static_cast<T>(numbers[0]), static_cast<T>(numbers[1]));
      return true;
    }
    if (value.type_code == ANYFFI_COMPLEX || is_item) {
      auto* numbers = is_item ? static_cast<const double*>(value.as_pointer)
                              : &reinterpret_cast<const AnyffiComplex*>(value.as_object)->real;
      AnyffiValue parts[] = {Traits<double>::store(numbers[0]), Traits<double>::store(numbers[1])};
      fits = Traits<T>::load(parts[0], real, why) && Traits<T>::load(parts[1], imag, why);
    } else {
      fits = Traits<T>::load(value, real, why);
    }
    holder = std::complex<T>(real, imag);
    if (fits) return true;
    return detail::refuse(why, value, name, why.reason, sizeof(T) < 8 ? "complex64" : "complex128");
  }
  static std::complex<T> take(Holder& holder) { return holder; }
  static AnyffiValue store(const std::complex<T>& number) {
    AnyffiValue value;
    detail::check(
        anyffi_complex_create(static_cast<double>(number.real()), static_cast<double>(number.imag()), &value));
    return value;
  }
  static void write(detail::ItemsWriter& writer, const std::complex<T>& number) {
    auto* parts = const_cast<std::complex<T>*>(&number);
    writer.put(anyffi_make_items(parts, ANYFFI_COMPLEX, sizeof(T) < sizeof(double)));
  }
};

namespace detail {
template <class T>
inline constexpr uint64_t kExactTypes<std::complex<T>> = type_bits(ANYFFI_COMPLEX);
template <class T>
inline constexpr bool kIncludes<Missing::kComplex, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_COMPLEX_H_
