/// \file
/// Compile errors for callables that cannot be registered, with the header to include.
#ifndef ANYFFI_DETAIL_CHECK_CALLABLE_H_
#define ANYFFI_DETAIL_CHECK_CALLABLE_H_

#include <anyffi/detail/signature.h>

namespace anyffi {
namespace detail {

/// The text after `prefix`, or NULL if it does not begin with it.
constexpr const char* after(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0 ? text : nullptr;
}

/// The missing header for a type of the standard library.
template <class T>
constexpr Missing find_header(const char* name) {
  struct Row {
    const char* name;
    Missing missing;
    bool is_included;
  };
  constexpr Row kRows[] = {
      {"basic_string<wchar_t", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"basic_string<char16_t", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"basic_string<char32_t", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"basic_string<char8_t", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"wstring", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"u8string", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"u16string", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"u32string", Missing::kWideString, kIncludes<Missing::kWideString, T>},
      {"basic_string", Missing::kString, kIncludes<Missing::kString, T>},
      {"string", Missing::kString, kIncludes<Missing::kString, T>},
      {"vector<", Missing::kVector, kIncludes<Missing::kVector, T>},
      {"map<", Missing::kMap, kIncludes<Missing::kMap, T>},
      {"unordered_map<", Missing::kUnorderedMap, kIncludes<Missing::kUnorderedMap, T>},
      {"set<", Missing::kSet, kIncludes<Missing::kSet, T>},
      {"unordered_set<", Missing::kUnorderedSet, kIncludes<Missing::kUnorderedSet, T>},
      {"optional<", Missing::kOptional, kIncludes<Missing::kOptional, T>},
      {"variant<", Missing::kVariant, kIncludes<Missing::kVariant, T>},
      {"tuple<", Missing::kTuple, kIncludes<Missing::kTuple, T>},
      {"pair<", Missing::kTuple, kIncludes<Missing::kTuple, T>},
      {"function<", Missing::kFunction, kIncludes<Missing::kFunction, T>},
      {"complex<", Missing::kComplex, kIncludes<Missing::kComplex, T>},
      {"span<", Missing::kSpan, kIncludes<Missing::kSpan, T>},
      {"chrono::duration<", Missing::kChrono, kIncludes<Missing::kChrono, T>},
      {"array<", Missing::kArray, kIncludes<Missing::kArray, T>},
      {"deque<", Missing::kDeque, kIncludes<Missing::kDeque, T>},
      {"list<", Missing::kList, kIncludes<Missing::kList, T>},
      {"error_code", Missing::kSystemError, kIncludes<Missing::kSystemError, T>},
      {"filesystem::path", Missing::kFilesystem, kIncludes<Missing::kFilesystem, T>},
      {"chrono::time_point<std::chrono::_V2::system_clock", Missing::kChrono, kIncludes<Missing::kChrono, T>},
  };
  for (const Row& row : kRows) {
    if (!row.is_included && after(name, row.name) != nullptr) return row.missing;
  }
  return Missing::kTraits;
}

/// Searches the type's name, as the compiler writes it, for names behind `std::` and its inline namespaces.
template <class T>
constexpr Missing missing_by_name() {
  if constexpr (kIsObjectClass<T>) return Missing::kObject;
  Missing found = Missing::kTraits;
  for (const char* text = __PRETTY_FUNCTION__; *text != 0 && found == Missing::kTraits; ++text) {
    const char* name = after(text, "std::");
    if (name == nullptr) continue;
    if (const char* inner = after(name, "__cxx11::")) name = inner;
    if (const char* inner = after(name, "__1::")) name = inner;
    found = find_header<T>(name);
  }
  return found;
}

template <class A>
constexpr Missing missing_of() {
  if constexpr (std::is_void_v<A> || kIsConvertible<A>) {
    return Missing::kNothing;
  } else {
    return missing_by_name<Bare<A>>();
  }
}

/// The missing header for the first parameter without a conversion, and for the result.
template <class R, class... A>
struct MissingIn {
  static constexpr Missing first() {
    Missing found = Missing::kNothing;
    ((found = found == Missing::kNothing ? missing_of<A>() : found), ...);
    return found;
  }
  static constexpr Missing kParameter = first();
  static constexpr Missing kResult = missing_of<std::conditional_t<std::is_void_v<R>, void, Bare<R>>>();
  static constexpr bool kLosesWrites = (detail::kLosesWrites<A> || ...);
};

template <class F, bool = SignatureOf<F>::kIsKnown>
struct MissingOf {
  static constexpr Missing kParameter = Missing::kNothing;
  static constexpr Missing kResult = Missing::kNothing;
  static constexpr bool kLosesWrites = false;
};
template <class F>
struct MissingOf<F, true> : SignatureOf<F>::template Apply<MissingIn> {};

}  // namespace detail
}  // namespace anyffi

#define ANYFFI_ASSERT_HEADER_(F, Name, header)                                                         \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::Name,         \
                "anyffi: the conversion of a parameter is missing: #include <anyffi/stl/" header ">"); \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::Name,            \
                "anyffi: the conversion of the result is missing: #include <anyffi/stl/" header ">")

/// Used in the outermost templates, so that its message is among the first lines of the compiler's output.
#define ANYFFI_ASSERT_CONVERTIBLE_(F)                                                                                  \
  static_assert(::anyffi::detail::SignatureOf<F>::kIsKnown,                                                            \
                "anyffi: cannot deduce the parameters of this callable: it is generic, overloaded or not a function; " \
                "wrap it in a lambda with typed parameters");                                                          \
  ANYFFI_ASSERT_HEADER_(F, kString, "string.h");                                                                       \
  ANYFFI_ASSERT_HEADER_(F, kVector, "vector.h");                                                                       \
  ANYFFI_ASSERT_HEADER_(F, kMap, "map.h");                                                                             \
  ANYFFI_ASSERT_HEADER_(F, kUnorderedMap, "unordered_map.h");                                                          \
  ANYFFI_ASSERT_HEADER_(F, kSet, "set.h");                                                                             \
  ANYFFI_ASSERT_HEADER_(F, kUnorderedSet, "unordered_set.h");                                                          \
  ANYFFI_ASSERT_HEADER_(F, kOptional, "optional.h");                                                                   \
  ANYFFI_ASSERT_HEADER_(F, kVariant, "variant.h");                                                                     \
  ANYFFI_ASSERT_HEADER_(F, kTuple, "tuple.h");                                                                         \
  ANYFFI_ASSERT_HEADER_(F, kFunction, "function.h");                                                                   \
  ANYFFI_ASSERT_HEADER_(F, kComplex, "complex.h");                                                                     \
  ANYFFI_ASSERT_HEADER_(F, kSpan, "span.h");                                                                           \
  ANYFFI_ASSERT_HEADER_(F, kChrono, "chrono.h");                                                                       \
  ANYFFI_ASSERT_HEADER_(F, kArray, "array.h");                                                                         \
  ANYFFI_ASSERT_HEADER_(F, kDeque, "deque.h");                                                                         \
  ANYFFI_ASSERT_HEADER_(F, kList, "list.h");                                                                           \
  ANYFFI_ASSERT_HEADER_(F, kWideString, "wide_string.h");                                                              \
  ANYFFI_ASSERT_HEADER_(F, kSystemError, "system_error.h");                                                            \
  ANYFFI_ASSERT_HEADER_(F, kFilesystem, "filesystem.h");                                                               \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::kObject,                      \
                "anyffi: a parameter takes an object by value: take T&, const T& or anyffi::Ref<T>");                  \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::kObject,                         \
                "anyffi: the result is an object by value: return the anyffi::Ref<T> of make_object<T>");              \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::kTraits,                      \
                "anyffi: a parameter has a type without a conversion: specialise anyffi::Traits for it "               \
                "(see anyffi/traits_via.h)");                                                                          \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::kTraits,                         \
                "anyffi: the result has a type without a conversion: specialise anyffi::Traits for it "                \
                "(see anyffi/traits_via.h)");                                                                          \
  static_assert(!::anyffi::detail::MissingOf<F>::kLosesWrites,                                                         \
                "anyffi: a parameter is a non-const reference to a temporary copy, so writes would be lost: "          \
                "take it by value, by const reference or by &&")

#endif  // ANYFFI_DETAIL_CHECK_CALLABLE_H_
