/// \file
/// Functions that report that they do not accept their operands, as Python's NotImplemented does.
#ifndef ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
#define ANYFFI_SRC_FUNCTIONS_OPERATOR_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Makes a method that returns `refusal` instead of raising an error if `function`, or each of its overloads, accepts
/// the object (of type `type_code`) but not the other operand. NULL, with an error raised, on failure.
AnyffiObject* make_operator(AnyffiObject* function, int32_t type_code, const AnyffiValue* refusal);
/// Calls a method with two operands. ANYFFI_NO_MATCH, without an error, if it does not accept them.
int call_as_operator(const AnyffiFunction& function, AnyffiValue* operands, AnyffiValue* result);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
