/// \file
/// Compile errors for lists of `arg(...)` that do not fit the function.
#ifndef ANYFFI_DETAIL_CHECK_NAMES_H_
#define ANYFFI_DETAIL_CHECK_NAMES_H_

#include <anyffi/args.h>
#include <anyffi/detail/signature.h>

namespace anyffi {
namespace detail {

template <class N>
inline constexpr bool kConverts = std::is_same_v<N, ConvertedArg> || std::is_same_v<N, ConvertedDefaultArg>;
template <class N>
inline constexpr bool kRefusesNone = std::is_same_v<N, NotNoneArg> || std::is_same_v<N, NotNoneDefaultArg>;
template <class N>
inline constexpr bool kHasDefault = std::is_base_of_v<DefaultArg, N>;
template <class N>
inline constexpr bool kIsMark = std::is_same_v<N, KeywordOnly>;
template <class N>
inline constexpr bool kIsName =
    std::is_same_v<N, Arg> || kIsMark<N> || kConverts<N> || kRefusesNone<N> || kHasDefault<N>;

/// Keyword-only parameters with and without defaults may be mixed.
template <class... N>
constexpr bool are_defaults_last() {
  [[maybe_unused]] bool has_default = false, is_named = false;
  bool ordered = true;
  ((is_named |= kIsMark<N>, ordered = ordered && (is_named || kHasDefault<N> || !has_default),
    has_default |= kHasDefault<N>),
   ...);
  return ordered;
}

/// Compares a list of `arg(...)` with the parameters of a callable.
template <bool kIsKnown, class F, class... N>
struct NameList {
  static constexpr int kExcess = sizeof...(N) == 0 ? 0 : (0 + ... + !kIsMark<N>)-SignatureOf<F>::kSize;
  static constexpr bool kAreNames = (kIsName<N> && ...);
  static constexpr bool kDefaultsAreLast = are_defaults_last<N...>();
  /// At most one kw_only(), which is not the last.
  static constexpr bool kIsMarkValid =
      (0 + ... + kIsMark<N>) <= 1 && !kIsMark<Bare<decltype((0, ..., std::declval<N>()))>>;
};
template <class F, class... N>
struct NameList<false, F, N...> : NameList<true, void()> {};

template <class... A>
struct Types;
/// Whether the arguments of `init<A...>(...)` begin with a function that creates the object, not with a parameter's
/// name.
template <class A, class... N>
inline constexpr bool kIsFactory = false;
template <class First, class... N>
inline constexpr bool kIsFactory<Types<>, First, N...> = !kIsName<First>;
template <class A, class First, class... N>
inline constexpr bool kIsFactory<Types<A>, First, N...> = !kIsName<First> && std::is_convertible_v<First, A>;

template <class F, class... N>
using NamesOf = NameList<SignatureOf<F>::kIsKnown, F, N...>;

}  // namespace detail
}  // namespace anyffi

/// Used in the outermost templates, so that its message is among the compiler's first lines.
#define ANYFFI_ASSERT_NAMES_(...)                                                                              \
  static_assert(                                                                                               \
      __VA_ARGS__::kAreNames,                                                                                  \
      "anyffi: expected arg(\"name\") for each parameter after the callable, and nothing else: .doc(\"...\") " \
      "and .returns(...) follow");                                                                             \
  static_assert(__VA_ARGS__::kExcess <= 0, "anyffi: more arg(...) than the function has parameters");          \
  static_assert(__VA_ARGS__::kExcess >= 0,                                                                     \
                "anyffi: fewer arg(...) than the function has parameters: name all of them, or none");         \
  static_assert(__VA_ARGS__::kIsMarkValid,                                                                     \
                "anyffi: kw_only() stands once, before the first arg(...) that is given by name alone");       \
  static_assert(__VA_ARGS__::kDefaultsAreLast, "anyffi: an arg(...) without a default follows one with a default")

#endif  // ANYFFI_DETAIL_CHECK_NAMES_H_
