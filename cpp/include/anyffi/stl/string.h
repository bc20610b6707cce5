/// \file
/// Conversions of std::string and std::string_view: Python's str, as UTF-8.
#ifndef ANYFFI_STL_STRING_H_
#define ANYFFI_STL_STRING_H_

#include <anyffi/string.h>

#include <string>
#include <string_view>

namespace anyffi {

/// A view of an argument's text, valid during the call; ASCII without a copy. UnicodeEncodeError for a lone surrogate.
template <>
struct Traits<std::string_view> {
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;  // surrogates cannot be encoded
  static constexpr bool kBorrows = false;
  struct Holder {
    AnyValue encoded;
    std::string_view text;
  };
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    const AnyffiValue& value = detail::unboxed(given);
    if (!detail::load_utf8(value, holder.encoded, why)) return false;
    const AnyffiValue& source = holder.encoded.is_none() ? value : holder.encoded.raw();
    AnyffiTextView text;
    anyffi_value_get_text_view(&source, &text);
    holder.text = {static_cast<const char*>(text.data), static_cast<size_t>(text.length)};
    return true;
  }
  static std::string_view take(Holder& holder) { return holder.text; }
  static AnyffiValue store(std::string_view utf8) {
    AnyffiValue value;
    detail::check(anyffi_str_from_utf8(utf8.data(), static_cast<int64_t>(utf8.size()), &value));
    return value;
  }
};

/// NUL is data. UnicodeDecodeError for a result that is not UTF-8.
template <>
struct Traits<std::string> {
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kOutlivesHolder = true;
  using Holder = std::string;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    Traits<std::string_view>::Holder view;
    if (!Traits<std::string_view>::load(given, view, why)) return false;
    holder = view.text;
    return true;
  }
  static std::string take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(std::string_view utf8) { return Traits<std::string_view>::store(utf8); }
};

namespace detail {
template <>
inline constexpr bool kIsView<std::string_view> = true;
template <class T>
inline constexpr bool kIncludes<Missing::kString, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_STRING_H_
