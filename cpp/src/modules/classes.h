/// \file
/// The classes of a library, which its module has as attributes.
#ifndef ANYFFI_SRC_MODULES_CLASSES_H_
#define ANYFFI_SRC_MODULES_CLASSES_H_

#include <anyffi/c_api.h>

#include "core/memory.h"

namespace anyffi::runtime {

/// The first class that a library lists; NULL if there is none, or no table.
const AnyffiModuleClass* first_class(const AnyffiModuleTable* table) noexcept;
/// The class of a row; NULL for one that could not be registered.
const AnyffiTypeInfo* class_of(const AnyffiModuleClass& row) noexcept;
/// Whether a class is nested in another one: its key begins with the key of that.
bool is_nested(const AnyffiTypeInfo& info);
/// The name of a class that is not nested as an attribute: behind that of the submodule that its key names, if the
/// library has functions there.
String attribute_of_class(const AnyffiTypeInfo& info, const AnyffiModuleTable* table);
/// ValueError if two classes, functions or submodules of a library have one name: its module has one attribute.
int check_names(const AnyffiModuleTable* table);
/// ValueError if the base of a class of exceptions, written as those of the host are, without a dot, is none of them.
int check_exceptions(const AnyffiModuleTable* table, const Vector<String>& of_host);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_MODULES_CLASSES_H_
