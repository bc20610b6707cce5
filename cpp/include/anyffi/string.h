/// \file
/// String and Bytes: values of 16 bytes, with small-string optimisation.
#ifndef ANYFFI_STRING_H_
#define ANYFFI_STRING_H_

#include <anyffi/object.h>

#include <string_view>

namespace anyffi {

namespace detail {

template <class T, int32_t kFamily, int32_t kObject>
struct TextTraits;

/// The value of a String or Bytes. Owned, except in the argument of a `const T&` parameter, which borrows the caller's
/// memory during the call; a copy of it is owned.
class TextValue : public AnyValue {
 public:
  TextValue() noexcept = default;
  TextValue(Adopt, const AnyffiValue& value) noexcept : AnyValue(Adopt{}, value) {}
  explicit TextValue(const char* utf8) : AnyValue(utf8) {}
  TextValue(const TextValue& other) : AnyValue(Adopt{}, other.copy()) {}
  TextValue(TextValue&& other) noexcept : AnyValue(static_cast<AnyValue&&>(other)) {}
  TextValue& operator=(TextValue other) noexcept {
    swap(other);
    return *this;
  }
  const AnyView& view() const noexcept { return *this; }
  /// The text as a value with a reference of its own.
  AnyffiValue copy() const {
    AnyffiValue value = anyffi_read_value(&raw_);
    if (value.type_code > 0) {
      anyffi_retain(value.as_object);
    } else if (__builtin_expect(is_borrowed(), 0)) {
      return AnyValue(view()).release();
    }
    return value;
  }
  /// The same, but takes this text's reference.
  AnyffiValue take() { return is_borrowed() ? copy() : release(); }

 private:
  bool is_borrowed() const { return raw_.type_code == ANYFFI_STR_VIEW || raw_.type_code == ANYFFI_BYTES_VIEW; }
};

inline AnyffiTextView view_text(const AnyffiValue& text) {
  AnyffiTextView result;
  anyffi_view_text(&text, &result);
  return result;
}

/// Whether two strings, or two bytes, are equal. Text always has the narrowest encoding.
inline bool same_text(const AnyffiValue& a, const AnyffiValue& b) {
  if (a.type_code == b.type_code) {
    if (a.type_code == ANYFFI_STR || a.type_code == ANYFFI_BYTES) return same_words(a, b);
    // Fast path: most texts differ in length.
    if (a.type_code == ANYFFI_STR_OBJECT && reinterpret_cast<const AnyffiStrObject*>(a.as_object)->length !=
                                                reinterpret_cast<const AnyffiStrObject*>(b.as_object)->length) {
      return false;
    }
  }
  AnyffiTextView left = view_text(a), right = view_text(b);
  return left.length == right.length && left.encoding == right.encoding &&
         __builtin_memcmp(left.data, right.data,
                          static_cast<size_t>(left.length) << anyffi_encoding_shift(left.encoding)) == 0;
}

/// Joins two inline texts of one-byte code points with at most 11 in total. False for others.
inline bool join_inline(const AnyffiValue& a, const AnyffiValue& b, AnyffiValue& out) {
  if (a.type_code != ANYFFI_STR || b.type_code != ANYFFI_STR) return false;
  // The last byte contains the encoding and the free space.
  uint64_t last = static_cast<uint64_t>(a.as_int) >> 56, other = static_cast<uint64_t>(b.as_int) >> 56;
  uint64_t used = ANYFFI_INLINE_BYTES - (last & 15), added = ANYFFI_INLINE_BYTES - (other & 15);
  uint64_t encoding = last > other ? last >> 4 : other >> 4;
  if (encoding > ANYFFI_LATIN1 || used + added > ANYFFI_INLINE_BYTES) return false;
  constexpr uint64_t kText = ~uint64_t{0} >> 8;
  // The text is in bytes 0 to 3 of `first`, and 4 to 10 of `rest`.
  uint64_t first = a.aux, rest = static_cast<uint64_t>(a.as_int) & kText;
  uint64_t more = b.aux | static_cast<uint64_t>(b.as_int) << 32, most = (static_cast<uint64_t>(b.as_int) & kText) >> 32;
  if (used < 4) {
    first |= more << (8 * used);
    rest |= more >> (32 - 8 * used);
    rest |= most << (32 + 8 * used);
  } else {
    rest |= more << (8 * (used - 4));
  }
  uint64_t mark = encoding << 4 | (ANYFFI_INLINE_BYTES - used - added);
  out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_STR) | first << 32, (rest & kText) | mark << 56);
  return true;
}

}  // namespace detail

/// Immutable bytes.
class Bytes {
 public:
  Bytes() noexcept : value_(detail::Adopt{}, anyffi_make_inline_text(ANYFFI_BYTES, ANYFFI_ASCII, "", 0, 0)) {}
  Bytes(const void* data, int64_t size) { detail::check(anyffi_bytes_create(data, size, value_.out())); }
  explicit Bytes(std::string_view bytes) : Bytes(bytes.data(), static_cast<int64_t>(bytes.size())) {}
  Bytes(detail::Adopt, const AnyffiValue& owned) noexcept : value_(detail::Adopt{}, owned) {}

  int64_t size() const noexcept { return text().length; }
  /// Valid until this Bytes is moved or destroyed; a zero byte follows.
  const uint8_t* data() const noexcept { return static_cast<const uint8_t*>(text().data); }
  uint8_t operator[](int64_t index) const {
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(size())) throw Error("IndexError", "index out of range");
    return data()[index];
  }
  /// Valid until this Bytes is moved or destroyed.
  explicit operator std::string_view() const noexcept {
    AnyffiTextView view = text();
    return {static_cast<const char*>(view.data), static_cast<size_t>(view.length)};
  }
  const AnyView& value() const noexcept { return value_; }
  friend bool operator==(const Bytes& a, const Bytes& b) { return detail::same_text(a.value().raw(), b.value().raw()); }
  friend bool operator!=(const Bytes& a, const Bytes& b) { return !(a == b); }

 private:
  AnyffiTextView text() const noexcept { return detail::view_text(value_.raw()); }
  template <class T, int32_t kFamily, int32_t kObject>
  friend struct detail::TextTraits;
  detail::TextValue value_;
};

/// Immutable text: code points in the narrowest of four encodings, so that indexing takes constant time.
class String {
 public:
  String() noexcept : value_(detail::Adopt{}, anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, "", 0, 0)) {}
  /// From UTF-8; UnicodeDecodeError if it is invalid.
  String(const char* utf8) : value_(utf8) {}  // NOLINT: implicit on purpose
  explicit String(std::string_view utf8) : String(utf8.data(), static_cast<int64_t>(utf8.size())) {}
  String(const char* utf8, int64_t size) { detail::check(anyffi_str_from_utf8(utf8, size, value_.out())); }
  /// From code points of the width of `encoding` (AnyffiTextEncoding).
  String(const void* code_points, int64_t length, int32_t encoding) {
    detail::check(anyffi_str_create(code_points, length, encoding, value_.out()));
  }
  String(detail::Adopt, const AnyffiValue& owned) noexcept : value_(detail::Adopt{}, owned) {}

  /// The number of code points.
  int64_t size() const noexcept { return text().length; }
  bool empty() const noexcept { return size() == 0; }
  /// The code point at `index`. IndexError beyond the end.
  char32_t code_point(int64_t index) const {
    AnyffiTextView view = text();
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(view.length)) {
      throw Error("IndexError", "string index out of range");
    }
    return anyffi_get_code_point(&view, index);
  }
  /// The character at `index` as a string, stored inline.
  String operator[](int64_t index) const { return String(detail::Adopt{}, anyffi_make_char(code_point(index))); }
  /// UnicodeEncodeError for a lone surrogate.
  Bytes utf8() const {
    AnyValue encoded;
    detail::check(anyffi_str_to_utf8(&value_.raw(), encoded.out()));
    return Bytes(detail::Adopt{}, encoded.release());
  }
  /// The code points; valid until this String is moved or destroyed.
  AnyffiTextView text() const noexcept { return detail::view_text(value_.raw()); }
  int64_t hash() const { return value_.hash(); }
  const AnyView& value() const noexcept { return value_; }

  /// The end of the text, for `slice` and `find`.
  static constexpr int64_t kEnd = INT64_MAX;
  /// Python's `s[start:stop]`.
  String slice(int64_t start, int64_t stop = kEnd) const {
    String result;
    detail::check(anyffi_str_slice(&raw(), start, stop, result.reset()));
    return result;
  }
  /// The first (`rfind`: last) index of `needle` within [start, stop); -1 if there is none.
  int64_t find(const String& needle, int64_t start = 0, int64_t stop = kEnd) const {
    int64_t result;
    detail::check(anyffi_str_find(&raw(), &needle.raw(), start, stop, &result));
    return result;
  }
  int64_t rfind(const String& needle, int64_t start = 0, int64_t stop = kEnd) const {
    int64_t result;
    detail::check(anyffi_str_rfind(&raw(), &needle.raw(), start, stop, &result));
    return result;
  }
  bool contains(const String& needle) const { return find(needle) >= 0; }
  bool startswith(const String& prefix) const { return find(prefix, 0, prefix.size()) == 0; }
  bool endswith(const String& suffix) const {
    return suffix.size() <= size() && find(suffix, size() - suffix.size()) >= 0;
  }
  /// Removes white space, or the characters of `characters`, at both ends (`lstrip`, `rstrip`: at one).
  String strip(const AnyView& characters = nullptr) const { return strip(characters, 3); }
  String lstrip(const AnyView& characters = nullptr) const { return strip(characters, ANYFFI_STRIP_LEFT); }
  String rstrip(const AnyView& characters = nullptr) const { return strip(characters, ANYFFI_STRIP_RIGHT); }
  /// Replaces the first `most` occurrences of `former`, all if it is negative.
  String replace(const String& former, const String& replacement, int64_t most = -1) const {
    String result;
    detail::check(anyffi_str_replace(&raw(), &former.raw(), &replacement.raw(), most, result.reset()));
    return result;
  }
  /// Change A to Z or a to z only.
  String ascii_lower() const {
    String result;
    detail::check(anyffi_str_ascii_lower(&raw(), result.reset()));
    return result;
  }
  String ascii_upper() const {
    String result;
    detail::check(anyffi_str_ascii_upper(&raw(), result.reset()));
    return result;
  }
  /// -1, 0 or 1, by code point.
  int32_t compare(const String& other) const {
    int32_t result;
    AnyffiTextView left = text(), right = other.text();
    if (left.encoding <= ANYFFI_LATIN1 && right.encoding <= ANYFFI_LATIN1) {
      int64_t common = left.length < right.length ? left.length : right.length;
      result = __builtin_memcmp(left.data, right.data, static_cast<size_t>(common));
      if (result != 0) return result < 0 ? -1 : 1;
      return (left.length > right.length) - (left.length < right.length);
    }
    detail::check(anyffi_str_compare(&raw(), &other.raw(), &result));
    return result;
  }

  friend String operator+(const String& a, const String& b) {
    AnyffiValue result;
    if (!detail::join_inline(a.raw(), b.raw(), result)) detail::check(anyffi_str_concat(&a.raw(), &b.raw(), &result));
    return String(detail::Adopt{}, result);
  }
  friend bool operator==(const String& a, const String& b) { return detail::same_text(a.raw(), b.raw()); }
  friend bool operator!=(const String& a, const String& b) { return !(a == b); }
  friend bool operator<(const String& a, const String& b) { return a.compare(b) < 0; }
  friend bool operator>(const String& a, const String& b) { return b < a; }
  friend bool operator<=(const String& a, const String& b) { return !(b < a); }
  friend bool operator>=(const String& a, const String& b) { return !(a < b); }

  class Iterator {
   public:
    Iterator(const String& text, int64_t index) : text_(text.text()), index_(index) {}
    String operator*() const {
      return String(detail::Adopt{}, anyffi_make_char(anyffi_get_code_point(&text_, index_)));
    }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    AnyffiTextView text_;
    int64_t index_;
  };
  /// Iterates over the characters, each a String.
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  const AnyffiValue& raw() const noexcept { return value_.raw(); }
  /// The `out` parameter of a C function that creates a string.
  AnyffiValue* reset() noexcept {
    value_ = detail::TextValue();
    return value_.out();
  }
  String strip(const AnyView& characters, int32_t sides) const {
    String result;
    detail::check(anyffi_str_strip(&raw(), &characters.raw(), sides, result.reset()));
    return result;
  }
  template <class T, int32_t kFamily, int32_t kObject>
  friend struct detail::TextTraits;
  detail::TextValue value_;
};

namespace detail {

template <class T, int32_t kFamily, int32_t kObject>
struct TextTraits {
  static constexpr int32_t kCode = kFamily;
  static constexpr int32_t kObjectCode = kObject;
  static constexpr bool kIsSteady = true;
  static constexpr bool kBorrows = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = AnyValue;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    if (is_copied(given)) {
      if (given.type_code > 0) anyffi_retain(given.as_object);
      assign(*holder.out(), given);
      return true;
    }
    const AnyffiValue& value = unboxed(given);
    if (anyffi_type_get_family(value.type_code) != kCode) {
      bool is_member = anyffi_load_member(&value, holder.out()) != 0;
      return (is_member && holder.family() == kCode) || refuse(why, value, Traits<T>::name);
    }
    return Traits<AnyValue>::load(given, holder, why);
  }
  static T take(Holder& holder) { return T(Adopt{}, holder.release()); }
  static AnyffiValue borrow(const T& text) { return text.value().raw(); }
  static AnyffiValue store(const T& text) { return text.value_.copy(); }
  static AnyffiValue store(T&& text) { return text.value_.take(); }
  static constexpr bool kIsReadInPlace = true;
  static bool fits(const AnyffiValue& value) { return value.type_code == kCode || value.type_code == kObjectCode; }

 private:
  /// Whether an owned copy is a plain copy, which takes a third of the time of a call. Not for movable or borrowed
  /// text, nor for text whose encoding might not be the narrowest.
  static bool is_copied(const AnyffiValue& value) {
    if (value.type_code == kObjectCode) return value.aux == 0;
    return value.type_code == kCode && (kCode == ANYFFI_BYTES || value.as_int >> 60 == ANYFFI_ASCII);
  }
};

}  // namespace detail

template <>
struct Traits<String> : detail::TextTraits<String, ANYFFI_STR, ANYFFI_STR_OBJECT> {
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_STR, ANYFFI_STR_OBJECT);
};

template <>
struct Traits<Bytes> : detail::TextTraits<Bytes, ANYFFI_BYTES, ANYFFI_BYTES_OBJECT> {
  static constexpr FixedText name{"bytes"};
  static constexpr uint64_t type_mask = detail::type_bits(ANYFFI_BYTES, ANYFFI_BYTES_OBJECT);
};

namespace detail {

/// The argument of a `const T&` parameter, where T is String or Bytes: the caller's text and bytes are not copied.
template <class T>
struct BorrowedText {
  T text;
  const T& operator*() const { return text; }
};
template <>
inline constexpr bool kIsPassedBorrowed<String> = true;
template <>
inline constexpr bool kIsPassedBorrowed<Bytes> = true;

}  // namespace detail

template <class T>
struct Traits<detail::BorrowedText<T>> : Traits<T> {
  using Holder = AnyValue;
  static bool load(AnyffiValue& given, AnyValue& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    bool is_view = value.type_code == ANYFFI_STR_VIEW || value.type_code == ANYFFI_BYTES_VIEW;
    if (!is_view) return Traits<T>::load(given, holder, why);
    if (anyffi_type_get_family(value.type_code) != Traits<T>::kCode) return detail::refuse(why, value, Traits<T>::name);
    detail::assign(*holder.out(), value);
    return true;
  }
  static detail::BorrowedText<T> take(AnyValue& holder) { return {T(detail::Adopt{}, holder.release())}; }
};

inline String AnyView::repr() const {
  AnyffiValue text;
  detail::check(anyffi_value_repr(&raw_, &text));
  return String(detail::Adopt{}, text);
}

}  // namespace anyffi

#endif  // ANYFFI_STRING_H_
