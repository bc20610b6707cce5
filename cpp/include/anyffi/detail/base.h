/// \file
/// The base of every other C++ header: compile-time names, errors as exceptions, the interface of Traits.
#ifndef ANYFFI_DETAIL_BASE_H_
#define ANYFFI_DETAIL_BASE_H_

#include <anyffi/c_api.h>
#include <anyffi/inline.h>
#include <anyffi/native_api.h>

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#if defined(_WIN32)
#define ANYFFI_EXPORT_SYMBOL __declspec(dllexport)
#define ANYFFI_HIDDEN_
#else
#define ANYFFI_EXPORT_SYMBOL __attribute__((visibility("default")))
/// For variable templates: without it, GCC makes them unique in the process, but another library, or an earlier version
/// of the same one, may have a different type with the same name.
#define ANYFFI_HIDDEN_ __attribute__((visibility("hidden")))
#endif

namespace anyffi {

/// Text whose length is part of its type, so that type names can be concatenated at compile time.
template <int N>
struct FixedText {
  char data[N + 1] = {};
  constexpr FixedText() = default;
  constexpr FixedText(const char (&text)[N + 1]) {  // NOLINT: implicit on purpose
    for (int i = 0; i <= N; ++i) data[i] = text[i];
  }
  constexpr operator const char*() const { return data; }
};

template <int N>
FixedText(const char (&)[N]) -> FixedText<N - 1>;

template <int A, int B>
constexpr FixedText<A + B> operator+(const FixedText<A>& a, const FixedText<B>& b) {
  FixedText<A + B> sum;
  for (int i = 0; i < A; ++i) sum.data[i] = a.data[i];
  for (int i = 0; i <= B; ++i) sum.data[A + i] = b.data[i];
  return sum;
}

template <int A, int B>
constexpr auto operator+(const FixedText<A>& a, const char (&b)[B]) {
  return a + FixedText<B - 1>(b);
}

template <int A, int B>
constexpr auto operator+(const char (&a)[A], const FixedText<B>& b) {
  return FixedText<A - 1>(a) + b;
}

/// The conversion of a C++ type from and to values. A specialisation has
///
/// - `static constexpr auto name`: a FixedText, the type as an annotation in Python, for messages and signatures;
/// - `static constexpr auto result_name`: the same for a result, where it differs;
/// - `static constexpr auto key_name`: the same for a result inside a key or an element of a set, where it differs;
/// - optionally `static constexpr uint32_t result_flags`: ANYFFI_NATIVE if the T is a copy, which becomes a container
///   of Python. `store` sets it in `aux` of the containers that it creates;
/// - `static constexpr uint64_t type_mask`: the bits (`anyffi_type_bit`) of the types whose values all convert: the
///   elements of a container of only such types are not checked;
/// - `using Holder`: default-constructible; keeps the result of `load` for `take` during the call;
/// - `static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why)`: converts a borrowed value, or fills
///   `why` and returns false. May steal a movable value, leaving None;
/// - `static T take(Holder&)`: the converted value;
/// - optionally `static constexpr bool kOutlivesHolder = true`: the T does not depend on the Holder, and for a Holder
///   that is a T, `take` only moves it. Parameters then refer to the one converted value;
/// - `static AnyffiValue store(T)`: an owned value; may throw;
/// - optionally `static constexpr bool kIsView = true`: the T points into the converted value;
/// - `static constexpr bool kBorrows`, and if it is true `static AnyffiValue borrow(const T&)`: a value without a
///   reference of its own, valid as long as the T.
template <class T, class Enable = void>
struct Traits;

namespace detail {
/// The annotation of a result of type T.
template <class T, class Enable = void>
ANYFFI_HIDDEN_ inline constexpr auto kResultName = FixedText(Traits<T>::name);
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kResultName<T, std::void_t<decltype(Traits<T>::result_name)>> =
    Traits<T>::result_name;
/// Whether an empty field of type T reads as None, and None empties it.
template <class T>
inline constexpr bool kNoneEmpties = false;
/// The annotation of a field of type T.
template <class T, class Enable = void>
ANYFFI_HIDDEN_ inline constexpr auto kFieldName = kResultName<T>;
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kFieldName<T, std::enable_if_t<kNoneEmpties<T>>> = kResultName<T> + " | None";
/// The annotation of a key, or an element of a set, in a result.
template <class T, class Enable = void>
ANYFFI_HIDDEN_ inline constexpr auto kKeyName = kResultName<T>;
template <class T>
ANYFFI_HIDDEN_ inline constexpr auto kKeyName<T, std::void_t<decltype(Traits<T>::key_name)>> = Traits<T>::key_name;

/// A union type with each part listed once. `text` has " | " after each part.
template <int N>
struct PartsOnce {
  FixedText<N> text;
  int size = 0;

  constexpr explicit PartsOnce(const FixedText<N>& all) : text(all) {
    for (int part = 0, end = 0; part < N; part = end) {
      end = end_of(part);
      int same = 0;
      for (int at = 0; at < size && same < end - part;) {
        bool is_same = text.data[at + same] == text.data[part + same];
        at = is_same ? at : end_of(at);
        same = is_same ? same + 1 : 0;
      }
      for (int i = part; same < end - part && i < end; ++i) text.data[size++] = text.data[i];
    }
  }
  /// A " | " inside of brackets separates parts of another union.
  constexpr int end_of(int at) const {
    for (int depth = 0; depth > 0 || text.data[at] != ' ' || text.data[at + 1] != '|'; ++at) {
      depth += (text.data[at] == '[') - (text.data[at] == ']');
    }
    return at + 3;
  }
};
/// `int | str | float`
template <const auto&... kNames>
constexpr auto unite_names() {
  constexpr PartsOnce kParts((... + (FixedText(kNames) + " | ")));
  FixedText<kParts.size - 3> once;
  for (int i = 0; i < kParts.size - 3; ++i) once.data[i] = kParts.text.data[i];
  return once;
}
}  // namespace detail

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

class ObjectRef;
class TensorView;

namespace detail {

/// Why a type has no conversion: the header in anyffi/stl/ that is not included, or one of the other reasons, listed
/// last.
enum class Missing {
  kNothing,
  kString,
  kVector,
  kMap,
  kUnorderedMap,
  kSet,
  kUnorderedSet,
  kOptional,
  kVariant,
  kTuple,
  kFunction,
  kComplex,
  kSpan,
  kChrono,
  kArray,
  kDeque,
  kList,
  kWideString,
  kSystemError,
  kFilesystem,
  kMemory,
  kObject,
  kObjectElement,
  kPointer,
  kNumberPointer,
  kFunctionPointer,
  kWeak,
  kWrapped,
  kClock,
  kLinked,
  kRepeated,
  kBits,
  kAny,
  kTraits
};
/// Specialised by each of these headers. Depends on T, so that it is evaluated after all includes.
template <Missing kHeader, class T>
inline constexpr bool kIncludes = false;

/// Selects the constructor that steals a reference.
struct Adopt {};

/// Types for which a `const T&` parameter borrows text from the caller: see BorrowedText (string.h).
template <class T>
inline constexpr bool kIsPassedBorrowed = false;
template <class T>
struct BorrowedText;

/// Converts the argument of a `const T&` parameter, where T is a reference class: see BorrowedArgument (object.h).
template <class T>
struct BorrowedRef {};

/// Types of parameters whose traits load text by `load_utf8` (any.h): see `AnyffiFunctionInfo.utf8_params`.
template <class T>
inline constexpr bool kTakesUtf8 = false;

template <class T, class = void>
inline constexpr bool kOutlivesHolder = false;
template <class T>
inline constexpr bool kOutlivesHolder<T, std::enable_if_t<Traits<T>::kOutlivesHolder>> = true;

template <class T, class = void>
struct HasTraits : std::false_type {};
template <class T>
struct HasTraits<T, std::void_t<decltype(Traits<T>::name)>> : std::true_type {};

constexpr uint64_t kEveryType = ~uint64_t{0};

/// Whether an argument, even a temporary one, may be passed as a view, by `Traits<T>::view`.
template <class T>
inline constexpr bool kIsPassedAsView = false;

/// What `Traits<T>::kIsView` says.
template <class T, class = void>
inline constexpr bool kSaysView = false;
template <class T>
inline constexpr bool kSaysView<T, std::enable_if_t<Traits<T>::kIsView>> = true;
/// Types that point into the value from which they were converted: C++ containers must not hold them.
template <class T>
inline constexpr bool kIsView = std::is_same_v<T, const char*> || kSaysView<T>;
/// Types that borrow the memory of a tensor.
template <class T>
inline constexpr bool kIsTensorView = std::is_same_v<T, TensorView>;

template <class... Codes>
constexpr uint64_t type_bits(Codes... codes) {
  return (anyffi_type_bit(codes) | ...);
}

/// What ANYFFI_TYPE_KEY specialises for a type that has no `kTypeKey` of its own.
template <class T>
struct ForeignKey {
  static constexpr bool kIsKnown = false;
};
/// Enumerations that are classes in Python; all others are numbers.
template <class T, bool = std::is_enum_v<T>>
inline constexpr bool kIsEnumeration = false;
template <class T>
inline constexpr bool kIsEnumeration<T, true> = ForeignKey<T>::kIsKnown;

/// Character types, which convert as text. `signed char` and `unsigned char` are numbers.
template <class T>
inline constexpr bool kIsCharacter =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
#ifdef __cpp_char8_t
    std::is_same_v<T, char8_t> ||
#endif
    std::is_same_v<T, char32_t>;

/// The types that T accepts without conversion, for types that also convert others: overloads without a conversion are
/// preferred.
template <class T>
inline constexpr uint64_t kExactTypes =
    std::is_same_v<T, bool>                     ? type_bits(ANYFFI_BOOL)
    : std::is_integral_v<T> && !kIsCharacter<T> ? type_bits(ANYFFI_INT, ANYFFI_BIG_INT)
    : kIsEnumeration<T>                         ? type_bits(ANYFFI_FIRST_DYNAMIC_TYPE)
    : std::is_enum_v<T>                         ? type_bits(ANYFFI_INT)
    : std::is_floating_point_v<T>               ? type_bits(ANYFFI_FLOAT)
                                                : kEveryType;

/// The types that sequence parameters, and set parameters, accept without conversion.
constexpr uint64_t kSequenceTypes = type_bits(ANYFFI_ARRAY, ANYFFI_LIST, ANYFFI_SHAPE);
constexpr uint64_t kSetTypes = type_bits(ANYFFI_FROZEN_SET, ANYFFI_SET);

/// A Shape is an Array too.
inline bool is_array(int32_t type_code) { return type_code == ANYFFI_ARRAY || type_code == ANYFFI_SHAPE; }

inline bool same_words(const AnyffiValue& a, const AnyffiValue& b) {
  return a.type_code == b.type_code && a.aux == b.aux && a.as_int == b.as_int;
}

__attribute__((cold, noinline)) inline bool refuse(AnyffiMismatch& why, const AnyffiValue& got, const char* expected,
                                                   int32_t reason = ANYFFI_MISMATCH_TYPE,
                                                   const char* detail = nullptr) {
  why.reason = reason;
  why.path_size = 0;
  why.expected = expected;
  why.detail = detail;
  why.got = got;
  why.got_text[0] = 0;
  return false;
}

/// Throws the error in the thread's slot. Defined in error.h.
[[noreturn]] __attribute__((cold)) void throw_raised();
/// Throws the error of a value that is not an argument. Defined in error.h.
[[noreturn]] __attribute__((cold)) void throw_mismatch(const AnyffiMismatch& why);

/// Not inlined: throwing takes more code than a call.
[[noreturn]] __attribute__((cold, noinline)) inline void throw_no_memory() { throw std::bad_alloc(); }

/// Types whose traits have `load_plain` (traits.h).
template <class T>
inline constexpr bool kIsNumber = (std::is_arithmetic_v<T> && !kIsCharacter<T>) || std::is_enum_v<T>;
/// Integers, and enumerations of integers, that may exceed an int64_t.
template <class T, class = void>
inline constexpr bool kMayExceedInt64 = std::is_unsigned_v<T> && sizeof(T) == 8;
template <class T>
inline constexpr bool kMayExceedInt64<T, std::enable_if_t<std::is_enum_v<T>>> =
    kMayExceedInt64<std::underlying_type_t<T>>;
/// Types whose `store` makes an inline value, and cannot fail.
template <class T>
inline constexpr bool kIsStoredInline = kIsNumber<T> && !kMayExceedInt64<T> && !kIsEnumeration<T>;

/// Whether the outcome of converting an unchanged value to T is always the same, because no code of users runs.
template <class T, class = void>
inline constexpr bool kIsSteady = kIsNumber<T>;
template <class T>
inline constexpr bool kIsSteady<T, std::enable_if_t<Traits<T>::kIsSteady>> = true;

/// Whether loading a T runs no code of users. Containers of such elements, which have `Traits<T>::kReadsItems`, can
/// also load containers of the host directly (host_items.h).
template <class T, class = void>
inline constexpr bool kReadsItems = false;
template <class T>
inline constexpr bool kReadsItems<T, std::enable_if_t<Traits<T>::kReadsItems>> = true;
/// Whether a T is only loaded from objects of the runtime, and without code of users except a copy constructor.
/// Containers of such elements, which have `Traits<T>::kReadsObjects`, load containers of the host that are kept during
/// the call.
template <class T, class = void>
inline constexpr bool kLoadsObjects = false;
template <class T>
inline constexpr bool kLoadsObjects<T, std::enable_if_t<Traits<T>::kLoadsObjects>> = true;
template <class T, class = void>
inline constexpr bool kReadsObjects = false;
template <class T>
inline constexpr bool kReadsObjects<T, std::enable_if_t<Traits<T>::kReadsObjects>> = true;
/// Whether loading such a container copies objects, which may run code of users.
template <class T, class = void>
inline constexpr bool kCopiesObjects = false;
template <class T>
inline constexpr bool kCopiesObjects<T, std::enable_if_t<Traits<T>::kCopiesObjects>> = true;
/// Whether loading a T distinguishes members of enumerations from numbers: see `AnyffiFunctionInfo.member_params`.
template <class T, class = void>
inline constexpr bool kReadsMembers = false;
template <class T>
inline constexpr bool kReadsMembers<T, std::enable_if_t<Traits<T>::kReadsMembers>> = true;
template <class T, class = void>
inline constexpr bool kLoadsQuietly = (kIsNumber<T> && !kIsEnumeration<T>) || kIsCharacter<T> || kReadsItems<T>;
template <class T>
inline constexpr bool kLoadsQuietly<T, std::enable_if_t<Traits<T>::kLoadsQuietly>> = true;

/// Whether a T can be written by `anyffi_items_write`: it is a number, text or a container of these, so no code of
/// users runs. Types other than numbers have `Traits<T>::write`, whose output borrows from the T.
template <class T, class = void>
inline constexpr bool kWritesItems = std::is_arithmetic_v<T> && kIsNumber<T>;
template <class T>
inline constexpr bool kWritesItems<T, std::enable_if_t<std::is_enum_v<T>>> = kIsStoredInline<T> && sizeof(T) < 8;
template <class T>
inline constexpr bool kWritesItems<T, std::enable_if_t<Traits<T>::kWritesItems>> = true;

/// Whether results of type T are written so: not single numbers, which are fast anyway.
template <class T, class = void>
inline constexpr bool kIsWritten = false;
template <class T>
inline constexpr bool kIsWritten<T, std::enable_if_t<Traits<T>::kIsWritten>> = kWritesItems<T>;

template <class Conversion, class T>
bool load_number_slow(const AnyffiValue& given, T& out, AnyffiMismatch& why);

/// The flags of a result of type T that is a container: ANYFFI_NATIVE for types that copy.
template <class T, class = void>
inline constexpr uint32_t kResultFlags = 0;
template <class T>
inline constexpr uint32_t kResultFlags<T, std::enable_if_t<(Traits<T>::result_flags != 0)>> = Traits<T>::result_flags;

/// Whether `store` may set these flags: it does not for a number, text, or a reference to an object.
template <class T>
inline constexpr bool kMayBeNative = !kIsNumber<T> && !std::is_pointer_v<T> && !std::is_base_of_v<ObjectRef, T>;

/// Clears the flags of a result, so that the caller may keep the value.
inline void settle(AnyffiValue& value) noexcept {
  if (value.type_code > 0) value.aux = 0;
}

/// Sets flags of a result, if the value is a container or a tensor.
inline AnyffiValue with_flags(AnyffiValue value, uint32_t flags) noexcept {
  if (flags != 0 && value.type_code >= ANYFFI_ARRAY) value.aux = flags;
  return value;
}

inline void check(int status) {
  if (__builtin_expect(status != 0, 0)) throw_raised();
}

/// Copies by member, so that a value in registers is stored directly: a 16-byte copy would assemble it in memory first,
/// and stall.
inline void assign(AnyffiValue& to, const AnyffiValue& from) noexcept {
  to.type_code = from.type_code;
  to.aux = from.aux;
  to.as_int = from.as_int;
}

/// Takes the two words of a value, so that the caller can keep it in registers.
template <class T>
__attribute__((noinline)) T convert_number_slow(uint64_t first, uint64_t second) {
  T number;
  AnyffiMismatch why;
  AnyffiValue given = anyffi_make_value(first, second);
  if (!load_number_slow<Traits<T>>(given, number, why)) throw_mismatch(why);
  return number;
}

/// Converts a borrowed value to T, or throws TypeError, OverflowError or ValueError.
template <class T>
T convert(const AnyffiValue& given) {
  static_assert(!std::is_same_v<T, const char*>, "anyffi: a const char* would dangle here: convert to a String");
  static_assert(!kIsTensorView<T>,
                "anyffi: a TensorView could outlive the value: convert to a Tensor, or construct the view where the "
                "value is kept, as in TensorView(args[0])");
  using Conversion = Traits<T>;
  // A number has no reference to steal, and needs no copy.
  if constexpr (std::is_arithmetic_v<T> && !kIsCharacter<T>) {
    T number;
    if (__builtin_expect(Conversion::load_plain(given, number), 1)) return number;
    uint64_t first = static_cast<uint32_t>(given.type_code) | static_cast<uint64_t>(given.aux) << 32;
    return convert_number_slow<T>(first, static_cast<uint64_t>(given.as_int));
  }
  AnyffiValue value;
  anyffi_copy_value(&given, &value);
  if (value.type_code > 0) value.aux = 0;
  typename Conversion::Holder holder{};
  AnyffiMismatch why;
  if (__builtin_expect(!Conversion::load(value, holder, why), 0)) throw_mismatch(why);
  return Conversion::take(holder);
}

/// The same for the result of a function, which errors name.
template <class T>
T convert_result(AnyffiValue value, const AnyffiObject* function) {
  static_assert(HasTraits<T>::value,
                "anyffi: what a callback or an override returns has a type without a conversion: include its header of "
                "anyffi/stl/, or bind its class by ANYFFI_CLASS before this");
  using Conversion = Traits<T>;
  if constexpr (std::is_arithmetic_v<T> && !kIsCharacter<T>) {
    T number;
    if (__builtin_expect(Conversion::load_plain(value, number), 1)) return number;
  }
  typename Conversion::Holder holder{};
  AnyffiMismatch why;
  if (__builtin_expect(!Conversion::load(value, holder, why), 0)) check(anyffi_mismatch_raise_result(&why, function));
  return Conversion::take(holder);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_BASE_H_
