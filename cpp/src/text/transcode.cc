/// \file
/// Loops that measure and convert whole texts. The compiler vectorises the measuring loops; the converting ones have a
/// fast path for runs of sequences of the same length, which are common.
#include "text/transcode.h"

#include <cstring>

namespace anyffi::runtime {
namespace {

/// The number of units measured together: the sum fits a byte.
constexpr int64_t kBlock = 64;

/// Joins three UTF-8 bytes, the first in the lowest bits, to a code point.
uint32_t join_three(uint32_t bytes) { return (bytes & 0x0F) << 12 | (bytes >> 2 & 0xFC0) | (bytes >> 16 & 0x3F); }
bool is_three(uint32_t point) { return point >= 0x800 && (point & 0xF800) != 0xD800; }

/// Decodes one code point from bytes, the first in the lowest bits; returns its length, 0 for an error. Uses branches,
/// because branch prediction lets the next one begin before the length is known.
inline int decode_one(uint32_t bytes, uint32_t* out) {
  if ((bytes & 0x80) == 0) {
    *out = bytes & 0x7F;
    return 1;
  }
  if ((bytes & 0xC0E0) == 0x80C0) {
    *out = (bytes & 0x1F) << 6 | (bytes >> 8 & 0x3F);
    if (__builtin_expect(*out < 0x80, 0)) return 0;
    return 2;
  }
  if ((bytes & 0xC0C0F0) == 0x8080E0) {
    *out = join_three(bytes);
    if (__builtin_expect(!is_three(*out), 0)) return 0;
    return 3;
  }
  if (__builtin_expect((bytes & 0xC0C0C0F8) != 0x808080F0, 0)) return 0;
  *out = (bytes & 0x07) << 18 | (bytes << 4 & 0x3F000) | (bytes >> 10 & 0xFC0) | (bytes >> 24 & 0x3F);
  if (__builtin_expect(*out < 0x10000 || *out > 0x10FFFF, 0)) return 0;
  return 4;
}

/// Decodes up to the first error, and returns its position.
template <class Unit>
const uint8_t* decode_units(const uint8_t* at, const uint8_t* end, void* out) {
  auto* to = static_cast<Unit*>(out);
  uint32_t point;
  while (end - at >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    // Eight sequences of one byte.
    if ((bytes & 0x8080808080808080u) == 0) {
      for (int i = 0; i < 8; ++i) to[i] = static_cast<Unit>(bytes >> (8 * i) & 0xFF);
      at += 8, to += 8;
      continue;
    }
    // Two of three bytes.
    if ((bytes & 0xC0C0F0C0C0F0u) == 0x8080E08080E0u) {
      uint32_t first = join_three(static_cast<uint32_t>(bytes)),
               second = join_three(static_cast<uint32_t>(bytes >> 24));
      if (!is_three(first) || !is_three(second)) return is_three(first) ? at + 3 : at;
      to[0] = static_cast<Unit>(first), to[1] = static_cast<Unit>(second);
      at += 6, to += 2;
      continue;
    }
    // Four sequences of two bytes, none of which begins with C0 or C1.
    uint64_t high = bytes & 0x001E001E001E001Eu;
    if ((bytes & 0xC0E0C0E0C0E0C0E0u) == 0x80C080C080C080C0u &&
        ((high + 0x00FE00FE00FE00FEu) & 0x0100010001000100u) == 0x0100010001000100u) {
      uint64_t points = (bytes & 0x001F001F001F001Fu) << 6 | (bytes >> 8 & 0x003F003F003F003Fu);
      for (int i = 0; i < 4; ++i) to[i] = static_cast<Unit>(points >> (16 * i) & 0xFFFF);
      at += 8, to += 4;
      continue;
    }
    int size = decode_one(static_cast<uint32_t>(bytes), &point);
    if (__builtin_expect(size == 0, 0)) return at;
    *to++ = static_cast<Unit>(point);
    at += size;
  }
  while (at < end) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, at, end - at < 4 ? static_cast<size_t>(end - at) : 4);
    int size = decode_one(bytes, &point);
    if (__builtin_expect(size == 0, 0)) return at;
    *to++ = static_cast<Unit>(point);
    at += size;
  }
  return end;
}

/// The number of UTF-8 bytes beyond one for each unit, and whether there is a surrogate.
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

Utf8Size measure_decoded(const uint8_t* data, int64_t size) noexcept {
  int64_t length = 0;
  uint8_t highest = 0;
  for (int64_t start = 0; start < size; start += kBlock) {
    int64_t stop = start + kBlock < size ? start + kBlock : size;
    uint8_t leads = 0;
    for (int64_t i = start; i < stop; ++i) {
      leads = static_cast<uint8_t>(leads + ((data[i] & 0xC0) != 0x80));
      highest = highest < data[i] ? data[i] : highest;
    }
    length += leads;
  }
  // Sequences from C4 on hold code points above FF, those from F0 on above FFFF.
  return {length, highest < 0x80   ? ANYFFI_ASCII
                  : highest < 0xC4 ? ANYFFI_LATIN1
                  : highest < 0xF0 ? ANYFFI_UCS2
                                   : ANYFFI_UCS4};
}

int64_t decode_utf8(const uint8_t* data, int64_t size, int32_t encoding, void* out) noexcept {
  const uint8_t* end = data + size;
  if (encoding <= ANYFFI_LATIN1) return decode_units<uint8_t>(data, end, out) - data;
  if (encoding == ANYFFI_UCS2) return decode_units<uint16_t>(data, end, out) - data;
  return decode_units<uint32_t>(data, end, out) - data;
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
