/// \file
/// TraitsVia: converts a type through another type that already has a conversion.
///
///     struct Point { double x, y; };
///
///     template <>
///     struct anyffi::Traits<Point> : anyffi::TraitsVia<Point, anyffi::Tuple<double, double>> {
///       static Point from(const Carrier& pair) { return {pair.get<0>(), pair.get<1>()}; }
///       static Carrier to(const Point& point) { return {point.x, point.y}; }
///     };
#ifndef ANYFFI_TRAITS_VIA_H_
#define ANYFFI_TRAITS_VIA_H_

#include <anyffi/object.h>

namespace anyffi {

/// Converts T through C. The specialisation of Traits that derives from this has `static T from(C)` and
/// `static C to(const T&)`, which may throw, and may have its own `name`.
template <class T, class C>
struct TraitsVia {
  using Carrier = C;
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<C>::name;
  static constexpr uint64_t type_mask = 0;  // `from` may throw for any value
  static constexpr bool kBorrows = false;

  /// The result of `from`, which need not be default-constructible.
  struct Holder {
    Holder() {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
      if (is_full) value.~T();
    }
    typename Traits<C>::Holder inner{};
    bool is_full = false;
    union {
      T value;
    };
  };

  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::run_conversion(given, why, [&] {
      if (!Traits<C>::load(given, holder.inner, why)) {
        if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = Traits<T>::name;
        return false;
      }
      new (&holder.value) T(Traits<T>::from(Traits<C>::take(holder.inner)));
      holder.is_full = true;
      return true;
    });
  }
  static T take(Holder& holder) { return std::move(holder.value); }
  static AnyffiValue store(const T& value) {
    detail::Depth depth;
    return Traits<C>::store(Traits<T>::to(value));
  }
};

}  // namespace anyffi

#endif  // ANYFFI_TRAITS_VIA_H_
