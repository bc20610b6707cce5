/// \file
/// Between UTF-8 and code points of one width, for whole texts.
#ifndef ANYFFI_SRC_TEXT_TRANSCODE_H_
#define ANYFFI_SRC_TEXT_TRANSCODE_H_

#include <anyffi/c_api.h>

#include <cstring>

namespace anyffi::runtime {

/// The number of bytes below 0x80 at the start.
inline int64_t count_ascii(const uint8_t* data, int64_t size) {
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (i < size && data[i] < 0x80) ++i;
  return i;
}

/// The number of code points of UTF-8 and the narrowest encoding for them. If the text is invalid, enough for those
/// before the error.
struct Utf8Size {
  int64_t length;
  int32_t encoding;
};
Utf8Size measure_decoded(const uint8_t* data, int64_t size) noexcept;
/// Writes the code points; returns the size, or the place of the first error.
int64_t decode_utf8(const uint8_t* data, int64_t size, int32_t encoding, void* out) noexcept;

/// The size of a text as UTF-8; -1 if it has a surrogate.
int64_t measure_utf8(const AnyffiTextView& text) noexcept;
/// Writes a text without surrogates, of which `measure_utf8` returned the size.
void encode_valid(const AnyffiTextView& text, char* out) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_TRANSCODE_H_
