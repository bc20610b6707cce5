/// \file
/// A check of shared libraries before the system's loader opens them.
#ifndef ANYFFI_SRC_MODULES_ELF_CHECK_H_
#define ANYFFI_SRC_MODULES_ELF_CHECK_H_

#include <cstdint>

#include "core/memory.h"

namespace anyffi::runtime {

#if defined(__ELF__)
/// Checks the content of a file, mapped at the beginning of a page. The loader trusts it, and ends the process over
/// damage. ValueError with the position for what is no shared library or is damaged, OSError for one of another
/// machine. What the check accepts may still be damaged: code and data are not checked.
int check_elf(const char* content, uint64_t size, const String& path);
#endif

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_ELF_CHECK_H_
