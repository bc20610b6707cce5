/// \file
/// Runtime functions over C++ callables: what all of them share, whatever their types.
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

/// Ends a call that threw.
__attribute__((cold, noinline)) inline int fail_call(AnyffiNativeFunction& native, AnyffiCallFrame& frame, char* slots,
                                                     const AnyffiValue* args) noexcept {
  anyffi_native_abandon(&native, &frame, slots);
  set_caught();
  anyffi_error_name_argument(native.base.info, args, native.plain_size);
  return -1;
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_NATIVE_H_
