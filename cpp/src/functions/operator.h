/// \file
/// Functions that say if they do not take their arguments.
#ifndef ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
#define ANYFFI_SRC_FUNCTIONS_OPERATOR_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// A function that returns Missing, instead of raising an error, if `function` or all of its overloads refuse the
/// arguments. NULL, with the error raised, on failure.
AnyffiObject* make_operator(AnyffiObject* function);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_OPERATOR_H_
