/// \file
/// Creates and reads strings and bytes: short ones are inline, all have the narrowest encoding.
#include "text/text.h"

#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/object.h"
#include "core/owned.h"
#include "core/utf8.h"

namespace anyffi::runtime {
namespace {

/// A longer text would overflow the size in bytes.
constexpr int64_t kMaxLength = (PTRDIFF_MAX - 256) / 4;

constexpr uint64_t kHighBytes = 0xFF00FF00FF00FF00u;
constexpr uint64_t kAboveAscii2 = 0x0080008000800080u;

uint64_t load_word(const char* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

/// Returns whether any word has a bit of `mask`; if not, sets `seen` to the bitwise or of all words. `size` must be at
/// least eight bytes, and a multiple of the unit for which the mask is made: the last word may overlap the one before.
bool any_bit(const char* data, size_t size, uint64_t mask, uint64_t* seen) {
  uint64_t all = load_word(data + size - 8);
  for (; size >= kBlockOfBits; data += kBlockOfBits, size -= kBlockOfBits) {
    all |= bits_of_block(data);
    if (all & mask) return true;
  }
  for (; size >= 8; data += 8, size -= 8) all |= load_word(data);
  *seen = all;
  return (all & mask) != 0;
}

/// As `find_encoding`, for code points of four bytes.
int32_t find_encoding_of_ucs4(const char* data, size_t size) {
  uint64_t seen = 0;
  if (size < sizeof(seen)) {
    std::memcpy(&seen, data, size);
  } else {
    any_bit(data, size, 0, &seen);
  }
  // At least as large as the highest code point, and with as many bits.
  auto bits = static_cast<uint32_t>(seen | seen >> 32);
  constexpr uint32_t kHighest = 0x10FFFF;
  for (size_t i = 0; bits > kHighest && i < size; i += sizeof(uint32_t)) {
    uint32_t unit;
    std::memcpy(&unit, data + i, sizeof(unit));
    if (unit > kHighest) return -1;
  }
  return bits < 0x80 ? ANYFFI_ASCII : bits < 0x100 ? ANYFFI_LATIN1 : bits < 0x10000 ? ANYFFI_UCS2 : ANYFFI_UCS4;
}

/// The narrowest encoding that holds the text, or -1 if a unit is not a valid code point.
int32_t find_encoding(const char* data, int64_t length, int32_t encoding) {
  if (length == 0) return ANYFFI_ASCII;
  uint64_t seen;
  auto size = static_cast<size_t>(length) << anyffi_encoding_shift(encoding);
  char padded[8] = {};
  if (size < sizeof(padded) && encoding != ANYFFI_UCS4) {
    std::memcpy(padded, data, size);
    data = padded;
    size = sizeof(padded);
  }
  if (encoding <= ANYFFI_LATIN1) return any_bit(data, size, kHighBits, &seen) ? ANYFFI_LATIN1 : ANYFFI_ASCII;
  if (encoding == ANYFFI_UCS2) {
    if (any_bit(data, size, kHighBytes, &seen)) return ANYFFI_UCS2;
    return seen & kAboveAscii2 ? ANYFFI_LATIN1 : ANYFFI_ASCII;
  }
  return find_encoding_of_ucs4(data, size);
}

template <class From, class To>
void convert_units(const char* from, char* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    From unit;
    std::memcpy(&unit, from + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
    auto narrow = static_cast<To>(unit);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(To)), &narrow, sizeof(To));
  }
}

/// Copies code points into an encoding at most as wide, in which they all fit.
void copy_units(const char* from, int32_t from_encoding, char* to, int32_t to_encoding, int64_t length) {
  int from_shift = anyffi_encoding_shift(from_encoding);
  int to_shift = anyffi_encoding_shift(to_encoding);
  if (from_shift == to_shift) {
    std::memcpy(to, from, static_cast<size_t>(length) << from_shift);
  } else if (from_shift == 1) {
    convert_units<uint16_t, uint8_t>(from, to, length);
  } else if (to_shift == 0) {
    convert_units<uint32_t, uint8_t>(from, to, length);
  } else {
    convert_units<uint32_t, uint16_t>(from, to, length);
  }
}

/// An inline string from one-byte code points: the fast path for most strings.
AnyffiValue short_str(const char* data, uint32_t length) {
  AnyffiValue value = anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, data, length, length);
  bool ascii = (value.aux & static_cast<uint32_t>(kHighBits)) == 0 && (value.as_int & (kHighBits >> 8)) == 0;
  if (!ascii) value.as_int |= int64_t{ANYFFI_LATIN1} << 60;
  return value;
}

/// The terminating zero always has the size of the widest unit.
constexpr size_t kZeroSize = sizeof(uint32_t);

size_t str_bytes(int64_t length, int32_t encoding) {
  return sizeof(AnyffiStrObject) + (static_cast<size_t>(length) << anyffi_encoding_shift(encoding)) + kZeroSize;
}

size_t bytes_bytes(int64_t length) { return sizeof(AnyffiBytesObject) + static_cast<size_t>(length) + 1; }

void delete_str(AnyffiObject* self, int32_t what) {
  auto* str = reinterpret_cast<AnyffiStrObject*>(self);
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiStrObject>(self, str_bytes(str->length, str->encoding));
}

void delete_bytes(AnyffiObject* self, int32_t what) {
  auto* bytes = reinterpret_cast<AnyffiBytesObject*>(self);
  if (what & ANYFFI_DELETE_MEMORY) free_object<AnyffiBytesObject>(self, bytes_bytes(bytes->length));
}

AnyffiStrObject* allocate_str(int64_t length, int32_t encoding) {
  if (length > kMaxLength) {
    raise_no_memory();
    return nullptr;
  }
  auto* str = allocate_object<AnyffiStrObject>(ANYFFI_STR_OBJECT, &delete_str, str_bytes(length, encoding));
  if (str == nullptr) return nullptr;
  auto* data = reinterpret_cast<char*>(str + 1);
  str->length = length;
  str->encoding = encoding;
  str->reserved = 0;
  str->hash = 0;
  str->data = data;
  std::memset(data + (static_cast<size_t>(length) << anyffi_encoding_shift(encoding)), 0, kZeroSize);
  return str;
}

}  // namespace

AnyffiBytesObject* allocate_bytes(int64_t size) noexcept {
  if (size > kMaxLength) {
    raise_no_memory();
    return nullptr;
  }
  auto* bytes = allocate_object<AnyffiBytesObject>(ANYFFI_BYTES_OBJECT, &delete_bytes, bytes_bytes(size));
  if (bytes == nullptr) return nullptr;
  auto* data = reinterpret_cast<uint8_t*>(bytes + 1);
  data[size] = 0;
  bytes->length = size;
  bytes->hash = 0;
  bytes->data = data;
  return bytes;
}

int compare_text(const AnyffiTextView& a, const AnyffiTextView& b) noexcept {
  int64_t common = a.length < b.length ? a.length : b.length;
  if (anyffi_encoding_shift(a.encoding) == 0 && anyffi_encoding_shift(b.encoding) == 0) {
    int order = std::memcmp(a.data, b.data, static_cast<size_t>(common));
    if (order != 0) return order;
  } else {
    for (int64_t i = 0; i < common; ++i) {
      uint32_t left = anyffi_get_code_point(&a, i);
      uint32_t right = anyffi_get_code_point(&b, i);
      if (left != right) return left < right ? -1 : 1;
    }
  }
  return a.length == b.length ? 0 : a.length < b.length ? -1 : 1;
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_value_get_text_view(const AnyffiValue* value, AnyffiTextView* out) {
  if (!anyffi_is_str(value->type_code) && !anyffi_is_bytes(value->type_code)) return -1;
  anyffi_view_text(value, out);
  return 0;
}

int anyffi_str_create(const void* code_points, int64_t length, int32_t encoding, AnyffiValue* out) {
  if (length < 0 || encoding < ANYFFI_ASCII || encoding > ANYFFI_UCS4) {
    *out = anyffi_make_none();
    return anyffi_error_raise("ValueError", "invalid text: negative length or unknown encoding");
  }
  if (length > kMaxLength) return *out = anyffi_make_none(), raise_no_memory();
  auto* data = static_cast<const char*>(code_points);
  if (encoding <= ANYFFI_LATIN1 && length <= ANYFFI_INLINE_BYTES) {
    *out = short_str(data, static_cast<uint32_t>(length));
    return 0;
  }
  int32_t narrowest = find_encoding(data, length, encoding);
  if (narrowest < 0) {
    *out = anyffi_make_none();
    return anyffi_error_raise("ValueError", "a code point is above 0x10ffff");
  }
  uint64_t size = static_cast<uint64_t>(length) << anyffi_encoding_shift(narrowest);
  if (size <= ANYFFI_INLINE_BYTES) {
    char units[ANYFFI_INLINE_BYTES + 1];
    if (anyffi_encoding_shift(narrowest) != anyffi_encoding_shift(encoding)) {
      copy_units(data, encoding, units, narrowest, length);
      data = units;
    }
    *out = anyffi_make_inline_text(ANYFFI_STR, narrowest, data, static_cast<uint32_t>(size),
                                   static_cast<uint32_t>(length));
    return 0;
  }
  AnyffiStrObject* str = allocate_str(length, narrowest);
  if (str == nullptr) return fail(out);
  copy_units(data, encoding, reinterpret_cast<char*>(str + 1), narrowest, length);
  *out = anyffi_make_object(&str->header);
  return 0;
}

int anyffi_str_allocate(int64_t length, int32_t encoding, AnyffiValue* out) {
  if (length < 0 || encoding < ANYFFI_ASCII || encoding > ANYFFI_UCS4 ||
      static_cast<uint64_t>(length) << anyffi_encoding_shift(encoding) <= ANYFFI_INLINE_BYTES) {
    *out = anyffi_make_none();
    return anyffi_error_raise("ValueError", "invalid text: short enough to be stored inline, or of unknown encoding");
  }
  AnyffiStrObject* str = allocate_str(length, encoding);
  if (str == nullptr) return fail(out);
  *out = anyffi_make_object(&str->header);
  return 0;
}

int anyffi_bytes_create(const void* data, int64_t size, AnyffiValue* out) {
  if (size < 0) {
    *out = anyffi_make_none();
    return anyffi_error_raise("ValueError", "bytes of negative size");
  }
  if (size <= ANYFFI_INLINE_BYTES) {
    auto length = static_cast<uint32_t>(size);
    *out = anyffi_make_inline_text(ANYFFI_BYTES, ANYFFI_ASCII, data, length, length);
    return 0;
  }
  AnyffiBytesObject* bytes = allocate_bytes(size);
  if (bytes == nullptr) return fail(out);
  std::memcpy(const_cast<uint8_t*>(bytes->data), data, static_cast<size_t>(size));
  *out = anyffi_make_object(&bytes->header);
  return 0;
}
