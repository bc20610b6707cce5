/// \file
/// Tokens of a text, and of a stream of UTF-8 in chunks of any size.
#ifndef TEXT_STREAM_H_
#define TEXT_STREAM_H_

#include <cstring>
#include <string>

#include "characters.h"

namespace text {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Bytes;
using anyffi::String;

/// Creates tokens from parts of a text: inline if they fit, else as views of one-byte text.
class Cutter {
 public:
  explicit Cutter(const AnyffiTextView& text) : text_(text) {}
  /// The token is valid until the next call.
  AnyView operator()(int64_t start, int64_t stop) {
    int64_t length = stop - start;
    const char* data = static_cast<const char*>(text_.data) + (start << anyffi_encoding_shift(text_.encoding));
    if (length <= ANYFFI_INLINE_BYTES) {
      char copy[ANYFFI_INLINE_BYTES];
      const char* ascii = text_.encoding == ANYFFI_ASCII ? data : copy_ascii(start, length, copy);
      auto size = static_cast<uint32_t>(length);
      if (ascii) return AnyView(anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, ascii, size, size));
    }
    if (text_.encoding <= ANYFFI_LATIN1 && length > ANYFFI_INLINE_BYTES && length < kLongestView) {
      AnyffiValue view{};
      view.type_code = ANYFFI_STR_VIEW;
      view.aux = static_cast<uint32_t>(length << 2 | text_.encoding);
      view.as_pointer = const_cast<char*>(data);
      return AnyView(view);
    }
    made_ = String(data, length, text_.encoding);
    return made_;
  }

 private:
  /// NULL unless the whole text is ASCII.
  const char* copy_ascii(int64_t start, int64_t length, char* copy) const {
    uint32_t seen = 0;
    for (int64_t i = 0; i < length; ++i) {
      uint32_t c = anyffi_get_code_point(&text_, start + i);
      copy[i] = static_cast<char>(c);
      seen |= c;
    }
    return seen < 0x80 ? copy : nullptr;
  }

  static constexpr int64_t kLongestView = int64_t{1} << 30;
  AnyffiTextView text_;
  String made_;
};

/// Calls `emit(start, stop)` for the tokens from `start` on, except one that reaches the end: returns the start of that
/// token, or the end.
template <class Unit, class Emit>
int64_t scan_units(const Unit* units, int64_t start, int64_t end, const Rule& rule, Emit& emit) {
  using Wide = std::conditional_t<sizeof(Unit) == 1, uint8_t, uint32_t>;
  for (int64_t i = start; i < end;) {
    Class first = rule(static_cast<Wide>(units[i]));
    int64_t begin = i++;
    if (first == kSpace) continue;
    if (first == kPart) {
      while (i < end && rule(static_cast<Wide>(units[i])) == kPart) ++i;
      if (i == end) return begin;
    }
    emit(begin, i);
  }
  return end;
}

template <class Emit>
int64_t scan(const AnyffiTextView& text, int64_t start, const Rule& rule, Emit emit) {
  if (text.encoding <= ANYFFI_LATIN1) {
    return scan_units(static_cast<const uint8_t*>(text.data), start, text.length, rule, emit);
  }
  if (text.encoding == ANYFFI_UCS2) {
    return scan_units(static_cast<const uint16_t*>(text.data), start, text.length, rule, emit);
  }
  return scan_units(static_cast<const uint32_t*>(text.data), start, text.length, rule, emit);
}

/// Keeps the incomplete end of a chunk: the bytes of a character, and a token that may continue.
class Stream {
 public:
  explicit Stream(const Rule& rule) : rule_(rule) {}

  /// Calls `emit(token)` for each complete token, with an AnyView that is valid during the call.
  template <class Emit>
  void feed(const Bytes& chunk, Emit emit) {
    String decoded = decode(chunk);
    AnyffiTextView text = decoded.text();
    int64_t start = 0;
    if (!open_.empty()) {
      while (start < text.length && rule_(anyffi_get_code_point(&text, start)) == kPart) ++start;
      if (start > 0) open_ = open_ + decoded.slice(0, start);
      if (start == text.length) return;
      emit(AnyView(std::exchange(open_, String())));
    }
    Cutter cut(text);
    start = scan(text, start, rule_, [&](int64_t begin, int64_t end) { emit(cut(begin, end)); });
    open_ = decoded.slice(start);
  }

  /// Ends the text, and with it the last token.
  template <class Emit>
  void finish(Emit emit) {
    // Raises UnicodeDecodeError for an incomplete character.
    String(half_, std::exchange(half_size_, 0));
    if (!open_.empty()) emit(AnyView(std::exchange(open_, String())));
  }

 private:
  String decode(const Bytes& chunk) {
    auto* data = reinterpret_cast<const char*>(chunk.data());
    int64_t size = chunk.size();
    std::string joined;
    if (half_size_ > 0) {
      joined.reserve(static_cast<size_t>(half_size_ + size));
      joined.append(half_, static_cast<size_t>(half_size_)).append(data, static_cast<size_t>(size));
      data = joined.data();
      size += half_size_;
    }
    int64_t whole = size - count_half(data, size);
    String decoded(data, whole);
    half_size_ = size - whole;
    std::memcpy(half_, data + whole, static_cast<size_t>(half_size_));
    return decoded;
  }

  /// The number of bytes at the end that start an incomplete character.
  static int64_t count_half(const char* data, int64_t size) {
    for (int64_t back = 1; back <= 3 && back <= size; ++back) {
      auto byte = static_cast<uint8_t>(data[size - back]);
      if (byte < 0x80) return 0;
      if (byte >= 0xC0) return back < (byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0) ? back : 0;
    }
    return 0;
  }

  const Rule& rule_;
  String open_;
  char half_[4];
  int64_t half_size_ = 0;
};

}  // namespace text

#endif  // TEXT_STREAM_H_
