/// \file
/// Loops over whole texts: the compiler vectorises those that measure, and those that write have a path for each length
/// of a sequence, since neighbours mostly have the same.
#include "text/transcode.h"

namespace anyffi::runtime {
namespace {

/// Bytes that are measured together: sums of so many fit 32 bits, and the compiler knows the number of rounds.
constexpr int64_t kBlock = 64;

bool is_tail(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/// Decodes a sequence of two to four bytes; 0 if it is invalid, which no code point of such a sequence is.
inline uint32_t decode_long(const uint8_t* at, const uint8_t* end, int64_t* size) {
  uint32_t lead = at[0];
  if (lead < 0xE0) {
    *size = 2;
    return end - at >= 2 && lead >= 0xC2 && is_tail(at[1]) ? (lead & 0x1F) << 6 | (at[1] & 0x3F) : 0;
  }
  if (lead < 0xF0) {
    *size = 3;
    if (end - at < 3 || !is_tail(at[1]) || !is_tail(at[2])) return 0;
    uint32_t point = (lead & 0x0F) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3F);
    return point >= 0x800 && (point & 0xF800) != 0xD800 ? point : 0;
  }
  *size = 4;
  if (lead > 0xF4 || end - at < 4 || !is_tail(at[1]) || !is_tail(at[2]) || !is_tail(at[3])) return 0;
  uint32_t point = (lead & 0x07) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3F);
  return point >= 0x10000 && point <= 0x10FFFF ? point : 0;
}

template <class Unit>
void decode_into(const uint8_t* at, const uint8_t* end, Unit* to) {
  while (at != end) {
    uint32_t lead = *at;
    if (lead < 0x80) {
      *to++ = static_cast<Unit>(lead);
      at += 1;
    } else if (lead < 0xE0) {
      *to++ = static_cast<Unit>((lead & 0x1F) << 6 | (at[1] & 0x3F));
      at += 2;
    } else if (lead < 0xF0) {
      *to++ = static_cast<Unit>((lead & 0x0F) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3F));
      at += 3;
    } else {
      *to++ = static_cast<Unit>((lead & 0x07) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3F));
      at += 4;
    }
  }
}

/// The bytes beyond one for each unit, and whether there is a surrogate.
template <class Unit>
int64_t measure_units(const Unit* units, int64_t length) {
  int64_t size = length;
  for (int64_t start = 0; start < length; start += kBlock) {
    int64_t stop = start + kBlock < length ? start + kBlock : length;
    uint32_t more = 0, surrogates = 0;
    for (int64_t i = start; i < stop; ++i) {
      uint32_t unit = units[i];
      more += unit >= 0x80;
      if constexpr (sizeof(Unit) > 1) {
        more += unit >= 0x800;
        surrogates |= (unit & ~0x7FFu) == 0xD800;
      }
      if constexpr (sizeof(Unit) > 2) more += unit >= 0x10000;
    }
    if (surrogates != 0) return -1;
    size += more;
  }
  return size;
}

template <class Unit>
void encode_units(const Unit* units, int64_t length, char* out) {
  auto* to = reinterpret_cast<uint8_t*>(out);
  for (const Unit* end = units + length; units != end; ++units) {
    uint32_t unit = *units;
    if (unit < 0x80) {
      *to++ = static_cast<uint8_t>(unit);
    } else if (sizeof(Unit) == 1 || unit < 0x800) {
      to[0] = static_cast<uint8_t>(0xC0 | unit >> 6);
      to[1] = static_cast<uint8_t>(0x80 | (unit & 0x3F));
      to += 2;
    } else if (sizeof(Unit) == 2 || unit < 0x10000) {
      to[0] = static_cast<uint8_t>(0xE0 | unit >> 12);
      to[1] = static_cast<uint8_t>(0x80 | (unit >> 6 & 0x3F));
      to[2] = static_cast<uint8_t>(0x80 | (unit & 0x3F));
      to += 3;
    } else {
      to[0] = static_cast<uint8_t>(0xF0 | unit >> 18);
      to[1] = static_cast<uint8_t>(0x80 | (unit >> 12 & 0x3F));
      to[2] = static_cast<uint8_t>(0x80 | (unit >> 6 & 0x3F));
      to[3] = static_cast<uint8_t>(0x80 | (unit & 0x3F));
      to += 4;
    }
  }
}

}  // namespace

Utf8Survey survey_utf8(const uint8_t* data, int64_t size, int64_t num_ascii) noexcept {
  const uint8_t *at = data + num_ascii, *end = data + size;
  uint32_t seen = 0;  // the bitwise or of all code points
  int64_t length = num_ascii;
  while (at != end) {
    if (*at < 0x80) {
      int64_t run = count_ascii(at, end - at);
      at += run;
      length += run;
      continue;
    }
    int64_t step;
    uint32_t point = decode_long(at, end, &step);
    if (point == 0) break;
    seen |= point;
    at += step;
    ++length;
  }
  int32_t encoding = seen < 0x80      ? ANYFFI_ASCII
                     : seen < 0x100   ? ANYFFI_LATIN1
                     : seen < 0x10000 ? ANYFFI_UCS2
                                      : ANYFFI_UCS4;
  return {length, at - data, encoding};
}

void decode_valid(const uint8_t* data, int64_t size, int32_t encoding, void* out) noexcept {
  if (encoding <= ANYFFI_LATIN1) return decode_into(data, data + size, static_cast<uint8_t*>(out));
  if (encoding == ANYFFI_UCS2) return decode_into(data, data + size, static_cast<uint16_t*>(out));
  decode_into(data, data + size, static_cast<uint32_t*>(out));
}

int64_t measure_utf8(const AnyffiTextView& text) noexcept {
  if (text.encoding == ANYFFI_ASCII) return text.length;
  if (text.encoding == ANYFFI_LATIN1) return measure_units(static_cast<const uint8_t*>(text.data), text.length);
  if (text.encoding == ANYFFI_UCS2) return measure_units(static_cast<const uint16_t*>(text.data), text.length);
  return measure_units(static_cast<const uint32_t*>(text.data), text.length);
}

void encode_valid(const AnyffiTextView& text, char* out) noexcept {
  if (text.encoding <= ANYFFI_LATIN1) return encode_units(static_cast<const uint8_t*>(text.data), text.length, out);
  if (text.encoding == ANYFFI_UCS2) return encode_units(static_cast<const uint16_t*>(text.data), text.length, out);
  encode_units(static_cast<const uint32_t*>(text.data), text.length, out);
}

}  // namespace anyffi::runtime
