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
#include "text/transcode.h"

namespace anyffi::runtime {
namespace {

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
  // For a truncated sequence, the error covers the rest of the text.
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

/// Python's `surrogateescape` decodes an invalid byte to this plus the byte.
constexpr uint32_t kEscapedByte = 0xDC00;

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
  // Without escaped bytes the text is UTF-8, and may need any encoding.
  if (highest < kEscapedByte) return anyffi_str_from_utf8(native.data(), static_cast<int64_t>(native.size()), out);
  if (highest >= 0x10000) return anyffi_str_create(units.data(), length, ANYFFI_UCS4, out);
  Vector<uint16_t> narrow(units.begin(), units.end());
  return anyffi_str_create(narrow.data(), length, ANYFFI_UCS2, out);
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_str_from_utf8(const char* utf8, int64_t size, AnyffiValue* out) {
  if (static_cast<uint64_t>(size) <= ANYFFI_INLINE_BYTES) {
    auto length = static_cast<uint32_t>(size);
    AnyffiValue made = anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, utf8, length, length);
    // All bytes except the last one, which stores the length.
    constexpr uint64_t kHigh = 0x0080808080808080;
    if (((made.aux & 0x80808080u) | (static_cast<uint64_t>(made.as_int) & kHigh)) == 0) return *out = made, 0;
  }
  auto* data = reinterpret_cast<const uint8_t*>(utf8);
  int64_t num_ascii = size < 0 ? size : count_ascii(data, size);
  if (num_ascii == size) {
    if (size < 0) return anyffi_str_create(utf8, size, ANYFFI_ASCII, out);
    if (anyffi_str_allocate(size, ANYFFI_ASCII, out) != 0) return -1;
    auto* made = reinterpret_cast<const AnyffiStrObject*>(out->as_object);
    std::memcpy(const_cast<void*>(made->data), utf8, static_cast<size_t>(size));
    return 0;
  }
  *out = anyffi_make_none();
  Utf8Size decoded = measure_decoded(data, size);
  int64_t units_size = decoded.length << anyffi_encoding_shift(decoded.encoding);
  alignas(4) char units[ANYFFI_INLINE_BYTES + 1];
  void* to = units;
  Owned made;
  if (units_size > ANYFFI_INLINE_BYTES) {
    if (anyffi_str_allocate(decoded.length, decoded.encoding, made.out()) != 0) return -1;
    to = const_cast<void*>(reinterpret_cast<AnyffiStrObject*>(made->as_object)->data);
  }
  int64_t valid = decode_utf8(data, size, decoded.encoding, to);
  if (valid < size) return raise_decode(data, size, valid, decode_step(data + valid, data + size));
  *out = to == units ? anyffi_make_inline_text(ANYFFI_STR, decoded.encoding, units, static_cast<uint32_t>(units_size),
                                               static_cast<uint32_t>(decoded.length))
                     : made.take();
  return 0;
}

int anyffi_str_to_utf8(const AnyffiValue* str, AnyffiValue* out_bytes) {
  // `out_bytes` and `str` may be the same value.
  AnyffiValue given = *str;
  AnyffiTextView text;
  *out_bytes = anyffi_make_none();
  if (!anyffi_is_str(given.type_code)) return anyffi_error_raise("TypeError", "only a str can be encoded");
  anyffi_view_text(&given, &text);
  if (text.encoding == ANYFFI_ASCII) return anyffi_bytes_create(text.data, text.length, out_bytes);
  int64_t size = measure_utf8(text);
  if (size < 0) {
    int64_t first = 0;
    while (!is_surrogate(anyffi_get_code_point(&text, first))) ++first;
    return raise_encode(&given, text, first);
  }
  char buffer[ANYFFI_INLINE_BYTES];
  char* to = buffer;
  if (size > ANYFFI_INLINE_BYTES) {
    AnyffiBytesObject* bytes = allocate_bytes(size);
    if (bytes == nullptr) return -1;
    *out_bytes = anyffi_make_object(&bytes->header);
    to = reinterpret_cast<char*>(bytes + 1);
  }
  encode_valid(text, to);
  if (size <= ANYFFI_INLINE_BYTES) return anyffi_bytes_create(buffer, size, out_bytes);
  return 0;
}
