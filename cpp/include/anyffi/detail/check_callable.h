/// \file
/// What a callable that cannot be registered is told, in words and by the name of what is missing.
#ifndef ANYFFI_DETAIL_CHECK_CALLABLE_H_
#define ANYFFI_DETAIL_CHECK_CALLABLE_H_

#include <anyffi/detail/signature.h>

namespace anyffi {
namespace detail {

/// What follows `prefix`, or NULL if the text does not begin with it.
constexpr const char* after(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0 ? text : nullptr;
}

/// A type of the standard whose conversion is not included.
template <class T>
constexpr Lack find_header(const char* name) {
  struct Row {
    const char* name;
    Lack lack;
    bool is_included;
  };
  constexpr Row kRows[] = {
      {"basic_string", Lack::kString, kIncludes<Lack::kString, T>},
      {"string", Lack::kString, kIncludes<Lack::kString, T>},
      {"vector<", Lack::kVector, kIncludes<Lack::kVector, T>},
      {"map<", Lack::kMap, kIncludes<Lack::kMap, T>},
      {"unordered_map<", Lack::kUnorderedMap, kIncludes<Lack::kUnorderedMap, T>},
      {"set<", Lack::kSet, kIncludes<Lack::kSet, T>},
      {"unordered_set<", Lack::kUnorderedSet, kIncludes<Lack::kUnorderedSet, T>},
      {"optional<", Lack::kOptional, kIncludes<Lack::kOptional, T>},
      {"variant<", Lack::kVariant, kIncludes<Lack::kVariant, T>},
      {"tuple<", Lack::kTuple, kIncludes<Lack::kTuple, T>},
      {"pair<", Lack::kTuple, kIncludes<Lack::kTuple, T>},
      {"function<", Lack::kFunction, kIncludes<Lack::kFunction, T>},
      {"complex<", Lack::kComplex, kIncludes<Lack::kComplex, T>},
      {"span<", Lack::kSpan, kIncludes<Lack::kSpan, T>},
      {"chrono::duration<", Lack::kChrono, kIncludes<Lack::kChrono, T>},
  };
  for (const Row& row : kRows) {
    if (!row.is_included && after(name, row.name) != nullptr) return row.lack;
  }
  return Lack::kTraits;
}

/// Reads the type's name as the compiler writes it: standard names stand behind `std::`, and perhaps the name of an
/// inline namespace.
template <class T>
constexpr Lack name_lack() {
  if constexpr (kIsObjectClass<T>) return Lack::kObject;
  Lack found = Lack::kTraits;
  for (const char* text = __PRETTY_FUNCTION__; *text != 0 && found == Lack::kTraits; ++text) {
    const char* name = after(text, "std::");
    if (name == nullptr) continue;
    if (const char* inner = after(name, "__cxx11::")) name = inner;
    if (const char* inner = after(name, "__1::")) name = inner;
    found = find_header<T>(name);
  }
  return found;
}

template <class A>
constexpr Lack lack_of() {
  if constexpr (std::is_void_v<A> || kCrosses<A>) {
    return Lack::kNothing;
  } else {
    return name_lack<Bare<A>>();
  }
}

/// Of the first parameter that lacks something, and of the result, which crosses by value.
template <class R, class... A>
struct LackIn {
  static constexpr Lack first() {
    Lack found = Lack::kNothing;
    ((found = found == Lack::kNothing ? lack_of<A>() : found), ...);
    return found;
  }
  static constexpr Lack kParameter = first();
  static constexpr Lack kResult = lack_of<std::conditional_t<std::is_void_v<R>, void, Bare<R>>>();
  static constexpr bool kLosesWrites = (detail::kLosesWrites<A> || ...);
};

template <class F, bool = SignatureOf<F>::kIsKnown>
struct LackOf {
  static constexpr Lack kParameter = Lack::kNothing;
  static constexpr Lack kResult = Lack::kNothing;
  static constexpr bool kLosesWrites = false;
};
template <class F>
struct LackOf<F, true> : SignatureOf<F>::template Apply<LackIn> {};

}  // namespace detail
}  // namespace anyffi

#define ANYFFI_ASSERT_HEADER_(F, Name, header)                                                 \
  static_assert(::anyffi::detail::LackOf<F>::kParameter != ::anyffi::detail::Lack::Name,       \
                "anyffi: a parameter needs its conversion: #include <anyffi/stl/" header ">"); \
  static_assert(::anyffi::detail::LackOf<F>::kResult != ::anyffi::detail::Lack::Name,          \
                "anyffi: the result needs its conversion: #include <anyffi/stl/" header ">")

/// Stands in the outermost templates, so that what it says is among the first lines of what a compiler says.
#define ANYFFI_ASSERT_CROSSES_(F)                                                                                   \
  static_assert(::anyffi::detail::SignatureOf<F>::kIsKnown,                                                         \
                "anyffi: the parameters of this callable are not known: it is generic, overloaded or no function; " \
                "wrap it in a lambda that names their types");                                                      \
  ANYFFI_ASSERT_HEADER_(F, kString, "string.h");                                                                    \
  ANYFFI_ASSERT_HEADER_(F, kVector, "vector.h");                                                                    \
  ANYFFI_ASSERT_HEADER_(F, kMap, "map.h");                                                                          \
  ANYFFI_ASSERT_HEADER_(F, kUnorderedMap, "unordered_map.h");                                                       \
  ANYFFI_ASSERT_HEADER_(F, kSet, "set.h");                                                                          \
  ANYFFI_ASSERT_HEADER_(F, kUnorderedSet, "unordered_set.h");                                                       \
  ANYFFI_ASSERT_HEADER_(F, kOptional, "optional.h");                                                                \
  ANYFFI_ASSERT_HEADER_(F, kVariant, "variant.h");                                                                  \
  ANYFFI_ASSERT_HEADER_(F, kTuple, "tuple.h");                                                                      \
  ANYFFI_ASSERT_HEADER_(F, kFunction, "function.h");                                                                \
  ANYFFI_ASSERT_HEADER_(F, kComplex, "complex.h");                                                                  \
  ANYFFI_ASSERT_HEADER_(F, kSpan, "span.h");                                                                        \
  ANYFFI_ASSERT_HEADER_(F, kChrono, "chrono.h");                                                                    \
  static_assert(::anyffi::detail::LackOf<F>::kParameter != ::anyffi::detail::Lack::kObject,                         \
                "anyffi: a parameter is an object by value: take T&, const T& or anyffi::Ref<T>");                  \
  static_assert(::anyffi::detail::LackOf<F>::kResult != ::anyffi::detail::Lack::kObject,                            \
                "anyffi: the result is an object by value: return the anyffi::Ref<T> that make_object<T> gives");   \
  static_assert(::anyffi::detail::LackOf<F>::kParameter != ::anyffi::detail::Lack::kTraits,                         \
                "anyffi: a parameter has a type that cannot cross the border: specialise anyffi::Traits for it "    \
                "(see anyffi/traits_via.h)");                                                                          \
  static_assert(::anyffi::detail::LackOf<F>::kResult != ::anyffi::detail::Lack::kTraits,                            \
                "anyffi: the result has a type that cannot cross the border: specialise anyffi::Traits for it "     \
                "(see anyffi/traits_via.h)");                                                                          \
  static_assert(!::anyffi::detail::LackOf<F>::kLosesWrites,                                                         \
                "anyffi: a parameter is a reference to a converted copy, so what is written there would be lost: "  \
                "take it by value, by const reference or by &&")

#endif  // ANYFFI_DETAIL_CHECK_CALLABLE_H_
