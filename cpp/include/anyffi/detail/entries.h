/// \file
/// Inline access to the entries of mappings and sets.
#ifndef ANYFFI_DETAIL_ENTRIES_H_
#define ANYFFI_DETAIL_ENTRIES_H_

#include <anyffi/c_api.h>

namespace anyffi {
namespace detail {

/// The value as a mapping or set, or NULL.
inline const AnyffiMapping* entries_of(const AnyffiValue& value) {
  bool has_entries = value.type_code >= ANYFFI_MAP && value.type_code <= ANYFFI_SET;
  return has_entries ? reinterpret_cast<const AnyffiMapping*>(value.as_object) : nullptr;
}

/// The first live entry from `entry` on, or the end.
inline int64_t next_entry(const AnyffiMapping* mapping, int64_t entry) {
  while (entry < mapping->used && mapping->entries[entry].key.type_code == ANYFFI_UNSET) ++entry;
  return entry;
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_ENTRIES_H_
