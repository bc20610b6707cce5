/// \file
/// Equality as Python defines it.
#ifndef ANYFFI_SRC_VALUES_EQUAL_H_
#define ANYFFI_SRC_VALUES_EQUAL_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Whether two values are equal, where that needs neither the host nor recursion.
enum class Quick { kDifferent, kEqual, kUnknown };
Quick quick_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;
/// Whether two arrays are equal: kUnknown where they hold more than numbers, text and the like.
Quick quick_arrays_equal(const AnyffiSequence* a, const AnyffiSequence* b) noexcept;
/// As `quick_equal` for keys, where NaN equals NaN.
Quick quick_key_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;
/// "Identical or equal", as Python compares elements of containers. May run the host's code: the caller must own
/// references to both.
int elements_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_EQUAL_H_
