/// \file
/// Traits of scalar C++ types: numbers, bool, characters, None, addresses.
#ifndef ANYFFI_TRAITS_H_
#define ANYFFI_TRAITS_H_

#include <anyffi/detail/base.h>

namespace anyffi {

namespace detail {

/// OverflowError for an integer that is too large, TypeError for everything else.
inline bool refuse_int(AnyffiMismatch& why, const AnyffiValue& got, const char* narrow) {
  bool is_int = got.type_code == ANYFFI_BIG_INT || got.type_code == ANYFFI_INT || got.type_code == ANYFFI_BOOL;
  return refuse(why, got, "int", is_int ? ANYFFI_MISMATCH_RANGE : ANYFFI_MISMATCH_TYPE, narrow);
}

/// The value in a box; other values unchanged.
inline const AnyffiValue& unboxed(const AnyffiValue& value) {
  return value.type_code == ANYFFI_BOX ? reinterpret_cast<const AnyffiBox*>(value.as_object)->value : value;
}

/// Loads a number: `load_plain` is the fast path, for exact types; `load_special` converts or refuses other values.
/// Boxes, and a Bool as an Int, are handled here.
template <class Conversion, class T>
__attribute__((noinline)) bool load_number_slow(const AnyffiValue& given, T& out, AnyffiMismatch& why) {
  const AnyffiValue& value = unboxed(given);
  if (Conversion::load_plain(value, out)) return true;
  if (value.type_code == ANYFFI_BOOL && Conversion::load_plain(anyffi_make_int(value.as_int), out)) return true;
  return Conversion::load_special(value, out, why);
}
template <class Conversion, class T>
bool load_number(const AnyffiValue& given, T& out, AnyffiMismatch& why) {
  if (__builtin_expect(Conversion::load_plain(given, out), 1)) return true;
  // A separate local variable, because its address is taken: `out` can then stay in a register.
  T found{};
  bool is_loaded = load_number_slow<Conversion>(given, found, why);
  out = found;
  return is_loaded;
}

constexpr const char* integer_name(bool is_signed, int bytes) {
  return bytes == 1   ? (is_signed ? "int8" : "uint8")
         : bytes == 2 ? (is_signed ? "int16" : "uint16")
         : bytes == 4 ? (is_signed ? "int32" : "uint32")
                      : (is_signed ? "int64" : "uint64");
}

}  // namespace detail

/// Integers accept Int and Bool in their range; OverflowError beyond it.
template <class T>
struct Traits<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !detail::kIsCharacter<T>>> {
  static constexpr FixedText name{"int"};
  // Narrower types check each value.
  static constexpr uint64_t type_mask = (std::is_signed_v<T> && sizeof(T) == 8)
                                            ? detail::type_bits(ANYFFI_INT, ANYFFI_BOOL)
                                            : detail::type_bits(ANYFFI_BOOL);
  static constexpr bool kBorrows = false;
  using Holder = T;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::load_number<Traits>(given, holder, why);
  }
  static bool load_plain(const AnyffiValue& value, T& out) {
    int64_t number = value.as_int;
    out = static_cast<T>(number);
    bool is_negative = number < 0 && !(sizeof(T) == 8 && value.aux == ANYFFI_UNSIGNED);
    bool fits = static_cast<int64_t>(out) == number && (std::is_signed_v<T> || !is_negative);
    return value.type_code == ANYFFI_INT && fits;
  }
  static bool load_special(const AnyffiValue& value, T& out, AnyffiMismatch& why) {
    AnyffiValue member;
    if (value.type_code == ANYFFI_PY_OBJECT && anyffi_load_member(&value, &member) != 0) {
      bool fits = load_plain(member, out);
      anyffi_value_drop(&member);
      if (fits) return true;
    }
    if constexpr (!std::is_signed_v<T> && sizeof(T) == 8) {
      if (value.type_code == ANYFFI_BIG_INT) {
        auto* big = reinterpret_cast<const AnyffiBigInt*>(value.as_object);
        out = big->words[0];
        if (!big->negative && big->size == 1) return true;
      }
    }
    return detail::refuse_int(why, value, detail::integer_name(std::is_signed_v<T>, sizeof(T)));
  }
  static T take(Holder& holder) { return holder; }
  static AnyffiValue store(T number) {
    AnyffiValue value{};
    if (!std::is_signed_v<T> && static_cast<int64_t>(number) < 0) {
      auto word = static_cast<uint64_t>(number);
      detail::check(anyffi_big_int_create(&word, 1, 0, &value));
      return value;
    }
    value.type_code = ANYFFI_INT;
    value.as_int = static_cast<int64_t>(number);
    return value;
  }
};

/// Floating types accept Float, Int, BigInt and Bool, rounding as Python's `float(x)` does.
template <class T>
struct Traits<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr FixedText name{"float"};
  // Narrower types check each Float.
  static constexpr uint64_t type_mask = sizeof(T) < 8 ? detail::type_bits(ANYFFI_INT, ANYFFI_BOOL)
                                                      : detail::type_bits(ANYFFI_FLOAT, ANYFFI_INT, ANYFFI_BOOL);
  static constexpr bool kBorrows = false;
  using Holder = T;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::load_number<Traits>(given, holder, why);
  }
  static bool load_plain(const AnyffiValue& value, T& out) {
    if (value.type_code == ANYFFI_FLOAT) return round(value.as_float, out);
    out = static_cast<T>(value.as_int);
    return value.type_code == ANYFFI_INT;
  }
  static bool load_special(const AnyffiValue& value, T& out, AnyffiMismatch& why) {
    double number;
    if (anyffi_load_float(&value, sizeof(T) < 8 ? "float32" : "float64", &number, &why) == 0) return false;
    return round(number, out) || detail::refuse(why, value, "float", ANYFFI_MISMATCH_RANGE, "float32");
  }
  /// False for a finite double that is too large for a float, as in Python's struct.pack("f").
  static bool round(double number, T& out) {
    out = static_cast<T>(number);
    return sizeof(T) == 8 || out - out == 0 || number - number != 0;
  }
  static T take(Holder& holder) { return holder; }
  static AnyffiValue store(T number) {
    AnyffiValue value{};
    value.type_code = ANYFFI_FLOAT;
    value.as_float = static_cast<double>(number);
    return value;
  }
};

/// bool accepts Bool, and Int 0 or 1.
template <>
struct Traits<bool> {
  static constexpr FixedText name{"bool"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_BOOL);
  static constexpr bool kBorrows = false;
  using Holder = bool;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::load_number<Traits>(given, holder, why);
  }
  static bool load_plain(const AnyffiValue& value, bool& out) {
    out = value.as_int != 0;
    if (value.type_code == ANYFFI_BOOL) return true;
    return value.type_code == ANYFFI_INT && (value.as_int == 0 || value.as_int == 1);
  }
  static bool load_special(const AnyffiValue& value, bool&, AnyffiMismatch& why) {
    bool is_int = value.type_code == ANYFFI_INT || value.type_code == ANYFFI_BIG_INT;
    if (!is_int) return detail::refuse(why, value, name);
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "an int given as a bool must be 0 or 1");
  }
  static bool take(Holder& holder) { return holder; }
  static AnyffiValue store(bool flag) {
    AnyffiValue value{};
    value.type_code = ANYFFI_BOOL;
    value.as_int = flag;
    return value;
  }
};

namespace detail {

/// The integer type of an enumeration; never a character type.
template <class T, bool = kIsCharacter<T>>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<T, true> {
  template <class Signed, class Unsigned>
  using Pick = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
  using type = std::conditional_t<sizeof(T) == 1, Pick<int8_t, uint8_t>,
                                  std::conditional_t<sizeof(T) == 2, uint16_t, Pick<int32_t, uint32_t>>>;
};

}  // namespace detail

/// An enumeration converts as its underlying type, as a number, unless ANYFFI_ENUM (enum.h) describes it.
template <class E>
struct Traits<E, std::enable_if_t<std::is_enum_v<E> && !detail::kIsEnumeration<E>>>
    : Traits<typename detail::NumberOf<std::underlying_type_t<E>>::type> {
  using Number = typename detail::NumberOf<std::underlying_type_t<E>>::type;
  static E take(Number& holder) { return static_cast<E>(holder); }
  static AnyffiValue store(E value) { return Traits<Number>::store(static_cast<Number>(value)); }
};

/// Accepts a string of one character that the type can hold: `char` and `char8_t` ASCII, `char16_t` up to U+FFFF,
/// others any. ValueError for a longer or empty string, and for a character that does not fit, also for a result.
template <class T>
struct Traits<T, std::enable_if_t<detail::kIsCharacter<T>>> {
  static constexpr uint32_t kLast = sizeof(T) == 1 ? 0x7F : sizeof(T) == 2 ? 0xFFFF : 0x10FFFF;
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = T;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    if (!anyffi_is_str(value.type_code)) return detail::refuse(why, value, name);
    AnyffiTextView text;
    anyffi_view_text(&value, &text);
    uint32_t found = text.length == 1 ? anyffi_get_code_point(&text, 0) : ~uint32_t{0};
    holder = static_cast<T>(found);
    return found <= kLast || detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, kWanted);
  }
  static T take(Holder& holder) { return holder; }
  static AnyffiValue store(T character) {
    auto code_point = static_cast<uint32_t>(static_cast<std::make_unsigned_t<Number>>(character));
    if (code_point > kLast) {
      detail::check(anyffi_error_raise("ValueError", "a character of C++ is not in Unicode, or a char is not ASCII"));
    }
    return anyffi_make_char(code_point);
  }

 private:
  using Number = std::conditional_t<sizeof(T) == 1, char, std::conditional_t<sizeof(T) == 2, int16_t, int32_t>>;
  static constexpr const char* kWanted = sizeof(T) == 1   ? "expected one ASCII character"
                                         : sizeof(T) == 2 ? "expected one character up to U+FFFF"
                                                          : "expected one character";
};

/// None only.
template <>
struct Traits<std::nullptr_t> {
  static constexpr FixedText name{"None"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_NONE);
  static constexpr bool kBorrows = false;
  using Holder = std::nullptr_t;
  static bool load(AnyffiValue& value, Holder&, AnyffiMismatch& why) {
    return value.type_code == ANYFFI_NONE || detail::refuse(why, value, name);
  }
  static std::nullptr_t take(Holder&) { return nullptr; }
  static AnyffiValue store(std::nullptr_t) { return AnyffiValue{}; }
};

/// An address: Python's `ctypes.c_void_p`. None is the null pointer.
template <>
struct Traits<void*> {
  static constexpr FixedText name{"c_void_p"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_POINTER, ANYFFI_NONE);
  static constexpr bool kBorrows = false;
  using Holder = void*;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    holder = value.as_pointer;
    return value.type_code == ANYFFI_POINTER || value.type_code == ANYFFI_NONE || detail::refuse(why, value, name);
  }
  static void* take(Holder& holder) { return holder; }
  static AnyffiValue store(void* address) {
    AnyffiValue value{};
    value.type_code = ANYFFI_POINTER;
    value.as_pointer = address;
    return value;
  }
};

}  // namespace anyffi

#endif  // ANYFFI_TRAITS_H_
