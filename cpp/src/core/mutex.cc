/// \file
/// Acquires the runtime's locks while the process forks.
#include "core/mutex.h"

#include <pthread.h>

#include <chrono>
#include <new>
#include <thread>

namespace anyffi::runtime {
namespace {

std::atomic<ForkedLock*> first{nullptr};

/// Locks are held for microseconds. A thread that holds one longer is blocked, perhaps by the thread that forks.
constexpr std::chrono::milliseconds kLongest{100};

[[maybe_unused]] const int is_registered = pthread_atfork(
    [] { ForkedLock::before_fork(); }, [] { ForkedLock::after_fork(false); }, [] { ForkedLock::after_fork(true); });

}  // namespace

ForkedLock::ForkedLock() noexcept : next_(first.load(std::memory_order_relaxed)) {
  while (!first.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void ForkedLock::before_fork() noexcept {
  for (ForkedLock* lock = first.load(std::memory_order_acquire); lock != nullptr; lock = lock->next_) lock->prepare();
}

void ForkedLock::after_fork(bool is_child) noexcept {
  for (ForkedLock* lock = first.load(std::memory_order_acquire); lock != nullptr; lock = lock->next_) {
    lock->finish(is_child);
  }
}

void Mutex::prepare() noexcept {
  if (is_held()) return;
  auto end = std::chrono::steady_clock::now() + kLongest;
  while (!(is_taken_ = try_lock()) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

void Mutex::finish(bool is_child) noexcept {
  if (is_taken_) {
    is_taken_ = false;
    unlock();
  } else if (is_child && !is_held()) {
    // The thread that held it does not exist in the child.
    new (&mutex_) std::mutex;
    owner_.store(nullptr, std::memory_order_relaxed);
  }
}

}  // namespace anyffi::runtime
