/// \file
/// Calls of the host's hooks, with or without its lock.
#ifndef ANYFFI_SRC_CORE_HOST_H_
#define ANYFFI_SRC_CORE_HOST_H_

#include <anyffi/host_api.h>
#include <anyffi/inline.h>
#include <cxxabi.h>

#include <type_traits>

#include "core/compiler.h"

namespace anyffi::runtime {

/// The installed hooks, or NULL.
const AnyffiHost* host() noexcept;
/// Whether objects may have wrappers that are not stored in their headers.
bool keeps_wrappers() noexcept;
/// Releases a handle, with the host's lock held. Does nothing for NULL, or without a host.
void release_handle(void* handle) noexcept;

/// Blocks the calling thread for ever.
[[noreturn]] void park_thread() noexcept;

/// Calls a hook or callback of the host. An interpreter that has shut down ends the threads that call it by unwinding
/// their stacks; that would end the process at the first C++ frame, so such a thread is parked instead.
template <class Function>
ANYFFI_UNWINDS auto enter_host(const Function& function) noexcept {
#if defined(__GLIBCXX__)
  try {
    return function();
  } catch (abi::__forced_unwind&) {
    park_thread();
  }
#else
  return function();
#endif
}

/// Converts the status of a hook or callback to 0, or -1 with an error in the slot.
int finish_hook(int status) noexcept;

/// Calls a hook that may fail.
template <class Function>
int call_hook(const Function& function) noexcept {
  return finish_hook(enter_host(function));
}

/// A value that no hook stores as its result; a hash is never -1.
template <class Result>
constexpr Result unset_result() noexcept {
  if constexpr (std::is_same_v<Result, AnyffiValue>) {
    return anyffi_make_value(static_cast<uint32_t>(ANYFFI_UNSET), 0);
  } else if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return -1;
  }
}

inline bool is_unset(const AnyffiValue& result) noexcept { return result.type_code == ANYFFI_UNSET; }
template <class Result>
bool is_unset(const Result& result) noexcept {
  return result == unset_result<Result>();
}

/// Calls a hook that sets a result, and returns its status. Returns 0 if the host swallowed an exception: the hook's
/// return value is then whatever the stack holds, such as the status of the previous hook.
template <class Result, class Function>
int get_status(Result* result, const Function& function) noexcept {
  const AnyffiHost* hooks = host();
  if (hooks == nullptr || !(hooks->flags & ANYFFI_HOST_CATCHES_SIGNALS)) return enter_host(function);
  Result former = *result;
  *result = unset_result<Result>();
  int status = enter_host(function);
  if (!is_unset(*result)) return status;
  *result = former;
  return status == -1 ? -1 : 0;
}

/// Calls a hook that sets a result; after a failure the result is None.
template <class Result, class Function>
int call_hook(Result* result, const Function& function) noexcept {
  int status = finish_hook(get_status(result, function));
  if constexpr (std::is_same_v<Result, AnyffiValue>) {
    // A signal handler may have raised an error after the result was set.
    if (status != 0) anyffi_value_release(result);
  }
  return status;
}

/// Moves the thread's error to the exception state of the host, whose lock is held; always -1. `set_error` is
/// PyErr_SetString; `memory_error` is the class for MemoryError.
int raise_in_host(void (*set_error)(void* exception_class, const char* message), void* exception_class,
                  void* memory_error) noexcept;

/// Holds the host's lock, if there is a host.
class HostLock {
 public:
  HostLock() noexcept
      : host_(host()), state_(host_ != nullptr && host_->lock != nullptr ? enter_host(host_->lock) : 0) {}
  ~HostLock() {
    if (host_ != nullptr && host_->unlock != nullptr) host_->unlock(state_);
  }
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

 private:
  const AnyffiHost* host_;
  int32_t state_;
};

/// The handle of a value that stands for a host object, which then compares, hashes and prints as that object; or NULL.
inline void* handle_of(const AnyffiValue& value) noexcept {
  if (value.type_code == ANYFFI_PY_OBJECT) return reinterpret_cast<AnyffiPyObject*>(value.as_object)->handle;
  if (value.type_code == ANYFFI_FUNCTION) return reinterpret_cast<AnyffiFunction*>(value.as_object)->handle;
  if (value.type_code == ANYFFI_ERROR) return reinterpret_cast<AnyffiError*>(value.as_object)->handle;
  return nullptr;
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_HOST_H_
