/// \file
/// Values as short text.
#ifndef ANYFFI_SRC_VALUES_SHOW_H_
#define ANYFFI_SRC_VALUES_SHOW_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// `anyffi_value_repr`, cut after `most` code points. Runs no code of the host or of users: opaque objects, functions
/// of the host and objects of registered types show their type.
int show_value(const AnyffiValue* value, int64_t most, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_SHOW_H_
