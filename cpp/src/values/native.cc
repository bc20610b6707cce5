/// \file
/// Searches and comparisons of elements as far as they need no code of the host.
#include "values/native.h"

#include <anyffi/inline.h>

#include <algorithm>

#include "core/value.h"
#include "values/containers.h"

using namespace anyffi::runtime;

int32_t anyffi_value_equal_native(const AnyffiValue* a, const AnyffiValue* b) { return equal_native(*a, *b, 0); }

int64_t anyffi_sequence_find(const AnyffiObject* object, const AnyffiValue* value, int64_t start, int64_t stop,
                             int32_t* out_equal) {
  const AnyffiSequence* sequence = as_sequence(object);
  stop = std::min(stop, sequence->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(sequence->data[i], *value, 0);
    if (*out_equal != 0) return i;
  }
  *out_equal = 0;
  return -1;
}

int64_t anyffi_sequence_mismatch(const AnyffiObject* a, const AnyffiObject* b, int64_t start, int32_t* out_equal) {
  const AnyffiSequence *left = as_sequence(a), *right = as_sequence(b);
  int64_t stop = std::min(left->size, right->size);
  for (int64_t i = start; i < stop; ++i) {
    *out_equal = equal_native(left->data[i], right->data[i], 0);
    if (*out_equal != 1) return i;
  }
  *out_equal = 1;
  return -1;
}
