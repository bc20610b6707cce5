/// \file
/// Recipes with any content that front ends may write: text has the narrowest encoding, and the memory of tensors
/// exists.
#include <anyffi/inline.h>

#include <cstring>

#include "world.h"

namespace anyffi::fuzz {
namespace {

constexpr int64_t kNumbers[] = {0, 1, -1, 2, 3, 127, 255, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
constexpr double kFloats[] = {
    0.0, -0.0, 1.0, 2.5, 1e300, -1e-300, __builtin_nan(""), __builtin_inf(), 9007199254740994};
constexpr int64_t kExtents[] = {int64_t{1} << 20, int64_t{1} << 40, INT64_MAX};
constexpr int32_t kDevices[] = {ANYFFI_kDLCPU, ANYFFI_kDLCPU, ANYFFI_kDLCUDA, ANYFFI_kDLCUDAHost};
constexpr size_t kMemory = 4096;
/// The memory of all tensors, aligned so that most tensors are.
alignas(64) unsigned char memory[kMemory];

}  // namespace

Recipe::~Recipe() {
  for (AnyffiValue& value : kept_) anyffi_value_release(&value);
}

void Recipe::push(int32_t type_code, int64_t payload, uint32_t aux) {
  AnyffiValue value = anyffi_make_value(static_cast<uint32_t>(type_code), static_cast<uint64_t>(payload));
  value.aux = aux;
  steps_.push_back(value);
}

void Recipe::push_made(int32_t type_code, const void* recipe) {
  push(type_code, reinterpret_cast<intptr_t>(recipe), ANYFFI_RECIPE);
}

void Recipe::add_text() {
  bool is_bytes = input_.ConsumeBool();
  std::string bytes = input_.ConsumeRandomLengthString(40);
  Owned made;
  auto size = static_cast<int64_t>(bytes.size());
  if (is_bytes) {
    finished(anyffi_bytes_create(bytes.data(), size, &made));
  } else {
    auto encoding = input_.ConsumeIntegralInRange<int32_t>(ANYFFI_LATIN1, ANYFFI_UCS4);
    if (encoding == ANYFFI_UCS4) {
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i % 4 == 2 ? bytes[i] & 15 : i % 4 == 3 ? 0 : bytes[i]);
    }
    finished(anyffi_str_create(bytes.data(), size >> (encoding - 1), encoding, &made));
  }
  if (made.type_code <= 0) {
    steps_.push_back(made);
    return;
  }
  AnyffiTextView text;
  anyffi_view_text(&made, &text);
  uint32_t aux = static_cast<uint32_t>(text.length) << 2 | static_cast<uint32_t>(is_bytes ? 0 : text.encoding);
  AnyffiValue view = anyffi_make_value(static_cast<uint32_t>(is_bytes ? ANYFFI_BYTES_VIEW : ANYFFI_STR_VIEW), 0);
  view.aux = aux;
  view.as_pointer = const_cast<void*>(text.data);
  kept_.push_back(made);
  static_cast<AnyffiValue&>(made) = AnyffiValue{};
  if (input_.ConsumeBool()) {
    steps_.push_back(view);
  } else {
    kept_.push_back(view);
    push_made(is_bytes ? ANYFFI_BYTES_OBJECT : ANYFFI_STR_OBJECT, &kept_.back());
  }
}

void Recipe::add_scalar() {
  switch (input_.ConsumeIntegralInRange(0, 10)) {
    case 0:
      return push(ANYFFI_NONE, 0);
    case 1:
      return push(ANYFFI_BOOL, input_.ConsumeBool());
    case 2:
      return push(ANYFFI_INT, input_.ConsumeIntegralInRange<int64_t>(-3, 9));
    case 3:
      return push(ANYFFI_INT, input_.PickValueInArray(kNumbers));
    case 4: {
      double number = input_.PickValueInArray(kFloats);
      int64_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      return push(ANYFFI_FLOAT, bits);
    }
    case 5:
      return push(ANYFFI_ELLIPSIS, 0);
    case 6:
      return push(ANYFFI_POINTER, input_.ConsumeIntegral<int16_t>());
    case 7:
      return push(ANYFFI_DATA_TYPE, input_.ConsumeIntegral<uint32_t>());
    case 8:
      return push(ANYFFI_DEVICE, input_.ConsumeIntegral<int64_t>());
    default:
      return add_text();
  }
}

void Recipe::add_container(int32_t type_code, int depth, bool is_plain) {
  int64_t count = type_code == ANYFFI_SLICE ? 3 : input_.ConsumeIntegralInRange(0, 4);
  bool is_set = type_code == ANYFFI_SET || type_code == ANYFFI_FROZEN_SET;
  bool is_mapping = type_code == ANYFFI_MAP || type_code == ANYFFI_DICT;
  for (int64_t i = 0; i < count; ++i) {
    is_plain                    ? add_plain(depth - 1)
    : type_code == ANYFFI_SHAPE ? push(ANYFFI_INT, input_.PickValueInArray(kNumbers))
                                : add(depth - 1);
    if (is_mapping) add(depth - 1);
    if (is_set) push(ANYFFI_NONE, 0);
  }
  push(type_code, is_set || is_mapping ? 2 * count : count, ANYFFI_RECIPE);
}

void Recipe::add_tensor() {
  constexpr uint8_t kBits[] = {8, 16, 32, 64, 1, 4, 6, 128};
  auto ndim = input_.ConsumeIntegralInRange<int32_t>(0, 4);
  AnyffiTensorRecipe recipe{};
  recipe.tensor.dtype = {input_.ConsumeIntegralInRange<uint8_t>(0, 18), input_.PickValueInArray(kBits),
                         input_.ConsumeIntegralInRange<uint16_t>(0, 3)};
  int64_t item = (int64_t{recipe.tensor.dtype.bits} * recipe.tensor.dtype.lanes + 7) / 8;
  std::vector<int64_t>& numbers = numbers_.emplace_back(2 * static_cast<size_t>(ndim) + 1);
  bool is_compact = input_.ConsumeIntegralInRange(0, 7) == 0;
  int64_t low = 0, high = item, count = 1;
  for (int32_t i = 0; i < ndim; ++i) {
    int64_t size = input_.ConsumeIntegralInRange(0, 5), stride = input_.ConsumeIntegralInRange(-20, 20);
    // A broadcast axis may have any size.
    if (stride == 0 && !is_compact && input_.ConsumeBool()) size = input_.PickValueInArray(kExtents);
    count *= is_compact ? size : 1;
    // The stride of an axis with one element is not used.
    if (size <= 1 && input_.ConsumeBool()) stride = input_.PickValueInArray(kNumbers);
    int64_t reach = stride == 0 || size <= 1 ? 0 : (size - 1) * stride * item;
    (reach < 0 ? low : high) += reach;
    numbers[static_cast<size_t>(i)] = size;
    numbers[static_cast<size_t>(ndim + i)] = stride;
  }
  if ((is_compact ? count * item : high - low) > static_cast<int64_t>(kMemory)) return push(ANYFFI_NONE, 0);
  recipe.tensor.data = is_compact ? memory : memory - low;
  recipe.tensor.device = {input_.PickValueInArray(kDevices), 0};
  recipe.tensor.ndim = ndim;
  recipe.tensor.shape = numbers.data();
  recipe.tensor.strides = is_compact ? nullptr : numbers.data() + ndim;
  recipe.flags = input_.ConsumeIntegralInRange<uint64_t>(0, 3);
  recipe.handle = world_.new_handle();
  recipe.retain = &retain_handle;
  push_made(ANYFFI_TENSOR, &tensors_.emplace_back(recipe));
}

void Recipe::add_over_handle() {
  Handle* handle = world_.new_handle();
  switch (input_.ConsumeIntegralInRange(0, 2)) {
    case 0:
      return push_made(ANYFFI_FUNCTION,
                       &functions_.emplace_back(AnyffiFunctionRecipe{&call_back, handle, &retain_handle}));
    case 1:
      return push_made(ANYFFI_ERROR, &objects_.emplace_back(AnyffiPyObjectRecipe{handle, &retain_handle}));
    default:
      return push_made(ANYFFI_PY_OBJECT, &objects_.emplace_back(AnyffiPyObjectRecipe{handle, &retain_handle}));
  }
}

void Recipe::add_from_world() {
  AnyffiValue value = world_.any();
  if (value.type_code <= 0 || input_.ConsumeBool()) {
    steps_.push_back(value);
    return;
  }
  Owned owned;
  if (anyffi_value_own(&value, &owned) != 0) return failed(&owned), push(ANYFFI_NONE, 0);
  kept_.push_back(owned);
  static_cast<AnyffiValue&>(owned) = AnyffiValue{};
  push_made(ANYFFI_OBJECT, &kept_.back());
}

void Recipe::add_plain(int depth) {
  if (depth == 0 || input_.ConsumeIntegralInRange(0, 3) != 0) return add_scalar();
  add_container(input_.ConsumeBool() ? ANYFFI_ARRAY : ANYFFI_FROZEN_SET, depth, true);
}

void Recipe::add(int depth) {
  switch (input_.ConsumeIntegralInRange(0, depth == 0 ? 6 : 9)) {
    case 0:
      return add_tensor();
    case 1:
      return add_over_handle();
    case 2: {
      std::vector<int64_t>& words = numbers_.emplace_back();
      for (int left = input_.ConsumeIntegralInRange(0, 3); left > 0; --left)
        words.push_back(input_.PickValueInArray(kNumbers));
      bool is_negative = input_.ConsumeBool();
      return push_made(ANYFFI_BIG_INT,
                       &big_ints_.emplace_back(AnyffiBigIntRecipe{reinterpret_cast<uint64_t*>(words.data()),
                                                                  static_cast<int64_t>(words.size()), is_negative}));
    }
    case 3: {
      double real = input_.PickValueInArray(kFloats);
      return push_made(ANYFFI_COMPLEX,
                       &complexes_.emplace_back(AnyffiComplexRecipe{real, input_.PickValueInArray(kFloats)}));
    }
    case 4:
      return add_from_world();
    case 5:
    case 6:
      return add_scalar();
    case 7:
      return add_container(ANYFFI_SLICE, depth, false);
    default:
      return add_container(input_.ConsumeIntegralInRange<int32_t>(ANYFFI_ARRAY, ANYFFI_SET), depth, false);
  }
}

}  // namespace anyffi::fuzz
