/// \file
/// Values without parts, and the steps of the hash.
///
/// The hash is the same in every process, on every machine and in every version: fixed numbers, no addresses.
#ifndef ANYFFI_SRC_STRUCTURE_LEAVES_H_
#define ANYFFI_SRC_STRUCTURE_LEAVES_H_

#include <anyffi/c_api.h>

#include "core/owned.h"
#include "values/hash.h"

namespace anyffi::runtime {

/// Digits of pi.
constexpr uint64_t kStructureSeeds[] = {0x243F6A8885A308D3u, 0x13198A2E03707344u, 0xA4093822299F31D0u};

/// Adds a hash to others, whose order matters.
inline uint64_t add_hash(uint64_t sum, uint64_t hash) noexcept {
  return fold(sum ^ kStructureSeeds[0], hash ^ kStructureSeeds[1]) + sum;
}
/// The hash that begins a value of a family of types, or ends one.
inline uint64_t begin_hash(int32_t tag) noexcept {
  return fold(kStructureSeeds[2] ^ static_cast<uint32_t>(tag), kStructureSeeds[1]);
}
uint64_t hash_key_of_type(const char* type_key) noexcept;

/// Tags of what is no family.
enum HashTag { kBoundTag = 1000, kFreeTag = 1001, kCutTag = 1002, kUniqueTag = 1003 };

/// Sets `out` to what a member of an enumeration of the host is as a value; to `value` itself for any other. `holder`
/// may own it. May run code of the host.
int find_plain(const AnyffiValue& value, Owned* holder, const AnyffiValue** out) noexcept;

/// Whether two values without parts are the same: of the same family, and equal (NaN also to itself, by the bytes of
/// tensors, members of enumerations by their values, other host objects as they say). May run code of the host: the
/// caller owns references to both. -1 on failure.
int compare_leaves(const AnyffiValue& a, const AnyffiValue& b, uint32_t flags) noexcept;
/// Its hash.
int hash_leaf(const AnyffiValue& value, uint32_t flags, uint64_t* out) noexcept;

/// As `compare_leaves` where two words suffice: 1, 0, or -1 where they do not.
inline int compare_plain(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  if (a.type_code > 0 || b.type_code > 0) return -1;
  auto may_differ = [](int32_t code) { return code == ANYFFI_STR_VIEW || code == ANYFFI_BYTES_VIEW; };
  if (a.type_code != b.type_code) return may_differ(a.type_code) || may_differ(b.type_code) ? -1 : 0;
  if (a.aux == b.aux && a.as_int == b.as_int) return 1;
  // Inline text is equal if its words are.
  bool has_more = a.type_code == ANYFFI_FLOAT || a.type_code == ANYFFI_TENSOR_VIEW || may_differ(a.type_code);
  return has_more ? -1 : 0;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_LEAVES_H_
