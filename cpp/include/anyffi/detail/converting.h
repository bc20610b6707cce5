/// \file
/// Parameters that accept more or less than their type: `arg("x").convert()` values that become the type by a copy,
/// `arg("x") = nullptr` also None, and `arg("x").not_none()` not None.
#ifndef ANYFFI_DETAIL_CONVERTING_H_
#define ANYFFI_DETAIL_CONVERTING_H_

#include <anyffi/detail/check_names.h>
#include <anyffi/not_null.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// A T that may be made from a copy of the argument, which its Holder keeps. Headers of such types T specialise its
/// traits.
template <class T>
struct WithConversion {
  T value;
};
/// Whether the traits of WithConversion<T> are specialised.
template <class T, class Enable = void>
inline constexpr bool kHasConversion = false;

/// A T, which is null if the argument was None.
template <class T>
struct OrNull {
  T value;
};
/// Types that have a null value, but whose traits refuse None.
template <class T>
inline constexpr bool kHasNull = std::is_same_v<T, const char*>;

/// How a parameter of type A with an `arg(...)` of type N is declared to the runtime, and passed to the function.
template <class N, class A, class = void>
struct AdaptedParam {
  static constexpr bool kIsAdapted = false;
  using Type = A;
  static A&& pass(std::remove_reference_t<A>& argument) { return static_cast<A&&>(argument); }
};
template <class N, class A>
struct AdaptedParam<N, A, std::enable_if_t<kConverts<N>>> {
  static_assert(kHasConversion<Bare<A>>,
                "anyffi: .convert() is for parameters of type TypedView or TypedTensor, or converted through one, or a "
                "std::optional of them");
  static constexpr bool kIsAdapted = true;
  using Type = PassedLike<A, WithConversion<Bare<A>>>;
  static A&& pass(std::remove_reference_t<Type>& argument) { return static_cast<A&&>(argument.value); }
};
template <class N, class A>
struct AdaptedParam<N, A, std::enable_if_t<std::is_same_v<N, NullDefaultArg> && kHasNull<Bare<A>>>> {
  static constexpr bool kIsAdapted = true;
  using Type = PassedLike<A, OrNull<Bare<A>>>;
  static A&& pass(std::remove_reference_t<Type>& argument) { return static_cast<A&&>(argument.value); }
};
template <class N, class A>
struct AdaptedParam<N, A, std::enable_if_t<kRefusesNone<N>>> {
  static constexpr bool kIsAdapted = kCanBeNotNull<Bare<A>>;
  static_assert(kIsAdapted,
                "anyffi: .not_none() is for pointers to objects of bound classes: other parameters refuse None anyway, "
                "unless their type is to take it, such as Optional<T> and AnyValue");
  using Type = PassedLike<A, NotNull<Bare<A>>>;
  static A&& pass(const NotNull<Bare<A>>& argument) { return pass_nullable<A>(argument); }
};

/// A list with one `arg(...)` for each parameter.
template <class... N>
struct Names {
  /// A callable some of whose parameters accept more or less than their types.
  template <class F>
  struct AdaptedCall {
    template <class R, class... A>
    struct Of {
      F function;
      R operator()(typename AdaptedParam<N, A>::Type... arguments) {
        return function(AdaptedParam<N, A>::pass(arguments)...);
      }
    };
    template <class R, class... A>
    struct IsNeeded {
      static constexpr bool kValue = (AdaptedParam<N, A>::kIsAdapted || ...);
    };
  };
};
template <class... A, class... B>
Names<A..., B...> operator+(Names<A...>, Names<B...>);
/// The parameters of a list of `arg(...)`, without its kw_only().
template <class... N>
using NamesIn = decltype((Names<>() + ... + std::conditional_t<kIsMark<N>, Names<>, Names<N>>()));

template <class F, class... N>
constexpr bool needs_adapting() {
  if constexpr (((kConverts<N> || kRefusesNone<N> || std::is_same_v<N, NullDefaultArg>) || ...)) {
    return SignatureOf<F>::template Apply<NamesIn<N...>::template AdaptedCall<F>::template IsNeeded>::kValue;
  }
  return false;
}
template <class F, class... N>
using AdaptedOf = typename SignatureOf<F>::template Apply<NamesIn<N...>::template AdaptedCall<F>::template Of>;

}  // namespace detail ANYFFI_HIDDEN_

template <class T>
struct Traits<detail::OrNull<T>> {
  ANYFFI_HIDDEN_ static constexpr auto name = FixedText(Traits<T>::name) + " | None";
  ANYFFI_HIDDEN_ static constexpr auto result_name = detail::kResultName<T> + " | None";
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  struct ANYFFI_HIDDEN_ Holder {
    typename Traits<T>::Holder inner{};
    bool is_null = false;
  };
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    holder.is_null = value.type_code == ANYFFI_NONE;
    if (holder.is_null || Traits<T>::load(value, holder.inner, why)) return true;
    if (why.reason == ANYFFI_MISMATCH_TYPE) why.expected = name;
    return false;
  }
  static detail::OrNull<T> take(Holder& holder) {
    if (holder.is_null) return {T()};
    return {Traits<T>::take(holder.inner)};
  }
  static AnyffiValue store(detail::OrNull<T> result) { return Traits<T>::store(std::move(result.value)); }
};

namespace detail ANYFFI_HIDDEN_ {
template <class T>
inline constexpr bool kIsView<OrNull<T>> = kIsView<T>;
template <class T>
inline constexpr bool kTakesUtf8<OrNull<T>> = kTakesUtf8<T>;
template <class T>
inline constexpr uint64_t kExactTypes<OrNull<T>> = kExactTypes<T> | type_bits(ANYFFI_NONE);
}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CONVERTING_H_
