/// \file
/// Untyped work on values: owning, size, items.
#include <cstring>

#include "internal.h"

namespace anyffi::runtime {
namespace {

/// One of the two words of a value, in a register of its own: the compiler would join both reads to one of 16
/// bytes, which waits until the two stores that wrote them have reached the cache.
uint64_t load_word(const AnyffiValue* value, int index) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(value) + 8 * index, sizeof(word));
  __asm__("" : "+r"(word));
  return word;
}

constexpr uint64_t kRest = 0xFFFFFFFFFFFFFF;

/// The bits that show of an in-place string whether it needs its encoding: none may be set in ASCII, some must be
/// in the others.
struct EncodingMask {
  uint32_t aux;
  uint64_t rest;
};
constexpr EncodingMask kEncodingMasks[] = {{0x80808080u, 0x0080808080808080u},
                                           {0x80808080u, 0x0080808080808080u},
                                           {0xFF00FF00u, 0x0000FF00FF00FF00u},
                                           {0xFFFF0000u, 0x00000000FFFF0000u}};

/// None of these is set in an in-place string that says to be ASCII and is.
constexpr EncodingMask kAsciiMask = {0x80808080u, uint64_t{0x30} << 56 | 0x0080808080808080u};

/// 1 if an in-place string has the narrowest encoding, as every part of the runtime makes them; C code may not.
bool is_narrowest(const AnyffiValue& str) {
  auto rest = static_cast<uint64_t>(str.as_int);
  uint64_t encoding = rest >> 60 & 3;
  bool seen = (str.aux & kEncodingMasks[encoding].aux) != 0 || (rest & kRest & kEncodingMasks[encoding].rest) != 0;
  return seen == (encoding != ANYFFI_ASCII);
}

/// Owns what is more than its bytes, or may be.
int own_special(const AnyffiValue& value, AnyffiValue* out) {
  AnyffiTextView text;
  switch (value.type_code) {
    case ANYFFI_STR:
      if (is_narrowest(value)) {
        *out = value;
        return 0;
      }
      anyffi_text_inline(&value, &text);
      return anyffi_str_create(text.data, text.length, text.encoding, out);
    case ANYFFI_STR_VIEW:
      anyffi_text_inline(&value, &text);
      return anyffi_str_create(text.data, text.length, text.encoding, out);
    case ANYFFI_BYTES_VIEW:
      anyffi_text_inline(&value, &text);
      return anyffi_bytes_create(text.data, text.length, out);
    case ANYFFI_TENSOR_VIEW:
      *out = anyffi_none_inline();
      return anyffi_error_raise("TypeError", "a tensor view borrows its memory for a call: it cannot be kept");
    default:
      *out = anyffi_none_inline();
      return raise_format("TypeError", "a value of code %d cannot be kept", static_cast<int>(value.type_code));
  }
}

constexpr uint64_t kPlainTypes = uint64_t{1} << ANYFFI_NONE | uint64_t{1} << -ANYFFI_BOOL | uint64_t{1} << -ANYFFI_INT |
                                 uint64_t{1} << -ANYFFI_FLOAT | uint64_t{1} << -ANYFFI_BYTES |
                                 uint64_t{1} << -ANYFFI_ELLIPSIS | uint64_t{1} << -ANYFFI_POINTER |
                                 uint64_t{1} << -ANYFFI_DATA_TYPE | uint64_t{1} << -ANYFFI_DEVICE |
                                 uint64_t{1} << -ANYFFI_MISSING;

/// The index that `key` means in something of `size` elements.
int find_index(const AnyffiValue* key, int64_t size, const char* what, int64_t* out) {
  AnyffiValue number = *key;
  if (number.type_code == ANYFFI_BOX) number = reinterpret_cast<AnyffiBox*>(number.as_object)->value;
  if (number.type_code == ANYFFI_BIG_INT) {
    return anyffi_error_raise("IndexError", "cannot fit 'int' into an index-sized integer");
  }
  if (number.type_code != ANYFFI_INT && number.type_code != ANYFFI_BOOL) {
    Owned name;
    if (type_name_of(&number, name.out()) != 0) return -1;
    return guard([&] {
      String text;
      append_text(&text, name.get());
      return raise_format("TypeError", "%s indices must be integers, not %s", what, text.c_str());
    });
  }
  *out = number.as_int < 0 ? number.as_int + size : number.as_int;
  if (*out < 0 || *out >= size) return raise_format("IndexError", "%s index out of range", what);
  return 0;
}

int get_mapping_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out) {
  int64_t entry;
  if (anyffi_mapping_find(value->as_object, key, &entry) != 0) return -1;
  if (entry < 0) return raise_key_error(key);
  return anyffi_value_own(&reinterpret_cast<AnyffiMapping*>(value->as_object)->entries[entry].value, out);
}

int get_text_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out) {
  AnyffiTextView text;
  anyffi_text_inline(value, &text);
  bool bytes = anyffi_is_bytes(value->type_code);
  int64_t index;
  if (find_index(key, text.length, bytes ? "bytes" : "string", &index) != 0) return -1;
  uint32_t unit = anyffi_code_point_inline(&text, index);
  *out = bytes ? anyffi_int_inline(unit) : anyffi_char_inline(unit);
  return 0;
}

}  // namespace

int type_name_of(const AnyffiValue* value, AnyffiValue* out) noexcept {
  if (value->type_code == ANYFFI_BOX) value = &reinterpret_cast<AnyffiBox*>(value->as_object)->value;
  *out = anyffi_none_inline();
  void* handle = nullptr;
  if (value->type_code == ANYFFI_PY_OBJECT) {
    handle = reinterpret_cast<AnyffiPyObject*>(value->as_object)->handle;
  } else if (value->type_code == ANYFFI_FUNCTION) {
    handle = reinterpret_cast<AnyffiFunction*>(value->as_object)->handle;
  } else if (value->type_code == ANYFFI_ERROR) {
    auto* error = reinterpret_cast<AnyffiError*>(value->as_object);
    handle = error->handle;
    if (handle == nullptr) return anyffi_value_own(&error->kind, out);
  }
  const AnyffiHost* hooks = host();
  if (handle != nullptr && hooks != nullptr && hooks->handle_type_name != nullptr) {
    int status = ask_host([&] { return hooks->handle_type_name(handle, out); });
    if (status == 0 && anyffi_is_str(out->type_code)) return 0;
    anyffi_value_release(out);
    Owned ignored;
    anyffi_error_take_raised(ignored.out());
  }
  const AnyffiTypeInfo* info = anyffi_type_get_info(value->type_code);
  const char* name = info != nullptr ? info->python_name : "value of an unknown type";
  return str_from_utf8_escaped(name, static_cast<int64_t>(std::strlen(name)), out);
}

int raise_about_type(const AnyffiValue* value, const char* format) noexcept {
  Owned name;
  if (type_name_of(value, name.out()) != 0) return -1;
  return guard([&] {
    String text;
    append_text(&text, name.get());
    return raise_format("TypeError", format, text.c_str());
  });
}

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
    anyffi_retain_inline(object);
    *out = anyffi_from_words_inline(static_cast<uint32_t>(first), second);
    return 0;
  }
  bool plain_text = type_code == ANYFFI_STR && ((first >> 32 & kAsciiMask.aux) | (second & kAsciiMask.rest)) == 0;
  if (!plain_text && __builtin_expect((anyffi_type_bit(type_code) & kPlainTypes) == 0, 0)) {
    return own_special(anyffi_from_words_inline(first, second), out);
  }
  *out = anyffi_from_words_inline(first, second);
  return 0;
}

void anyffi_value_release(AnyffiValue* value) {
  int32_t type_code = value->type_code;
  AnyffiObject* object = value->as_object;
  *value = anyffi_none_inline();
  if (type_code > 0) anyffi_release_inline(object);
}

void anyffi_value_move(AnyffiValue* from, AnyffiValue* to) {
  *to = *from;
  *from = anyffi_none_inline();
}

int anyffi_value_get_size(const AnyffiValue* value, int64_t* out) {
  *out = 0;
  AnyffiTextView text;
  switch (anyffi_type_get_family(value->type_code)) {
    case ANYFFI_STR:
    case ANYFFI_BYTES:
      anyffi_text_inline(value, &text);
      *out = text.length;
      return 0;
    case ANYFFI_ARRAY:
    case ANYFFI_LIST:
      *out = reinterpret_cast<AnyffiSequence*>(value->as_object)->size;
      return 0;
    case ANYFFI_MAP:
    case ANYFFI_DICT:
    case ANYFFI_SET:
    case ANYFFI_FROZEN_SET:
      *out = reinterpret_cast<AnyffiMapping*>(value->as_object)->size;
      return 0;
    case ANYFFI_BOX:
      return anyffi_value_get_size(&reinterpret_cast<AnyffiBox*>(value->as_object)->value, out);
    case ANYFFI_TENSOR: {
      auto* tensor = value->type_code == ANYFFI_TENSOR ? &reinterpret_cast<AnyffiTensor*>(value->as_object)->tensor
                                                       : static_cast<AnyffiTensorData*>(value->as_pointer);
      if (tensor->ndim == 0) return anyffi_error_raise("TypeError", "len() of unsized object");
      *out = tensor->shape[0];
      return 0;
    }
    default:
      return raise_about_type(value, "object of type '%s' has no len()");
  }
}

int anyffi_value_get_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out) {
  // `out` may be the place of the value or of the key.
  AnyffiValue given = *value, wanted = *key;
  *out = anyffi_none_inline();
  if (given.type_code == ANYFFI_BOX) given = reinterpret_cast<AnyffiBox*>(given.as_object)->value;
  switch (anyffi_type_get_family(given.type_code)) {
    case ANYFFI_STR:
    case ANYFFI_BYTES:
      return get_text_item(&given, &wanted, out);
    case ANYFFI_ARRAY:
    case ANYFFI_LIST: {
      auto* sequence = reinterpret_cast<AnyffiSequence*>(given.as_object);
      int64_t index;
      const char* name = anyffi_type_get_info(given.type_code)->type_key;
      if (find_index(&wanted, sequence->size, name, &index) != 0) return -1;
      return anyffi_value_own(&sequence->data[index], out);
    }
    case ANYFFI_MAP:
    case ANYFFI_DICT:
      return get_mapping_item(&given, &wanted, out);
    default:
      return raise_about_type(&given, "'%s' object is not subscriptable");
  }
}
