/// \file
/// Functions of the front end about record types: the defaults of fields, and `repr`.
#ifndef ANYFFI_SRC_VALUES_RECORD_CALLBACKS_H_
#define ANYFFI_SRC_VALUES_RECORD_CALLBACKS_H_

#include <anyffi/anyffi.h>

#include "core/owned.h"

namespace anyffi::runtime {

/// Sets the fields of a type that have defaults, inherited ones included, and the function that returns the default for
/// the name of one. Replaces what was set before; without names, the function is not kept. May throw bad_alloc.
void set_defaults(int32_t type_code, const Array<anyffi::String>& names, const AnyValue& function);

/// Finds the default of a field, for data that lacks it. Returns 1, or 0 if there is none, or -1 with the error of the
/// front end's function.
int find_default(int32_t type_code, const char* field, Owned* out);

/// Sets the function that returns the `repr` of an object of a type, or None if its class defines none. Replaces what
/// was set before; None removes it. May throw bad_alloc.
void set_repr(int32_t type_code, const AnyValue& function);

/// Gets the `repr` that the class of an object defines. Returns 1, or 0 if there is none, or -1 with an error.
int find_repr(const AnyffiValue& object, Owned* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_RECORD_CALLBACKS_H_
