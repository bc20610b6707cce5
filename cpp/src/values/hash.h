/// \file
/// Hashes of keys.
#ifndef ANYFFI_SRC_VALUES_HASH_H_
#define ANYFFI_SRC_VALUES_HASH_H_

#include <anyffi/c_api.h>

#include "core/owned.h"

namespace anyffi::runtime {

/// As Python's on 64-bit machines, hashes of numbers are their values modulo the prime 2**61 - 1.
constexpr int kModulusBits = 61;
constexpr uint64_t kModulus = (uint64_t{1} << kModulusBits) - 1;

/// Multiplies to 128 bits and folds the halves: each bit of the result depends on each bit of both factors.
inline uint64_t fold(uint64_t a, uint64_t b) noexcept {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Random numbers of this process, so that nobody can choose keys with colliding hashes. Initialized before any other
/// code of the runtime runs. They affect no results, since containers keep insertion order.
extern uint64_t hash_secrets[4];

/// -1 is never a hash: Python reserves it for failure.
constexpr int64_t avoid_minus_one(int64_t hash) noexcept { return hash == -1 ? -2 : hash; }

/// Python's hash of an int.
inline int64_t hash_int(int64_t number) noexcept {
  if (__builtin_expect(static_cast<uint64_t>(number) < kModulus, 1)) return number;
  uint64_t magnitude = number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  magnitude = (magnitude & kModulus) + (magnitude >> kModulusBits);
  if (magnitude >= kModulus) magnitude -= kModulus;
  auto hash = static_cast<int64_t>(magnitude);
  return avoid_minus_one(number < 0 ? -hash : hash);
}

/// The hash of inline text, from its two words: equal text has equal words.
inline int64_t hash_words(const AnyffiValue& value) noexcept {
  uint64_t first = static_cast<uint32_t>(value.type_code) | static_cast<uint64_t>(value.aux) << 32;
  return avoid_minus_one(
      static_cast<int64_t>(fold(first ^ hash_secrets[0], static_cast<uint64_t>(value.as_int) ^ hash_secrets[1])));
}

/// Returns a value in the form in which containers store it, except that a long string or long bytes may stay borrowed:
/// `value` itself, or a copy in `holder`. NULL after an error.
const AnyffiValue* canonical_key(const AnyffiValue* value, Owned* holder) noexcept;

/// The hash of a canonical key, compatible with Python's.
int hash_key(const AnyffiValue& key, int64_t* out) noexcept;

enum class Keyed { kFailed, kNo, kYes };
/// Hashes a native key with the secrets of this process. Keys with the same `hash_key` do not collide here: anybody can
/// construct such keys, because Python's hashes of numbers and tuples are known. Equal native keys have equal keyed
/// hashes. kNo for a key that is or contains an object of the host or of a user's type: it may equal a native key, but
/// only its own hash is known. Runs no code of the host; kFailed after RecursionError.
Keyed keyed_hash(const AnyffiValue& key, int64_t* out) noexcept;
/// Whether a key may have a keyed hash that differs from its `hash_key`.
bool has_keyed_hash(const AnyffiValue& key) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_HASH_H_
