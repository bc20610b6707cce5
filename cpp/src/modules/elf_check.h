/// \file
/// A check of shared libraries before the system's loader opens them.
#ifndef ANYFFI_SRC_MODULES_ELF_CHECK_H_
#define ANYFFI_SRC_MODULES_ELF_CHECK_H_

#include <cstdint>

#include "core/memory.h"

namespace anyffi::runtime {

#if defined(__ELF__)
/// Checks the content of a file, mapped at a page boundary. The system's loader trusts the content, and damage can end
/// the process. Raises ValueError, with the position, if the file is damaged or not a shared library, and OSError for
/// another machine. Code and data are not checked, so an accepted file may still be damaged.
int check_elf(const char* content, uint64_t size, const String& path);
#endif

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_ELF_CHECK_H_
