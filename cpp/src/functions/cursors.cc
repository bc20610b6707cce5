/// \file
/// Iterators over the containers of wrappers, for front ends in which a call costs more than a step.
#include "functions/wrapped.h"

namespace anyffi::runtime {
namespace {

/// The container; NULL if it has another type, or if the collector has cleared the wrapper that the iterator keeps
/// alive.
const AnyffiObject* find_container(const AnyffiCursor& cursor) {
  AnyffiWrapperRef ref = cursor.self;
  if (ref.wrapper != nullptr) ref.object = anyffi_wrapper_get_object(ref.wrapper);
  return find(&ref, cursor.type_code);
}

/// Stores a value in `out`. If `out` is NULL, releases the value, which the container still holds.
void pass_or_drop(AnyffiValue* value, AnyffiValue* out) {
  if (out != nullptr) {
    *out = *value;
  } else {
    anyffi_value_drop(value);
  }
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

void anyffi_cursor_open(AnyffiCursor* cursor, const AnyffiWrapperRef* self, int32_t step) {
  const AnyffiObject* object = self->object;
  *cursor = AnyffiCursor{*self, 0, 0, 0, object->type_code, step};
  if (!has_entries(object->type_code)) {
    if (step < 0) cursor->index = as_sequence(object)->size - 1;
    return;
  }
  cursor->size = cursor->left = as_mapping(object)->size;
  if (step < 0) cursor->index = as_mapping(object)->used - 1;
}

int32_t anyffi_cursor_next_element(AnyffiCursor* cursor, AnyffiValue* out) {
  const AnyffiObject* object = find_container(*cursor);
  if (object == nullptr || cursor->index < 0) return 0;
  anyffi_sequence_get(object, cursor->index, out);
  if (out->type_code == ANYFFI_UNSET) return 0;
  cursor->index += cursor->step;
  return 1;
}

int32_t anyffi_cursor_next_entry(AnyffiCursor* cursor, AnyffiValue* out_key, AnyffiValue* out_value) {
  const AnyffiObject* object = find_container(*cursor);
  if (object == nullptr || as_mapping(object)->size != cursor->size) return ANYFFI_OTHER_SIZE;
  AnyffiValue key, value;
  int64_t found = anyffi_mapping_next(object, cursor->index, cursor->step, &key, &value);
  if (found < 0) return 0;
  bool has_other_keys = cursor->left == 0 && cursor->step > 0 && !is_set(object->type_code);
  pass_or_drop(&key, has_other_keys ? nullptr : out_key);
  pass_or_drop(&value, has_other_keys ? nullptr : out_value);
  if (has_other_keys) return ANYFFI_OTHER_KEYS;
  cursor->index = found + cursor->step;
  --cursor->left;
  return 1;
}
