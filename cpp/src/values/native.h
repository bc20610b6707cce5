/// \file
/// Values that are compared without code of the host, whatever wrappers they have.
#ifndef ANYFFI_SRC_VALUES_NATIVE_H_
#define ANYFFI_SRC_VALUES_NATIVE_H_

#include "values/containers.h"

namespace anyffi::runtime {

/// Whether the host compares an element as the runtime does. A container does not, where it has a wrapper of a user's
/// class, or holds a NaN: two with equal bits are equal to the runtime, but not to the host.
bool is_native(const AnyffiValue& element) noexcept;

/// Whether all elements of a set, or keys of a mapping, are native.
bool has_native_keys(const Mapping* mapping) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_NATIVE_H_
