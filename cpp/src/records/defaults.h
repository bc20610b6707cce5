/// \file
/// The defaults of record fields, for data that lacks them.
#ifndef ANYFFI_SRC_RECORDS_DEFAULTS_H_
#define ANYFFI_SRC_RECORDS_DEFAULTS_H_

#include <anyffi/anyffi.h>

#include "core/owned.h"

namespace anyffi::runtime {

/// Sets the fields of a type that have defaults, inherited ones included, and the function that returns the default for
/// the name of one. Replaces what was set before; without names, the function is not kept. May throw bad_alloc.
void set_defaults(int32_t type_code, const Array<anyffi::String>& names, const AnyValue& function);

/// Finds the default of a field. Returns 1, or 0 if there is none, or -1 with the error of the front end's function.
int find_default(int32_t type_code, const char* field, Owned* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_RECORDS_DEFAULTS_H_
