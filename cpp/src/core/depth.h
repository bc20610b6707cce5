/// \file
/// The recursion limit.
#ifndef ANYFFI_SRC_CORE_DEPTH_H_
#define ANYFFI_SRC_CORE_DEPTH_H_

#include <anyffi/c_api.h>

#include <cstdint>

namespace anyffi::runtime {

/// The levels of recursion of a thread.
struct Levels {
  int32_t depth;
  int32_t limit; /* 0: not measured yet */
  /// How deep the garbage collector's walk goes on this thread.
  int32_t walk_limit;
  /// The lowest stack address at which a level may begin, and the end of the stack.
  uintptr_t stack_floor;
  uintptr_t stack_end;
};

#if defined(__linux__)
extern __thread Levels levels __attribute__((tls_model("initial-exec")));
#else
extern thread_local Levels levels;
#endif

int enter_level_slow() noexcept;
void measure_stack() noexcept;

/// `anyffi_depth_enter` and `anyffi_depth_leave`, inline.
inline int enter_level() noexcept {
  // Compares addresses because frames between two levels may have any size. On another stack, such as a coroutine's,
  // the address says nothing: there only the count limits recursion.
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (__builtin_expect(levels.depth >= levels.limit, 0) ||
      __builtin_expect(here - levels.stack_end < levels.stack_floor - levels.stack_end, 0)) {
    return enter_level_slow();
  }
  ++levels.depth;
  return 0;
}
inline void leave_level() noexcept { --levels.depth; }

/// The depth limit of a walk. It depends on the size of the stack alone, so that it is the same at every stack
/// position.
inline int32_t walk_limit() noexcept {
  if (__builtin_expect(levels.limit == 0, 0)) measure_stack();
  return levels.walk_limit;
}

/// Counts one level of recursion during its lifetime.
class DepthGuard {
 public:
  DepthGuard() noexcept : entered_(enter_level() == 0) {}
  ~DepthGuard() {
    if (entered_) leave_level();
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  /// False if RecursionError was raised.
  explicit operator bool() const noexcept { return entered_; }

 private:
  bool entered_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_DEPTH_H_
