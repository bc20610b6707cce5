/// \file
/// The classes of a library, which its module has as attributes.
#ifndef ANYFFI_SRC_MODULES_CLASSES_H_
#define ANYFFI_SRC_MODULES_CLASSES_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// The first class that a library lists; NULL if there is none, or no table.
const AnyffiModuleClass* first_class(const AnyffiModuleTable* table) noexcept;
/// The class of a row; NULL if it could not be registered.
const AnyffiTypeInfo* class_of(const AnyffiModuleClass& row) noexcept;
/// Whether a class is nested in another class, whose key is then a prefix of its own.
bool is_nested(const AnyffiTypeInfo& info);
/// The attribute name of a class that is not nested. It includes the submodule in its key, if the library has functions
/// in that submodule.
String attribute_of_class(const AnyffiTypeInfo& info, const AnyffiModuleTable* table);
/// Raises ValueError if two classes, functions or submodules of a library have the same name: the module has one
/// attribute for both.
int check_names(const AnyffiModuleTable* table);
/// Raises ValueError if an exception class has an unknown base: a name without a dot that is not among the host's
/// exception classes `of_host`.
int check_exceptions(const AnyffiModuleTable* table, const Vector<String>& of_host);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_CLASSES_H_
