/// \file
/// The objects that others keep alive.
#ifndef ANYFFI_SRC_CORE_INSTANCES_H_
#define ANYFFI_SRC_CORE_INSTANCES_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Visits what `anyffi_object_keep_alive` keeps alive for an object: each has one reference more for it.
int visit_patients(const AnyffiObject* nurse, AnyffiVisit visit, void* context);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_INSTANCES_H_
