/// \file
/// The recursion limit of a thread: a count, and the size of its stack.
#include "core/depth.h"

#include <anyffi/host_api.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "core/errors.h"

namespace anyffi::runtime {

#if defined(__linux__)
__thread Levels levels;
#else
thread_local Levels levels;
#endif

namespace {

constexpr size_t kReserve = 160 * 1024;
constexpr size_t kBytesPerLevel = 6 * 1024;
constexpr size_t kFewestLevels = 24;
constexpr size_t kMostLevels = 1000;
/// For the garbage collector's walk, whose frames are small: on a small stack it gets a sixteenth.
constexpr size_t kBytesPerWalked = 2 * 1024;
constexpr size_t kMostWalked = 200;
/// More than glibc allocates for what the C++ library keeps for each thread.
constexpr size_t kThreadDataSize = 256;

/// Creates the C++ library's data of this thread. Otherwise its first `throw` does, which may be the one that reports
/// that memory is exhausted, and glibc ends the process if it cannot allocate such data.
void prepare_throwing() noexcept {
  void* memory = std::malloc(kThreadDataSize);
  if (memory == nullptr) return;
  std::free(memory);
  // It is declared as pure: the compiler would drop a call whose result is unused.
  [[maybe_unused]] volatile int count = std::uncaught_exceptions();
}

}  // namespace

void measure_stack() noexcept {
  size_t size = 512 * 1024;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* lowest;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      levels.stack_end = reinterpret_cast<uintptr_t>(lowest);
      // On a small stack, a quarter is a sufficient reserve.
      levels.stack_floor = levels.stack_end + std::min(kReserve, size / 4);
    }
    pthread_attr_destroy(&attributes);
  }
#elif defined(__APPLE__)
  size = pthread_get_stacksize_np(pthread_self());
#endif
  prepare_throwing();
  size_t count = size > kReserve ? (size - kReserve) / kBytesPerLevel : 0;
  levels.limit = static_cast<int32_t>(std::clamp(count, kFewestLevels, kMostLevels));
  levels.walk_limit = static_cast<int32_t>(std::min(size / kBytesPerWalked, kMostWalked));
}

__attribute__((noinline)) int enter_level_slow() noexcept {
  if (levels.limit != 0) return raise_recursion();
  measure_stack();
  return enter_level();
}

}  // namespace anyffi::runtime

using namespace anyffi::runtime;

int anyffi_depth_enter(void) { return enter_level(); }

void anyffi_depth_leave(void) { leave_level(); }

size_t anyffi_stack_get_remaining(void) {
  if (levels.limit == 0) measure_stack();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - levels.stack_end;
}
