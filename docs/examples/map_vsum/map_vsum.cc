/// \file
/// Sum the values of a mapping.

#include <anyffi/anyffi.h>

static int64_t map_vsum(const anyffi::Map<anyffi::String, int64_t>& map) {
  int64_t total = 0;
  for (const auto& [key, value] : map) {
    if (__builtin_add_overflow(total, value, &total)) {
      throw anyffi::Error("OverflowError", "the sum is beyond 64 bits");
    }
  }
  return total;
}
ANYFFI_EXPORT(map_vsum, &map_vsum, anyffi::arg("map"));
