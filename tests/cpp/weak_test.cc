// Weak<T>: a reference that does not keep its object alive.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::Array;
using anyffi::Function;
using anyffi::List;
using anyffi::make_object;
using anyffi::ObjectRef;
using anyffi::Optional;
using anyffi::Ref;
using anyffi::Weak;

struct Node {
  static constexpr anyffi::FixedText kTypeKey{"test.Node"};
  static inline std::atomic<int> alive{0};
  int64_t number;
  Weak<Ref<Node>> parent;
  List<Ref<Node>> children;
  explicit Node(int64_t n) : number(n) { ++alive; }
  ~Node() { --alive; }
};

}  // namespace

TEST(Weak, LocksWhileTheObjectLives) {
  anyffi::type_code_of<Node>();  // the type's memory stays allocated
  CountingAllocator counting;
  Weak<Ref<Node>> weak;
  EXPECT_FALSE(weak.lock());
  {
    Ref<Node> node = make_object<Node>(7);
    weak = node;
    Optional<Ref<Node>> locked = weak.lock();
    ASSERT_TRUE(locked);
    EXPECT_TRUE(locked.value().same_as(node));
    EXPECT_EQ(locked.value()->number, 7);
    // `node` and `locked`; the weak reference does not count.
    EXPECT_EQ(node.use_count(), 2);
  }
  EXPECT_EQ(Node::alive, 0);
  EXPECT_FALSE(weak.lock());
  EXPECT_EQ(counting.live(), 1);
  weak = Weak<Ref<Node>>();
  EXPECT_EQ(counting.live(), 0);
}

TEST(Weak, CopiesAndMoves) {
  anyffi::type_code_of<Node>();
  CountingAllocator counting;
  {
    Ref<Node> node = make_object<Node>(1);
    Weak<Ref<Node>> first = node;
    Weak<Ref<Node>> second = first;
    Weak<Ref<Node>> third = std::move(first);
    EXPECT_FALSE(first.lock());  // NOLINT: a moved-from reference is empty
    EXPECT_TRUE(second.lock());
    EXPECT_TRUE(third.lock());
    second = third;
    third = std::move(second);
    EXPECT_TRUE(third.lock());
    Ref<Node> gone = std::move(node);
    EXPECT_FALSE(Weak<Ref<Node>>(node).lock());  // NOLINT
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Weak, BreaksACycle) {
  anyffi::type_code_of<Node>();
  CountingAllocator counting;
  {
    Ref<Node> root = make_object<Node>(1);
    Ref<Node> child = make_object<Node>(2);
    child->parent = root;
    root->children.push_back(child);
    EXPECT_EQ(child->parent.lock().value()->number, 1);
  }
  EXPECT_EQ(Node::alive, 0);
  EXPECT_EQ(counting.live(), 0);
}

TEST(Weak, OfAnyReference) {
  AnyValue list = List<int64_t>{1, 2};
  Weak<List<int64_t>> typed = list.cast<List<int64_t>>();
  Weak<ObjectRef> any = list.cast<ObjectRef>();
  EXPECT_EQ(typed.lock().value()[1], 2);
  EXPECT_TRUE(any.lock().any() == list);
  Function function = Function::from([] { return 5; });
  EXPECT_TRUE(Weak<Function>(function).lock().value()() == AnyValue(5));
  list = nullptr;
  EXPECT_FALSE(typed.lock());
  EXPECT_FALSE(any.lock());
  // Locking a box unboxes it, as everywhere.
  ObjectRef box = AnyValue(5).cast<ObjectRef>();
  EXPECT_TRUE(Weak<ObjectRef>(box).lock().any() == AnyValue(5));
}

TEST(Weak, AnOnceWeaklyReferencedContainerIsCopied) {
  List<int64_t> list{1};
  const void* object = list.get();
  {
    Weak<List<int64_t>> gone = list;
  }
  // Another thread may have locked the weak reference just before it was released.
  EXPECT_NE(std::move(list).freeze().get(), object);
}

TEST(Weak, LockedByManyThreadsDuringTheLastRelease) {
  for (int round = 0; round < 200; ++round) {
    Ref<Node> node = make_object<Node>(round);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([weak = Weak<Ref<Node>>(node), round] {
        for (int j = 0; j < 50; ++j) {
          auto locked = weak.lock();
          if (locked && locked.value()->number != round) std::abort();
        }
      });
    }
    {
      Ref<Node> last = std::move(node);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Node::alive, 0);
  }
}
