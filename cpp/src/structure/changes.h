/// \file
/// Whether functions have changed the parts that they were given.
#ifndef ANYFFI_SRC_STRUCTURE_CHANGES_H_
#define ANYFFI_SRC_STRUCTURE_CHANGES_H_

#include <anyffi/inline.h>

#include "core/memory.h"
#include "core/owned.h"

namespace anyffi::runtime {

/// Appends what a function has returned for a part; the part itself, if the function has returned the same. Whether it
/// has not. May run code of the host.
bool add_result(const AnyffiValue& old, Owned result, Vector<Owned>* parts);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_STRUCTURE_CHANGES_H_
