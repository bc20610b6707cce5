/// \file
/// Loaded libraries.
#ifndef ANYFFI_SRC_MODULES_LIBRARY_H_
#define ANYFFI_SRC_MODULES_LIBRARY_H_

#include <anyffi/c_api.h>

#include <string_view>

#include "core/memory.h"

namespace anyffi::runtime {

/// The prefix of the functions that a library exports.
inline constexpr std::string_view kFunctionPrefix = "__anyffi_";

struct Library {
  void* handle = nullptr;
  const AnyffiModuleTable* table = nullptr; /* NULL in plain C */
};

/// What a load may replace, and where it happens.
struct LoadOptions {
  std::string_view library; /* identifies the versions of a library; the path, if it is empty */
  bool overrides = false;   /* whether functions of other registrants may be replaced */
  /* Names of the host's exception classes, which the library's may derive from; NULL without a host. */
  const Vector<String>* exceptions = nullptr;
};

/// Opens the library at a path, and raises the errors that its static initialisers deferred.
int open_library(const AnyffiValue* path, const LoadOptions& options, Library* out);
/// Finds the function under a symbol that is visible to the whole program, and the library that defines it; NULL in
/// `call` if there is none. ImportError if the library was built for another version of the ABI.
int find_program_function(const char* symbol, Library* out, AnyffiCall* call);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_LIBRARY_H_
