/// \file
/// The same program for the tests, which also counts its changes of refcounts.

#include <anyffi/inline.h>

namespace {

int64_t count_changes = 0;

inline void counted_retain(AnyffiObject* object) {
  ++count_changes;
  anyffi_retain(object);
}

inline void counted_release(AnyffiObject* object) {
  ++count_changes;
  anyffi_release(object);
}

}  // namespace

// From here on the C++ API changes refcounts with these functions.
#define anyffi_retain counted_retain
#define anyffi_release counted_release
#include "unicode_split.cc"

ANYFFI_EXPORT(count_changes, [] { return count_changes; });
