/// \file
/// Equality and hashes of objects by the methods of their types.
#ifndef ANYFFI_SRC_FUNCTIONS_COMPARING_H_
#define ANYFFI_SRC_FUNCTIONS_COMPARING_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Sets the hooks of a type with a method `__eq__` or `__hash__` to ones that call these.
void compare_by_methods(AnyffiTypeInfo* info) noexcept;

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_COMPARING_H_
