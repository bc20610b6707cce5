/// \file
/// Operations on the containers of wrappers, with the values that the ctypes marshaller passes to them.
#include <anyffi/inline.h>

#include "world.h"

namespace anyffi::fuzz {
namespace {

/// Keeps the result of a function that returned 1; one that returned `failure` must have left an error.
void finish(World& world, int64_t status, int64_t failure, AnyffiValue* out = nullptr) {
  if (status == failure) return failed();
  finished(0);
  if (status == 1 && out != nullptr) world.keep(out);
}

/// The same for a combination, whose result is Unset if it would need code of the host.
void finish_combination(World& world, int32_t status, AnyffiValue* out) {
  finish(world, status == 0 && out->type_code != ANYFFI_UNSET ? 1 : status, -1, out);
}

/// The two operands: values with wrappers, whose addresses are never read.
struct Operands {
  explicit Operands(World& world, int32_t first, int32_t last) {
    AnyffiValue one = world.container(first, last), two = world.container(ANYFFI_ARRAY, ANYFFI_SHAPE);
    is_found = one.type_code != ANYFFI_NONE && two.type_code != ANYFFI_TENSOR;
    if (!is_found) return;
    mine.object = one.as_object;
    other.object = two.as_object;
    code = one.type_code;
  }
  bool is_found;
  int32_t code = 0;
  AnyffiWrapperRef mine{};
  AnyffiWrapperRef other{};
};

void use_sequence(World& world) {
  Operands both(world, ANYFFI_ARRAY, ANYFFI_LIST);
  if (!both.is_found) return;
  Input& input = world.input();
  Recipe one(world), several(world), plain(world);
  one.add(2);
  plain.add_plain(2);
  for (int left = input.ConsumeIntegralInRange(0, 3); left > 0; --left) several.add_plain(2);
  auto index = input.ConsumeIntegralInRange<int32_t>(-6, 6), stop = input.ConsumeIntegralInRange<int32_t>(-1, 6);
  AnyffiValue out{};
  switch (input.ConsumeIntegralInRange(0, 9)) {
    case 0:
      if (anyffi_wrapper_get_element(&both.mine, both.code, index, &out) == 1) world.keep(&out);
      return;
    case 1:
      return finish(world, anyffi_wrapper_set_element(&both.mine, index, one.values(), one.size()), -1);
    case 2:
      return finish(world, anyffi_wrapper_erase_element(&both.mine, index), -1);
    case 3: {
      int32_t start = index < 0 ? 0 : index;
      return finish(world,
                    anyffi_wrapper_find_element(&both.mine, both.code, plain.values(), plain.size(), start, stop), -3);
    }
    case 4:
      return finish(world, anyffi_wrapper_count_elements(&both.mine, both.code, plain.values(), plain.size()), -2);
    case 5:
      return finish(world, anyffi_wrapper_concat(&both.mine, &both.other, both.code, &out), -1, &out);
    case 6:
      return finish(world,
                    anyffi_wrapper_concat_values(&both.mine, several.values(), several.size(), both.code,
                                                 input.ConsumeBool(), &out),
                    -1, &out);
    case 7: {
      int64_t width = anyffi_wrapper_flatten(&both.mine, both.code, &out);
      return finish(world, width > 0 ? 1 : width, -1, &out);
    }
    case 8:
      finish(world, anyffi_wrapper_compare_values(&both.mine, several.values(), several.size(), both.code, index & 3),
             -2);
      return;
    default:
      require(anyffi_wrapper_get_size(&both.mine, both.code) >= 0, "a container has a size");
  }
}

void use_entries(World& world) {
  Operands both(world, ANYFFI_MAP, ANYFFI_SET);
  if (!both.is_found) return;
  Input& input = world.input();
  Recipe key(world), pair(world), several(world);
  key.add(2);
  pair.add(2);
  bool is_set = both.code >= ANYFFI_FROZEN_SET;
  if (!is_set) pair.add(2);
  int left = input.ConsumeIntegralInRange(0, 3);
  for (int i = 0; i < left; ++i) several.add_plain(2);
  bool is_reflected = input.ConsumeBool(), is_mutable = both.code == ANYFFI_DICT || both.code == ANYFFI_SET;
  auto operation = input.ConsumeIntegralInRange<int32_t>(ANYFFI_SET_OR, ANYFFI_SET_XOR);
  int32_t code = is_set ? input.ConsumeIntegralInRange<int32_t>(ANYFFI_FROZEN_SET, ANYFFI_SET) : both.code;
  AnyffiValue out{};
  switch (input.ConsumeIntegralInRange(0, 9)) {
    case 0:
      return finish(world, anyffi_wrapper_get_item(&both.mine, both.code, key.values(), key.size(), &out), -1, &out);
    case 1:
      return finish(world, anyffi_wrapper_has_key(&both.mine, both.code, key.values(), key.size()), -1);
    case 2:
      if (!is_mutable) return;
      return finish(world, anyffi_wrapper_set_item(&both.mine, both.code, pair.values(), pair.size()), -1);
    case 3:
      if (!is_mutable) return;
      return finish(world, anyffi_wrapper_erase_key(&both.mine, both.code, key.values(), key.size()), -1);
    case 4:
      if (!is_mutable) return;
      // There is no layout of wrappers: the runtime creates no object of the host.
      anyffi_wrapper_pop(&both.mine, both.code, key.values(), input.ConsumeBool() ? key.size() : 0, &out);
      if (out.type_code == ANYFFI_UNSET) return finish(world, static_cast<int32_t>(out.as_int), -1);
      return world.keep(&out);
    case 5:
      if (!is_set) return;
      return finish_combination(world, anyffi_wrapper_combine(&both.mine, &both.other, both.code, operation, &out),
                                &out);
    case 6:
      if (!is_set) return;
      return finish_combination(world,
                                anyffi_wrapper_combine_values(&both.mine, several.values(), several.size(), code,
                                                              operation, is_reflected, &out),
                                &out);
    case 7:
      if (both.code != ANYFFI_SET) return;
      return finish(world, anyffi_wrapper_change(&both.mine, &both.other, operation), -1);
    case 8:
      if (both.code != ANYFFI_SET || operation == ANYFFI_SET_XOR) return;
      return finish(world, anyffi_wrapper_change_values(&both.mine, several.values(), several.size(), operation), -1);
    default:
      if (!is_set) return;
      finish(world, anyffi_wrapper_count_values(&both.mine, several.values(), several.size(), both.code), -2);
  }
}

void compare(World& world) {
  Operands both(world, ANYFFI_ARRAY, ANYFFI_SET);
  if (!both.is_found) return;
  anyffi_wrapper_compare(&both.mine, &both.other, both.code, world.input().ConsumeIntegralInRange(0, 5));
  finished(0);
}

/// Walks along a container, which may change at each step.
void walk(World& world) {
  Operands both(world, ANYFFI_ARRAY, ANYFFI_SET);
  if (!both.is_found) return;
  AnyffiCursor cursor{};
  AnyffiWrapperRef self = both.mine;
  anyffi_cursor_open(&cursor, &self, world.input().ConsumeBool() ? 1 : -1);
  for (int left = 6; left > 0; --left) {
    AnyffiValue one{}, two{};
    int32_t status = both.code <= ANYFFI_LIST ? anyffi_cursor_next_element(&cursor, &one)
                                              : anyffi_cursor_next_entry(&cursor, &one, &two);
    if (status != 1) return;
    world.keep(&one);
    world.keep(&two);
    world.disturb();
  }
}

/// Creates the container of a new wrapper.
void create(World& world) {
  Recipe recipe(world);
  AnyffiWrapperHold hold{};
  hold.ref.wrapper = &hold;
  Operands other(world, ANYFFI_ARRAY, ANYFFI_SET);
  auto code = world.input().ConsumeIntegralInRange<int32_t>(ANYFFI_ARRAY, ANYFFI_SET);
  int32_t status;
  switch (world.input().ConsumeIntegralInRange(0, 2)) {
    case 0:
      recipe.add(2);
      if (recipe.values()[recipe.size() - 1].type_code < ANYFFI_ARRAY) return;
      status = anyffi_wrapper_create(&hold, recipe.values(), recipe.size());
      break;
    case 1:
      recipe.add_plain(2);
      recipe.add_plain(2);
      code = code == ANYFFI_SET ? ANYFFI_SET : ANYFFI_FROZEN_SET;
      status = anyffi_wrapper_create_set(&hold, recipe.values(), recipe.size(), code);
      break;
    default:
      if (!other.is_found) return;
      status = anyffi_wrapper_create_copy(&hold, &other.mine, code);
  }
  if (status == 1) {
    AnyffiValue made{};
    anyffi_value_own(&hold.value, &made);
    anyffi_wrapper_detach(&hold.ref);
    return finish(world, 1, -1, &made);
  }
  finish(world, status, -1);
}

}  // namespace

void run_wrapper_step(World& world) {
  switch (world.input().ConsumeIntegralInRange(0, 6)) {
    case 0:
    case 1:
      return use_sequence(world);
    case 2:
    case 3:
      return use_entries(world);
    case 4:
      return compare(world);
    case 5:
      return walk(world);
    default:
      return create(world);
  }
}

}  // namespace anyffi::fuzz
