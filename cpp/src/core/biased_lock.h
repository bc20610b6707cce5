/// \file
/// A lock that costs its first thread no atomic instruction.
#ifndef ANYFFI_CORE_BIASED_LOCK_H_
#define ANYFFI_CORE_BIASED_LOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/mutex.h"
#include "core/spin_lock.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// GCC defines a macro, Clang has a feature.
#if defined(__SANITIZE_THREAD__)
#define ANYFFI_THREAD_SANITIZER_ 1
#elif defined(__has_feature)
#define ANYFFI_THREAD_SANITIZER_ __has_feature(thread_sanitizer)
#else
#define ANYFFI_THREAD_SANITIZER_ 0
#endif

namespace anyffi::runtime {

/// For short sections like those of `SpinLock` that nearly always run on one thread. The first thread owns the lock and
/// enters with plain stores. When a second thread arrives, it ends the ownership for good and makes all other threads
/// execute a memory barrier (`membarrier`, Linux 4.14): the owner then either sees that it lost the lock, or is seen
/// inside the section. Without that system call, and under ThreadSanitizer, which does not support it, the lock has no
/// owner.
class BiasedLock final : public ForkedLock {
 public:
  /// Holds the lock during its lifetime.
  class Section {
   public:
    explicit Section(BiasedLock& lock) noexcept : lock_(lock), is_owner_(lock.try_enter()) {
      if (__builtin_expect(!is_owner_, 0)) lock.enter_shared();
    }
    ~Section() {
      if (__builtin_expect(is_owner_, 1)) {
        lock_.leave();
      } else {
        lock_.shared_.unlock();
      }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    BiasedLock& lock_;
    bool is_owner_;
  };

  /// Holds the lock during its lifetime if this thread owns it, else is false. Entering calls no function, so that a
  /// fast path that calls none either need not save registers.
  class OwnerSection {
   public:
    explicit OwnerSection(BiasedLock& lock) noexcept : lock_(lock), is_owner_(lock.try_enter()) {}
    ~OwnerSection() {
      if (__builtin_expect(is_owner_, 1)) lock_.leave();
    }
    OwnerSection(const OwnerSection&) = delete;
    OwnerSection& operator=(const OwnerSection&) = delete;
    explicit operator bool() const noexcept { return is_owner_; }

   private:
    BiasedLock& lock_;
    bool is_owner_;
  };

 private:
  static const void* this_thread() noexcept { return &thread_mark; }
  /// The value of `owner_` once no thread can own the lock any more.
  static const void* nobody() noexcept { return reinterpret_cast<const void*>(uintptr_t{1}); }

  bool try_enter() noexcept {
    if (owner_.load(std::memory_order_relaxed) != this_thread()) return false;
    is_inside_.store(true, std::memory_order_relaxed);
    // Orders the accesses in the compiler; `membarrier` orders them in the processor.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (__builtin_expect(owner_.load(std::memory_order_relaxed) == this_thread(), 1)) return true;
    leave();
    return false;
  }
  void leave() noexcept { is_inside_.store(false, std::memory_order_release); }

  __attribute__((noinline)) void enter_shared() noexcept {
    shared_.lock();
    const void* owner = owner_.load(std::memory_order_relaxed);
    if (owner == nobody()) return;
    if (owner == nullptr) {
      // The very first section still uses the shared lock; ownership begins with the next one.
      owner_.store(can_bias() ? this_thread() : nobody(), std::memory_order_relaxed);
      return;
    }
    owner_.store(nobody(), std::memory_order_relaxed);
    run_barriers();
    while (is_inside_.load(std::memory_order_acquire)) std::this_thread::yield();
  }

#if defined(__linux__) && defined(__NR_membarrier) && !ANYFFI_THREAD_SANITIZER_
  static bool call_system(int command) noexcept { return syscall(__NR_membarrier, command, 0, 0) == 0; }
  static bool can_bias() noexcept { return call_system(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
  static void run_barriers() noexcept {
    if (call_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // A child of `fork` may have to register again.
    if (can_bias() && call_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // A sandbox has forbidden the call since registration. The owner's stores become visible long before this sleep
    // ends.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
#else
  static bool can_bias() noexcept { return false; }
  static void run_barriers() noexcept {}
#endif

  void prepare() noexcept override {
    if (owner_.load(std::memory_order_relaxed) != this_thread()) {
      enter_shared();
    } else {
      shared_.lock();
    }
  }
  void finish(bool) noexcept override { shared_.unlock(); }

  std::atomic<const void*> owner_{nullptr};
  std::atomic<bool> is_inside_{false};  // the owner
  SpinLock shared_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_CORE_BIASED_LOCK_H_
