/// \file
/// Shared libraries as files, and the functions that they export.
#ifndef ANYFFI_SRC_MODULES_LIBRARY_FILE_H_
#define ANYFFI_SRC_MODULES_LIBRARY_FILE_H_

#include <anyffi/c_api.h>

#include <string_view>

#include "core/memory.h"

namespace anyffi::runtime {

/// Checks a file before the system's loader opens it, because malformed files can end the process. Raises ValueError,
/// with the position, for an incomplete shared library, and OSError for an unreadable file or another machine.
int check_library_file(const AnyffiValue* path, const String& file);
/// Copies a file to a new one, which the caller removes.
int copy_library_file(const String& file, String* copy);
/// Lists the names, without the prefix, of the functions that a loaded library itself exports under a prefix.
void list_library_functions(void* handle, std::string_view prefix, Vector<String>* out);
/// Lists the names, without the prefix, of the functions that are visible to the whole program.
void list_program_functions(std::string_view prefix, Vector<String>* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_LIBRARY_FILE_H_
