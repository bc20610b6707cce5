// Objects that are found by the address of their content: anyffi_instance_*, and the lock of their table.
#include <anyffi/anyffi.h>
#include <anyffi/stl/memory.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/biased_lock.h"

namespace {

using anyffi::make_object;
using anyffi::ObjectRef;
using anyffi::Ref;
using anyffi::Weak;
using anyffi::runtime::BiasedLock;

struct Found {
  static constexpr anyffi::FixedText kTypeKey{"test.Found"};
  static inline std::atomic<int> alive{0};
  int64_t number;
  explicit Found(int64_t n) : number(n) { ++alive; }
  ~Found() { --alive; }
};

Ref<Found> make_enrolled(int64_t number) {
  anyffi::detail::enroll_instances<Found>();
  return make_object<Found>(number);
}

/// The number of the enrolled object at an address, -1 if there is none.
int64_t find(const Found* content) {
  AnyffiValue found = anyffi_instance_find(content, anyffi::type_code_of<Found>(), 0);
  if (found.type_code == ANYFFI_NONE) return -1;
  int64_t number = anyffi::detail::content_of<Found>(found.as_object)->number;
  anyffi_release(found.as_object);
  return number;
}

}  // namespace

TEST(Instances, AreFoundWhileTheyLive) {
  Ref<Found> object = make_enrolled(7);
  Found* content = &*object;
  EXPECT_TRUE(object.get()->weak_count & ANYFFI_IS_ENROLLED);
  EXPECT_EQ(find(content), 7);
  EXPECT_EQ(object.use_count(), 1);
  anyffi_instance_withdraw(reinterpret_cast<AnyffiInstance*>(object.get()));
  EXPECT_EQ(object.get()->weak_count, 1u);
  EXPECT_EQ(find(content), -1);
  anyffi_instance_withdraw(reinterpret_cast<AnyffiInstance*>(object.get()));
  EXPECT_EQ(object.get()->weak_count, 1u);
}

TEST(Instances, AreBorrowedFromTheirWrapperAlone) {
  Ref<Found> object = make_enrolled(7);
  int32_t code = anyffi::type_code_of<Found>();
  AnyffiValue found = anyffi_instance_find(&*object, code, ANYFFI_BORROWED);
  EXPECT_EQ(found.aux, 0u);
  EXPECT_EQ(object.use_count(), 2);
  anyffi_release(found.as_object);
  int wrapper;
  object.get()->wrapper = &wrapper;
  found = anyffi_instance_find(&*object, code, ANYFFI_BORROWED);
  EXPECT_EQ(found.as_object, object.get());
  EXPECT_EQ(found.aux, uint32_t{ANYFFI_BORROWED});
  EXPECT_EQ(object.use_count(), 1);
  found = anyffi_instance_find(&*object, code, 0);
  EXPECT_EQ(found.aux, 0u);
  EXPECT_EQ(object.use_count(), 2);
  anyffi_release(found.as_object);
  object.get()->wrapper = nullptr;
}

TEST(Instances, AreWithdrawnByTheirLastRelease) {
  int before = Found::alive;
  Ref<Found> object = make_enrolled(7);
  Found* content = &*object;
  ObjectRef other = object;
  other = make_enrolled(8);
  EXPECT_EQ(find(content), 7);
  object = make_enrolled(9);
  // The memory may have been reused for the new object.
  EXPECT_NE(find(content), 7);
  EXPECT_EQ(Found::alive, before + 2);
}

TEST(Instances, WithWeakReferencesAreWithdrawnToo) {
  int before = Found::alive;
  Weak<Ref<Found>> weak;
  Found* content;
  {
    Ref<Found> object = make_enrolled(7);
    content = &*object;
    weak = object;
    EXPECT_EQ(find(content), 7);
    EXPECT_EQ(weak.lock().value()->number, 7);
  }
  EXPECT_EQ(Found::alive, before);
  EXPECT_EQ(find(content), -1);
  EXPECT_FALSE(weak.lock());
}

TEST(Instances, AreMadeFoundAndReleasedByManyThreads) {
  int before = Found::alive;
  std::atomic<int> wrong{0};
  std::atomic<bool> begins{false};
  auto use = [&](int64_t number) {
    while (!begins) std::this_thread::yield();
    for (int64_t i = 0; i < 5000; ++i) {
      Ref<Found> object = make_enrolled(number);
      wrong += find(&*object) != number;
      Found* content = &*object;
      ObjectRef held = object;
      object = make_enrolled(number);
      wrong += find(content) != number;
    }
  };
  std::vector<std::thread> threads;
  for (int64_t number = 1; number <= 4; ++number) threads.emplace_back(use, number);
  begins = true;
  // On the thread that owns the lock.
  use(5);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Found::alive, before);
}

TEST(Instances, AreReleasedWhileOthersFindThem) {
  int before = Found::alive;
  std::atomic<Found*> shown{nullptr};
  std::atomic<bool> ends{false};
  std::atomic<int> wrong{0};
  std::thread finder([&] {
    while (!ends) {
      // Its memory may have been freed; then no object is found, or another one.
      if (Found* content = shown) wrong += find(content) > 20000;
    }
  });
  for (int64_t i = 0; i < 20000; ++i) {
    Ref<Found> object = make_enrolled(i);
    shown = &*object;
  }
  ends = true;
  finder.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Found::alive, before);
}

TEST(BiasedLock, ExcludesItsOwnerAndOthers) {
  for (int round = 0; round < 200; ++round) {
    BiasedLock lock;
    // Not atomic, and incremented so often that the owner is probably in the section when another thread comes.
    volatile int64_t count = 0;
    std::atomic<bool> is_running{false};
    auto add = [&](int64_t times) {
      for (int64_t i = 0; i < times; ++i) {
        BiasedLock::Section section(lock);
        for (int k = 0; k < 50; ++k) count = count + 1;
      }
      return times;
    };
    // This thread owns the lock from now on.
    int64_t expected = add(100);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      expected += 500;
      threads.emplace_back([&] {
        is_running = true;
        add(500);
      });
    }
    while (!is_running) expected += add(1);
    expected += add(500);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 50 * expected);
  }
}
