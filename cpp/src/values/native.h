/// \file
/// Values that are compared without code of the host, whatever wrappers they have.
#ifndef ANYFFI_SRC_VALUES_NATIVE_H_
#define ANYFFI_SRC_VALUES_NATIVE_H_

#include "values/containers.h"

namespace anyffi::runtime {

/// Types whose values are native wherever they are.
constexpr uint64_t kAlwaysNative = (kComparedTypes & ~anyffi_type_bit(ANYFFI_FLOAT)) | anyffi_type_bit(ANYFFI_BIG_INT);

bool is_native_container(const AnyffiValue& element) noexcept;

/// Whether the host compares an element as the runtime does. A container does not, where it has a wrapper of a user's
/// class, or holds a NaN: two with equal bits are equal to the runtime, but not to the host.
inline bool is_native(const AnyffiValue& element) noexcept {
  constexpr uint64_t kNative = kAlwaysNative | anyffi_type_bit(ANYFFI_FLOAT);
  return (anyffi_type_bit(element.type_code) & ~kNative) == 0 || is_native_container(element);
}

/// Whether all elements of a set, or keys of a mapping, are native.
bool has_native_keys(const Mapping* mapping) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_NATIVE_H_
