/// \file
/// Recipes: what front ends write of the arguments of a call, so that one call of the runtime makes all of them.
#include <cstring>

#include "containers.h"

namespace anyffi::runtime {
namespace {

bool is_made(const AnyffiValue& value) { return value.type_code > 0 && value.aux == ANYFFI_MOVABLE; }

int make_mapping(int32_t type_code, const AnyffiValue* parts, int64_t count, AnyffiValue* out) {
  int64_t first = -1, second = -1;
  if (anyffi_mapping_create_from(type_code, parts, count / 2, out, &first, &second) != 0) return -1;
  return first < 0 ? 0 : anyffi_error_raise("ValueError", "two keys are equal");
}

int make_tensor(const AnyffiTensorRecipe& recipe, AnyffiValue* out) {
  recipe.retain(recipe.handle);
  return anyffi_tensor_create_host(&recipe.tensor, recipe.flags, recipe.handle, out);
}

int make_function(const AnyffiFunctionRecipe& recipe, AnyffiValue* out) {
  recipe.retain(recipe.handle);
  return anyffi_function_create_host(recipe.callback, recipe.handle, out);
}

/// Makes what a step says of the values that lie before `*end`, and removes them.
int make(const AnyffiValue& step, AnyffiValue** end, AnyffiValue* out) {
  int32_t type_code = step.type_code;
  if (type_code == ANYFFI_TENSOR) return make_tensor(*static_cast<const AnyffiTensorRecipe*>(step.as_pointer), out);
  if (type_code == ANYFFI_FUNCTION) {
    return make_function(*static_cast<const AnyffiFunctionRecipe*>(step.as_pointer), out);
  }
  int64_t count = step.as_int;
  AnyffiValue* parts = *end - count;
  int status = type_code == ANYFFI_SLICE ? anyffi_slice_create(&parts[0], &parts[1], &parts[2], out)
               : has_entries(type_code)  ? make_mapping(type_code, parts, count, out)
                                         : anyffi_sequence_create_from(type_code, parts, count, out);
  if (status != 0) return status;
  // It holds copies.
  for (AnyffiValue* part = parts; part != *end; ++part) {
    if (is_made(*part)) anyffi_value_release(part);
  }
  *end = parts;
  return 0;
}

}  // namespace
}  // namespace anyffi::runtime

int anyffi_args_make(AnyffiValue* args, AnyffiValue* recipe) {
  // What was made lies where the recipe was read already, so that no memory is needed for it.
  AnyffiValue* end = recipe;
  const AnyffiValue* step = recipe;
  for (; step->type_code != ANYFFI_UNSET; ++step) {
    AnyffiValue value = *step;
    if (value.type_code > 0 && value.aux == ANYFFI_RECIPE) {
      if (anyffi::runtime::make(*step, &end, &value) != 0) {
        while (end != recipe) {
          if (anyffi::runtime::is_made(*--end)) anyffi_value_release(end);
        }
        return -1;
      }
      value.aux = ANYFFI_MOVABLE;
    }
    *end++ = value;
  }
  args[end - recipe] = *step;
  std::memcpy(args, recipe, reinterpret_cast<char*>(end) - reinterpret_cast<char*>(recipe));
  return 0;
}
