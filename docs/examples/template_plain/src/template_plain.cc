#include <anyffi/anyffi.h>

using Counts = anyffi::Dict<anyffi::AnyValue, int64_t>;

static Counts count(const anyffi::Array<>& items) {
  Counts counts;
  for (anyffi::AnyValue item : items) counts.set(item, counts.value_or(item, 0) + 1);
  return counts;
}

ANYFFI_EXPORT(count, &count, anyffi::arg("items"));
