/// \file
/// Between UTF-8 and code points of one width, for whole texts.
#ifndef ANYFFI_SRC_TEXT_TRANSCODE_H_
#define ANYFFI_SRC_TEXT_TRANSCODE_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

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
