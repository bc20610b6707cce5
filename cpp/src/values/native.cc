/// \file
/// Searches and comparisons of elements as far as they need no code of the host.
#include "values/native.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>

#include "core/host.h"
#include "core/value.h"
#include "values/equal.h"

namespace anyffi::runtime {
namespace {

/// Types whose values are native wherever they are.
constexpr uint64_t kAlwaysNative = (kComparedTypes & ~anyffi_type_bit(ANYFFI_FLOAT)) | anyffi_type_bit(ANYFFI_BIG_INT);

/// Deeper containers are left to the host, which bounds the stack.
constexpr int kMaxDepth = 16;

bool is_compared(const AnyffiValue& value) { return (anyffi_type_bit(value.type_code) & ~kComparedTypes) == 0; }

/// Whether the wrapper of a container, if it has one, compares as the runtime does.
bool has_own_wrapper(const AnyffiObject* container) {
  if (container->wrapper == nullptr) return true;
  const AnyffiHost* hooks = host();
  return hooks != nullptr && hooks->is_own_wrapper != nullptr && hooks->is_own_wrapper(container) != 0;
}

bool is_native_part(const AnyffiValue& value, int depth);

bool is_native_array(const AnyffiSequence* array, int depth) {
  if (depth > kMaxDepth || !has_own_wrapper(&array->header)) return false;
  if ((array->type_mask & ~(kAlwaysNative | ANYFFI_CHECKED)) == 0) return true;
  return std::all_of(array->data, array->data + array->size,
                     [depth](const AnyffiValue& element) { return is_native_part(element, depth + 1); });
}

bool is_native_set(const AnyffiMapping* set, int depth) {
  if (depth > kMaxDepth || !has_own_wrapper(&set->header)) return false;
  if ((set->key_type_mask & ~kAlwaysNative) == 0) return true;
  return std::all_of(set->entries, set->entries + set->used, [depth](const AnyffiEntry& entry) {
    return entry.key.type_code == ANYFFI_UNSET || is_native_part(entry.key, depth + 1);
  });
}

bool is_native_part(const AnyffiValue& value, int depth) {
  if (value.type_code == ANYFFI_FLOAT) return value.as_float == value.as_float;
  if (value.type_code == ANYFFI_ARRAY) return is_native_array(as_sequence(value.as_object), depth);
  if (value.type_code == ANYFFI_FROZEN_SET) return is_native_set(as_mapping(value.as_object), depth);
  return (anyffi_type_bit(value.type_code) & ~kAlwaysNative) == 0;
}

int32_t parts_equal(const AnyffiValue& a, const AnyffiValue& b, int depth);

int32_t sequences_equal(const AnyffiSequence* a, const AnyffiSequence* b, int depth) {
  if (depth > kMaxDepth || !has_own_wrapper(&a->header) || !has_own_wrapper(&b->header)) return -1;
  if (a->size != b->size) return 0;
  for (int64_t i = 0; i < a->size; ++i) {
    int32_t equal = parts_equal(a->data[i], b->data[i], depth + 1);
    if (equal != 1) return equal;
  }
  return 1;
}

inline int32_t parts_equal(const AnyffiValue& a, const AnyffiValue& b, int depth) {
  if (a.type_code == ANYFFI_INT && b.type_code == ANYFFI_INT) return a.as_int == b.as_int;
  if (is_compared(a) && is_compared(b)) {
    // Text is inline exactly if it is short, and then equal words are equal text.
    if (a.type_code == ANYFFI_STR && (b.type_code == ANYFFI_STR || b.type_code == ANYFFI_STR_OBJECT)) {
      return is_identical(a, b);
    }
    return quick_equal(a, b) == Quick::kEqual;
  }
  if ((a.type_code != ANYFFI_ARRAY && a.type_code != ANYFFI_LIST) || a.type_code != b.type_code) return -1;
  if (a.as_object == b.as_object) return 1;
  return sequences_equal(as_sequence(a.as_object), as_sequence(b.as_object), depth);
}

inline int32_t equal_native(const AnyffiValue& a, const AnyffiValue& b) { return parts_equal(a, b, 0); }

}  // namespace

bool is_native(const AnyffiValue& element) noexcept { return is_compared(element) || is_native_part(element, 0); }

bool has_native_keys(const Mapping* mapping) noexcept {
  if ((mapping->key_type_mask & ~(kAlwaysNative | anyffi_type_bit(ANYFFI_FLOAT))) == 0) return true;
  return std::all_of(mapping->entries, mapping->entries + mapping->used, [](const AnyffiEntry& entry) {
    return entry.key.type_code == ANYFFI_UNSET || is_native(entry.key);
  });
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_value_equal_native(const AnyffiValue* a, const AnyffiValue* b) { return equal_native(*a, *b); }

int64_t anyffi_sequence_find(const AnyffiObject* object, const AnyffiValue* value, int64_t start, int64_t stop,
                             int32_t* out_equal) {
  const AnyffiSequence* sequence = as_sequence(object);
  stop = std::min(stop, sequence->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(sequence->data[i], *value);
    if (*out_equal != 0) return i;
  }
  *out_equal = 0;
  return -1;
}

int64_t anyffi_sequence_mismatch(const AnyffiObject* a, const AnyffiObject* b, int64_t start, int32_t* out_equal) {
  const AnyffiSequence *left = as_sequence(a), *right = as_sequence(b);
  int64_t stop = std::min(left->size, right->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(left->data[i], right->data[i]);
    if (*out_equal != 1) return i;
  }
  *out_equal = 1;
  return -1;
}
