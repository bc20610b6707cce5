/// \file
/// Errors of the operating system, as Python's OSError and its subclasses.
#ifndef ANYFFI_SRC_CORE_OS_ERRORS_H_
#define ANYFFI_SRC_CORE_OS_ERRORS_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// Raises the class of an error number, with number, reason and up to two paths, which may be NULL, as its arguments.
int raise_os_error(int number, const String& reason, const AnyffiValue* path = nullptr,
                   const AnyffiValue* second_path = nullptr);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_OS_ERRORS_H_
