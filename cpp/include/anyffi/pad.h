/// \file
/// AnyPad<N>: a value with inline storage for longer text.
#ifndef ANYFFI_PAD_H_
#define ANYFFI_PAD_H_

#include <anyffi/object.h>

namespace anyffi {

/// A value that stores text and bytes of up to N words (including a terminating zero) inline, without heap memory or
/// refcounts; other values as AnyValue does. An AnyView of it is valid until the pad is assigned or destroyed; an
/// AnyValue made from it is a copy.
template <int N>
class AnyPad {
  static_assert(N > 0, "anyffi: AnyPad<N> needs N > 0: use AnyValue");

 public:
  AnyPad() noexcept : value_{} {}
  /// From UTF-8; ASCII that fits is copied without decoding.
  AnyPad(const char* utf8) : AnyPad(utf8, static_cast<int64_t>(__builtin_strlen(utf8))) {}  // NOLINT: implicit
  AnyPad(const char* utf8, int64_t size) : value_{} {
    AnyffiTextView text{utf8, size, ANYFFI_ASCII, 0};
    if (size > ANYFFI_INLINE_BYTES && is_ascii(utf8, size) && keep(text, ANYFFI_STR_VIEW)) return;
    AnyValue decoded;
    detail::check(anyffi_str_from_utf8(utf8, size, decoded.out()));
    detail::check(set(decoded.raw()));
  }
  AnyPad(const AnyView& view) : value_{} { detail::check(set(view.raw())); }  // NOLINT: implicit
  template <class T, std::enable_if_t<!std::is_same_v<Bare<T>, AnyPad> && !std::is_convertible_v<T, const char*> &&
                                          detail::kIsForeign<Bare<T>>,
                                      int> = 0>
  AnyPad(T&& value) : AnyPad(static_cast<const AnyView&>(AnyValue(std::forward<T>(value)))) {}  // NOLINT: implicit
  AnyPad(const AnyPad& other) : AnyPad(AnyView(other.value_)) {}
  AnyPad& operator=(const AnyPad& other) {
    detail::check(set(other.value_));
    return *this;
  }
  ~AnyPad() { anyffi_value_drop(&value_); }

  const AnyffiValue& raw() const noexcept { return value_; }

  /// Copies a value, which may point into this pad. Nonzero, with an error set, if memory is exhausted.
  int set(const AnyffiValue& value) noexcept {
    AnyffiValue former = value_;
    AnyffiTextView text;
    bool is_text = anyffi_value_get_text_view(&value, &text) == 0;
    int32_t view = anyffi_is_str(value.type_code) ? ANYFFI_STR_VIEW : ANYFFI_BYTES_VIEW;
    if (!is_text || (text.length << anyffi_encoding_shift(text.encoding)) <= ANYFFI_INLINE_BYTES || !keep(text, view)) {
      AnyffiValue owned;
      if (anyffi_value_own(&value, &owned) != 0) return -1;
      value_ = owned;
    }
    anyffi_value_drop(&former);
    return 0;
  }

 private:
  static bool is_ascii(const char* text, int64_t size) noexcept {
    unsigned char all = 0;
    for (int64_t i = 0; i < size; ++i) all |= static_cast<unsigned char>(text[i]);
    return all < 0x80;
  }
  /// Copies text if it fits, without releasing the former value.
  bool keep(const AnyffiTextView& text, int32_t view_code) noexcept {
    int shift = anyffi_encoding_shift(text.encoding);
    if (text.length >= int64_t{N} * 8 >> shift) return false;
    auto size = static_cast<size_t>(text.length) << shift;
    __builtin_memmove(pad_, text.data, size);
    __builtin_memset(reinterpret_cast<char*>(pad_) + size, 0, size_t{1} << shift);
    uint32_t encoding = view_code == ANYFFI_STR_VIEW ? static_cast<uint32_t>(text.encoding) : 0;
    value_.type_code = view_code;
    value_.aux = static_cast<uint32_t>(text.length) << 2 | encoding;
    value_.as_pointer = pad_;
    return true;
  }

  AnyffiValue value_; /* a view of `pad_`, or owned */
  uint64_t pad_[N];
};

template <int N>
struct Traits<AnyPad<N>> {
  static constexpr FixedText name{"Any"};
  static constexpr uint64_t type_mask = detail::kEveryType;
  static constexpr bool kBorrows = true;
  using Holder = AnyPad<N>;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    return holder.set(value) == 0 || detail::refuse(why, value, name, ANYFFI_MISMATCH_RAISED);
  }
  static const AnyPad<N>& take(Holder& holder) { return holder; }
  static AnyffiValue borrow(const AnyPad<N>& pad) { return pad.raw(); }
  static AnyffiValue store(const AnyPad<N>& pad) { return AnyValue(AnyView(pad)).release(); }
};

}  // namespace anyffi

#endif  // ANYFFI_PAD_H_
