/// \file
/// Detects whether mapping functions returned the parts that they were given.
#ifndef ANYFFI_SRC_STRUCTURE_CHANGES_H_
#define ANYFFI_SRC_STRUCTURE_CHANGES_H_

#include <anyffi/inline.h>

#include "core/memory.h"
#include "core/owned.h"

namespace anyffi::runtime {

/// Appends the result of a function for a part, or the part itself if the function returned it. Returns whether the
/// part changed. May run code of the host.
bool add_result(const AnyffiValue& old, Owned result, Vector<Owned>* parts);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_CHANGES_H_
