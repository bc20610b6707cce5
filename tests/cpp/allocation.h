/// \file
/// An allocator that counts and fails on demand, installed for the lifetime of an object.
#ifndef ANYFFI_TESTS_ALLOCATION_H_
#define ANYFFI_TESTS_ALLOCATION_H_

#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

class CountingAllocator {
 public:
  CountingAllocator() {
    anyffi_memory_trim();
    AnyffiAllocator mine{&alloc, &free};
    anyffi_allocator_exchange(&mine);
    former_ = mine;
    live_ = total_ = 0;
    until_failure_ = -1;
  }
  ~CountingAllocator() {
    anyffi_memory_trim();
    anyffi_allocator_exchange(&former_);
  }
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;

  /// The number of blocks in use, without those on this thread's free lists.
  int64_t live() const {
    anyffi_memory_trim();
    return live_;
  }
  int64_t total() const { return total_; }
  /// Makes every allocation after the next `count` fail, or none if it is negative.
  void fail_after(int64_t count) {
    anyffi_memory_trim();
    until_failure_ = count;
  }

 private:
  static void* alloc(size_t size) {
    if (until_failure_ == 0) return nullptr;
    if (until_failure_ > 0) --until_failure_;
    void* memory = former_.alloc(size);
    if (memory) ++live_, ++total_;
    return memory;
  }
  static void free(void* memory) {
    if (memory) --live_;
    former_.free(memory);
  }
  static inline AnyffiAllocator former_{};
  static inline int64_t live_ = 0;
  static inline int64_t total_ = 0;
  static inline int64_t until_failure_ = -1;
};

/// Runs `work` repeatedly, each time with one more successful allocation, until it succeeds. Each failure must be
/// MemoryError or std::bad_alloc and leak nothing.
template <class Work>
void expect_no_leak(Work work) {
  work();
  CountingAllocator counting;
  for (int64_t n = 0;; ++n) {
    ASSERT_LT(n, 1000);
    int64_t before = counting.live();
    bool failed = false;
    counting.fail_after(n);
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const anyffi::Error& error) {
      counting.fail_after(-1);
      EXPECT_TRUE(error.kind() == anyffi::AnyValue("MemoryError")) << error.what();
      failed = true;
    }
    counting.fail_after(-1);
    EXPECT_EQ(counting.live(), before) << "with " << n << " allocations";
    if (!failed) return;
  }
}

/// The kind of the anyffi::Error that `work` throws, or "" if it throws none.
template <class Work>
anyffi::String raised_kind(Work work) {
  try {
    work();
  } catch (const anyffi::Error& error) {
    return error.kind().cast<anyffi::String>();
  }
  return "";
}

/// Runs `work`, which must throw an error of this kind; lets MemoryError through, for `expect_no_leak`.
template <class Work>
void expect_error(const char* kind, Work work) {
  try {
    work();
  } catch (const anyffi::Error& error) {
    if (error.kind() == anyffi::AnyValue("MemoryError")) throw;
    EXPECT_TRUE(error.kind() == anyffi::AnyValue(kind)) << error.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

#define EXPECT_RAISES(kind, ...) \
  EXPECT_TRUE(raised_kind([&] { (void)(__VA_ARGS__); }) == anyffi::String(kind)) << #__VA_ARGS__

#endif  // ANYFFI_TESTS_ALLOCATION_H_
