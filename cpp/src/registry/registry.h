/// \file
/// The global registry of functions by name.
#ifndef ANYFFI_SRC_REGISTRY_REGISTRY_H_
#define ANYFFI_SRC_REGISTRY_REGISTRY_H_

#include <anyffi/c_api.h>

#include "core/loading.h"

namespace anyffi::runtime {

/// As `anyffi_registry_set`, on behalf of the library that contains the address `in_library`. `name` is a string,
/// `function` a function.
int registry_set(const AnyffiValue& name, const AnyffiValue& function, bool override_existing,
                 const void* in_library) noexcept;
/// Replaces `function` by `former`, which `registrant` registered, or removes it if `former` is None. Does nothing if
/// the name has another function by now. Steals `former`.
void registry_restore(const AnyffiValue& name, const AnyffiValue& function, AnyffiValue former,
                      const Registrant& registrant) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_REGISTRY_REGISTRY_H_
