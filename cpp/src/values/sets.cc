/// \file
/// Operations on two mappings or sets.
#include <anyffi/inline.h>

#include <algorithm>

#include "core/owned.h"
#include "values/containers.h"
#include "values/mapping_block.h"
#include "values/mapping_search.h"

namespace anyffi::runtime {
namespace {

bool is_native(const Mapping* set) { return (set->key_type_mask & ~kComparedTypes) == 0; }

/// Finds the element of an entry in another set. Cannot run code of the host, and so cannot fail: both are native.
bool has(const Mapping* set, const Mapping* from, const AnyffiEntry& entry) {
  int64_t found = -1, hash;
  if (hash_entry(from, entry, &hash) == 0) find_entry(set, entry.key, hash, &found);
  return found >= 0;
}

/// Appends the elements of `from` that `other` has (`wanted`) or does not have; all of them if it is null. They must be
/// new, and there must be room.
int append_elements(Mapping* to, const Mapping* from, const Mapping* other, bool wanted) {
  for (int64_t i = 0; i < from->used; ++i) {
    const AnyffiEntry& entry = from->entries[i];
    if (entry.key.type_code == ANYFFI_UNSET || (other != nullptr && has(other, from, entry) != wanted)) continue;
    int64_t hash;
    if (hash_entry(from, entry, &hash) != 0) return -1;
    if (!has_room(to) && make_room(to) != 0) return -1;
    anyffi_value_retain(&entry.key);
    append_entry(to, entry.key, entry.value, hash);
  }
  to->key_type_mask |= from->key_type_mask;
  to->value_type_mask |= from->value_type_mask & ~ANYFFI_CHECKED;
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_mapping_update(AnyffiObject* to, const AnyffiObject* from) {
  if (to == from) return 0;
  if (anyffi_mapping_reserve(to, as_mapping(from)->size) != 0) return -1;
  // Entry by entry: comparing keys may run code of the host, which may change either.
  for (int64_t entry = 0;; ++entry) {
    AnyffiValue key, value;
    entry = anyffi_mapping_next(from, entry, 1, &key, &value);
    if (entry < 0) return 0;
    int32_t existed;
    if (anyffi_mapping_set(to, &key, &value, &existed) != 0) return -1;
  }
}

int anyffi_set_combine(const AnyffiObject* first, const AnyffiObject* second, int32_t operation, int32_t type_code,
                       AnyffiValue* out) {
  const Mapping *a = as_mapping(first), *b = as_mapping(second);
  *out = anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
  // The hashes in a hardened set are its own.
  if (!is_native(a) || !is_native(b) || a->hardened || b->hardened) return 0;
  int64_t most = operation == ANYFFI_SET_AND ? std::min(a->size, b->size) : a->size;
  if (operation == ANYFFI_SET_OR || operation == ANYFFI_SET_XOR) most += b->size;
  Owned made;
  if (anyffi_mapping_create(type_code, most, made.out()) != 0) return fail(out);
  Mapping* to = as_mapping(made->as_object);
  int status = append_elements(to, a, operation == ANYFFI_SET_OR ? nullptr : b, operation == ANYFFI_SET_AND);
  if (status == 0 && (operation == ANYFFI_SET_OR || operation == ANYFFI_SET_XOR)) {
    status = append_elements(to, b, a, false);
  }
  if (status != 0) return fail(out);
  *out = made.take();
  return 0;
}

int32_t anyffi_set_relate(const AnyffiObject* first, const AnyffiObject* second, int32_t wanted) {
  const Mapping *a = as_mapping(first), *b = as_mapping(second);
  if (!is_native(a) || !is_native(b)) return -1;
  for (int64_t i = 0; i < a->used; ++i) {
    const AnyffiEntry& entry = a->entries[i];
    if (entry.key.type_code != ANYFFI_UNSET && has(b, a, entry) != (wanted != 0)) return 0;
  }
  return 1;
}
