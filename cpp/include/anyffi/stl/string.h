/// \file
/// Conversions of std::string and std::string_view: Python's str, as UTF-8.
#ifndef ANYFFI_STL_STRING_H_
#define ANYFFI_STL_STRING_H_

#include <anyffi/detail/items_writer.h>
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
    AnyffiTextView text;
    if (!detail::load_utf8(given, holder.encoded, text, why)) return false;
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

namespace detail {

template <>
inline constexpr uint64_t kExactTypes<std::string_view> = type_bits(ANYFFI_STR, ANYFFI_STR_OBJECT);
template <>
inline constexpr uint64_t kExactTypes<std::string> = kExactTypes<std::string_view>;

/// Sets an empty string, with fewer instructions than `assign`, which allows for former text.
__attribute__((noinline)) inline void fill_string(std::string& empty, const char* text, size_t size) {
  // Tells the compiler that no check for a null pointer is needed.
  if (!text && size > 0) __builtin_unreachable();
  empty = std::string(text, size);
}

/// The same with text that may have to be encoded.
__attribute__((noinline)) inline bool fill_encoded(std::string& empty, AnyffiValue& given, AnyffiMismatch& why) {
  AnyValue encoded;
  AnyffiTextView text;
  if (!load_utf8(given, encoded, text, why)) return false;
  fill_string(empty, static_cast<const char*>(text.data), static_cast<size_t>(text.length));
  return true;
}

/// Whether all bytes are below 0x80. Without a branch within each block of 64 bytes.
inline bool is_ascii(const char* text, size_t size) {
  size_t i = 0;
  uint64_t high = 0;
  for (; i + 64 <= size && !(high & 0x8080808080808080); i += 64) {
    uint64_t words[8];
    __builtin_memcpy(words, text + i, sizeof(words));
    for (uint64_t word : words) high |= word;
  }
  for (; i < size; ++i) high |= static_cast<unsigned char>(text[i]);
  return !(high & 0x8080808080808080);
}

/// The maximum size of a view of text.
constexpr size_t kMaxViewed = (size_t{1} << 30) - 1;

/// A string object that takes over the memory of a std::string, for results that are too large to copy.
struct AdoptedString {
  AnyffiStrObject base;
  std::string text;

  static void destroy(AnyffiObject* self, int32_t what) {
    auto* adopted = reinterpret_cast<AdoptedString*>(self);
    if (what & ANYFFI_DELETE_CONTENTS) adopted->text.~basic_string();
    if (what & ANYFFI_DELETE_MEMORY) anyffi_free(self);
  }
};

/// From this size on, adopting saves more than the scan costs.
constexpr size_t kMinAdopted = 4096;

/// A string object that takes over the memory of a large text, if that is ASCII; otherwise a copy.
__attribute__((noinline)) inline AnyffiValue store_large(std::string&& text) {
  if (!is_ascii(text.data(), text.size())) return Traits<std::string_view>::store(text);
  void* memory = anyffi_alloc(sizeof(AdoptedString));
  if (!memory) throw_no_memory();
  auto* adopted = new (memory) AdoptedString{{}, std::move(text)};
  adopted->base.header = AnyffiObject{ANYFFI_STR_OBJECT, 1, 1, &AdoptedString::destroy, nullptr};
  adopted->base.length = static_cast<int64_t>(adopted->text.size());
  adopted->base.encoding = ANYFFI_ASCII;
  adopted->base.data = adopted->text.data();
  return object_value(&adopted->base.header);
}

}  // namespace detail

/// NUL is data. UnicodeDecodeError for a result that is not UTF-8.
template <>
struct Traits<std::string> {
  static constexpr bool kIsSteady = true;
  static constexpr bool kLoadsQuietly = true;
  static constexpr bool kIsWritten = false;
  static constexpr bool kWritesItems = true;
  static constexpr FixedText name{"str"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kIsLoadedInPlace = true;
  static constexpr bool kOutlivesHolder = true;
  using Holder = std::string;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    if (given.type_code == ANYFFI_STR_VIEW && (given.aux & 3) == ANYFFI_ASCII) {
      detail::fill_string(holder, static_cast<const char*>(given.as_pointer), given.aux >> 2);
      return true;
    }
    if (given.type_code == ANYFFI_STR) {
      AnyffiTextView text;
      anyffi_view_text(&given, &text);
      if (__builtin_expect(text.encoding == ANYFFI_ASCII, 1)) {
        detail::fill_string(holder, static_cast<const char*>(text.data), static_cast<size_t>(text.length));
        return true;
      }
    }
    return detail::fill_encoded(holder, given, why);
  }
  static std::string take(Holder& holder) { return std::move(holder); }
  static AnyffiValue store(std::string_view utf8) { return Traits<std::string_view>::store(utf8); }
  static AnyffiValue store(std::string&& utf8) {
    return utf8.size() >= detail::kMinAdopted ? detail::store_large(std::move(utf8)) : store(std::string_view(utf8));
  }
  /// A view of ASCII text, valid as long as the string. Inline and other text is stored as by `store`.
  static AnyffiValue view(const std::string& utf8) {
    size_t size = utf8.size();
    bool is_view = size > ANYFFI_INLINE_BYTES && size <= detail::kMaxViewed && detail::is_ascii(utf8.data(), size);
    return is_view ? anyffi_make_ascii_view(utf8.data(), static_cast<uint32_t>(size)) : store(std::string_view(utf8));
  }
  static void write(detail::ItemsWriter& writer, const std::string& utf8) {
    if (utf8.size() > detail::kMaxViewed) return writer.decline();
    writer.put(anyffi_make_utf8(utf8.data(), static_cast<uint32_t>(utf8.size())));
  }
};

namespace detail {
// Not members of the traits: other traits derive from them, and have a `store` of their own.
template <>
inline constexpr bool kIsWritten<std::string> = true;
/// Short text is faster stored inline, and most text is short.
template <>
inline bool write_whole(const std::string& text, AnyffiValue* result) {
  if (text.size() <= ANYFFI_INLINE_BYTES || text.size() > kMaxViewed) return false;
  AnyffiValue value = anyffi_make_utf8(text.data(), static_cast<uint32_t>(text.size()));
  void* made = nullptr;
  if (anyffi_items_write(&made, &value, 1) != 1) return false;
  *result = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), reinterpret_cast<uintptr_t>(made));
  return true;
}

template <>
inline constexpr bool kIsView<std::string_view> = true;
template <>
inline constexpr bool kTakesUtf8<std::string_view> = true;
template <>
inline constexpr bool kTakesUtf8<std::string> = true;
template <>
inline constexpr bool kIsPassedAsView<std::string> = true;
template <class T>
inline constexpr bool kIncludes<Missing::kString, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_STRING_H_
