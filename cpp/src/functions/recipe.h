/// \file
/// Calls with arguments that a recipe describes.
#ifndef ANYFFI_SRC_FUNCTIONS_RECIPE_H_
#define ANYFFI_SRC_FUNCTIONS_RECIPE_H_

#include <anyffi/host_api.h>

namespace anyffi::runtime {

/// `anyffi_function_call_recipe`, through a function's own `call` or another one.
int call_recipe(AnyffiCall call, void* self, AnyffiValue* recipe, int32_t size, AnyffiValue* result);

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_RECIPE_H_
