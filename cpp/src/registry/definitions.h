/// \file
/// Definitions of types by libraries.
#ifndef ANYFFI_SRC_REGISTRY_DEFINITIONS_H_
#define ANYFFI_SRC_REGISTRY_DEFINITIONS_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// As `anyffi_type_define`, on behalf of the library that contains the address `in_library`.
int define_type_in(const void* in_library, int32_t* type_code, const AnyffiTypeInfo* info) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_REGISTRY_DEFINITIONS_H_
