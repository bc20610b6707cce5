/// \file
/// Conversion from and to UTF-8, with the errors of Python's codec.
#include "core/utf8.h"

#include <anyffi/inline.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/owned.h"
#include "text/text.h"

namespace anyffi::runtime {
namespace {

int64_t count_ascii(const uint8_t* data, int64_t size) {
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (i < size && data[i] < 0x80) ++i;
  return i;
}

/// Raises UnicodeDecodeError or UnicodeEncodeError with its five arguments. Steals `object`.
int raise_codec(const char* kind, AnyffiValue object, int64_t start, int64_t end, const char* reason,
                const char* message) {
  Owned whole(object), args, name, why;
  AnyffiValue first = anyffi_make_int(start), last = anyffi_make_int(end);
  if (anyffi_str_from_utf8("utf-8", 5, name.out()) != 0 ||
      anyffi_str_from_utf8(reason, static_cast<int64_t>(std::strlen(reason)), why.out()) != 0 ||
      anyffi_sequence_create(ANYFFI_ARRAY, 5, args.out()) != 0) {
    return -1;
  }
  int64_t index = 0;
  for (const AnyffiValue* part : {name.get(), whole.get(), static_cast<const AnyffiValue*>(&first),
                                  static_cast<const AnyffiValue*>(&last), why.get()}) {
    if (anyffi_sequence_insert(args->as_object, index++, part) != 0) return -1;
  }
  return raise_with_args(kind, message, args.take());
}

int raise_decode(const uint8_t* data, int64_t size, int64_t start, const Utf8Step& step) {
  // If the text is truncated, the error covers the whole rest.
  int64_t end = step.reason == kUnexpectedEnd ? size : start + step.size;
  char message[160];
  if (end == start + 1) {
    std::snprintf(message, sizeof(message), "'utf-8' codec can't decode byte 0x%02x in position %lld: %s", data[start],
                  static_cast<long long>(start), step.reason);
  } else {
    std::snprintf(message, sizeof(message), "'utf-8' codec can't decode bytes in position %lld-%lld: %s",
                  static_cast<long long>(start), static_cast<long long>(end - 1), step.reason);
  }
  Owned bytes;
  if (anyffi_bytes_create(data, size, bytes.out()) != 0) return -1;
  return raise_codec("UnicodeDecodeError", bytes.take(), start, end, step.reason, message);
}

int raise_encode(const AnyffiValue* str, const AnyffiTextView& text, int64_t start) {
  int64_t end = start + 1;
  while (end < text.length && is_surrogate(anyffi_get_code_point(&text, end))) ++end;
  const char* reason = "surrogates not allowed";
  char message[160];
  if (end == start + 1) {
    std::snprintf(message, sizeof(message), "'utf-8' codec can't encode character '\\u%04x' in position %lld: %s",
                  anyffi_get_code_point(&text, start), static_cast<long long>(start), reason);
  } else {
    std::snprintf(message, sizeof(message), "'utf-8' codec can't encode characters in position %lld-%lld: %s",
                  static_cast<long long>(start), static_cast<long long>(end - 1), reason);
  }
  Owned whole;
  if (anyffi_value_own(str, whole.out()) != 0) return -1;
  return raise_codec("UnicodeEncodeError", whole.take(), start, end, reason, message);
}

/// Python's `surrogateescape` adds it to a byte that is not UTF-8.
constexpr uint32_t kEscapedByte = 0xDC00;

template <class Unit>
void decode_into(const uint8_t* at, const uint8_t* end, void* out) {
  auto* to = static_cast<Unit*>(out);
  while (at != end) {
    if (*at < 0x80) {
      *to++ = *at++;
    } else {
      Utf8Step step = decode_step(at, end);
      *to++ = static_cast<Unit>(step.code_point);
      at += step.size;
    }
  }
}

void decode_valid(const uint8_t* data, int64_t size, int32_t encoding, void* out) {
  if (encoding <= ANYFFI_LATIN1) return decode_into<uint8_t>(data, data + size, out);
  if (encoding == ANYFFI_UCS2) return decode_into<uint16_t>(data, data + size, out);
  decode_into<uint32_t>(data, data + size, out);
}

}  // namespace

int path_to_native(const AnyffiValue* path, String* out) {
  if (!anyffi_is_str(path->type_code)) return anyffi_error_raise("TypeError", "a path must be a str");
  AnyffiTextView text;
  anyffi_view_text(path, &text);
  out->clear();
  for (int64_t i = 0; i < text.length; ++i) {
    uint32_t unit = anyffi_get_code_point(&text, i);
    if (unit == 0) return anyffi_error_raise("ValueError", "embedded null character in a path");
    char encoded[4];
    if (unit >= kEscapedByte + 0x80 && unit <= kEscapedByte + 0xFF) {
      *out += static_cast<char>(unit - kEscapedByte);
    } else if (is_surrogate(unit)) {
      return raise_encode(path, text, i);
    } else {
      out->append(encoded, static_cast<size_t>(encode_step(unit, encoded)));
    }
  }
  return 0;
}

int path_from_native(std::string_view native, AnyffiValue* out) {
  auto* at = reinterpret_cast<const uint8_t*>(native.data());
  auto* end = at + native.size();
  Vector<uint32_t> units;
  uint32_t highest = 0;
  while (at != end) {
    Utf8Step step = decode_step(at, end);
    if (step.reason != nullptr) step = Utf8Step{kEscapedByte + *at, 1, nullptr};
    units.push_back(step.code_point);
    highest = std::max(highest, step.code_point);
    at += step.size;
  }
  auto length = static_cast<int64_t>(units.size());
  // Without escaped bytes it is UTF-8, and may be of any width.
  if (highest < kEscapedByte) return anyffi_str_from_utf8(native.data(), static_cast<int64_t>(native.size()), out);
  if (highest >= 0x10000) return anyffi_str_create(units.data(), length, ANYFFI_UCS4, out);
  Vector<uint16_t> narrow(units.begin(), units.end());
  return anyffi_str_create(narrow.data(), length, ANYFFI_UCS2, out);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_str_from_utf8(const char* utf8, int64_t size, AnyffiValue* out) {
  auto* data = reinterpret_cast<const uint8_t*>(utf8);
  int64_t ascii = size < 0 ? size : count_ascii(data, size);
  if (ascii == size) return anyffi_str_create(utf8, size, ANYFFI_ASCII, out);
  *out = anyffi_make_none();
  uint32_t highest = 0;
  int64_t length = ascii;
  for (int64_t i = ascii; i < size; ++length) {
    Utf8Step step = decode_step(data + i, data + size);
    if (step.reason != nullptr) return raise_decode(data, size, i, step);
    highest = highest < step.code_point ? step.code_point : highest;
    i += step.size;
  }
  int32_t encoding = highest < 0x100 ? ANYFFI_LATIN1 : highest < 0x10000 ? ANYFFI_UCS2 : ANYFFI_UCS4;
  int64_t units_size = length << anyffi_encoding_shift(encoding);
  if (units_size <= ANYFFI_INLINE_BYTES) {
    alignas(4) char units[ANYFFI_INLINE_BYTES + 1];
    decode_valid(data, size, encoding, units);
    *out = anyffi_make_inline_text(ANYFFI_STR, encoding, units, static_cast<uint32_t>(units_size),
                                   static_cast<uint32_t>(length));
    return 0;
  }
  if (anyffi_str_allocate(length, encoding, out) != 0) return -1;
  auto* str = reinterpret_cast<AnyffiStrObject*>(out->as_object);
  decode_valid(data, size, encoding, const_cast<void*>(str->data));
  return 0;
}

int anyffi_str_to_utf8(const AnyffiValue* str, AnyffiValue* out_bytes) {
  // `out_bytes` and `str` may be the same.
  AnyffiValue given = *str;
  AnyffiTextView text;
  *out_bytes = anyffi_make_none();
  if (!anyffi_is_str(given.type_code)) return anyffi_error_raise("TypeError", "only a str can be encoded");
  anyffi_view_text(&given, &text);
  if (text.encoding == ANYFFI_ASCII) return anyffi_bytes_create(text.data, text.length, out_bytes);
  int64_t size = 0;
  for (int64_t i = 0; i < text.length; ++i) {
    uint32_t code_point = anyffi_get_code_point(&text, i);
    if (is_surrogate(code_point)) return raise_encode(&given, text, i);
    size += code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  }
  char buffer[ANYFFI_INLINE_BYTES];
  char* to = buffer;
  if (size > ANYFFI_INLINE_BYTES) {
    AnyffiBytesObject* bytes = allocate_bytes(size);
    if (bytes == nullptr) return -1;
    *out_bytes = anyffi_make_object(&bytes->header);
    to = reinterpret_cast<char*>(bytes + 1);
  }
  for (int64_t i = 0; i < text.length; ++i) to += encode_step(anyffi_get_code_point(&text, i), to);
  if (size <= ANYFFI_INLINE_BYTES) return anyffi_bytes_create(buffer, size, out_bytes);
  return 0;
}
