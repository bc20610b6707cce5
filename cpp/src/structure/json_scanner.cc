/// \file
/// Parses the tokens of JSON.
#include "structure/json_scanner.h"

#include <charconv>
#include <cstring>

#include "core/errors.h"

namespace anyffi::runtime {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr const char* kNames = "\"\\/bfnrt"; /* of escapes */

/// Whether a character needs no special treatment in a string: not a quote, backslash or control character.
bool is_plain(char c) noexcept { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; }

}  // namespace

bool JsonScanner::fail(const char* message, size_t position) const noexcept {
  // Counts characters for the error message; the text may have fewer characters than bytes.
  size_t characters = 0;
  for (size_t i = 0; i < position && begin_ + i < end_; ++i) characters += (begin_[i] & 0xC0) != 0x80;
  raise_format("ValueError", "%s, at position %zu", message, characters);
  return false;
}

bool JsonScanner::expect(char c) noexcept {
  if (accept(c)) return true;
  char message[] = "expected '?'";
  message[10] = c;
  return at_ >= end_ ? fail("the text ends too early") : fail(message);
}

bool JsonScanner::is_next(const char* word) const noexcept {
  size_t size = std::strlen(word);
  return static_cast<size_t>(end_ - at_) >= size && std::memcmp(at_, word, size) == 0;
}

bool JsonScanner::expect_word(const char* word) noexcept {
  if (!is_next(word)) return fail("expected a value");
  at_ += std::strlen(word);
  return true;
}

bool JsonScanner::expect_end() noexcept {
  peek();
  return at_ == end_ || fail("expected the end of the text");
}

bool JsonScanner::next(char closing, bool* out_more) noexcept {
  *out_more = accept(',');
  return *out_more || expect(closing);
}

bool JsonScanner::read_hex4(uint32_t* out) noexcept {
  *out = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    char c = *at_;
    int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return fail("expected four hexadecimal digits");
    *out = *out << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}

void JsonScanner::put_utf8(uint32_t c) {
  if (c < 0x80) {
    buffer_ += static_cast<char>(c);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  buffer_ += static_cast<char>(kFirst[more] | c >> (6 * more));
  while (more-- > 0) buffer_ += static_cast<char>(0x80 | (c >> (6 * more) & 0x3F));
}

/// Reads one or more escapes, from after the backslash.
bool JsonScanner::read_escapes() {
  char c = *at_++;
  constexpr const char* kValues = "\"\\/\b\f\n\r\t";
  const char* found = c == 0 ? nullptr : std::strchr(kNames, c);
  if (found != nullptr) return buffer_ += kValues[found - kNames], true;
  if (c != 'u') return --at_, fail("unknown escape");
  uint32_t unit, low;
  if (!read_hex4(&unit)) return false;
  if (unit - 0xD800u < 0x400u && at_[0] == '\\' && at_[1] == 'u') {
    at_ += 2;
    if (!read_hex4(&low)) return false;
    if (low - 0xDC00u >= 0x400u) return fail("half of a surrogate pair");
    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
  }
  if (unit - 0xD800u < 0x800u) return fail("half of a surrogate pair");
  put_utf8(unit);
  return true;
}

bool JsonScanner::read_text(const char** out, size_t* out_size) {
  if (!expect('"')) return false;
  const char* from = at_;
  while (is_plain(*at_)) ++at_;
  if (*at_ == '"') {
    *out = from;
    *out_size = static_cast<size_t>(at_++ - from);
    return true;
  }
  buffer_.assign(from, at_);
  for (;;) {
    from = at_;
    while (is_plain(*at_)) ++at_;
    buffer_.append(from, at_);
    if (*at_ == '"') break;
    if (at_ >= end_) return fail("the text ends inside of a string");
    if (*at_ != '\\') return fail("a control character inside of a string");
    ++at_;
    if (!read_escapes()) return false;
  }
  ++at_;
  *out = buffer_.data();
  *out_size = buffer_.size();
  return true;
}

bool JsonScanner::read_str(AnyffiValue* out) {
  const char* text;
  size_t size;
  return read_text(&text, &size) && anyffi_str_from_utf8(text, static_cast<int64_t>(size), out) == 0;
}

bool JsonScanner::scan_number(bool* out_is_int) noexcept {
  if (*at_ == '-') ++at_;
  const char* digits = at_;
  while (is_digit(*at_)) ++at_;
  if (at_ == digits) return fail("expected a value");
  if (*digits == '0' && at_ - digits > 1) return fail("a number begins with 0", static_cast<size_t>(digits - begin_));
  *out_is_int = true;
  if (*at_ == '.') {
    *out_is_int = false;
    if (!is_digit(*++at_)) return fail("expected digits");
    while (is_digit(*at_)) ++at_;
  }
  if (*at_ == 'e' || *at_ == 'E') {
    *out_is_int = false;
    ++at_;
    if (*at_ == '+' || *at_ == '-') ++at_;
    if (!is_digit(*at_)) return fail("expected digits");
    while (is_digit(*at_)) ++at_;
  }
  return true;
}

bool JsonScanner::read_number(AnyffiValue* out) {
  const char* from = at_;
  auto position = static_cast<size_t>(from - begin_);
  bool is_int;
  if (!scan_number(&is_int)) return false;
  if (is_int) {
    *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_INT), 0);
    if (std::from_chars(from, at_, out->as_int).ec == std::errc()) return true;
    return fail("an integer of more than 64 bits is written as {\"int\": \"0x...\"}", position);
  }
  *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_FLOAT), 0);
  if (std::from_chars(from, at_, out->as_float).ec == std::errc()) return true;
  return fail("a number is too large or too small for a double", position);
}

bool JsonScanner::read_int(int64_t* out) noexcept {
  AnyffiValue number;
  peek();
  size_t position = this->position();
  if (!read_number(&number)) return false;
  if (number.type_code != ANYFFI_INT) return fail("expected an integer", position);
  *out = number.as_int;
  return true;
}

/// Skips a string, which may contain lone surrogates.
bool JsonScanner::skip_text() noexcept {
  if (!expect('"')) return false;
  for (;;) {
    while (is_plain(*at_)) ++at_;
    if (*at_ == '"') return ++at_, true;
    if (at_ >= end_) return fail("the text ends inside of a string");
    if (*at_ != '\\') return fail("a control character inside of a string");
    char c = *++at_;
    uint32_t unit;
    if (c == 'u') {
      ++at_;
      if (!read_hex4(&unit)) return false;
    } else if (c == 0 || std::strchr(kNames, c) == nullptr) {
      return fail("unknown escape");
    } else {
      ++at_;
    }
  }
}

bool JsonScanner::skip() {
  Vector<char> open;
  bool is_int;
  for (;;) {
    bool ok = true;
    char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      open.push_back(c == '{' ? '}' : ']');
      if (accept(open.back())) {
        open.pop_back();
      } else {
        if (open.back() == '}' && (!skip_text() || !expect(':'))) return false;
        continue;
      }
    } else if (c == '"') {
      ok = skip_text();
    } else if (c == 't' || c == 'f' || c == 'n') {
      ok = expect_word(c == 't' ? "true" : c == 'f' ? "false" : "null");
    } else {
      ok = scan_number(&is_int);
    }
    if (!ok) return false;
    for (bool more = false; !more;) {
      if (open.empty()) return true;
      if (!next(open.back(), &more)) return false;
      if (!more) open.pop_back();
    }
    if (open.back() == '}' && (!skip_text() || !expect(':'))) return false;
  }
}

}  // namespace anyffi::runtime
