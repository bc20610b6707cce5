/// \file
/// Comparison and hashes of values without parts, and the function that combines hashes.
///
/// The hash is the same in every process, on every machine and in every version: it uses fixed constants, and no
/// addresses.
#ifndef ANYFFI_SRC_STRUCTURE_LEAVES_H_
#define ANYFFI_SRC_STRUCTURE_LEAVES_H_

#include <anyffi/c_api.h>

#include "core/owned.h"
#include "values/hash.h"

namespace anyffi::runtime {

/// Digits of pi.
constexpr uint64_t kStructureSeeds[] = {0x243F6A8885A308D3u, 0x13198A2E03707344u, 0xA4093822299F31D0u};

/// Combines a hash with the hashes before it; order matters.
inline uint64_t add_hash(uint64_t sum, uint64_t hash) noexcept {
  return fold(sum ^ kStructureSeeds[0], hash ^ kStructureSeeds[1]) + sum;
}
/// The hash that starts a value of a type family, or ends one.
inline uint64_t begin_hash(int32_t tag) noexcept {
  return fold(kStructureSeeds[2] ^ static_cast<uint32_t>(tag), kStructureSeeds[1]);
}
uint64_t hash_key_of_type(const char* type_key) noexcept;

/// Tags for cases that are not type families.
enum HashTag { kBoundTag = 1000, kFreeTag = 1001, kCutTag = 1002, kUniqueTag = 1003 };

/// Sets `out` to the plain value of a member of an enumeration of the host, which `holder` then owns; to `value` itself
/// for any other value. May run code of the host.
int find_plain(const AnyffiValue& value, Owned* holder, const AnyffiValue** out) noexcept;

/// Whether two values without parts are the same: of the same family, and equal. NaN equals itself, tensors compare by
/// bytes, members of enumerations by value, other host objects with their own `==`. May run code of the host, so the
/// caller owns references to both. -1 on failure.
int compare_leaves(const AnyffiValue& a, const AnyffiValue& b, uint32_t flags) noexcept;
/// The hash of a value without parts.
int hash_leaf(const AnyffiValue& value, uint32_t flags, uint64_t* out) noexcept;

/// As `compare_leaves`, for values that two words decide: 1, 0, or -1 if they do not.
inline int compare_plain(const AnyffiValue& a, const AnyffiValue& b) noexcept {
  if (a.type_code > 0 || b.type_code > 0) return -1;
  auto may_differ = [](int32_t code) { return code == ANYFFI_STR_VIEW || code == ANYFFI_BYTES_VIEW; };
  if (a.type_code != b.type_code) return may_differ(a.type_code) || may_differ(b.type_code) ? -1 : 0;
  if (a.aux == b.aux && a.as_int == b.as_int) return 1;
  // Inline text is equal exactly if its words are.
  bool has_more = a.type_code == ANYFFI_FLOAT || a.type_code == ANYFFI_TENSOR_VIEW || may_differ(a.type_code);
  return has_more ? -1 : 0;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_LEAVES_H_
