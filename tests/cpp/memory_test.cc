// The free lists of threads.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::Array;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

Array<> triple(int64_t first) { return Array<>{first, first + 1, first + 2}; }

TEST(Memory, FreedBlocksAreReused) {
  if (!kKeeps) GTEST_SKIP() << "nothing is kept from the address sanitizer";
  CountingAllocator counting;
  triple(1);
  int64_t total = counting.total();
  EXPECT_EQ(anyffi_memory_count_cached(), 1);
  for (int64_t i = 0; i < 100; ++i) {
    Array<> values = triple(i);
    EXPECT_EQ(anyffi_memory_count_cached(), 0);
    EXPECT_EQ(values[2], AnyValue(i + 2));
  }
  EXPECT_EQ(counting.total(), total);
  EXPECT_EQ(counting.live(), 0);
}

TEST(Memory, FreeListsAreBounded) {
  CountingAllocator counting;
  std::vector<AnyValue> values;
  for (int size : {50, 200, 400, 2000}) {
    std::string text(static_cast<size_t>(size), 'x');
    for (int i = 0; i < 10000; ++i) values.emplace_back(text.c_str());
    values.clear();
    // 128 KB of each size.
    int64_t kept = anyffi_memory_count_cached();
    EXPECT_LE(kept * size, size < 500 ? 1 << 17 : 0);
    EXPECT_EQ(kept > 0, kKeeps && size < 500);
    anyffi_memory_trim();
  }
  anyffi_memory_trim();
  EXPECT_EQ(anyffi_memory_count_cached(), 0);
  EXPECT_EQ(counting.live(), 0);
}

TEST(Memory, OneLargeBlockIsKept) {
  CountingAllocator counting;
  std::string text(1000000, 'x');
  {
    AnyValue one(text.c_str()), other(text.c_str());
  }
  EXPECT_EQ(anyffi_memory_count_cached(), kKeeps);
  int64_t total = counting.total();
  for (int i = 0; i < 10; ++i) {
    AnyValue again(text.c_str());
    EXPECT_EQ(anyffi_memory_count_cached(), 0);
  }
  EXPECT_EQ(counting.total() > total, !kKeeps);
  // The cached block is used neither for much smaller nor for larger ones.
  AnyValue smaller(std::string(400000, 'x').c_str()), larger(std::string(2000000, 'x').c_str());
  EXPECT_EQ(anyffi_memory_count_cached(), kKeeps);
  {
    AnyValue huge(std::string(5000000, 'x').c_str());
  }
  anyffi_memory_trim();
  EXPECT_EQ(anyffi_memory_count_cached(), 0);
  smaller = larger = AnyValue();
  anyffi_memory_trim();
  EXPECT_EQ(counting.live(), 0);
}

TEST(Memory, AThreadThatEndsFreesItsLists) {
  CountingAllocator counting;
  std::thread([] {
    triple(1);
    EXPECT_EQ(anyffi_memory_count_cached() > 0, kKeeps);
  }).join();
  EXPECT_EQ(anyffi_memory_count_cached(), 0);
  EXPECT_EQ(counting.live(), 0);
}

TEST(Memory, ObjectsMayBeFreedByOtherThreads) {
  CountingAllocator counting;
  std::vector<AnyValue> values;
  for (int64_t i = 0; i < 1000; ++i) values.emplace_back(triple(i));
  std::thread([&] { values.clear(); }).join();
  EXPECT_EQ(counting.live(), 0);
}

TEST(Memory, ObjectsMayBeFreedAfterTheLists) {
  CountingAllocator counting;
  std::thread([] {
    // Created before the thread's free lists, and so destroyed after them.
    static thread_local AnyValue last = triple(7);
    triple(1);
    EXPECT_EQ(last, AnyValue(triple(7)));
  }).join();
  EXPECT_EQ(anyffi_memory_count_cached(), 0);
  EXPECT_EQ(counting.live(), 0);
}

}  // namespace
