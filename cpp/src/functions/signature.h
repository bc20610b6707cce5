/// \file
/// Signatures in messages.
#ifndef ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_
#define ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// A function's name, or "function" where none is known.
const char* name_of(const AnyffiFunctionInfo* info) noexcept;
/// The number of parameters that can be given by position.
inline int32_t num_positional(const AnyffiFunctionInfo& info) noexcept {
  bool has_others = (info.flags & ANYFFI_KEYWORD_ONLY) != 0;
  return has_others ? info.num_params - info.num_keyword_only : info.num_params;
}
/// The number of arguments without the ANYFFI_MISSING that ends a list with keyword-only ones; -1: too many.
/// `is_last_missing`: whether it ends so.
inline int32_t count_arguments(const AnyffiFunctionInfo& info, int32_t num_args, bool is_last_missing) noexcept {
  if (num_args <= num_positional(info)) return num_args;
  if ((info.flags & ANYFFI_KEYWORD_ONLY) == 0 || !is_last_missing) return -1;
  return num_args - 1 <= info.num_params ? num_args - 1 : -1;
}
/// Appends the name of a parameter. One without a name is `self`, where it is the object of a method, or `arg0`,
/// `arg1`, and so on, which do not count the object.
void append_param_name(String* out, const AnyffiFunctionInfo& info, int32_t index);
/// Appends `name(x: int, by: float = 2.0) -> int`.
void append_signature(String* out, const AnyffiFunctionInfo& info);
/// Appends `repr(value)`, or `...` where that fails.
void append_repr(String* out, const AnyffiValue* value);
/// Appends Python's name for the type of a value, as the caller saw it: `list` for a List that was converted from one.
void append_type_name(String* out, const AnyffiValue& value);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_SIGNATURE_H_
