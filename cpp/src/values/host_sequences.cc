/// \file
/// Converts sequences of the host, within nested sequences, to Lists.
#include "values/host_sequences.h"

#include <anyffi/inline.h>

#include <algorithm>

#include "core/owned.h"
#include "values/containers.h"

namespace anyffi::runtime {

bool has_host_sequence(const AnyffiValue& value, int32_t levels) noexcept {
  if (levels == 0 || may_be_host_sequence(value.type_code)) return levels > 0;
  if (!is_sequence(value.type_code)) return false;
  const AnyffiSequence* items = as_sequence(value.as_object);
  bool has_objects = (items->type_mask & kObjectTypes) != 0;
  auto is_one = [levels](const AnyffiValue& item) { return has_host_sequence(item, levels - 1); };
  return has_objects && std::any_of(items->data, items->data + items->size, is_one);
}

int replace_host_sequences(AnyffiValue& value, int32_t levels) noexcept {
  if (levels > 0 && may_be_host_sequence(value.type_code)) {
    Owned list;
    if (anyffi_value_convert(&value, ANYFFI_AS_SEQUENCE, list.out()) != 0) return -1;
    if (list->type_code == ANYFFI_NONE) return 0;
    anyffi_value_release(&value);
    value = list.take();
  }
  if (!has_host_sequence(value, levels)) return 0;
  const AnyffiSequence* items = as_sequence(value.as_object);
  Owned list;
  if (anyffi_sequence_create(ANYFFI_LIST, items->size, list.out()) != 0) return -1;
  AnyffiSequence* copies = as_sequence(list->as_object);
  copies->type_mask = items->type_mask;
  for (; copies->size < items->size; ++copies->size) {
    anyffi_value_retain(&items->data[copies->size]);
    copies->data[copies->size] = items->data[copies->size];
  }
  anyffi_value_release(&value);
  value = list.take();
  copies->type_mask |= anyffi_type_bit(ANYFFI_LIST);
  for (int64_t i = 0; i < copies->size; ++i) {
    if (replace_host_sequences(copies->data[i], levels - 1) != 0) return -1;
  }
  return 0;
}

}  // namespace anyffi::runtime
