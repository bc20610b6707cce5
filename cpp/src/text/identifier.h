/// \file
/// Recognizes names that are identifiers in Python.
#ifndef ANYFFI_SRC_TEXT_IDENTIFIER_H_
#define ANYFFI_SRC_TEXT_IDENTIFIER_H_

#include <algorithm>
#include <string_view>

namespace anyffi::runtime {

/// Whether a name is an identifier. All code points above ASCII count as letters.
inline bool is_identifier(std::string_view name) noexcept {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
  };
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_IDENTIFIER_H_
