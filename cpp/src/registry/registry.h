/// \file
/// The global registry of functions by name.
#ifndef ANYFFI_SRC_REGISTRY_REGISTRY_H_
#define ANYFFI_SRC_REGISTRY_REGISTRY_H_

#include <anyffi/c_api.h>

#include "core/loading.h"

namespace anyffi::runtime {

/// Replaces `function` by `former`, which `registrant` registered, or removes it if `former` is None; does nothing if
/// the name has a different function meanwhile. Steals `former`.
void registry_restore(const AnyffiValue& name, const AnyffiValue& function, AnyffiValue former,
                      const Registrant& registrant) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_REGISTRY_REGISTRY_H_
