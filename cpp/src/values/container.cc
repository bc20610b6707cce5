/// \file
/// Creates containers from values, and converts containers to other types of the same layout: Array, List and Shape;
/// Map and Dict; FrozenSet and Set.
#include <anyffi/inline.h>

#include <utility>

#include "core/errors.h"
#include "core/memory.h"
#include "core/messages.h"
#include "core/owned.h"
#include "core/types.h"
#include "core/value.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

bool have_same_layout(int32_t a, int32_t b) {
  return (is_sequence(a) && is_sequence(b)) || (is_mapping(a) && is_mapping(b)) || (is_set(a) && is_set(b));
}

bool is_immutable(int32_t code) {
  return code == ANYFFI_ARRAY || code == ANYFFI_SHAPE || code == ANYFFI_MAP || code == ANYFFI_FROZEN_SET;
}

int check_shape(const AnyffiSequence* sequence) {
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (sequence->data[i].type_code != ANYFFI_INT) return anyffi_error_raise("TypeError", "a Shape holds only ints");
  }
  return 0;
}

int check_conversion(const AnyffiValue& container, int32_t type_code) {
  if (have_same_layout(container.type_code, type_code)) {
    return type_code == ANYFFI_SHAPE ? check_shape(as_sequence(container.as_object)) : 0;
  }
  const AnyffiTypeInfo* target = anyffi_type_get_info(type_code);
  Owned name;
  if (type_name_of(&container, name.out()) != 0) return -1;
  return guard([&] {
    String text;
    append_text(&text, name.get());
    bool is_container = is_sequence(container.type_code) || has_entries(container.type_code);
    if (!is_container) return raise_format("TypeError", "expected a container of the runtime, got %s", text.c_str());
    return raise_format("TypeError", "cannot convert %s to %s", text.c_str(),
                        target == nullptr ? "an unknown type" : target->type_key);
  });
}

int visit_sequence(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  const AnyffiSequence* sequence = as_sequence(self->as_object);
  for (int64_t i = 0; i < sequence->size; ++i) {
    if (visit(&sequence->data[i], context) != 0) return -1;
  }
  return 0;
}

int visit_mapping(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  const Mapping* mapping = as_mapping(self->as_object);
  for (int64_t i = 0; i < mapping->used; ++i) {
    const AnyffiEntry& entry = mapping->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET) continue;
    if (visit(&entry.key, context) != 0 || visit(&entry.value, context) != 0) return -1;
  }
  return 0;
}

int visit_set(const AnyffiValue* self, AnyffiVisit visit, void* context) {
  const Mapping* set = as_mapping(self->as_object);
  for (int64_t i = 0; i < set->used; ++i) {
    const AnyffiValue& element = set->entries[i].key;
    if (element.type_code != ANYFFI_UNSET && visit(&element, context) != 0) return -1;
  }
  return 0;
}

constexpr TypeHooks kSequenceHooks{nullptr, nullptr, &visit_sequence, nullptr};
constexpr TypeHooks kMappingHooks{nullptr, nullptr, &visit_mapping, nullptr};
constexpr TypeHooks kSetHooks{nullptr, nullptr, &visit_set, nullptr};
[[maybe_unused]] const bool kInstalled =
    install_type_hooks(ANYFFI_ARRAY, kSequenceHooks) && install_type_hooks(ANYFFI_LIST, kSequenceHooks) &&
    install_type_hooks(ANYFFI_MAP, kMappingHooks) && install_type_hooks(ANYFFI_DICT, kMappingHooks) &&
    install_type_hooks(ANYFFI_FROZEN_SET, kSetHooks) && install_type_hooks(ANYFFI_SET, kSetHooks);

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_sequence_create_from(int32_t type_code, const AnyffiValue* values, int64_t count, AnyffiValue* out) {
  *out = anyffi_make_none();
  Owned made;
  if (anyffi_sequence_create(type_code, count, made.out()) != 0) return -1;
  AnyffiSequence* sequence = as_sequence(made->as_object);
  for (; sequence->size < count; ++sequence->size) {
    AnyffiValue* cell = &sequence->data[sequence->size];
    if (own_value(&values[sequence->size], cell) != 0) return -1;
    sequence->type_mask |= anyffi_type_bit(cell->type_code);
  }
  if (type_code == ANYFFI_SHAPE && check_shape(sequence) != 0) return -1;
  *out = made.take();
  return 0;
}

int anyffi_mapping_create_from(int32_t type_code, const AnyffiValue* items, int64_t count, AnyffiValue* out,
                               int64_t* out_first, int64_t* out_second) {
  *out = anyffi_make_none();
  *out_first = *out_second = -1;
  Owned made;
  if (anyffi_mapping_create(type_code, count, made.out()) != 0) return -1;
  Mapping* mapping = as_mapping(made->as_object);
  for (; mapping->used < count; ++mapping->used) {
    Owned key, value;
    if (own_value(&items[2 * mapping->used], key.out()) != 0) return -1;
    if (own_value(&items[2 * mapping->used + 1], value.out()) != 0) return -1;
    mapping->key_type_mask |= anyffi_type_bit(key->type_code);
    mapping->value_type_mask |= anyffi_type_bit(value->type_code);
    AnyffiEntry& entry = mapping->entries[mapping->used];
    entry.key = key.take();
    entry.value = value.take();
  }
  if (anyffi_mapping_finish(made->as_object, out_first, out_second) != 0) return -1;
  if (*out_first < 0) *out = made.take();
  return 0;
}

int anyffi_container_copy(const AnyffiValue* container, int32_t type_code, AnyffiValue* out) {
  if (check_conversion(*container, type_code) != 0) return fail(out);
  if (is_sequence(type_code)) return copy_sequence(as_sequence(container->as_object), type_code, out);
  return copy_mapping(as_mapping(container->as_object), type_code, out);
}

int anyffi_container_convert(AnyffiValue* container, int32_t type_code, AnyffiValue* out) {
  Owned taken(std::exchange(*container, anyffi_make_none()));
  if (check_conversion(*taken.get(), type_code) != 0) return fail(out);
  AnyffiObject* object = taken->as_object;
  bool is_reusable = object->type_code == type_code && is_immutable(type_code);
  if (!is_reusable && !anyffi_is_reusable(object)) return anyffi_container_copy(taken.get(), type_code, out);
  object->type_code = type_code;
  if (is_set(type_code)) as_mapping(object)->host_hash = 0;
  taken.take();
  *out = anyffi_make_object(object);
  return 0;
}
