/// \file
/// Owning, releasing and moving values.
#include "core/value.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"

namespace anyffi::runtime {
namespace {

/// Loads one of the two words of a value into a register. The compiler would merge two plain reads into one 16-byte
/// load, which stalls until the two stores that wrote the words have reached the cache.
uint64_t load_word(const AnyffiValue* value, int index) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(value) + 8 * index, sizeof(word));
  __asm__("" : "+r"(word));
  return word;
}

constexpr uint64_t kRest = 0xFFFFFFFFFFFFFF;

/// Bits of an inline string that decide whether its encoding is the narrowest: in ASCII none of them may be set, in the
/// other encodings at least one must be.
struct EncodingMask {
  uint32_t aux;
  uint64_t rest;
};
constexpr EncodingMask kEncodingMasks[] = {{0x80808080u, 0x0080808080808080u},
                                           {0x80808080u, 0x0080808080808080u},
                                           {0xFF00FF00u, 0x0000FF00FF00FF00u},
                                           {0xFFFF0000u, 0x00000000FFFF0000u}};

/// These bits are zero in an inline string with ASCII content and ASCII encoding.
constexpr EncodingMask kAsciiMask = {0x80808080u, uint64_t{0x30} << 56 | 0x0080808080808080u};

/// Whether an inline string has the narrowest encoding. Strings that the runtime made always do; those made by C code
/// may not.
bool is_narrowest(const AnyffiValue& str) {
  auto rest = static_cast<uint64_t>(str.as_int);
  uint64_t encoding = rest >> 60 & 3;
  bool is_needed = (str.aux & kEncodingMasks[encoding].aux) != 0 || (rest & kRest & kEncodingMasks[encoding].rest) != 0;
  return is_needed == (encoding != ANYFFI_ASCII);
}

/// As `anyffi_value_own`, for values that are not copied byte by byte.
int own_slow(const AnyffiValue& value, AnyffiValue* out) {
  AnyffiTextView text;
  switch (value.type_code) {
    case ANYFFI_STR:
      if (is_narrowest(value)) {
        *out = value;
        return 0;
      }
      anyffi_view_text(&value, &text);
      return anyffi_str_create(text.data, text.length, text.encoding, out);
    case ANYFFI_STR_VIEW:
      anyffi_view_text(&value, &text);
      return anyffi_str_create(text.data, text.length, text.encoding, out);
    case ANYFFI_BYTES_VIEW:
      anyffi_view_text(&value, &text);
      return anyffi_bytes_create(text.data, text.length, out);
    case ANYFFI_TENSOR_VIEW:
      *out = anyffi_make_none();
      return anyffi_error_raise("TypeError", "a tensor view borrows its memory for one call: it cannot be stored");
    default:
      *out = anyffi_make_none();
      return raise_format("TypeError", "a value of type code %d cannot be stored", static_cast<int>(value.type_code));
  }
}

constexpr uint64_t kPlainTypes = uint64_t{1} << ANYFFI_NONE | uint64_t{1} << -ANYFFI_BOOL | uint64_t{1} << -ANYFFI_INT |
                                 uint64_t{1} << -ANYFFI_FLOAT | uint64_t{1} << -ANYFFI_BYTES |
                                 uint64_t{1} << -ANYFFI_ELLIPSIS | uint64_t{1} << -ANYFFI_POINTER |
                                 uint64_t{1} << -ANYFFI_DATA_TYPE | uint64_t{1} << -ANYFFI_DEVICE |
                                 uint64_t{1} << -ANYFFI_MISSING;

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_value_own(const AnyffiValue* value, AnyffiValue* out) {
  uint64_t first = load_word(value, 0), second = load_word(value, 1);
  auto type_code = static_cast<int32_t>(first);
  if (type_code > 0) {
    auto* object = reinterpret_cast<AnyffiObject*>(second);
    if (__builtin_expect(type_code == ANYFFI_BOX, 0)) {
      *out = reinterpret_cast<AnyffiBox*>(object)->value;
      return 0;
    }
    anyffi_retain(object);
    *out = anyffi_make_value(static_cast<uint32_t>(first), second);
    return 0;
  }
  bool plain_text = type_code == ANYFFI_STR && ((first >> 32 & kAsciiMask.aux) | (second & kAsciiMask.rest)) == 0;
  if (!plain_text && __builtin_expect((anyffi_type_bit(type_code) & kPlainTypes) == 0, 0)) {
    return own_slow(anyffi_make_value(first, second), out);
  }
  *out = anyffi_make_value(first, second);
  return 0;
}

void anyffi_value_release(AnyffiValue* value) {
  int32_t type_code = value->type_code;
  AnyffiObject* object = value->as_object;
  *value = anyffi_make_none();
  if (type_code > 0) anyffi_release(object);
}

void anyffi_value_move(AnyffiValue* from, AnyffiValue* to) {
  *to = *from;
  *from = anyffi_make_none();
}
