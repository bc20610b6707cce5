/// \file
/// Parses the tokens of JSON: text, numbers, punctuation.
#ifndef ANYFFI_SRC_STRUCTURE_JSON_SCANNER_H_
#define ANYFFI_SRC_STRUCTURE_JSON_SCANNER_H_

#include <anyffi/inline.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// Reads text from start to end. Functions that return bool raise a ValueError with the position, and return false.
class JsonScanner {
 public:
  /// UTF-8, followed by a zero byte.
  JsonScanner(const char* text, size_t size) noexcept : begin_(text), at_(text), end_(text + size) {}

  size_t position() const noexcept { return static_cast<size_t>(at_ - begin_); }
  /// Raises ValueError with `message` and a position in the text. Always false.
  bool fail(const char* message, size_t position) const noexcept;
  bool fail(const char* message) const noexcept { return fail(message, position()); }

  /// The next character that is no white space; 0 at the end.
  char peek() noexcept {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') ++at_;
    return *at_;
  }
  bool accept(char c) noexcept {
    if (peek() != c || at_ == end_) return false;
    ++at_;
    return true;
  }
  bool is_next(const char* word) const noexcept;
  bool expect(char c) noexcept;
  bool expect_word(const char* word) noexcept;
  bool expect_end() noexcept;
  /// After an element: sets whether another one follows in the list or object that `closing` ends.
  bool next(char closing, bool* out_more) noexcept;

  /// Reads a string as UTF-8. The result points into the text, or into `buffer` if there are escapes.
  bool read_text(const char** out, size_t* out_size);
  /// Reads a string as a value.
  bool read_str(AnyffiValue* out);
  /// Reads a number: a Float if it has a fraction or an exponent, else an Int.
  bool read_number(AnyffiValue* out);
  bool read_int(int64_t* out) noexcept;
  /// Skips one value of any kind and depth.
  bool skip();

 private:
  bool scan_number(bool* out_is_int) noexcept;
  bool skip_text() noexcept;
  bool read_escapes();
  bool read_hex4(uint32_t* out) noexcept;
  void put_utf8(uint32_t c);

  const char* begin_;
  const char* at_;
  const char* end_;
  String buffer_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_JSON_SCANNER_H_
