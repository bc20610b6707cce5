/// \file
/// Whether registrations of one type key agree.
#ifndef ANYFFI_SRC_CORE_SAME_TYPES_H_
#define ANYFFI_SRC_CORE_SAME_TYPES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Whether parent and layout are the same, where both give them.
bool is_same_class(const AnyffiTypeInfo& a, const AnyffiTypeInfo& b);
/// Whether the names, types and places of the fields are the same.
bool are_same_fields(const AnyffiTypeInfo& a, const AnyffiTypeInfo& b);
/// Raises the error for a type for which `is_same_class` is false. Always -1.
int raise_other_class(const AnyffiTypeInfo& former, const AnyffiTypeInfo& given);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_SAME_TYPES_H_
