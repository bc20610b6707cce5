/// \file
/// The recursion limit of a thread: a count, and the size of its stack.
#include "core/depth.h"

#include <anyffi/host_api.h>
#include <pthread.h>

#include <algorithm>

#include "core/compiler.h"
#include "core/errors.h"

namespace {

constexpr size_t kReserve = 160 * 1024;
constexpr size_t kBytesPerLevel = 6 * 1024;
constexpr size_t kFewestLevels = 24;
constexpr size_t kMostLevels = 1000;

ANYFFI_THREAD_LOCAL int32_t depth = 0;
ANYFFI_THREAD_LOCAL int32_t limit = 0; /* 0: not measured yet */
/// The lowest stack address at which a level may begin, and the end of the stack.
ANYFFI_THREAD_LOCAL uintptr_t stack_floor = 0;
ANYFFI_THREAD_LOCAL uintptr_t stack_end = 0;

__attribute__((noinline)) void measure_stack() {
  size_t size = 512 * 1024;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* lowest;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      stack_end = reinterpret_cast<uintptr_t>(lowest);
      // A quarter is a sufficient reserve on a small stack.
      stack_floor = stack_end + std::min(kReserve, size / 4);
    }
    pthread_attr_destroy(&attributes);
  }
#elif defined(__APPLE__)
  size = pthread_get_stacksize_np(pthread_self());
#endif
  size_t levels = size > kReserve ? (size - kReserve) / kBytesPerLevel : 0;
  limit = static_cast<int32_t>(std::clamp(levels, kFewestLevels, kMostLevels));
}

}  // namespace

int anyffi_depth_enter(void) {
  if (__builtin_expect(depth >= limit, 0)) {
    if (limit == 0) measure_stack();
    if (depth >= limit) return anyffi::runtime::raise_recursion();
  }
  // Frames between two levels may have any size. Code that runs on another stack (a coroutine's) is outside of the
  // measured one, and only the count bounds it.
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (__builtin_expect(here - stack_end < stack_floor - stack_end, 0)) return anyffi::runtime::raise_recursion();
  ++depth;
  return 0;
}

void anyffi_depth_leave(void) { --depth; }

size_t anyffi_stack_get_remaining(void) {
  if (limit == 0) measure_stack();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - stack_end;
}
