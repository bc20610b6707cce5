/// \file
/// Fields of objects.
#ifndef ANYFFI_SRC_FUNCTIONS_FIELDS_H_
#define ANYFFI_SRC_FUNCTIONS_FIELDS_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Sets a field that has a setter, without taking the value. Returns 1; 2 if setting the last field of a draft changed
/// the object's type; -1 on failure.
int32_t assign_field(AnyffiObject* object, const AnyffiFieldInfo* field, AnyffiValue value);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_FIELDS_H_
