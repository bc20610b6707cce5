/// \file
/// `len(value)` and `value[key]` of any value.
#include <anyffi/inline.h>

#include <cstring>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"

namespace anyffi::runtime {
namespace {

/// Resolves an index of a container with `size` elements.
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

int raise_key_error(const AnyffiValue* key) {
  Owned message, args;
  if (anyffi_value_repr(key, message.out()) != 0) return -1;
  if (anyffi_sequence_create_from(ANYFFI_ARRAY, key, 1, args.out()) != 0) return -1;
  Owned kind(anyffi_make_inline_text(ANYFFI_STR, ANYFFI_ASCII, "KeyError", 8, 8)), error;
  if (anyffi_error_create(kind.get(), message.get(), args.get(), error.out()) != 0) return -1;
  anyffi_error_set_raised(error->as_object);
  return -1;
}

int get_mapping_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out) {
  int64_t entry;
  if (anyffi_mapping_find(value->as_object, key, &entry) != 0) return -1;
  if (entry < 0) return raise_key_error(key);
  return anyffi_value_own(&reinterpret_cast<AnyffiMapping*>(value->as_object)->entries[entry].value, out);
}

int get_text_item(const AnyffiValue* value, const AnyffiValue* key, AnyffiValue* out) {
  AnyffiTextView text;
  anyffi_view_text(value, &text);
  bool bytes = anyffi_is_bytes(value->type_code);
  int64_t index;
  if (find_index(key, text.length, bytes ? "bytes" : "string", &index) != 0) return -1;
  uint32_t unit = anyffi_get_code_point(&text, index);
  *out = bytes ? anyffi_make_int(unit) : anyffi_make_char(unit);
  return 0;
}

}  // namespace

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_value_get_size(const AnyffiValue* value, int64_t* out) {
  *out = 0;
  AnyffiTextView text;
  switch (anyffi_type_get_family(value->type_code)) {
    case ANYFFI_STR:
    case ANYFFI_BYTES:
      anyffi_view_text(value, &text);
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
  // `out` may be the same as `value` or `key`.
  AnyffiValue container = *value, index_or_key = *key;
  *out = anyffi_make_none();
  if (container.type_code == ANYFFI_BOX) container = reinterpret_cast<AnyffiBox*>(container.as_object)->value;
  switch (anyffi_type_get_family(container.type_code)) {
    case ANYFFI_STR:
    case ANYFFI_BYTES:
      return get_text_item(&container, &index_or_key, out);
    case ANYFFI_ARRAY:
    case ANYFFI_LIST: {
      auto* sequence = reinterpret_cast<AnyffiSequence*>(container.as_object);
      int64_t index;
      const char* name = anyffi_type_get_info(container.type_code)->type_key;
      if (find_index(&index_or_key, sequence->size, name, &index) != 0) return -1;
      return anyffi_value_own(&sequence->data[index], out);
    }
    case ANYFFI_MAP:
    case ANYFFI_DICT:
      return get_mapping_item(&container, &index_or_key, out);
    default:
      return raise_about_type(&container, "'%s' object is not subscriptable");
  }
}
