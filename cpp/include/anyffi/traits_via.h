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

namespace detail {

/// The result metadata of a type that converts through C, and so is a copy.
template <class C>
struct CopyOf {
  ANYFFI_HIDDEN_ static constexpr auto result_name = kResultName<C>;
  ANYFFI_HIDDEN_ static constexpr auto key_name = kKeyName<C>;
  static constexpr uint32_t flags = kResultFlags<C>;
};

/// Whether a class has the interface of a view of text or bytes, such as `std::string_view`: data that it cannot write,
/// although it is not const itself, and space for a pointer, unlike a short text or a hash in an array of bytes. Of
/// other classes only their authors know it.
template <class T, class = void>
inline constexpr bool kLooksLikeView = false;
template <class T>
inline constexpr bool
    kLooksLikeView<T, std::void_t<decltype(*std::declval<T&>().data()), decltype(std::declval<T&>().size())>> =
        std::is_trivially_copyable_v<T> && alignof(T) >= alignof(const void*) &&
        sizeof(*std::declval<T&>().data()) == 1 &&
        std::is_const_v<std::remove_reference_t<decltype(*std::declval<T&>().data())>>;

constexpr bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace detail

/// Converts T through C. The specialisation of Traits that derives from this has `static T from(C)` and `static C
/// to(const T&)`, which may throw, and may have its own `name`. As a result, an anyffi::Tuple becomes a tuple of
/// Python. The argument of a `from(const C&)` lives until the call ends, so that a parameter may refer to it; elements
/// of containers may not.
/// @tparam R The result type of `to`, if results have another type than parameters. If C does not accept what they
/// become, a T cannot be a default, an alternative of a variant, or the state of a pickle.
///
/// A T that refers to the argument is a view, which containers and callbacks refuse. One that does not look like a
/// `std::string_view` says so by `static constexpr bool kIsView = true`, and one that looks like it but owns its data
/// by `false`.
template <class T, class C, class R = C>
struct TraitsVia {
  using Carrier = C;
  ANYFFI_HIDDEN_ static constexpr auto name = Traits<C>::name;
  using CopiedAs = R;
  static constexpr uint32_t result_flags = detail::CopyOf<R>::flags;
  static constexpr uint64_t type_mask = 0;  // `from` may throw for any value
  static constexpr bool kBorrows = false;
  static constexpr bool kIsView = detail::kLooksLikeView<T>;
  static constexpr bool kReadsMembers = detail::kReadsMembers<C>;

  /// The argument of `from`, and its result, which may refer to the argument. Neither needs to be
  /// default-constructible.
  struct ANYFFI_HIDDEN_ Holder {
    using Taken = decltype(Traits<C>::take(std::declval<typename Traits<C>::Holder&>()));
    using Kept = std::conditional_t<std::is_reference_v<Taken>, char, std::remove_const_t<Taken>>;
    Holder() {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
      if (is_full) value.~T();
      if (has_carrier) carrier.~Kept();
    }
    /// Returns the argument as `from` takes it.
    Taken&& take_carrier() {
      if constexpr (std::is_reference_v<Taken>) {
        return Traits<C>::take(inner);
      } else {
        ::new (&carrier) Kept(Traits<C>::take(inner));
        has_carrier = true;
        return std::move(carrier);
      }
    }
    typename Traits<C>::Holder inner{};
    bool has_carrier = false;
    bool is_full = false;
    union {
      Kept carrier;
    };
    union {
      T value;
    };
  };

  ANYFFI_HIDDEN_ static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::run_conversion(given, why, [&] {
      if (!Traits<C>::load(given, holder.inner, why)) {
        if (why.path_size == 0 && why.reason == ANYFFI_MISMATCH_TYPE) why.expected = Traits<T>::name;
        return false;
      }
      ::new (&holder.value) T(Traits<T>::from(holder.take_carrier()));
      holder.is_full = true;
      return true;
    });
  }
  static T take(Holder& holder) { return std::move(holder.value); }
  static AnyffiValue store(const T& value) {
    detail::Depth depth;
    return detail::with_flags(Traits<R>::store(Traits<T>::to(value)), result_flags);
  }
};

namespace detail {

template <class T, class = void>
inline constexpr bool kHasResultName = false;
template <class T>
inline constexpr bool kHasResultName<T, std::void_t<decltype(Traits<T>::result_name)>> = true;

/// The names of the carrier, unless the traits have their own.
template <class T>
constexpr auto via_result_name() {
  if constexpr (same_text(Traits<T>::name, Traits<typename Traits<T>::Carrier>::name)) {
    return CopyOf<typename Traits<T>::CopiedAs>::result_name;
  } else {
    return FixedText(Traits<T>::name);
  }
}
template <class T>
constexpr auto via_key_name() {
  if constexpr (same_text(Traits<T>::name, Traits<typename Traits<T>::Carrier>::name)) {
    return CopyOf<typename Traits<T>::CopiedAs>::key_name;
  } else {
    return FixedText(Traits<T>::name);
  }
}
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto
    kResultName<T, std::enable_if_t<!kHasResultName<T>, std::void_t<typename Traits<T>::CopiedAs>>> =
        via_result_name<T>();
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto
    kKeyName<T, std::enable_if_t<!kHasResultName<T>, std::void_t<typename Traits<T>::CopiedAs>>> = via_key_name<T>();

}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_TRAITS_VIA_H_
