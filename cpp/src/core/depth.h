/// \file
/// The recursion limit.
#ifndef ANYFFI_SRC_CORE_DEPTH_H_
#define ANYFFI_SRC_CORE_DEPTH_H_

#include <anyffi/c_api.h>

namespace anyffi::runtime {

/// Counts one level of recursion during its lifetime.
class DepthGuard {
 public:
  DepthGuard() noexcept : entered_(anyffi_depth_enter() == 0) {}
  ~DepthGuard() {
    if (entered_) anyffi_depth_leave();
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  /// False: RecursionError was raised.
  explicit operator bool() const noexcept { return entered_; }

 private:
  bool entered_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_CORE_DEPTH_H_
