/// \file
/// Functions of the runtime over C++ callables: the parts that are the same for all types.
#ifndef ANYFFI_DETAIL_NATIVE_H_
#define ANYFFI_DETAIL_NATIVE_H_

#include <anyffi/detail/param.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

template <class F>
F& callable_of(void* self) {
  static_assert(alignof(F) <= 16, "anyffi_alloc aligns to 16 bytes");
  return *reinterpret_cast<F*>(static_cast<char*>(self) + round_up(sizeof(AnyffiNativeFunction), 16));
}

/// The frame of a call whose arguments are converted into slots.
struct SlotFrame : AnyffiCallFrame {
  ArgumentsInUse in_use;
};

/// Ends a call that threw an exception.
__attribute__((cold, noinline)) inline int fail_call(AnyffiNativeFunction& native, AnyffiCallFrame& frame, char* slots,
                                                     const AnyffiValue* args) noexcept {
  anyffi_native_abandon(&native, &frame, slots);
  set_caught();
  anyffi_error_name_argument(native.base.info, args, native.plain_size);
  return -1;
}

/// Converts the arguments into the slots, calls, stores the result and destroys the slots' content; false if an
/// argument was refused, as described in the frame. May throw.
using CallBody = bool (*)(AnyffiNativeFunction& native, AnyffiValue* args, AnyffiValue* result, SlotFrame& frame,
                          char* slots);

/// Converts the first argument to an object of a class T into the slot at offset 0; nothing if T is void.
template <class T>
bool load_object([[maybe_unused]] AnyffiValue* args, [[maybe_unused]] AnyffiCallFrame& frame,
                 [[maybe_unused]] char* slot) {
  if constexpr (!std::is_void_v<T>) {
    if (__builtin_expect(!load_same_class(args[0], static_cast<ObjectArg<T>*>(nullptr), slot), 0) &&
        !load_slot<ObjectArg<T>>(&args[0], &frame.why, slot)) {
      return false;
    }
    frame.num_loaded = 1;
  }
  return true;
}
template <class T>
void release_object([[maybe_unused]] char* slot) {
  if constexpr (!std::is_void_v<T>) {
    using Kept = typename Slot<ObjectArg<T>>::Kept;
    reinterpret_cast<Kept*>(slot)->~Kept();
  }
}

/// Calls a function whose slots are in memory. Independent of the types, so that little code is generated for each
/// signature; but functions whose first parameter, in the slot at offset 0, is an object of a class T share the code
/// that converts and releases it. T is void for others.
template <class T, size_t kBytes, size_t kAlignment>
__attribute__((noinline)) int call_body(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                                        CallBody body) {
  auto& native = *static_cast<AnyffiNativeFunction*>(self);
  if (__builtin_expect(num_args != native.plain_size, 0)) return anyffi_native_call(&native, args, num_args, result);
  alignas(kAlignment) char slots[kBytes];
  SlotFrame frame;
  frame.num_loaded = 0;
  frame.lock.is_released = 0;
  try {
    if (__builtin_expect(load_object<T>(args, frame, slots) && body(native, args, result, frame, slots), 1)) {
      release_object<T>(slots);
      return 0;
    }
    frame.in_use.end();
    return anyffi_native_refuse(&native, &frame, slots, args, result);
  } catch (const ThrowWatch&) {
    __builtin_unreachable();
  } catch (...) {
    frame.in_use.end();
    return fail_call(native, frame, slots, args);
  }
}

/// Calls a method with its object and the arguments after it, which are all numbers, and stores the result, a number or
/// None. Returns false, before the call, if a number does not have the exact type. May throw.
template <class T>
using MethodBody = bool (*)(AnyffiNativeFunction& native, T& object, const AnyffiValue* args, AnyffiValue* result);

/// Calls such a method; shared by all methods of a class.
template <class T>
__attribute__((noinline)) int call_method(void* self, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                                          MethodBody<T> body) {
  using Kept = typename Slot<ObjectArg<T>>::Kept;
  auto& native = *static_cast<AnyffiNativeFunction*>(self);
  if (__builtin_expect(num_args != native.plain_size, 0)) return anyffi_native_call(&native, args, num_args, result);
  alignas(Kept) char slot[sizeof(Kept)];
  AnyffiCallFrame frame;
  frame.num_loaded = 0;
  frame.lock.is_released = 0;
  try {
    if (__builtin_expect(!load_object<T>(args, frame, slot), 0)) {
      return anyffi_native_refuse(&native, &frame, slot, args, result);
    }
    if (__builtin_expect(native.releases_lock != 0, 0)) {
      anyffi_native_release_lock(&frame.lock, args, native.base.info->num_params);
    }
    bool is_done = body(native, **reinterpret_cast<Kept*>(slot), args + 1, result);
    acquire_lock(frame);
    release_object<T>(slot);
    if (__builtin_expect(is_done, 1)) return 0;
  } catch (const ThrowWatch&) {
    __builtin_unreachable();
  } catch (...) {
    return fail_call(native, frame, slot, args);
  }
  return anyffi_native_normalize(&native, args, result);
}

/// The size to which slots are rounded up, so that functions share `call_body`.
constexpr size_t slots_size(size_t bytes) {
  size_t size = 128;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_NATIVE_H_
