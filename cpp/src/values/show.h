/// \file
/// Short text for values in messages.
#ifndef ANYFFI_SRC_VALUES_SHOW_H_
#define ANYFFI_SRC_VALUES_SHOW_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// `anyffi_value_repr`, limited to `most` code points. Runs no code of the host or of users: for opaque objects,
/// functions of the host and objects of registered types, it gives the type.
int show_value(const AnyffiValue* value, int64_t most, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_SHOW_H_
