/// \file
/// A lock for short sections.
#ifndef ANYFFI_CORE_SPIN_LOCK_H_
#define ANYFFI_CORE_SPIN_LOCK_H_

#include <atomic>
#include <chrono>
#include <thread>

namespace anyffi::runtime {

/// An inline lock that is released by a plain store: uncontended, it costs a quarter of a `std::mutex`, which calls the
/// system's library twice. For sections that are nearly always short, and neither wait nor take another lock. A thread
/// that finds it taken yields, then sleeps, since the holder may have a lower priority.
class SpinLock {
 public:
  void lock() noexcept {
    if (flag_.test_and_set(std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  __attribute__((cold, noinline)) void wait() noexcept {
    for (int tries = 0; flag_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries < 1000) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_CORE_SPIN_LOCK_H_
