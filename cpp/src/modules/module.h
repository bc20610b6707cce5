/// \file
/// Modules, and the functions that a library defines itself: in its table, or as plain symbols.
#ifndef ANYFFI_SRC_MODULES_MODULE_H_
#define ANYFFI_SRC_MODULES_MODULE_H_

#include <anyffi/c_api.h>

#include "core/memory.h"
#include "core/owned.h"
#include "modules/library.h"

namespace anyffi::runtime {

struct Module {
  AnyffiObject header;
  AnyffiValue path; /* None: the program itself */
  Library library;
  String prefix;         /* of the functions of the program */
  Vector<Owned> imports; /* guarded by `import_mutex`, see module.cc */
};

inline bool is_program(const Module& module) { return module.path.type_code == ANYFFI_NONE; }

/// As `anyffi_module_load_version`; `exceptions`: the names of the host's exception classes.
int load_module(const AnyffiValue& path, const AnyffiValue& library, bool overrides, const Vector<String>* exceptions,
                AnyffiValue* out) noexcept;
/// Records the path that a table was loaded from, unless one is recorded already.
int record_table(const AnyffiModuleTable* table, const AnyffiValue* path);
/// The names of a module's own functions.
Vector<String> list_own_names(const Module& module);
/// A module's own function; None in `out` if there is none.
int find_own_function(const Module& module, const String& name, AnyffiValue* out);
/// The path and name of a module's function as an Array; None in `out` for other functions.
int find_origin(const AnyffiObject* function, AnyffiValue* out);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_MODULE_H_
