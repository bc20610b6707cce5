/// \file
/// The random numbers on which hashes depend.
#include <stdlib.h>

#include <chrono>

#if defined(__linux__)
#include <sys/random.h>
#endif

#include "values/hash.h"

namespace anyffi::runtime {

uint64_t hash_secrets[4];

namespace {

/// The fallback if the system provides no random numbers: an address chosen by the loader, and the time.
void fill_from_address_and_time() {
  auto state = reinterpret_cast<uintptr_t>(&hash_secrets) ^
               static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  for (uint64_t& secret : hash_secrets) secret = state = fold(state + 0x9E3779B97F4A7C15u, 0xD1342543DE82EF95u);
}

/// Runs before the initialisers of other files, some of which create mappings.
__attribute__((constructor(101))) void fill_hash_secrets() {
#if defined(__linux__)
  bool filled = getrandom(hash_secrets, sizeof(hash_secrets), GRND_NONBLOCK) == sizeof(hash_secrets);
#elif defined(__APPLE__)
  arc4random_buf(hash_secrets, sizeof(hash_secrets));
  bool filled = true;
#else
  bool filled = false;
#endif
  if (!filled) fill_from_address_and_time();
  // A factor of zero would give every key the same slot.
  for (uint64_t& secret : hash_secrets) secret |= 1;
}

}  // namespace
}  // namespace anyffi::runtime
