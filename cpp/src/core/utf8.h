/// \file
/// UTF-8, one code point at a time.
#ifndef ANYFFI_SRC_CORE_UTF8_H_
#define ANYFFI_SRC_CORE_UTF8_H_

#include <cstdint>
#include <cstring>

namespace anyffi::runtime {

inline constexpr const char* kInvalidStart = "invalid start byte";
inline constexpr const char* kInvalidContinuation = "invalid continuation byte";
inline constexpr const char* kUnexpectedEnd = "unexpected end of data";

/// One code point of `size` bytes; or, where `reason` is set, `size` invalid bytes.
struct Utf8Step {
  uint32_t code_point;
  int64_t size;
  const char* reason;
};

/// Decodes the code point at `at`, before `end`.
inline Utf8Step decode_step(const uint8_t* at, const uint8_t* end) {
  uint8_t lead = at[0];
  if (lead < 0x80) return {lead, 1, nullptr};
  int more = lead < 0xC2 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 0;
  if (more == 0) return {0, 1, kInvalidStart};
  // The second byte rules out overlong forms, surrogates and code points above 0x10ffff.
  uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  uint32_t code_point = lead & (0x3Fu >> more);
  for (int i = 1; i <= more; ++i) {
    if (at + i == end) return {0, i, kUnexpectedEnd};
    if (at[i] < lowest || at[i] > highest) return {0, i, kInvalidContinuation};
    code_point = code_point << 6 | (at[i] & 0x3Fu);
    lowest = 0x80;
    highest = 0xBF;
  }
  return {code_point, more + 1, nullptr};
}

/// The bitwise or of a block of bytes; without a branch, so that the compiler reads several words at once.
constexpr int64_t kBlockOfBits = 128;
inline uint64_t bits_of_block(const void* block) {
  uint64_t all = 0;
  for (int64_t i = 0; i < kBlockOfBits; i += 8) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char*>(block) + i, sizeof(word));
    all |= word;
  }
  return all;
}

/// The bits of bytes from 0x80 on.
constexpr uint64_t kHighBits = 0x8080808080808080u;

/// The number of bytes below 0x80 at the start.
inline int64_t count_ascii(const uint8_t* data, int64_t size) {
  int64_t i = 0;
  while (i + kBlockOfBits <= size && (bits_of_block(data + i) & kHighBits) == 0) i += kBlockOfBits;
  for (uint64_t word; i + 8 <= size; i += 8) {
    std::memcpy(&word, data + i, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (i < size && data[i] < 0x80) ++i;
  return i;
}

/// Writes one code point, surrogates included, and returns how many bytes it takes: at most 4.
inline int encode_step(uint32_t code_point, char* out) {
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  int more = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  for (int i = more; i > 0; --i) {
    out[i] = static_cast<char>(0x80 | (code_point & 0x3F));
    code_point >>= 6;
  }
  out[0] = static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | code_point);
  return more + 1;
}

inline bool is_surrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point < 0xE000; }

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_UTF8_H_
