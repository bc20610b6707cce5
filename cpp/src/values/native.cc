/// \file
/// Searches and compares elements, as far as that needs no code of the host.
#include "values/native.h"

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>

#include "core/host.h"
#include "values/equal.h"

namespace anyffi::runtime {
namespace {

bool is_native_part(const AnyffiValue& value, int depth);

bool is_native_array(const AnyffiSequence* array, int depth) {
  if (depth > kNativeDepth || !has_own_wrapper(&array->header)) return false;
  if ((array->type_mask & ~(kAlwaysNative | ANYFFI_CHECKED)) == 0) return true;
  return std::all_of(array->data, array->data + array->size,
                     [depth](const AnyffiValue& element) { return is_native_part(element, depth + 1); });
}

bool is_native_set(const AnyffiMapping* set, int depth) {
  if (depth > kNativeDepth || !has_own_wrapper(&set->header)) return false;
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

}  // namespace

bool has_own_wrapper(const AnyffiObject* container) noexcept {
  const AnyffiHost* hooks = host();
  if (__atomic_load_n(&container->wrapper, __ATOMIC_RELAXED) == nullptr) return !keeps_wrappers();
  return hooks != nullptr && hooks->is_own_wrapper != nullptr && hooks->is_own_wrapper(container) != 0;
}

bool is_native_container(const AnyffiValue& element) noexcept { return is_native_part(element, 0); }

bool has_native_keys(const Mapping* mapping) noexcept {
  if (compares_alone(mapping)) return true;
  return std::all_of(mapping->entries, mapping->entries + mapping->used, [](const AnyffiEntry& entry) {
    return entry.key.type_code == ANYFFI_UNSET || is_native(entry.key);
  });
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int32_t anyffi_value_equal_native(const AnyffiValue* a, const AnyffiValue* b) { return equal_native(*a, *b, 0); }

int64_t anyffi_sequence_find(const AnyffiObject* object, const AnyffiValue* value, int64_t start, int64_t stop,
                             int32_t* out_equal) {
  const AnyffiSequence* sequence = as_sequence(object);
  stop = std::min(stop, sequence->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(sequence->data[i], *value, 0);
    if (*out_equal != 0) return i;
  }
  *out_equal = 0;
  return -1;
}

int64_t anyffi_sequence_mismatch(const AnyffiObject* a, const AnyffiObject* b, int64_t start, int32_t* out_equal) {
  const AnyffiSequence *left = as_sequence(a), *right = as_sequence(b);
  int64_t stop = std::min(left->size, right->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(left->data[i], right->data[i], 0);
    if (*out_equal != 1) return i;
  }
  *out_equal = 1;
  return -1;
}
