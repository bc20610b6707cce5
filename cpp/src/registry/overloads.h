/// \file
/// Declarations of several functions with one name.
#ifndef ANYFFI_SRC_REGISTRY_OVERLOADS_H_
#define ANYFFI_SRC_REGISTRY_OVERLOADS_H_

#include <anyffi/c_api.h>

#include "core/owned.h"

namespace anyffi::runtime {

/// Adds an overload to a function. `out`: the function with all overloads; that is `function` itself from the third
/// overload on.
inline int add_overload(const char* name, const AnyffiValue& function, const AnyffiValue& added, Owned* out) noexcept {
  if ((reinterpret_cast<AnyffiFunction*>(function.as_object)->info->flags & ANYFFI_OVERLOADED) != 0) {
    *out = retained(function);
  } else {
    if (anyffi_function_create_overloaded(name, out->out()) != 0) return -1;
    if (anyffi_function_add_overload((*out)->as_object, function.as_object, nullptr, 0) != 0) return -1;
  }
  return anyffi_function_add_overload((*out)->as_object, added.as_object, nullptr, 0);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_REGISTRY_OVERLOADS_H_
