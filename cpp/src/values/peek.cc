/// \file
/// Removing an element or entry in two steps, between which the caller converts it: without memory for that, nothing
/// has changed.
#include <anyffi/c_api.h>

#include "core/errors.h"
#include "core/owned.h"
#include "core/value.h"
#include "values/containers.h"

namespace anyffi::runtime {
namespace {

int peek_element(const AnyffiSequence* list, const AnyffiValue* index, AnyffiValue* parts) {
  int64_t position = find_position(*list, index->as_int);
  if (position < 0) return 0;
  parts[0] = *index;
  parts[1] = anyffi_own_element(&list->data[position]);
  parts[2] = anyffi_make_none();
  return 1;
}

int peek_entry(const AnyffiObject* mapping, const AnyffiValue* key, AnyffiValue* parts) {
  int64_t number = INT64_MAX;
  if (key != nullptr) {
    if (anyffi_mapping_find(mapping, key, &number) != 0) return -1;
    if (number < 0) return 0;
  }
  number = anyffi_mapping_next(mapping, number, -1, &parts[1], &parts[2]);
  parts[0] = anyffi_make_int(number);
  return number >= 0;
}

}  // namespace

int peek(const AnyffiObject* container, const AnyffiValue* key, AnyffiValue* parts) noexcept {
  if (container->type_code == ANYFFI_LIST) return peek_element(as_sequence(container), key, parts);
  return peek_entry(container, key, parts);
}

int peek_array(const AnyffiObject* container, const AnyffiValue* key, AnyffiValue* out) noexcept {
  AnyffiValue parts[kPeeked];
  *out = anyffi_make_none();
  int status = peek(container, key, parts);
  if (status != 1) return status;
  Owned first(parts[1]), second(parts[2]);
  return anyffi_sequence_create_from(ANYFFI_ARRAY, parts, kPeeked, out);
}

bool erase_peeked(AnyffiObject* container, const AnyffiValue* parts) noexcept {
  if (container->type_code == ANYFFI_LIST) {
    const AnyffiSequence* list = as_sequence(container);
    int64_t position = find_position(*list, parts[0].as_int);
    if (position < 0 || !is_identical(list->data[position], parts[1])) return false;
    return anyffi_sequence_erase(container, position, 1) == 0;
  }
  const Mapping* mapping = as_mapping(container);
  int64_t number = parts[0].as_int;
  if (number >= mapping->used) return false;
  const AnyffiEntry& entry = mapping->entries[number];
  if (!is_identical(entry.key, parts[1]) || !is_identical(entry.value, parts[2])) return false;
  return anyffi_mapping_erase(container, number) == 0;
}

}  // namespace anyffi::runtime
