/// \file
/// Grows the block of a mapping.
#include "values/mapping_block.h"

#include <algorithm>

#include "core/errors.h"

namespace anyffi::runtime {
namespace {

/// Moves the live entries to a block, or within their own block to close gaps, and rebuilds the index.
void move_entries(Mapping* mapping, AnyffiEntry* block, int64_t capacity) {
  const AnyffiEntry* former = mapping->entries;
  int64_t used = mapping->used;
  install_block(mapping, block, capacity);
  for (int64_t i = 0; i < used; ++i) {
    if (former[i].key.type_code != ANYFFI_UNSET) {
      append_entry(mapping, former[i].key, former[i].value, former[i].hash);
    }
  }
}

int grow(Mapping* mapping, int64_t capacity) {
  auto* block = capacity > kMaxEntries ? nullptr : static_cast<AnyffiEntry*>(anyffi_alloc(block_bytes(capacity)));
  if (block == nullptr) return raise_no_memory();
  AnyffiEntry* former = mapping->entries;
  move_entries(mapping, block, capacity);
  if (former != inline_mapping_block(mapping)) anyffi_free(former);
  return 0;
}

}  // namespace

void rebuild_index(Mapping* mapping) noexcept { move_entries(mapping, mapping->entries, mapping->capacity); }

int make_room(Mapping* mapping) noexcept {
  int64_t holes = mapping->used - mapping->size;
  bool index_is_full = mapping->used < mapping->capacity;
  if (index_is_full || holes > mapping->capacity / 4 || (holes > 0 && mapping->capacity <= kMaxLinear)) {
    rebuild_index(mapping);
    return 0;
  }
  if (mapping->capacity >= kMaxEntries) {
    return anyffi_error_raise("OverflowError", "a mapping holds at most 4294967294 entries");
  }
  return grow(mapping, std::clamp(mapping->capacity * 2, kMaxLinear, kMaxEntries));
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_mapping_reserve(AnyffiObject* object, int64_t more) {
  Mapping* mapping = as_mapping(object);
  if (more <= mapping->capacity - mapping->used) return 0;
  if (more > kMaxEntries) return anyffi_error_raise("OverflowError", "a mapping holds at most 4294967294 entries");
  return grow(mapping, std::max(mapping->size + more, std::min(mapping->capacity * 2, kMaxEntries)));
}
