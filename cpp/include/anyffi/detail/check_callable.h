/// \file
/// Compile errors for callables that cannot be registered; they name a missing header.
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

/// Names in `std::`, and why types with such names have no conversion when the header is included.
struct MissingName {
  const char* name;
  Missing missing;
};
inline constexpr MissingName kMissingNames[] = {
    {"basic_string<wchar_t", Missing::kWideString},
    {"basic_string<char16_t", Missing::kWideString},
    {"basic_string<char32_t", Missing::kWideString},
    {"basic_string<char8_t", Missing::kWideString},
    {"basic_string_view<wchar_t", Missing::kWideString},
    {"basic_string_view<char16_t", Missing::kWideString},
    {"basic_string_view<char32_t", Missing::kWideString},
    {"basic_string_view<char8_t", Missing::kWideString},
    {"wstring", Missing::kWideString},
    {"u8string", Missing::kWideString},
    {"u16string", Missing::kWideString},
    {"u32string", Missing::kWideString},
    {"basic_string", Missing::kString},
    {"string", Missing::kString},
    {"vector<", Missing::kVector},
    {"map<", Missing::kMap},
    {"unordered_map<", Missing::kUnorderedMap},
    {"set<", Missing::kSet},
    {"unordered_set<", Missing::kUnorderedSet},
    {"optional<", Missing::kOptional},
    {"variant<", Missing::kVariant},
    {"monostate", Missing::kVariant},
    {"tuple<", Missing::kTuple},
    {"pair<", Missing::kTuple},
    {"function<", Missing::kFunction},
    {"complex<", Missing::kComplex},
    {"span<", Missing::kSpan},
    {"chrono::duration<", Missing::kChrono},
    {"chrono::time_point<std::chrono::_V2::system_clock", Missing::kChrono},
    {"chrono::time_point<std::chrono::system_clock", Missing::kChrono},
    {"chrono::time_point<", Missing::kClock},
    {"array<", Missing::kArray},
    {"deque<", Missing::kDeque},
    {"list<", Missing::kList},
    {"error_code", Missing::kSystemError},
    {"filesystem::path", Missing::kFilesystem},
    {"shared_ptr<", Missing::kMemory},
    {"unique_ptr<", Missing::kMemory},
    {"shared_ptr<", Missing::kPointer},
    {"unique_ptr<", Missing::kPointer},
    {"weak_ptr<", Missing::kWeak},
    {"reference_wrapper<", Missing::kWrapped},
    {"forward_list<", Missing::kLinked},
    {"queue<", Missing::kLinked},
    {"priority_queue<", Missing::kLinked},
    {"stack<", Missing::kLinked},
    {"multimap<", Missing::kRepeated},
    {"unordered_multimap<", Missing::kRepeated},
    {"multiset<", Missing::kRepeated},
    {"unordered_multiset<", Missing::kRepeated},
    {"bitset<", Missing::kBits},
    {"any", Missing::kAny},
};

/// Whether the missing header is included after all, so that it is not the reason.
template <class T, int... I>
constexpr bool is_included(Missing missing, std::integer_sequence<int, I...>) {
  return ((missing == static_cast<Missing>(I) && kIncludes<static_cast<Missing>(I), T>) || ...);
}

/// Whether an object class is among a template's arguments, at any depth.
template <class T>
struct HoldsObject : std::bool_constant<kIsObjectClass<T>> {};
template <template <class...> class C, class... Ts>
struct HoldsObject<C<Ts...>> : std::bool_constant<(HoldsObject<Ts>::value || ...)> {};

/// The reason that follows from a name in `std::`, unless its header is included.
template <class T>
constexpr Missing find_reason(const char* name) {
  for (const MissingName& row : kMissingNames) {
    if (after(name, row.name) == nullptr) continue;
    // Smart pointers convert only if they point to objects.
    if (row.missing == Missing::kMemory && !HoldsObject<T>::value) continue;
    if (!is_included<T>(row.missing, std::make_integer_sequence<int, static_cast<int>(Missing::kObject)>())) {
      return row.missing;
    }
  }
  return Missing::kNothing;
}

/// Searches the type's name, as the compiler prints it, for names after `std::` and its inline namespaces.
template <class T>
constexpr Missing missing_by_name() {
  if constexpr (kIsObjectClass<T>) return Missing::kObject;
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    if constexpr (std::is_function_v<Target>) return Missing::kFunctionPointer;
    return std::is_arithmetic_v<Target> ? Missing::kNumberPointer : Missing::kPointer;
  }
  Missing found = Missing::kNothing;
  for (const char* text = __PRETTY_FUNCTION__; *text != 0 && found == Missing::kNothing; ++text) {
    const char* name = after(text, "std::");
    if (name == nullptr) continue;
    if (const char* inner = after(name, "__cxx11::")) name = inner;
    if (const char* inner = after(name, "__1::")) name = inner;
    found = after(name, "filesystem::__cxx11::path") ? find_reason<T>("filesystem::path") : find_reason<T>(name);
  }
  if (found != Missing::kNothing) return found;
  return HoldsObject<T>::value ? Missing::kObjectElement : Missing::kTraits;
}

template <class A>
constexpr Missing missing_of() {
  if constexpr (std::is_void_v<A> || kIsConvertible<A>) {
    return Missing::kNothing;
  } else {
    return missing_by_name<Bare<A>>();
  }
}

template <class R>
inline constexpr bool kIsObjectReference = std::is_lvalue_reference_v<R> && kIsObjectClass<Bare<R>>;

/// The missing header for the first parameter without a conversion, and for the result.
template <class R, class... A>
struct MissingIn {
  static constexpr Missing first() {
    Missing found = Missing::kNothing;
    ((found = found == Missing::kNothing ? missing_of<A>() : found), ...);
    return found;
  }
  static constexpr Missing kParameter = first();
  static constexpr Missing kResult =
      missing_of<std::conditional_t<kIsObjectReference<R>, R, std::remove_cv_t<std::remove_reference_t<R>>>>();
  static constexpr bool kLosesWrites = (detail::kLosesWrites<A> || ...);
  static constexpr bool kHasOwners = (kCannotTake<Bare<A>> || ...);
  template <class P>
  static constexpr bool kIsDropped =
      std::is_lvalue_reference_v<P> && std::is_const_v<std::remove_reference_t<P>> && kTakesHeld<Bare<P>>;
  static constexpr bool kDropsTaken = (kIsDropped<A> || ...);
  static constexpr bool kCopiesTaken = std::is_lvalue_reference_v<R> && (kTakesObject<Bare<R>> || kHoldsTaken<Bare<R>>);
};

template <class F, bool = SignatureOf<F>::kIsKnown>
struct MissingOf {
  static constexpr Missing kParameter = Missing::kNothing;
  static constexpr Missing kResult = Missing::kNothing;
  static constexpr bool kLosesWrites = false;
  static constexpr bool kHasOwners = false;
  static constexpr bool kDropsTaken = false;
  static constexpr bool kCopiesTaken = false;
};
template <class F>
struct MissingOf<F, true> : SignatureOf<F>::template Apply<MissingIn> {};

}  // namespace detail
}  // namespace anyffi

#define ANYFFI_ASSERT_REASON_(F, Name, text)                                                   \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::Name, \
                "anyffi: a parameter " text);                                                  \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::Name,    \
                "anyffi: the "                                                                 \
                "result " text)

#define ANYFFI_ASSERT_HEADER_(F, Name, header)                                                         \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::Name,         \
                "anyffi: the conversion of a parameter is missing: #include <anyffi/stl/" header ">"); \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::Name,            \
                "anyffi: the conversion of the result is missing: #include <anyffi/stl/" header ">")

/// Used in the outermost templates, so that its message is among the compiler's first lines.
#define ANYFFI_ASSERT_CONVERTIBLE_(F)                                                                                  \
  static_assert(::anyffi::detail::SignatureOf<F>::kIsKnown,                                                            \
                "anyffi: cannot deduce the parameters of this callable: it is generic, overloaded, variadic, for "     \
                "rvalues or volatile objects alone, or not a function; wrap it in a lambda with typed parameters");    \
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
  ANYFFI_ASSERT_HEADER_(F, kMemory, "memory.h");                                                                       \
  ANYFFI_ASSERT_HEADER_(F, kFilesystem, "filesystem.h");                                                               \
  static_assert(::anyffi::detail::MissingOf<F>::kParameter != ::anyffi::detail::Missing::kObject,                      \
                "anyffi: a parameter takes an object by value: take T&, const T& or anyffi::Ref<T>");                  \
  static_assert(::anyffi::detail::MissingOf<F>::kResult != ::anyffi::detail::Missing::kObject,                         \
                "anyffi: the result is an object by value: return the anyffi::Ref<T> of make_object<T>");              \
  ANYFFI_ASSERT_REASON_(                                                                                               \
      F, kObjectElement,                                                                                               \
      "has a container that holds objects by value: hold anyffi::Ref<T> instead, or specialise anyffi::Traits<T>");    \
  ANYFFI_ASSERT_REASON_(F, kPointer,                                                                                   \
                        "is or holds a pointer or reference of C++, which says nothing of who owns what: if its "      \
                        "class T is to be one of Python, bind it by ANYFFI_CLASS(T, \"module.T\") before this, or if " \
                        "it uses this class, too, by ANYFFI_TYPE_KEY(T, \"module.T\") before and ANYFFI_BIND(T) "      \
                        "after; else take a T, and std::optional<T> for what may be absent");                          \
  ANYFFI_ASSERT_REASON_(F, kNumberPointer,                                                                             \
                        "is a pointer to numbers, which does not say how many: wrap the function in a lambda that "    \
                        "takes an anyffi::TypedTensor or a std::vector, or returns what is written through it");       \
  ANYFFI_ASSERT_REASON_(F, kFunctionPointer,                                                                           \
                        "is a pointer to a function, which cannot refer to one of Python: use std::function or "       \
                        "anyffi::Function");                                                                           \
  ANYFFI_ASSERT_REASON_(F, kWeak, "is a std::weak_ptr: use the std::shared_ptr");                                      \
  ANYFFI_ASSERT_REASON_(F, kWrapped, "is or holds a std::reference_wrapper: use a T&, and a T* in containers");        \
  ANYFFI_ASSERT_REASON_(                                                                                               \
      F, kClock, "is a time of another clock than std::chrono::system_clock: only that one is related to dates");      \
  ANYFFI_ASSERT_REASON_(F, kLinked,                                                                                    \
                        "is a container that Python has no counterpart of: use std::vector, std::deque or std::list"); \
  ANYFFI_ASSERT_REASON_(F, kRepeated,                                                                                  \
                        "is a container that Python has no counterpart of: use a std::vector, also of std::pair, or "  \
                        "a std::map to std::vector");                                                                  \
  ANYFFI_ASSERT_REASON_(F, kBits, "is a std::bitset: use an integer, or std::vector<bool>");                           \
  ANYFFI_ASSERT_REASON_(F, kAny, "is a std::any: use anyffi::AnyValue");                                               \
  ANYFFI_ASSERT_REASON_(                                                                                               \
      F, kTraits,                                                                                                      \
      "has a type without a conversion: specialise anyffi::Traits<T> for it (see anyffi/traits_via.h), or bind the "   \
      "class by ANYFFI_CLASS(T, \"module.T\") before this, or if it uses this class, too, by ANYFFI_TYPE_KEY(T, "      \
      "\"module.T\") before and ANYFFI_BIND(T) after, or give the class a kTypeKey and take it as T&, return it "      \
      "as anyffi::Ref<T>; register a member function that T inherits from a class without one as "                     \
      "anyffi::method<T>(&T::f)");                                                                                     \
  static_assert(!::anyffi::detail::MissingOf<F>::kCopiesTaken,                                                         \
                "anyffi: the result refers to a std::unique_ptr, or to a container of some, which cannot be copied: "  \
                "wrap the function in a lambda that returns pointers to the objects");                                 \
  static_assert(!::anyffi::detail::MissingOf<F>::kHasOwners,                                                           \
                "anyffi: a parameter is a container of std::unique_ptr that cannot take over the objects of an "       \
                "argument: take a std::vector of std::unique_ptr, or share the objects by std::shared_ptr");           \
  static_assert(!::anyffi::detail::MissingOf<F>::kDropsTaken,                                                          \
                "anyffi: a parameter is a const reference to a std::unique_ptr, or to a container of some, which "     \
                "would take the object over and destroy it after the call: wrap the function in a lambda that takes "  \
                "a const T&, or take the std::unique_ptr by value");                                                   \
  static_assert(!::anyffi::detail::MissingOf<F>::kLosesWrites,                                                         \
                "anyffi: a parameter is a non-const reference to a temporary copy, so writes would be lost: "          \
                "take it by value, by const reference or by &&, or wrap the function in a lambda that returns what "   \
                "is written")

#endif  // ANYFFI_DETAIL_CHECK_CALLABLE_H_
