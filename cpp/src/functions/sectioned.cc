/// \file
/// Functions of the C ABI on containers, each within a section of the host.
#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include "core/section.h"
#include "functions/recipe.h"

namespace anyffi::runtime {
namespace {

template <auto kFunction>
struct Within;

template <class Result, class... Args, Result (*kFunction)(Args...)>
struct Within<kFunction> {
  static Result call(Args... args) {
    Section section;
    return kFunction(args...);
  }
};

int call_recipe_sectioned(void* function, AnyffiValue* recipe, int32_t size, AnyffiValue* result) {
  return call_recipe(&anyffi_function_call_sectioned, function, recipe, size, result);
}

#define WITHIN(name) {#name, reinterpret_cast<void*>(&Within<&name>::call)}

const AnyffiSectioned kSectioned[] = {
    {"anyffi_function_call_recipe", reinterpret_cast<void*>(&call_recipe_sectioned)},
    WITHIN(anyffi_function_call_wrapped),
    WITHIN(anyffi_container_copy),
    WITHIN(anyffi_cursor_next_element),
    WITHIN(anyffi_cursor_next_entry),
    WITHIN(anyffi_cursor_open),
    WITHIN(anyffi_cursor_read_element),
    WITHIN(anyffi_cursor_read_entry),
    WITHIN(anyffi_mapping_find),
    WITHIN(anyffi_mapping_get),
    WITHIN(anyffi_mapping_set),
    WITHIN(anyffi_sequence_erase),
    WITHIN(anyffi_sequence_find),
    WITHIN(anyffi_sequence_get),
    WITHIN(anyffi_sequence_set),
    WITHIN(anyffi_sequence_slice),
    WITHIN(anyffi_wrapper_change),
    WITHIN(anyffi_wrapper_change_values),
    WITHIN(anyffi_wrapper_combine),
    WITHIN(anyffi_wrapper_combine_values),
    WITHIN(anyffi_wrapper_compare),
    WITHIN(anyffi_wrapper_compare_keys),
    WITHIN(anyffi_wrapper_compare_pairs),
    WITHIN(anyffi_wrapper_compare_values),
    WITHIN(anyffi_wrapper_concat),
    WITHIN(anyffi_wrapper_concat_values),
    WITHIN(anyffi_wrapper_count_elements),
    WITHIN(anyffi_wrapper_count_values),
    WITHIN(anyffi_wrapper_create_copy),
    WITHIN(anyffi_wrapper_erase_element),
    WITHIN(anyffi_wrapper_erase_key),
    WITHIN(anyffi_wrapper_find_element),
    WITHIN(anyffi_wrapper_flatten),
    WITHIN(anyffi_wrapper_get_element),
    WITHIN(anyffi_wrapper_get_field),
    WITHIN(anyffi_wrapper_get_item),
    WITHIN(anyffi_wrapper_has_key),
    WITHIN(anyffi_wrapper_is_disjoint),
    WITHIN(anyffi_wrapper_make_plain),
    WITHIN(anyffi_wrapper_pop),
    WITHIN(anyffi_wrapper_read_element),
    WITHIN(anyffi_wrapper_read_field),
    WITHIN(anyffi_wrapper_read_item),
    WITHIN(anyffi_wrapper_set_element),
    WITHIN(anyffi_wrapper_set_field),
    WITHIN(anyffi_wrapper_set_item),
    {nullptr, nullptr},
};

#undef WITHIN

}  // namespace
}  // namespace anyffi::runtime

const AnyffiSectioned* anyffi_host_list_sectioned(void) { return anyffi::runtime::kSectioned; }

int anyffi_function_call_sectioned(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result) {
  auto* function = static_cast<AnyffiFunction*>(self);
  anyffi::runtime::ArgumentSection section(args, num_args);
  return function->call(function->self, args, num_args, result);
}
