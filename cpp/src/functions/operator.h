/// \file
/// Functions that say if they do not take their arguments.
#ifndef ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
#define ANYFFI_SRC_FUNCTIONS_OPERATOR_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// A method that returns `refusal`, instead of raising an error, if `function` or all of its overloads take the object,
/// of the type `type_code`, but not the operands. NULL, with the error raised, on failure.
AnyffiObject* make_operator(AnyffiObject* function, int32_t type_code, const AnyffiValue* refusal);
/// Calls a method with two operands: ANYFFI_NO_MATCH, without an error, if it does not take them.
int call_as_operator(const AnyffiFunction& function, AnyffiValue* operands, AnyffiValue* result);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
