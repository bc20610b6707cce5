/// \file
/// Locks that a child of `fork` finds free, whichever threads of its parent held them.
#ifndef ANYFFI_CORE_MUTEX_H_
#define ANYFFI_CORE_MUTEX_H_

#include <atomic>
#include <mutex>

#include "core/compiler.h"

namespace anyffi::runtime {

/// Its address identifies the thread, also in the child of a fork, where the address stays the same.
inline thread_local ANYFFI_STATIC_TLS char thread_mark = 0;

/// A lock that the forking thread acquires before `fork`, so that no thread is in the middle of a change, and that is
/// free in the child. Never destroyed.
class ForkedLock {
 public:
  ForkedLock(const ForkedLock&) = delete;
  ForkedLock& operator=(const ForkedLock&) = delete;

  static void before_fork() noexcept;
  static void after_fork(bool is_child) noexcept;

 protected:
  ForkedLock() noexcept;
  ~ForkedLock() = default;

 private:
  virtual void prepare() noexcept = 0;
  virtual void finish(bool is_child) noexcept = 0;

  ForkedLock* next_;
};

/// A `std::mutex`. A thread that forks while it holds one itself keeps it.
class Mutex final : public ForkedLock {
 public:
  void lock() {
    mutex_.lock();
    owner_.store(&thread_mark, std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    owner_.store(&thread_mark, std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  /// Whether the calling thread holds it.
  bool is_held() const noexcept { return owner_.load(std::memory_order_relaxed) == &thread_mark; }

 private:
  void prepare() noexcept override;
  void finish(bool is_child) noexcept override;

  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  bool is_taken_ = false;
};

/// The same, for a lock that the calling thread may hold already.
class RecursiveMutex {
 public:
  void lock() {
    if (!mutex_.is_held()) mutex_.lock();
    ++depth_;
  }
  void unlock() {
    if (--depth_ == 0) mutex_.unlock();
  }

 private:
  Mutex mutex_;
  int depth_ = 0;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_CORE_MUTEX_H_
