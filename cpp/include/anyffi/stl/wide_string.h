/// \file
/// Conversions of std::wstring, std::u16string, std::u32string, std::u8string and views of them: Python's str.
#ifndef ANYFFI_STL_WIDE_STRING_H_
#define ANYFFI_STL_WIDE_STRING_H_

#include <anyffi/stl/string.h>

namespace anyffi {

namespace detail {

template <class C>
constexpr bool kIsWide = kIsCharacter<C> && sizeof(C) >= 2;

/// Appends a code point as one or two units of UTF-16, or as one of UTF-32.
template <class C>
void append_code_point(std::basic_string<C>& text, uint32_t code_point) {
  if (sizeof(C) == 2 && code_point > 0xFFFF) {
    text.push_back(static_cast<C>(0xD800 + ((code_point - 0x10000) >> 10)));
    text.push_back(static_cast<C>(0xDC00 + (code_point & 0x3FF)));
  } else {
    text.push_back(static_cast<C>(code_point));
  }
}

/// Decodes UTF-16. A lone surrogate is kept, as in Python's str.
inline std::u32string decode_utf16(const char16_t* text, size_t size) {
  std::u32string decoded;
  decoded.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    char32_t unit = text[i];
    bool is_pair = (unit & 0xFC00) == 0xD800 && i + 1 < size && (text[i + 1] & 0xFC00) == 0xDC00;
    decoded.push_back(is_pair ? 0x10000 + ((unit & 0x3FF) << 10) + (text[++i] & 0x3FF) : unit);
  }
  return decoded;
}

}  // namespace detail

/// NUL and lone surrogates are data. ValueError for a result with a code point above U+10FFFF.
template <class C>
struct Traits<std::basic_string<C>, std::enable_if_t<detail::kIsWide<C>>> {
  static constexpr bool kIsSteady = true;
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  using Holder = std::basic_string<C>;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    if (!anyffi_is_str(value.type_code)) return detail::refuse(why, value, name);
    AnyffiTextView text;
    anyffi_view_text(&value, &text);
    holder.reserve(static_cast<size_t>(text.length));
    for (int64_t i = 0; i < text.length; ++i) detail::append_code_point(holder, anyffi_get_code_point(&text, i));
    return true;
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& text) {
    AnyffiValue value;
    if constexpr (sizeof(C) == 2) {
      std::u32string decoded = detail::decode_utf16(reinterpret_cast<const char16_t*>(text.data()), text.size());
      detail::check(anyffi_str_create(decoded.data(), static_cast<int64_t>(decoded.size()), ANYFFI_UCS4, &value));
    } else {
      detail::check(anyffi_str_create(text.data(), static_cast<int64_t>(text.size()), ANYFFI_UCS4, &value));
    }
    return value;
  }
};

#ifdef __cpp_char8_t
/// As a std::string.
template <>
struct Traits<std::u8string> : Traits<std::string> {
  using Holder = std::u8string;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    std::string text;
    if (!Traits<std::string>::load(given, text, why)) return false;
    holder.assign(text.begin(), text.end());
    return true;
  }
  static Holder take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(const Holder& text) {
    return Traits<std::string_view>::store({reinterpret_cast<const char*>(text.data()), text.size()});
  }
};
#endif

/// A view of a copy, valid during the call.
template <class C>
struct Traits<std::basic_string_view<C>,
              std::enable_if_t<detail::HasTraits<std::basic_string<C>>::value && !std::is_same_v<C, char>>>
    : Traits<std::basic_string<C>> {
  static constexpr bool kOutlivesHolder = false;
  using Text = std::basic_string<C>;
  static std::basic_string_view<C> take(Text& holder) { return holder; }
  static AnyffiValue store(std::basic_string_view<C> text) { return Traits<Text>::store(Text(text)); }
};

namespace detail {
template <class C>
inline constexpr bool kIsView<std::basic_string_view<C>> = true;
template <class T>
inline constexpr bool kIncludes<Missing::kWideString, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_WIDE_STRING_H_
