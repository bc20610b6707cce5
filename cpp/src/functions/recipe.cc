/// \file
/// Recipes: a front end describes arguments, and one call into the runtime creates all of them.
#include "functions/recipe.h"

#include "values/containers.h"

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

int make_over_handle(const AnyffiPyObjectRecipe& recipe, int32_t type_code, AnyffiValue* out) {
  recipe.retain(recipe.handle);
  return type_code == ANYFFI_ERROR ? anyffi_error_create_host(recipe.handle, out)
                                   : anyffi_py_object_create(recipe.handle, out);
}

/// Creates the value of a step without parts; false for other steps.
bool make_alone(const AnyffiValue& step, AnyffiValue* out, int* status) {
  const void* recipe = step.as_pointer;
  switch (step.type_code) {
    case ANYFFI_TENSOR:
      *status = make_tensor(*static_cast<const AnyffiTensorRecipe*>(recipe), out);
      return true;
    case ANYFFI_FUNCTION:
      *status = make_function(*static_cast<const AnyffiFunctionRecipe*>(recipe), out);
      return true;
    case ANYFFI_PY_OBJECT:
    case ANYFFI_ERROR:
      *status = make_over_handle(*static_cast<const AnyffiPyObjectRecipe*>(recipe), step.type_code, out);
      return true;
    case ANYFFI_BIG_INT: {
      const auto& number = *static_cast<const AnyffiBigIntRecipe*>(recipe);
      *status = anyffi_big_int_create(number.words, number.size, number.negative, out);
      return true;
    }
    case ANYFFI_COMPLEX: {
      const auto& number = *static_cast<const AnyffiComplexRecipe*>(recipe);
      *status = anyffi_complex_create(number.real, number.imag, out);
      return true;
    }
    case ANYFFI_STR_OBJECT:
    case ANYFFI_BYTES_OBJECT:
      *status = anyffi_value_own(static_cast<const AnyffiValue*>(recipe), out);
      return true;
    case ANYFFI_OBJECT:
      anyffi_value_move(static_cast<AnyffiValue*>(step.as_pointer), out);
      *status = 0;
      return true;
    default:
      return false;
  }
}

/// Creates the value of a step from the values before `*end`, which it consumes.
int make(const AnyffiValue& step, AnyffiValue** end, AnyffiValue* out) {
  int status;
  if (make_alone(step, out, &status)) return status;
  int32_t type_code = step.type_code;
  int64_t count = step.as_int;
  AnyffiValue* parts = *end - count;
  status = type_code == ANYFFI_SLICE ? anyffi_slice_create(&parts[0], &parts[1], &parts[2], out)
           : has_entries(type_code)  ? make_mapping(type_code, parts, count, out)
                                     : anyffi_sequence_create_from(type_code, parts, count, out);
  if (status != 0) return status;
  // Releases the parts: the container holds copies.
  for (AnyffiValue* part = parts; part != *end; ++part) {
    if (is_made(*part)) anyffi_value_release(part);
  }
  *end = parts;
  return 0;
}

void release_made(AnyffiValue* first, const AnyffiValue* end) {
  for (AnyffiValue* value = first; value != end; ++value) {
    if (is_made(*value)) anyffi_value_release(value);
  }
}

bool is_view(int32_t type_code) {
  return type_code == ANYFFI_STR_VIEW || type_code == ANYFFI_BYTES_VIEW || type_code == ANYFFI_TENSOR_VIEW;
}

}  // namespace

int call_recipe(AnyffiCall call, void* self, AnyffiValue* recipe, int32_t size, AnyffiValue* result) {
  int32_t count = anyffi_recipe_build(recipe, size);
  if (count < 0) return -1;
  int status = call(self, recipe, count, result);
  if (status == 0 && is_view(result->type_code)) {
    AnyffiValue view = *result;
    status = anyffi_value_own(&view, result);
  }
  release_made(recipe, recipe + count);
  return status;
}

}  // namespace anyffi::runtime

int32_t anyffi_recipe_build(AnyffiValue* recipe, int32_t size) {
  using anyffi::runtime::make;
  // Created values overwrite the steps already read, so no further memory is needed.
  AnyffiValue* end = recipe;
  for (const AnyffiValue* step = recipe; step != recipe + size; ++step) {
    AnyffiValue value = *step;
    if (value.type_code > 0 && value.aux == ANYFFI_RECIPE) {
      if (make(*step, &end, &value) != 0) {
        anyffi::runtime::release_made(recipe, end);
        return -1;
      }
      if (value.type_code > 0) value.aux = ANYFFI_MOVABLE;
    }
    *end++ = value;
  }
  return static_cast<int32_t>(end - recipe);
}

int anyffi_recipe_create(AnyffiValue* recipe, int32_t size, AnyffiValue* out) {
  if (anyffi_recipe_build(recipe, size) < 0) return -1;
  if (!anyffi::runtime::is_made(recipe[0])) return anyffi_value_own(&recipe[0], out);
  *out = recipe[0];
  out->aux = 0;
  return 0;
}

void anyffi_recipe_release(AnyffiValue* recipe) {
  const AnyffiValue* end = recipe;
  while (end->type_code != ANYFFI_UNSET) ++end;
  anyffi::runtime::release_made(recipe, end);
}

int anyffi_function_call_recipe(void* self, AnyffiValue* recipe, int32_t size, AnyffiValue* result) {
  auto* function = static_cast<AnyffiFunction*>(self);
  return anyffi::runtime::call_recipe(function->call, function->self, recipe, size, result);
}
