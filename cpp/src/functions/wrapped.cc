/// \file
/// Operations on the containers of wrappers, for front ends in which a call costs more than the operation.
#include "functions/wrapped.h"

#include <algorithm>

#include "values/native.h"

namespace anyffi::runtime {
namespace {

int32_t compare_sequences(const AnyffiObject* a, const AnyffiObject* b, int32_t operation) {
  int64_t mine = as_sequence(a)->size, theirs = as_sequence(b)->size;
  bool is_equality = operation == kEqual || operation == kNotEqual;
  if (is_equality && (a == b || mine != theirs)) return (a == b) == (operation == kEqual);
  int32_t is_equal;
  int64_t position = anyffi_sequence_mismatch(a, b, 0, &is_equal);
  if (position < 0) return holds(operation, mine, theirs);
  if (is_equal < 0 || position >= INT32_MAX - ANYFFI_DIFFERS) return ANYFFI_UNDECIDED;
  return is_equality ? operation == kNotEqual : ANYFFI_DIFFERS + static_cast<int32_t>(position);
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int64_t anyffi_wrapper_get_size(const AnyffiWrapperRef* self, int32_t type_code) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return -1;
  return has_entries(type_code) ? as_mapping(object)->size : as_sequence(object)->size;
}

int32_t anyffi_wrapper_get_element(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return 0;
  anyffi_sequence_get(object, index < 0 ? index + as_sequence(object)->size : index, out);
  return out->type_code != ANYFFI_UNSET;
}

int32_t anyffi_wrapper_set_element(const AnyffiWrapperRef* self, int32_t index, AnyffiValue* recipe, int32_t size) {
  AnyffiObject* object = find(self, ANYFFI_LIST);
  if (object == nullptr) return 0;
  Built value(recipe, size);
  if (!value.is_built()) return -1;
  int64_t position = find_position(*as_sequence(object), index);
  if (position < 0) return 0;
  return anyffi_sequence_set(object, position, value.values()) == 0 ? 1 : -1;
}

int32_t anyffi_wrapper_erase_element(const AnyffiWrapperRef* self, int32_t index) {
  AnyffiObject* object = find(self, ANYFFI_LIST);
  if (object == nullptr) return 0;
  int64_t position = find_position(*as_sequence(object), index);
  if (position < 0) return 0;
  return anyffi_sequence_erase(object, position, 1) == 0 ? 1 : -1;
}

int64_t anyffi_wrapper_find_element(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe, int32_t size,
                                    int32_t start, int32_t stop) {
  const AnyffiObject* object = find(self, type_code);
  int32_t is_equal;
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  Built value(recipe, size);
  if (!value.is_built()) return ANYFFI_UNDECIDED - 2;
  int64_t found = anyffi_sequence_find(object, value.values(), start, stop < 0 ? INT64_MAX : stop, &is_equal);
  return found >= 0 && is_equal < 0 ? ANYFFI_UNDECIDED - 1 : found;
}

int64_t anyffi_wrapper_count_elements(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* recipe,
                                      int32_t size) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
  Built value(recipe, size);
  if (!value.is_built()) return ANYFFI_UNDECIDED - 1;
  int64_t total = 0;
  for (int64_t i = 0;; ++i, ++total) {
    int32_t is_equal;
    i = anyffi_sequence_find(object, value.values(), i, INT64_MAX, &is_equal);
    if (i < 0) return total;
    if (is_equal < 0) return ANYFFI_UNDECIDED;
  }
}

int32_t anyffi_wrapper_concat(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                              AnyffiValue* out) {
  const AnyffiObject *a = find(self, type_code), *b = find(other, type_code);
  if (a == nullptr || b == nullptr) return 0;
  const AnyffiSequence* second = as_sequence(b);
  if (copy_sequence(as_sequence(a), type_code, out) != 0) return -1;
  AnyffiSequence* made = as_sequence(out->as_object);
  if (anyffi_sequence_splice(&made->header, made->size, 0, second->data, second->size) == 0) return 1;
  anyffi_value_release(out);
  return -1;
}

int32_t anyffi_wrapper_concat_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size, int32_t type_code,
                                     int32_t is_reflected, AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return 0;
  Built items(recipe, size);
  if (!items.is_built() || anyffi_sequence_create_from(type_code, items.values(), items.count(), out) != 0) return -1;
  const AnyffiSequence* mine = as_sequence(object);
  AnyffiSequence* made = as_sequence(out->as_object);
  if (anyffi_sequence_splice(&made->header, is_reflected != 0 ? made->size : 0, 0, mine->data, mine->size) == 0) {
    return 1;
  }
  anyffi_value_release(out);
  return -1;
}

namespace {

/// The common size of rows that are all Arrays of inline values and text, without wrappers of users' subclasses; else
/// 0.
int64_t common_size(const AnyffiSequence* rows) {
  constexpr uint64_t kScalars = kComparedTypes | anyffi_type_bit(ANYFFI_BYTES_OBJECT) | ANYFFI_CHECKED;
  int64_t width = 0;
  for (int64_t i = 0; i < rows->size; ++i) {
    const AnyffiValue& row = rows->data[i];
    if (row.type_code != ANYFFI_ARRAY || !has_own_wrapper(row.as_object)) return 0;
    const AnyffiSequence* cells = as_sequence(row.as_object);
    if ((cells->type_mask & ~kScalars) != 0 || (i > 0 && cells->size != width)) return 0;
    width = cells->size;
  }
  return width;
}

}  // namespace

int64_t anyffi_wrapper_flatten(const AnyffiWrapperRef* self, int32_t type_code, AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  const AnyffiSequence* rows = object != nullptr ? as_sequence(object) : nullptr;
  int64_t width = rows != nullptr ? common_size(rows) : 0;
  if (width == 0) return 0;
  if (anyffi_sequence_create(ANYFFI_ARRAY, rows->size * width, out) != 0) return -1;
  for (int64_t i = 0; i < rows->size; ++i) {
    const AnyffiSequence* row = as_sequence(rows->data[i].as_object);
    AnyffiObject* flat = out->as_object;
    if (anyffi_sequence_splice(flat, as_sequence(flat)->size, 0, row->data, width) == 0) continue;
    anyffi_value_release(out);
    return -1;
  }
  return width;
}

// ---- construction ---------------------------------------------------------------------------------------------------

namespace {

/// Makes a new container the object of the wrapper that `hold` names; releases the container if that fails.
int32_t hold_container(AnyffiWrapperHold* hold, AnyffiValue* made) {
  hold->value = *made;
  hold->value.aux = 0;
  int32_t is_claimed = anyffi_wrapper_claim(hold, made);
  if (is_claimed == 0) anyffi_value_release(made);
  return is_claimed;
}

}  // namespace

int32_t anyffi_wrapper_create(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size) {
  AnyffiValue made;
  if (anyffi_recipe_create(recipe, size, &made) != 0) return -1;
  return hold_container(hold, &made);
}

int32_t anyffi_wrapper_create_set(AnyffiWrapperHold* hold, AnyffiValue* recipe, int32_t size, int32_t type_code) {
  Built items(recipe, size);
  AnyffiValue made;
  if (!items.is_built() || anyffi_mapping_create(ANYFFI_SET, items.count(), &made) != 0) return -1;
  int32_t status = anyffi_set_change_values(made.as_object, items.values(), items.count(), ANYFFI_SET_OR);
  if (status <= 0) {
    anyffi_value_release(&made);
    return status;
  }
  made.as_object->type_code = made.type_code = type_code;
  return hold_container(hold, &made);
}

int32_t anyffi_wrapper_create_copy(AnyffiWrapperHold* hold, const AnyffiWrapperRef* other, int32_t type_code) {
  if (other->object == nullptr) return 0;
  int32_t given = other->object->type_code;
  bool is_alike = (is_sequence(given) && is_sequence(type_code)) || (is_mapping(given) && is_mapping(type_code)) ||
                  (is_set(given) && is_set(type_code));
  if (!is_alike) return 0;
  AnyffiValue container = anyffi_make_object(other->object), made;
  if (anyffi_container_copy(&container, type_code, &made) != 0) return -1;
  return hold_container(hold, &made);
}

// ---- comparisons and calls ------------------------------------------------------------------------------------------

int32_t anyffi_wrapper_compare(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation) {
  const AnyffiObject *a = find(self, type_code), *b = other->object;
  if (a == nullptr || b == nullptr) return ANYFFI_UNDECIDED;
  int32_t first = a->type_code, second = b->type_code;
  if (is_sequence(first) && is_sequence(second) && (first == ANYFFI_LIST) == (second == ANYFFI_LIST)) {
    return compare_sequences(a, b, operation);
  }
  if (is_set(first) && is_set(second)) return compare_sets(a, b, operation);
  if (!is_mapping(first) || !is_mapping(second) || (operation != kEqual && operation != kNotEqual)) {
    return ANYFFI_UNDECIDED;
  }
  int32_t is_equal = equal_mappings(a, b);
  return is_equal < 0 ? is_equal : is_equal == (operation == kEqual);
}

int32_t anyffi_wrapper_compare_values(const AnyffiWrapperRef* self, AnyffiValue* recipe, int32_t size,
                                      int32_t type_code, int32_t operation) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
  Built items(recipe, size);
  if (!items.is_built()) return ANYFFI_UNDECIDED - 1;
  const AnyffiValue* values = items.values();
  int32_t count = items.count();
  const AnyffiSequence* mine = as_sequence(object);
  bool is_equality = operation == kEqual || operation == kNotEqual;
  if (is_equality && mine->size != count) return operation == kNotEqual;
  for (int32_t i = 0; i < std::min<int64_t>(mine->size, count); ++i) {
    int32_t is_equal = anyffi_value_equal_native(&mine->data[i], &values[i]);
    if (is_equal < 0 || i >= INT32_MAX - ANYFFI_DIFFERS) return ANYFFI_UNDECIDED;
    if (is_equal == 0) return is_equality ? operation == kNotEqual : ANYFFI_DIFFERS + i;
  }
  return holds<int64_t>(operation, mine->size, count);
}

int anyffi_function_call_wrapped(void* self, const AnyffiWrapperRef* first, const AnyffiWrapperRef* second,
                                 AnyffiValue* recipe, int32_t size, AnyffiValue* result) {
  auto* function = static_cast<AnyffiFunction*>(self);
  Built args(recipe, size);
  if (!args.is_built()) return -1;
  AnyffiValue values[ANYFFI_MAX_WRAPPED + 2];
  int32_t count = 0;
  for (const AnyffiWrapperRef* ref : {first, second}) {
    if (ref != nullptr) values[count++] = anyffi_make_object(ref->object);
  }
  int32_t num_args = std::min<int32_t>(args.count(), ANYFFI_MAX_WRAPPED);
  for (int32_t i = 0; i < num_args; ++i) {
    values[count] = args.values()[i];
    values[count++].aux &= ~(args.values()[i].type_code > 0 ? uint32_t{ANYFFI_MOVABLE} : 0);
  }
  return function->call(function->self, values, count, result);
}
