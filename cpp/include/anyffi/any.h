/// \file
/// AnyView and AnyValue: a value of any type, borrowed or owned.
#ifndef ANYFFI_ANY_H_
#define ANYFFI_ANY_H_

#include <anyffi/detail/entries.h>
#include <anyffi/traits.h>

namespace anyffi {

class AnyValue;
class AnyView;
class Args;
class String;
template <class T>
class Optional;

namespace detail {
/// Whether T has traits of its own, other than AnyView and AnyValue. A template, because instantiating Traits<AnyValue>
/// before its definition would be an error.
template <class T>
inline constexpr bool kIsForeign = std::conjunction_v<std::negation<std::is_base_of<AnyView, T>>, HasTraits<T>>;
template <class Derived>
class AnyIterator;
template <class T>
T convert_owned_number(const AnyffiValue& owned);
}  // namespace detail

/// A borrowed value: 16 bytes, cheap to copy, valid as long as its source.
///
/// Values are used without a static type as in Python: `x.size()`, `x[i]`, `for (AnyValue item : x)`, `x == y`,
/// `x(1, 2)`. An operation that the value does not support throws Python's error.
class AnyView {
 public:
  AnyView() noexcept : raw_{} {}
  /// Borrows a value of the C ABI. Clears its flags: nothing may be stolen from a view.
  explicit AnyView(const AnyffiValue& raw) noexcept : raw_(raw) {
    if (raw_.type_code > 0) raw_.aux = 0;
  }
  // Templates, so that overload resolution does not try to convert views to their parameters.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_null_pointer_v<T>, int> = 0>
  AnyView(T value) {  // NOLINT: implicit on purpose, here and below
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      // A larger number would need an object, which a view cannot own.
      if (value > static_cast<T>(INT64_MAX)) {
        detail::check(anyffi_error_raise("OverflowError", "an AnyView of a uint64 must fit int64; use AnyValue"));
      }
    }
    raw_ = Traits<T>::store(value);
  }
  template <class T, std::enable_if_t<Traits<T>::kBorrows, int> = 0>
  AnyView(const T& object) : raw_(Traits<T>::borrow(object)) {}

  int32_t type_code() const noexcept { return raw_.type_code; }
  /// The family of the type code, such as ANYFFI_STR for every string.
  int32_t family() const noexcept { return anyffi_type_get_family(raw_.type_code); }
  bool is_none() const noexcept { return raw_.type_code == ANYFFI_NONE; }
  /// Whether an argument was omitted.
  bool is_missing() const noexcept { return raw_.type_code == ANYFFI_MISSING; }
  const AnyffiValue& raw() const noexcept { return raw_; }

  /// Code points, bytes or elements. TypeError if the value has no length.
  int64_t size() const;
  /// Python's `x[key]`.
  template <class Key>
  AnyValue operator[](const Key& key) const;
  /// Appends to a List. TypeError for other values.
  void push_back(AnyView value) const;
  /// Calls a function.
  template <class... A>
  AnyValue operator()(A&&... args) const;
  /// Calls the value with forwarded arguments; TypeError if it is not a function.
  AnyValue call_packed(Args args) const;
  /// Python's hash. TypeError if the value is unhashable.
  int64_t hash() const {
    int64_t result;
    detail::check(anyffi_value_hash(&raw_, &result));
    return result;
  }

  /// Converts to T without loss, or throws TypeError, OverflowError or ValueError.
  template <class T>
  T cast() const {
    return detail::convert<T>(raw_);
  }
  /// The same, or nothing if the value has a type that does not convert, or is out of range. Rethrows exceptions of
  /// user-defined conversions.
  template <class T>
  Optional<T> try_cast() const;
  /// Python's `repr`; for a container, that of the corresponding Python container.
  String repr() const;
  template <class T, std::enable_if_t<detail::kIsForeign<T>, int> = 0>
  operator T() const {  // NOLINT: implicit, for `int64_t n = args[0];`
    return cast<T>();
  }

  detail::AnyIterator<AnyView> begin() const;
  int64_t end() const { return size(); }

  friend bool operator==(const AnyView& a, const AnyView& b) { return equals(a, b); }
  friend bool operator!=(const AnyView& a, const AnyView& b) { return !equals(a, b); }
  // Overloads for numbers: a value converts to a number, and a number to a value, which Clang would call ambiguous.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  friend bool operator==(const AnyView& a, const T& b) {
    return equals(a, AnyView(b));
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  friend bool operator==(const T& a, const AnyView& b) {
    return equals(AnyView(a), b);
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  friend bool operator!=(const AnyView& a, const T& b) {
    return !equals(a, AnyView(b));
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  friend bool operator!=(const T& a, const AnyView& b) {
    return !equals(AnyView(a), b);
  }

  /// The `==` of these headers. As an operator it would be looked up among users' operators too, and instantiate
  /// conversions to their classes before these are described.
  static bool equals(const AnyView& a, const AnyView& b) {
    int32_t result;
    detail::check(anyffi_value_equal(&a.raw_, &b.raw_, &result));
    return result != 0;
  }

 protected:
  AnyffiValue raw_;

 private:
  AnyValue get_item(AnyView key) const;
  AnyValue get_at(int64_t index) const;
};

/// An owned value. A copy retains the object, if the value is one.
class AnyValue : public AnyView {
 public:
  AnyValue() noexcept = default;
  AnyValue(detail::Adopt, const AnyffiValue& owned) noexcept { assign(owned); }
  AnyValue(const AnyValue& other) noexcept : AnyView(other.raw_) {
    if (raw_.type_code > 0) anyffi_retain(raw_.as_object);
  }
  AnyValue(AnyValue&& other) noexcept {
    assign(other.raw_);
    other.raw_ = AnyffiValue{};
  }
  /// Copies borrowed text and bytes.
  AnyValue(const AnyView& view) {  // NOLINT: implicit on purpose, here and below
    const AnyffiValue& value = view.raw();
    // Inline, which saves a call of the runtime: most values that are kept are objects.
    if (value.type_code > 0 && value.type_code != ANYFFI_BOX) {
      anyffi_retain(value.as_object);
      assign(anyffi_make_object(value.as_object));
    } else {
      AnyffiValue owned;
      detail::check(anyffi_value_own(&value, &owned));
      raw_ = owned;
    }
  }
  template <class T, std::enable_if_t<detail::kIsForeign<Bare<T>>, int> = 0>
  AnyValue(T&& value) {
    raw_ = Traits<Bare<T>>::store(std::forward<T>(value));
    if constexpr (detail::kMayBeNative<Bare<T>>) detail::settle(raw_);
  }

  ~AnyValue() {
    if (raw_.type_code > 0) anyffi_release(raw_.as_object);
  }
  AnyValue& operator=(const AnyValue& other) noexcept {
    AnyValue copy(other);
    swap(copy);
    return *this;
  }
  AnyValue& operator=(AnyValue&& other) noexcept {
    AnyValue taken(std::move(other));
    swap(taken);
    return *this;
  }
  void swap(AnyValue& other) noexcept { std::swap(raw_, other.raw_); }

  /// Converts to T, as AnyView::cast does.
  template <class T>
  T cast() const& {
    return AnyView::cast<T>();
  }
  template <class T>
  T cast() && {
    if constexpr (std::is_arithmetic_v<T> && !detail::kIsCharacter<T>) {
      // Lets the compiler omit the release: the sum in `sum += list[i].cast<int64_t>()` then stays in a register, which
      // takes a third of the time.
      T number;
      if (__builtin_expect(raw_.type_code <= 0, 1)) {
        if (__builtin_expect(Traits<T>::load_plain(raw_, number), 1)) return number;
      }
      return detail::convert_owned_number<T>(release());
    } else {
      return AnyView::cast<T>();
    }
  }

  /// Returns the value with its reference; leaves None.
  AnyffiValue release() noexcept {
    AnyffiValue owned = raw_;
    raw_ = AnyffiValue{};
    return owned;
  }
  /// The `out` parameter of a C function. The value must be None.
  AnyffiValue* out() noexcept { return &raw_; }

 private:
  void assign(const AnyffiValue& owned) noexcept { detail::assign(raw_, owned); }
};

namespace detail {
template <>
inline constexpr bool kIsView<AnyView> = true;
}  // namespace detail

static_assert(sizeof(AnyValue) == 16 && sizeof(AnyView) == 16, "a value is two words");

// ---- traits of AnyView and AnyValue ----

template <>
struct Traits<AnyView> {
  static constexpr FixedText name{"Any"};
  static constexpr uint64_t type_mask = detail::kEveryType;
  static constexpr bool kBorrows = true;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsSteady = true;
  using Holder = AnyView;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch&) {
    holder = AnyView(value);
    return true;
  }
  static AnyView take(Holder& holder) { return holder; }
  static AnyffiValue borrow(AnyView value) { return value.raw(); }
  static AnyffiValue store(AnyView value) { return AnyValue(value).release(); }
};

template <>
struct Traits<AnyValue> {
  static constexpr FixedText name{"Any"};
  static constexpr uint64_t type_mask = detail::kEveryType;
  static constexpr bool kBorrows = true;
  static constexpr bool kOutlivesHolder = true;
  static constexpr bool kIsSteady = true;
  using Holder = AnyValue;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    if (value.type_code > 0 && (value.aux & ANYFFI_MOVABLE) && value.type_code != ANYFFI_BOX) {
      value.aux = 0;
      *holder.out() = value;
      value = AnyffiValue{};
      return true;
    }
    if (anyffi_value_own(&value, holder.out()) == 0) return true;
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
  }
  static AnyValue take(Holder& holder) { return std::move(holder); }
  static AnyffiValue borrow(const AnyValue& value) { return value.raw(); }
  static AnyffiValue store(AnyValue value) { return value.release(); }
};

// ---- text by pointer ----

namespace detail {

/// Accepts text only, as UTF-8: views ASCII directly, and encodes other text into `encoded`.
inline bool load_utf8(const AnyffiValue& given, AnyValue& encoded, AnyffiTextView& text, AnyffiMismatch& why) {
  return anyffi_load_utf8(&given, encoded.out(), &text, &why) != 0;
}

template <>
inline constexpr bool kTakesUtf8<const char*> = true;

}  // namespace detail

/// UTF-8, valid during the call; ASCII is not copied. ValueError for an embedded NUL or a lone surrogate. NULL as a
/// result becomes None.
template <>
struct Traits<const char*> {
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  struct Holder {
    AnyValue encoded;
    const char* text = nullptr;
  };
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    AnyffiTextView text;
    if (!detail::load_utf8(given, holder.encoded, text, why)) return false;
    holder.text = static_cast<const char*>(text.data);
    if (__builtin_strlen(holder.text) == static_cast<size_t>(text.length)) return true;
    // The error message shows the text itself.
    bool is_utf8 = anyffi_is_utf8(&given) && anyffi_str_from_utf8(holder.text, text.length, holder.encoded.out()) == 0;
    const AnyffiValue& refused = is_utf8 ? holder.encoded.raw() : detail::unboxed(given);
    return detail::refuse(why, refused, name, ANYFFI_MISMATCH_VALUE, "embedded null character");
  }
  static const char* take(Holder& holder) { return holder.text; }
  static AnyffiValue store(const char* utf8) {
    AnyffiValue value{};
    if (!utf8) return value;
    detail::check(anyffi_str_from_utf8(utf8, static_cast<int64_t>(__builtin_strlen(utf8)), &value));
    return value;
  }
};

template <int N>
struct Traits<char[N]> : Traits<const char*> {
  /// Reads up to the first NUL, or all N characters of a data member without one.
  static AnyffiValue store(const char (&utf8)[N]) {
    AnyffiValue value{};
    auto* end = static_cast<const char*>(__builtin_memchr(utf8, 0, N));
    detail::check(anyffi_str_from_utf8(utf8, end ? end - utf8 : N, &value));
    return value;
  }
};

// ---- operations without a static type ----

inline int64_t AnyView::size() const {
  if (raw_.type_code == ANYFFI_LIST || raw_.type_code == ANYFFI_ARRAY) {
    return reinterpret_cast<const AnyffiSequence*>(raw_.as_object)->size;
  }
  if (anyffi_is_str(raw_.type_code)) {
    AnyffiTextView text;
    anyffi_view_text(&raw_, &text);
    return text.length;
  }
  int64_t result;
  detail::check(anyffi_value_get_size(&raw_, &result));
  return result;
}

inline AnyValue AnyView::get_item(AnyView key) const {
  AnyValue result;
  detail::check(anyffi_value_get_item(&raw_, &key.raw_, result.out()));
  return result;
}

namespace detail {

template <class T>
__attribute__((noinline)) T convert_owned_number(const AnyffiValue& owned) {
  AnyValue value(Adopt{}, owned);
  return value.cast<T>();
}

/// An element of a container, as an owned value.
inline AnyValue element_value(const AnyffiValue& element) {
  AnyffiValue copy = anyffi_read_value(&element);
  // Inline values take the path without a jump; next to the atomic increment for an object, a jump costs nothing.
  if (__builtin_expect(copy.type_code > 0, 0)) {
    anyffi_retain(copy.as_object);
    copy.aux = 0;
  }
  return AnyValue(Adopt{}, copy);
}

/// The slow path of `get_at`: values that are not sequences or text, and negative indices. Returns in registers, so
/// that the fast path needs no memory either.
__attribute__((noinline)) inline AnyffiValue get_item_slow(const AnyffiValue& value, int64_t index) {
  AnyffiValue key = anyffi_make_int(index), item;
  check(anyffi_value_get_item(&value, &key, &item));
  return item;
}

}  // namespace detail

inline AnyValue AnyView::get_at(int64_t index) const {
  if (raw_.type_code == ANYFFI_LIST || raw_.type_code == ANYFFI_ARRAY) {
    auto* sequence = reinterpret_cast<const AnyffiSequence*>(raw_.as_object);
    if (static_cast<uint64_t>(index) < static_cast<uint64_t>(sequence->size)) {
      return detail::element_value(sequence->data[index]);
    }
  }
  if (anyffi_is_str(raw_.type_code)) {
    AnyffiTextView text;
    anyffi_view_text(&raw_, &text);
    if (static_cast<uint64_t>(index) < static_cast<uint64_t>(text.length)) {
      return AnyValue(detail::Adopt{}, anyffi_make_char(anyffi_get_code_point(&text, index)));
    }
  }
  return AnyValue(detail::Adopt{}, detail::get_item_slow(raw_, index));
}

template <class Key>
AnyValue AnyView::operator[](const Key& key) const {
  if constexpr (std::is_integral_v<Key> && !std::is_same_v<Key, bool> && !detail::kIsCharacter<Key>) {
    return get_at(static_cast<int64_t>(key));
  } else if constexpr (Traits<Key>::kBorrows) {
    return get_item(AnyView(Traits<Key>::borrow(key)));
  } else {
    return get_item(AnyValue(key));
  }
}

inline void AnyView::push_back(AnyView value) const {
  if (raw_.type_code != ANYFFI_LIST) {
    AnyffiMismatch why;
    detail::refuse(why, raw_, "List");
    detail::throw_mismatch(why);
  }
  auto* sequence = reinterpret_cast<AnyffiSequence*>(raw_.as_object);
  detail::check(anyffi_sequence_insert(raw_.as_object, sequence->size, &value.raw_));
}

namespace detail {

/// Iterates over any value as Python does: over the keys of a mapping, the elements of a set, everything else by index.
/// Reads the end in each step, since the container may change.
template <class Derived>
class AnyIterator {
 public:
  AnyIterator(Derived value, int64_t index) : value_(value), index_(index) { skip(); }
  AnyValue operator*() const {
    const AnyffiMapping* entries = entries_of(value_.raw());
    return entries ? AnyValue(AnyView(entries->entries[index_].key)) : value_[index_];
  }
  AnyIterator& operator++() {
    ++index_;
    skip();
    return *this;
  }
  bool operator!=(int64_t) const {
    const AnyffiMapping* entries = entries_of(value_.raw());
    return index_ < (entries ? entries->used : value_.size());
  }

 private:
  void skip() {
    if (const AnyffiMapping* entries = entries_of(value_.raw())) index_ = next_entry(entries, index_);
  }
  Derived value_;
  int64_t index_;
};

}  // namespace detail

inline detail::AnyIterator<AnyView> AnyView::begin() const { return {*this, 0}; }

}  // namespace anyffi

#endif  // ANYFFI_ANY_H_
