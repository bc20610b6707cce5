/// \file
/// Converts whole texts between UTF-8 and code points of one width.
#ifndef ANYFFI_SRC_TEXT_TRANSCODE_H_
#define ANYFFI_SRC_TEXT_TRANSCODE_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// The number of code points in UTF-8 text and their narrowest encoding. For invalid text, large enough for the part
/// before the error.
struct Utf8Size {
  int64_t length;
  int32_t encoding;
};
Utf8Size measure_decoded(const uint8_t* data, int64_t size) noexcept;
/// Writes the code points; returns `size`, or the position of the first error.
int64_t decode_utf8(const uint8_t* data, int64_t size, int32_t encoding, void* out) noexcept;

/// The size of a text in UTF-8; -1 if it contains a surrogate.
int64_t measure_utf8(const AnyffiTextView& text) noexcept;
/// Writes a text without surrogates, whose size `measure_utf8` returned.
void encode_valid(const AnyffiTextView& text, char* out) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_TEXT_TRANSCODE_H_
