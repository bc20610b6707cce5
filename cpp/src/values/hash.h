/// \file
/// Hashes of keys.
#ifndef ANYFFI_SRC_VALUES_HASH_H_
#define ANYFFI_SRC_VALUES_HASH_H_

#include <anyffi/c_api.h>

#include "core/owned.h"

namespace anyffi::runtime {

/// Numbers hash to their value modulo the prime 2**61 - 1, as Python's do on 64-bit machines.
constexpr int kModulusBits = 61;
constexpr uint64_t kModulus = (uint64_t{1} << kModulusBits) - 1;

/// Multiplies to 128 bits and folds them: every bit of the result depends on every bit of both.
inline uint64_t fold(uint64_t a, uint64_t b) noexcept {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Arbitrary constants: digits of pi.
constexpr uint64_t kMix[] = {0x243F6A8885A308D3u, 0x13198A2E03707345u, 0xA4093822299F31D1u, 0x082EFA98EC4E6C89u};

/// -1 is never a hash: Python reserves it for failure.
constexpr int64_t avoid_minus_one(int64_t hash) noexcept { return hash == -1 ? -2 : hash; }

/// The hash of inline text, from its two words: equal text has equal words.
inline int64_t hash_words(const AnyffiValue& value) noexcept {
  uint64_t first = static_cast<uint32_t>(value.type_code) | static_cast<uint64_t>(value.aux) << 32;
  return avoid_minus_one(static_cast<int64_t>(fold(first ^ kMix[0], static_cast<uint64_t>(value.as_int) ^ kMix[1])));
}

/// Returns a value in the form in which containers store it, except that a long string or long bytes may stay borrowed:
/// `value` itself, or a copy in `holder`. NULL after an error.
const AnyffiValue* canonical_key(const AnyffiValue* value, Owned* holder) noexcept;

/// The hash of a canonical key.
int hash_key(const AnyffiValue& key, int64_t* out) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_HASH_H_
