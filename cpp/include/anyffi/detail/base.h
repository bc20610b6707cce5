/// \file
/// What every other C++ header stands on: compile-time names, failing as an exception, the traits' shape.
#ifndef ANYFFI_DETAIL_BASE_H_
#define ANYFFI_DETAIL_BASE_H_

#include <anyffi/c_api.h>
#include <anyffi/inline.h>

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#if defined(_WIN32)
#define ANYFFI_EXPORT_SYMBOL __declspec(dllexport)
#else
#define ANYFFI_EXPORT_SYMBOL __attribute__((visibility("default")))
#endif

namespace anyffi {

/// Text of a length known to the compiler: names of types are put together from it at compile time.
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

/// How a C++ type crosses the border. A specialisation has
///
/// - `static constexpr auto name`: a FixedText, Python's name for the type, for messages and signatures;
/// - `static constexpr auto result_name`, where a parameter takes more than a result can be: a result's name;
/// - `static constexpr uint64_t type_mask`: the bits (`anyffi_type_bit`) of all kinds every value of which this
///   type takes, so that containers that hold no others need no check;
/// - `using Holder`: default-constructible, what a conversion leaves behind;
/// - `static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why)`: converts, or fills `why`.
///   A value marked movable may be taken, leaving None;
/// - `static T take(Holder&)`: the converted value;
/// - `static AnyffiValue store(T)`: an owned value made from a T; may throw;
/// - `static constexpr bool kBorrows`, and where it is true `static AnyffiValue borrow(const T&)`: a value that
///   lives as long as the T, made without counting.
template <class T, class Enable = void>
struct Traits;

namespace detail {
/// What a result of type T is called in signatures.
template <class T, class Enable = void>
inline constexpr auto kResultName = FixedText(Traits<T>::name);
template <class T>
inline constexpr auto kResultName<T, std::void_t<decltype(Traits<T>::result_name)>> = Traits<T>::result_name;
}  // namespace detail

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

class TensorView;

namespace detail {

/// What a type that does not cross the border lacks: a header of anyffi/stl/, or something else.
enum class Lack {
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
  kObject,
  kTraits
};
/// Each of those headers says here that it is included. T makes the question wait for all of them.
template <Lack kHeader, class T>
inline constexpr bool kIncludes = false;

/// Marks a constructor that takes over one strong reference.
struct Adopt {};

template <class T, class = void>
struct HasTraits : std::false_type {};
template <class T>
struct HasTraits<T, std::void_t<decltype(Traits<T>::name)>> : std::true_type {};

constexpr uint64_t kEveryType = ~uint64_t{0};

/// Types that point into the value that they were made from, which no container of C++ may hold.
template <class T>
inline constexpr bool kIsView = std::is_same_v<T, const char*>;

template <class... Codes>
constexpr uint64_t type_bits(Codes... codes) {
  return (anyffi_type_bit(codes) | ...);
}

/// The kinds that a type holds as they are, where there are others that it converts: an overload that holds its
/// arguments as they are goes before one that converts them.
template <class T>
inline constexpr uint64_t kExactTypes = std::is_same_v<T, bool>       ? type_bits(ANYFFI_BOOL)
                                        : std::is_integral_v<T>       ? type_bits(ANYFFI_INT, ANYFFI_BIG_INT)
                                        : std::is_enum_v<T>           ? type_bits(ANYFFI_INT)
                                        : std::is_floating_point_v<T> ? type_bits(ANYFFI_FLOAT)
                                                                      : kEveryType;

/// True for an Array, and for a Shape, which is one.
inline bool is_array(int32_t type_code) { return type_code == ANYFFI_ARRAY || type_code == ANYFFI_SHAPE; }

inline bool same_words(const AnyffiValue& a, const AnyffiValue& b) {
  return a.type_code == b.type_code && a.aux == b.aux && a.as_int == b.as_int;
}

inline bool refuse(AnyffiMismatch& why, const AnyffiValue& got, const char* expected,
                   int32_t reason = ANYFFI_MISMATCH_TYPE, const char* detail = nullptr) {
  why.reason = reason;
  why.path_size = 0;
  why.expected = expected;
  why.detail = detail;
  why.got = got;
  return false;
}

/// Throws the error that a C function left in the thread's slot. Defined in error.h.
[[noreturn]] __attribute__((cold)) void throw_raised();
/// Throws what a mismatch says of a value that is no argument. Defined in error.h.
[[noreturn]] __attribute__((cold)) void throw_mismatch(const AnyffiMismatch& why);

/// Types whose traits have `load_plain`: traits.h.
template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class Way, class T>
bool load_uncommon_number(const AnyffiValue& given, T& out, AnyffiMismatch& why);

inline void check(int status) {
  if (__builtin_expect(status != 0, 0)) throw_raised();
}

/// Copies by member, so that a value that is in registers is written from there: a copy of 16 bytes would first be put
/// together in memory, and wait for that.
inline void assign(AnyffiValue& to, const AnyffiValue& from) noexcept {
  to.type_code = from.type_code;
  to.aux = from.aux;
  to.as_int = from.as_int;
}

/// Takes the two words of a value, so that the caller's need not lie in memory.
template <class T>
__attribute__((noinline)) T convert_uncommon_number(uint64_t first, uint64_t second) {
  T number;
  AnyffiMismatch why;
  AnyffiValue given = anyffi_make_value(first, second);
  if (!load_uncommon_number<Traits<T>>(given, number, why)) throw_mismatch(why);
  return number;
}

/// Converts a borrowed value to T, or throws TypeError, OverflowError or ValueError.
template <class T>
T convert(const AnyffiValue& given) {
  static_assert(!std::is_same_v<T, const char*>,
                "anyffi: a const char* of a value would point to memory that is gone; ask for a String");
  static_assert(!std::is_same_v<T, TensorView>,
                "anyffi: a TensorView of a value would outlive it too easily; ask for a Tensor, or make one of the "
                "value where it is kept, as in TensorView(args[0])");
  using Way = Traits<T>;
  // A number needs no copy that somebody may take.
  if constexpr (std::is_arithmetic_v<T>) {
    T number;
    if (__builtin_expect(Way::load_plain(given, number), 1)) return number;
    uint64_t first = static_cast<uint32_t>(given.type_code) | static_cast<uint64_t>(given.aux) << 32;
    return convert_uncommon_number<T>(first, static_cast<uint64_t>(given.as_int));
  }
  AnyffiValue value;
  anyffi_copy_value(&given, &value);
  if (value.type_code > 0) value.aux = 0;
  typename Way::Holder holder{};
  AnyffiMismatch why;
  if (__builtin_expect(!Way::load(value, holder, why), 0)) throw_mismatch(why);
  return Way::take(holder);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_BASE_H_
