/// \file
/// Character classes of a tokenizer: white space, part of a token, or a token by itself.
#ifndef TEXT_CHARACTERS_H_
#define TEXT_CHARACTERS_H_

#include <anyffi/anyffi.h>

namespace text {

enum Class : uint8_t { kSpace, kPart, kAlone };

/// Returns the class of a character; one-byte characters use a table.
class Rule {
 public:
  explicit Rule(Class (*classify)(uint32_t)) : classify_(classify) {
    for (uint32_t c = 0; c < sizeof(narrow_); ++c) narrow_[c] = classify(c);
  }
  Class operator()(uint8_t c) const { return narrow_[c]; }
  Class operator()(uint32_t c) const { return c < sizeof(narrow_) ? narrow_[c] : classify_(c); }

 private:
  Class (*classify_)(uint32_t);
  Class narrow_[256];
};

inline bool is_word_ascii(uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// Punctuation and symbols beyond ASCII. All others count as letters.
inline bool is_symbol(uint32_t c) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kSymbols[] = {
      {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},       {0xF7, 0xF7},
      {0x2010, 0x205E}, {0x20A0, 0x20CF}, {0x2190, 0x2BFF}, {0x2E00, 0x2E7F}, {0x3001, 0x3003},   {0x3008, 0x3020},
      {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0x1F000, 0x1FAFF},
  };
  for (const Range& range : kSymbols) {
    if (c <= range.last) return c >= range.first;
  }
  return false;
}

/// Returns a rule by its name. "split": tokens as those of `str.split`; "words": runs of letters, digits and `_`, and
/// each other visible character by itself.
inline const Rule& find_rule(const anyffi::String& name) {
  static const Rule split([](uint32_t c) { return anyffi_is_space(c) ? kSpace : kPart; });
  static const Rule words([](uint32_t c) {
    if (anyffi_is_space(c)) return kSpace;
    return (c < 0x80 ? is_word_ascii(c) : !is_symbol(c)) ? kPart : kAlone;
  });
  if (name == "split") return split;
  if (name == "words") return words;
  throw anyffi::Error("ValueError", "the rules are 'split' and 'words'");
}

}  // namespace text

#endif  // TEXT_CHARACTERS_H_
