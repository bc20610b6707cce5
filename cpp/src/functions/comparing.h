/// \file
/// Equality and hashes of objects by the methods of their types.
#ifndef ANYFFI_SRC_FUNCTIONS_COMPARING_H_
#define ANYFFI_SRC_FUNCTIONS_COMPARING_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Installs hooks that call the methods `__eq__` and `__hash__` of a type, if it has them.
void compare_by_methods(AnyffiTypeInfo* info) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_COMPARING_H_
