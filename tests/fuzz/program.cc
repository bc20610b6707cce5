/// \file
/// Programs: sequences of calls of the C ABI and of registered functions, with any values, while the host's hooks
/// change containers in use.
#include <anyffi/inline.h>

#include <algorithm>

#include "world.h"

namespace anyffi::fuzz {
namespace {

/// The registered functions, except those that change global state, open files, or create cycles that cannot be broken.
const std::vector<AnyffiValue>& functions() {
  static std::vector<AnyffiValue> found;
  if (!found.empty()) return found;
  constexpr const char* kLeftOut[] = {"anyffi.Module.load",    "anyffi.registry.set",        "anyffi.registry.remove",
                                      "anyffi.record.declare", "anyffi.record.set_defaults", "anyffi.record.set_repr",
                                      "anyffi.type.methods",   "anyffi.Object.keep_alive"};
  AnyffiValue names{};
  require(finished(anyffi_registry_list(&names)), "functions are registered");
  const auto* sequence = reinterpret_cast<AnyffiSequence*>(names.as_object);
  for (int64_t i = 0; i < sequence->size; ++i) {
    AnyffiTextView text;
    anyffi_view_text(&sequence->data[i], &text);
    std::string name(static_cast<const char*>(text.data), static_cast<size_t>(text.length));
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut)) continue;
    AnyffiValue function{};
    finished(anyffi_registry_find(&sequence->data[i], &function));
    found.push_back(function);
  }
  anyffi_value_release(&names);
  return found;
}

void make_value(World& world) {
  Recipe recipe(world);
  recipe.add(3);
  AnyffiValue made{};
  if (finished(anyffi_recipe_create(recipe.values(), recipe.size(), &made), &made)) world.keep(&made);
}

void call_function(World& world, AnyffiValue function) {
  if (function.type_code != ANYFFI_FUNCTION) return;
  Recipe recipe(world);
  for (int left = world.input().ConsumeIntegralInRange(0, 4); left > 0; --left) recipe.add(2);
  AnyffiValue result{};
  int status = anyffi_function_call_recipe(function.as_object, recipe.values(), recipe.size(), &result);
  if (finished(status, &result)) world.keep(&result);
}

void compare(const AnyffiValue& a, const AnyffiValue& b) {
  int32_t equal = 0, reverse = 0;
  int64_t hash = 0, other = 0;
  int32_t native = anyffi_value_equal_native(&a, &b);
  bool is_compared = finished(anyffi_value_equal(&a, &b, &equal)) && finished(anyffi_value_equal(&b, &a, &reverse));
  if (native < 0 || !is_compared) return;
  require(equal == native && reverse == native, "all comparisons agree");
  bool are_hashed = finished(anyffi_value_hash(&a, &hash)) && finished(anyffi_value_hash(&b, &other));
  if (native == 0 || !are_hashed || hash == other) return;
  show(a), show(b);
  require(false, "equal values have equal hashes");
}

void read_value(World& world) {
  AnyffiValue value = world.any(), key = world.any(), out{};
  int64_t number;
  switch (world.input().ConsumeIntegralInRange(0, 7)) {
    case 0:
      return compare(value, key);
    case 1:
      finished(anyffi_value_get_size(&value, &number));
      break;
    case 2:
      if (finished(anyffi_value_get_item(&value, &key, &out), &out)) world.keep(&out);
      break;
    case 3:
      if (finished(anyffi_value_repr(&value, &out), &out)) world.keep(&out);
      break;
    case 4: {
      auto conversion = world.input().ConsumeIntegralInRange<int32_t>(ANYFFI_AS_SEQUENCE, ANYFFI_AS_TENSOR);
      if (finished(anyffi_value_convert(&value, conversion, &out), &out)) world.keep(&out);
      break;
    }
    case 5:
      if (finished(anyffi_json_write(&value, &out), &out)) world.keep(&out);
      break;
    case 6: {
      auto code = world.input().ConsumeIntegralInRange<int32_t>(ANYFFI_NONE, ANYFFI_SHAPE + 1);
      if (finished(anyffi_container_copy(&value, code, &out), &out)) world.keep(&out);
      break;
    }
    default:
      finished(anyffi_value_hash(&value, &number));
  }
}

/// A value in a chain of Arrays that is nested deeper than any stack.
void nest(World& world) {
  AnyffiValue value = world.any(), chain{};
  if (!finished(anyffi_value_own(&value, &chain), &chain)) return;
  for (int left = world.input().ConsumeIntegralInRange(1, 2000); left > 0; --left) {
    AnyffiValue next{};
    bool is_made = finished(anyffi_sequence_create_from(ANYFFI_ARRAY, &chain, 1, &next));
    anyffi_value_release(&chain);
    if (!is_made) return;
    chain = next;
  }
  world.keep(&chain);
}

void use_tensor(World& world) {
  AnyffiValue value = world.container(ANYFFI_TENSOR, ANYFFI_TENSOR), out{};
  if (value.type_code != ANYFFI_TENSOR) return;
  const auto* tensor = reinterpret_cast<AnyffiTensor*>(value.as_object);
  Input& input = world.input();
  AnyffiBuffer buffer{};
  finished(anyffi_tensor_get_buffer(value.as_object, &buffer, input.ConsumeIntegral<uint16_t>()));
  AnyffiManagedTensor* managed = nullptr;
  AnyffiLegacyTensor* legacy = nullptr;
  if (finished(anyffi_tensor_to_dlpack(value.as_object, &managed)) &&
      finished(anyffi_tensor_from_dlpack(managed, &out), &out)) {
    world.keep(&out);
  }
  if (finished(anyffi_tensor_to_dlpack_legacy(value.as_object, &legacy)) &&
      finished(anyffi_tensor_from_dlpack_legacy(legacy, &out), &out)) {
    world.keep(&out);
  }
  int64_t positions[4], offset;
  for (int64_t& position : positions) position = input.ConsumeIntegralInRange(-2, 6);
  finished(anyffi_tensor_get_element_offset(&tensor->tensor, positions, input.ConsumeIntegralInRange(0, 4), &offset));
  if (finished(anyffi_tensor_copy(&tensor->tensor, tensor->flags, &out), &out)) world.keep(&out);
}

/// Converts any value to a tensor for a typed parameter.
void convert_tensor(World& world) {
  Input& input = world.input();
  int64_t shape[4];
  for (int64_t& size : shape) size = input.ConsumeIntegralInRange(-1, 4);
  AnyffiTensorSpec spec{};
  spec.dtype = {input.ConsumeIntegralInRange<uint8_t>(0, 6), input.PickValueInArray<uint8_t>({8, 16, 32, 64, 128}), 1};
  spec.ndim = input.ConsumeIntegralInRange(-1, 4);
  spec.shape = shape;
  spec.order = input.ConsumeIntegralInRange<int32_t>(ANYFFI_ORDER_STRIDED, ANYFFI_ORDER_COL_MAJOR);
  spec.device_type = input.ConsumeIntegralInRange(0, 2);
  spec.writable = input.ConsumeBool();
  spec.alignment = input.PickValueInArray({1U, 8U, 64U});
  AnyffiValue value = world.any(), out{};
  AnyffiMismatch why{};
  anyffi_tensor_match(&value, &spec, &why);
  why = AnyffiMismatch{};
  int32_t status = anyffi_tensor_convert(&value, &spec, &out, &why);
  if (status == 0) anyffi_mismatch_raise(&why, nullptr, -1);
  AnyffiValue error{};
  anyffi_error_take_raised(&error);
  anyffi_value_release(&error);
  status == 1 ? world.keep(&out) : anyffi_value_release(&out);
}

void run(Input& input) {
  static bool is_ready = (install_host(), functions(), true);
  require(is_ready, "the host is installed");
  World world(input);
  if (input.ConsumeIntegralInRange(0, 3) == 0) fail_allocation(input.ConsumeIntegral<uint8_t>());
  for (int left = 60; left > 0 && input.remaining_bytes() > 0; --left) run_step(world);
}

const Target target{"program", &run};

}  // namespace

void run_step(World& world) {
  Input& input = world.input();
  switch (input.ConsumeIntegralInRange(0, 11)) {
    case 0:
    case 1:
    case 2:
      return make_value(world);
    case 3:
    case 4:
    case 5:
      return call_function(world, functions()[input.ConsumeIntegralInRange<size_t>(0, functions().size() - 1)]);
    case 6:
      return call_function(world, world.container(ANYFFI_FUNCTION, ANYFFI_FUNCTION));
    case 7:
      return read_value(world);
    case 8:
      return input.ConsumeIntegralInRange(0, 15) == 0 ? nest(world) : use_tensor(world);
    case 9:
      return convert_tensor(world);
    default:
      return run_wrapper_step(world);
  }
}

}  // namespace anyffi::fuzz
