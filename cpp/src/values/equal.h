/// \file
/// Equality as Python defines it.
#ifndef ANYFFI_SRC_VALUES_EQUAL_H_
#define ANYFFI_SRC_VALUES_EQUAL_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Whether two values are equal; kUnknown if that takes the host or recursion to find out.
enum class Quick { kDifferent, kEqual, kUnknown };
Quick quick_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;
/// Whether two arrays are equal; kUnknown if they contain more than numbers, text and similar values.
Quick quick_arrays_equal(const AnyffiSequence* a, const AnyffiSequence* b) noexcept;
/// As `quick_equal`, for keys: NaN equals NaN.
Quick quick_key_equal(const AnyffiValue& a, const AnyffiValue& b) noexcept;
/// "Identical or equal", the comparison that Python uses for elements of containers. May run code of the host, so the
/// caller must own references to both.
int elements_equal(const AnyffiValue& a, const AnyffiValue& b, int32_t* out) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_EQUAL_H_
