/// \file
/// Operations on the containers of wrappers, for front ends whose calls take longer than the operations.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>

#include "values/containers.h"

namespace anyffi::runtime {
namespace {

enum : int32_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

/// The object of a wrapper; null if it is of another type.
AnyffiObject* find(const AnyffiWrapperRef* ref, int32_t type_code) {
  AnyffiObject* object = ref->object;
  if (object == nullptr || object->type_code == type_code) return object;
  return anyffi_type_is_a(object->type_code, type_code) != 0 ? object : nullptr;
}

template <typename T>
bool holds(int32_t operation, T a, T b) {
  switch (operation) {
    case kLess:
      return a < b;
    case kLessEqual:
      return a <= b;
    case kEqual:
      return a == b;
    case kNotEqual:
      return a != b;
    case kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

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

int32_t compare_sets(const AnyffiObject* a, const AnyffiObject* b, int32_t operation) {
  int64_t mine = as_mapping(a)->size, theirs = as_mapping(b)->size;
  if (operation == kNotEqual) {
    int32_t is_equal = compare_sets(a, b, kEqual);
    return is_equal < 0 ? is_equal : !is_equal;
  }
  if (a == b && operation == kEqual) return 1;
  if (!holds(operation, mine, theirs)) return 0;
  return mine <= theirs ? anyffi_set_relate(a, b, 1) : anyffi_set_relate(b, a, 1);
}

/// Without floats: a NaN equals a key of the runtime, but no other value.
bool has_plain_keys(const Mapping* mapping) {
  return (mapping->key_type_mask & ~(kComparedTypes & ~anyffi_type_bit(ANYFFI_FLOAT))) == 0;
}

int32_t equal_mappings(const Mapping* mine, const Mapping* theirs) {
  if (mine == theirs) return 1;
  if (mine->size != theirs->size) return 0;
  if (!has_plain_keys(mine) || !has_plain_keys(theirs)) return ANYFFI_UNDECIDED;
  for (int64_t i = 0; i < mine->used; ++i) {
    const AnyffiEntry& entry = mine->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    int64_t found = -1, hash;
    if (hash_entry(mine, entry, &hash) != 0 || find_entry(theirs, entry.key, hash, &found) != 0) {
      return ANYFFI_UNDECIDED;
    }
    int32_t is_equal = found < 0 ? 0 : anyffi_value_equal_native(&entry.value, &theirs->entries[found].value);
    if (is_equal != 1) return is_equal;
  }
  return 1;
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

int32_t anyffi_wrapper_get_next(const AnyffiWrapperRef* self, int32_t type_code, int32_t index, int32_t step,
                                int32_t size, AnyffiValue* out_key, AnyffiValue* out_value) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr || static_cast<int32_t>(as_mapping(object)->size) != size) return -2;
  AnyffiValue key, value;
  auto found = static_cast<int32_t>(anyffi_mapping_next(object, index, step, &key, &value));
  // What is not wanted is still in the mapping.
  if (out_key != nullptr) *out_key = key;
  if (out_key == nullptr) anyffi_value_drop(&key);
  if (out_value != nullptr) *out_value = value;
  if (out_value == nullptr) anyffi_value_drop(&value);
  return found;
}

int32_t anyffi_wrapper_set_element(const AnyffiWrapperRef* self, int32_t index, const AnyffiValue* value) {
  AnyffiObject* object = find(self, ANYFFI_LIST);
  if (object == nullptr) return 0;
  int64_t size = as_sequence(object)->size, position = index < 0 ? index + size : index;
  if (position < 0 || position >= size) return 0;
  return anyffi_sequence_set(object, position, value) == 0 ? 1 : -1;
}

int64_t anyffi_wrapper_find_element(const AnyffiWrapperRef* self, int32_t type_code, const AnyffiValue* value,
                                    int32_t start, int32_t stop) {
  const AnyffiObject* object = find(self, type_code);
  int32_t is_equal;
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  int64_t found = anyffi_sequence_find(object, value, start, stop < 0 ? INT64_MAX : stop, &is_equal);
  return found >= 0 && is_equal < 0 ? ANYFFI_UNDECIDED - 1 : found;
}

int64_t anyffi_wrapper_count_elements(const AnyffiWrapperRef* self, int32_t type_code, const AnyffiValue* value) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
  int64_t total = 0;
  for (int64_t i = 0;; ++i, ++total) {
    int32_t is_equal;
    i = anyffi_sequence_find(object, value, i, INT64_MAX, &is_equal);
    if (i < 0) return total;
    if (is_equal < 0) return ANYFFI_UNDECIDED;
  }
}

int32_t anyffi_wrapper_get_item(const AnyffiWrapperRef* self, int32_t type_code, const AnyffiValue* key,
                                AnyffiValue* out) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  if (anyffi_mapping_get(object, key, out) != 0) return -1;
  return out->type_code != ANYFFI_UNSET;
}

int32_t anyffi_wrapper_has_key(const AnyffiWrapperRef* self, int32_t type_code, const AnyffiValue* key) {
  const AnyffiObject* object = find(self, type_code);
  int64_t entry;
  if (object == nullptr) return ANYFFI_UNDECIDED - 1;
  return anyffi_mapping_find(object, key, &entry) != 0 ? -1 : entry >= 0;
}

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
  int32_t is_equal = equal_mappings(as_mapping(a), as_mapping(b));
  return is_equal < 0 ? is_equal : is_equal == (operation == kEqual);
}

int32_t anyffi_wrapper_compare_values(const AnyffiWrapperRef* self, const AnyffiValue* values, int32_t count,
                                      int32_t type_code, int32_t operation) {
  const AnyffiObject* object = find(self, type_code);
  if (object == nullptr) return ANYFFI_UNDECIDED;
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

int32_t anyffi_wrapper_is_disjoint(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code) {
  const AnyffiObject *a = find(self, type_code), *b = other->object;
  if (a == nullptr || b == nullptr || !is_set(a->type_code) || !is_set(b->type_code)) return ANYFFI_UNDECIDED;
  return anyffi_set_relate(a, b, 0);
}

int32_t anyffi_wrapper_combine(const AnyffiWrapperRef* self, const AnyffiWrapperRef* other, int32_t type_code,
                               int32_t operation, AnyffiValue* out) {
  const AnyffiObject *a = find(self, type_code), *b = other->object;
  if (a == nullptr || b == nullptr || !is_set(a->type_code) || !is_set(b->type_code)) return ANYFFI_UNDECIDED - 1;
  return anyffi_set_combine(a, b, operation, type_code, out);
}

int anyffi_function_call_wrapped(void* self, const AnyffiWrapperRef* first, const AnyffiWrapperRef* second,
                                 AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  auto* function = static_cast<AnyffiFunction*>(self);
  AnyffiValue values[ANYFFI_MAX_WRAPPED + 2];
  int32_t count = 0;
  for (const AnyffiWrapperRef* ref : {first, second}) {
    if (ref != nullptr) values[count++] = anyffi_make_object(ref->object);
  }
  num_args = std::min<int32_t>(num_args, ANYFFI_MAX_WRAPPED);
  for (int32_t i = 0; i < num_args; ++i) values[count++] = args[i];
  return function->call(function->self, values, count, result);
}
