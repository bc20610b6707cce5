/// \file
/// Objects of the runtime whose host classes may define equality and hashes.
#ifndef ANYFFI_SRC_VALUES_HOST_OBJECTS_H_
#define ANYFFI_SRC_VALUES_HOST_OBJECTS_H_

#include "core/depth.h"
#include "core/host.h"

namespace anyffi::runtime {

inline bool is_compared_by_host(const AnyffiValue& value) noexcept {
  if (value.type_code < ANYFFI_FIRST_DYNAMIC_TYPE) return false;
  uint8_t flags = __atomic_load_n(anyffi_type_get_instance_flags(value.type_code), __ATOMIC_RELAXED);
  return (flags & ANYFFI_HOST_COMPARES) != 0;
}

/// Calls `object_hash` or `object_equal`: 0, -1 with an error, or 1 if the host leaves the decision to the runtime.
template <class Result, class Hook, class... Arguments>
__attribute__((noinline)) int ask_host(Result* out, Hook AnyffiHost::* hook, Arguments... arguments) noexcept {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || hooks->*hook == nullptr) return 1;
  DepthGuard depth;
  if (!depth) return -1;
  int status = get_status(out, [&] { return (hooks->*hook)(arguments..., out); });
  return status == ANYFFI_HOST_DECLINED ? 1 : finish_hook(status);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_VALUES_HOST_OBJECTS_H_
