/// \file
/// Loaded libraries as modules see them: how they are opened, and what they tell of themselves.
#ifndef ANYFFI_MODULES_H_
#define ANYFFI_MODULES_H_

#include "internal.h"

namespace anyffi::runtime {

/// What begins the names of functions that a library exports.
inline constexpr std::string_view kFunctionPrefix = "__anyffi_";

struct Library {
  void* handle = nullptr;
  const AnyffiModuleTable* table = nullptr; /* NULL in plain C */
};

/// Opens the library at a path, and reports what goes wrong meanwhile.
int open_library(const AnyffiValue* path, Library* out);
/// The function under a symbol that the whole program sees, and the library that it comes from; NULL in `call` if
/// there is none. ImportError if the library was built for another version of the ABI.
int find_program_function(const char* symbol, Library* out, AnyffiCall* call);
/// Names, without the prefix, of the functions that the whole program sees.
void list_program_functions(std::string_view prefix, Vector<String>* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_MODULES_H_
