/// \file
/// Signatures in messages.
#ifndef ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_
#define ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// A function's name, or "function" where none is known.
const char* name_of(const AnyffiFunctionInfo* info) noexcept;
/// Appends the name of a parameter, or `arg0` where it has none.
void append_param_name(String* out, const AnyffiFunctionInfo& info, int32_t index);
/// Appends `name(x: int, by: float = 2.0) -> int`.
void append_signature(String* out, const AnyffiFunctionInfo& info);
/// Appends `repr(value)`, or `...` where that fails.
void append_repr(String* out, const AnyffiValue* value);
/// Appends Python's name for the type of a value, as the caller saw it: `list` for a List that was converted from one.
void append_type_name(String* out, const AnyffiValue& value);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_
