/// \file
/// Functions that say if they do not take their arguments.
#ifndef ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
#define ANYFFI_SRC_FUNCTIONS_OPERATOR_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// A method that returns `refusal`, instead of raising an error, if `function` or all of its overloads take the object,
/// of the type `type_code`, but not the operands. NULL, with the error raised, on failure.
AnyffiObject* make_operator(AnyffiObject* function, int32_t type_code, const AnyffiValue* refusal);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
