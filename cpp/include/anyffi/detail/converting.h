/// \file
/// `arg("x").convert()`: parameters that also accept what becomes their type by a copy.
#ifndef ANYFFI_DETAIL_CONVERTING_H_
#define ANYFFI_DETAIL_CONVERTING_H_

#include <anyffi/detail/check_names.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// A T that may be made of a copy of the argument, which its Holder keeps. Its traits are specialised where T is.
template <class T>
struct WithConversion {
  T value;
};
/// Whether they are.
template <class T>
inline constexpr bool kHasConversion = false;

/// How a parameter of type A is declared to the runtime, and passed on.
template <bool kIsConverted, class A>
struct ConvertingParam {
  using Type = A;
  static A&& pass(std::remove_reference_t<A>& argument) { return static_cast<A&&>(argument); }
};
template <class A>
struct ConvertingParam<true, A> {
  static_assert(kHasConversion<Bare<A>>, "anyffi: .convert() is for parameters of type TypedView or TypedTensor");
  using Type = WithConversion<Bare<A>>;
  static Bare<A>&& pass(Type& argument) { return static_cast<Bare<A>&&>(argument.value); }
};

/// A callable of which some parameters have `.convert()`.
template <class F, bool... kIsConverted>
struct ConvertingCall {
  template <class R, class... A>
  struct Of {
    F function;
    R operator()(typename ConvertingParam<kIsConverted, A>::Type... arguments) {
      return function(ConvertingParam<kIsConverted, A>::pass(arguments)...);
    }
  };
};
template <class F, class... N>
using ConvertingOf = typename SignatureOf<F>::template Apply<ConvertingCall<F, kConverts<N>...>::template Of>;

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CONVERTING_H_
