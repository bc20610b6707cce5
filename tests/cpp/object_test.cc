// Objects: reference counts, weak references, iterative destruction, dynamic types and the type table.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::List;
using anyffi::make_object;
using anyffi::ObjectRef;
using anyffi::Ref;

struct Thing {
  static constexpr anyffi::FixedText kTypeKey{"test.Thing"};
  static inline std::atomic<int> alive{0};
  int64_t number;
  explicit Thing(int64_t n) : number(n) { ++alive; }
  ~Thing() { --alive; }
};

struct SpecialThing : Thing {
  static constexpr anyffi::FixedText kTypeKey{"test.SpecialThing"};
  using Parent = Thing;
  using Thing::Thing;
};

struct Stranger {
  static constexpr anyffi::FixedText kTypeKey{"test.Stranger"};
};

struct ThrowsWhenMade {
  static constexpr anyffi::FixedText kTypeKey{"test.ThrowsWhenMade"};
  ThrowsWhenMade() { throw anyffi::Error("ValueError", "not today"); }
};

struct Link {
  static constexpr anyffi::FixedText kTypeKey{"test.Link"};
  AnyValue next;
};

}  // namespace

TEST(Object, IsDestroyedOnce) {
  {
    Ref<Thing> thing = make_object<Thing>(5);
    EXPECT_EQ(Thing::alive, 1);
    EXPECT_EQ(thing->number, 5);
    AnyValue any = thing;
    EXPECT_EQ(thing.use_count(), 2);
    EXPECT_EQ(any.cast<Ref<Thing>>()->number, 5);
    List<> list{any};
    EXPECT_EQ(thing.use_count(), 3);
  }
  EXPECT_EQ(Thing::alive, 0);
}

TEST(Object, DerivedTypesConvertToTheirParents) {
  AnyValue special = make_object<SpecialThing>(6);
  EXPECT_EQ(special.cast<Ref<Thing>>()->number, 6);
  EXPECT_RAISES("TypeError", AnyValue(make_object<Thing>(1)).cast<Ref<SpecialThing>>());
  EXPECT_RAISES("TypeError", AnyValue(make_object<Stranger>()).cast<Ref<Thing>>());
  EXPECT_RAISES("TypeError", AnyView(5).cast<Ref<Thing>>());
  EXPECT_EQ(special.cast<ObjectRef>().type_code(), anyffi::type_code_of<SpecialThing>());
}

TEST(Object, AThrowingConstructorLeaksNothing) {
  anyffi::type_code_of<ThrowsWhenMade>();
  CountingAllocator counting;
  EXPECT_RAISES("ValueError", make_object<ThrowsWhenMade>());
  EXPECT_EQ(counting.live(), 0);
}

TEST(Object, EqualityAndHashAreIdentityByDefault) {
  AnyValue one = make_object<Thing>(1), other = make_object<Thing>(1);
  EXPECT_TRUE(one == one);
  EXPECT_FALSE(one == other);
  EXPECT_EQ(one.hash(), one.hash());
  Dict<> dict;
  dict.set(one, 1);
  EXPECT_TRUE(dict.contains(one));
  EXPECT_FALSE(dict.contains(other));
}

TEST(Object, WeakReferences) {
  CountingAllocator counting;
  {
    Ref<Thing> thing = make_object<Thing>(7);
    AnyffiObject* object = thing.get();
    anyffi_object_retain_weak(object);
    ASSERT_EQ(anyffi_object_lock_weak(object), 1);
    EXPECT_EQ(thing.use_count(), 2);
    anyffi_object_release(object);
    {
      ObjectRef gone = std::move(thing);
    }
    EXPECT_EQ(Thing::alive, 0);
    EXPECT_EQ(counting.live(), 1);
    EXPECT_EQ(anyffi_object_lock_weak(object), 0);
    anyffi_object_release_weak(object);
    EXPECT_EQ(counting.live(), 0);
  }
  for (auto make :
       {+[] { return AnyValue(List<>{AnyValue("a string that is on the heap")}); },
        +[] { return AnyValue(Array<>{AnyValue(List<>())}); }, +[] { return AnyValue(anyffi::Function::from([] {})); },
        +[] { return AnyValue("a string that is on the heap"); },
        +[] { return AnyValue(anyffi::Slice(1, List<>(), nullptr)); },
        +[] { return AnyValue(anyffi::Error("ValueError", "x").value()); },
        +[] {
          Dict<> dict;
          dict.set("k", List<>());
          return AnyValue(dict);
        }}) {
    AnyValue value = make();
    AnyffiObject* object = value.raw().as_object;
    anyffi_object_retain_weak(object);
    value = nullptr;
    EXPECT_EQ(anyffi_object_lock_weak(object), 0);
    anyffi_object_release_weak(object);
    EXPECT_EQ(counting.live(), 0);
  }
}

TEST(Object, WeakReferencesFromManyThreads) {
  for (int round = 0; round < 200; ++round) {
    AnyffiObject* object = make_object<Thing>(1).release();
    anyffi_object_retain_weak(object);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      anyffi_object_retain_weak(object);
      threads.emplace_back([object] {
        for (int j = 0; j < 50; ++j) {
          if (anyffi_object_lock_weak(object)) anyffi_object_release(object);
        }
        anyffi_object_release_weak(object);
      });
    }
    anyffi_object_release(object);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Thing::alive, 0);
    EXPECT_EQ(anyffi_object_lock_weak(object), 0);
    anyffi_object_release_weak(object);
  }
}

TEST(Object, TheWrapperWordIsExchangedAtomically) {
  ObjectRef list = List<>();
  int one, two;
  EXPECT_EQ(anyffi_object_compare_exchange_wrapper(list.get(), nullptr, &one), 1);
  EXPECT_EQ(anyffi_object_compare_exchange_wrapper(list.get(), nullptr, &two), 0);
  EXPECT_EQ(list.get()->wrapper, &one);
  EXPECT_EQ(anyffi_object_compare_exchange_wrapper(list.get(), &one, nullptr), 1);
}

TEST(Object, ChainsOfAnyLengthAreDestroyed) {
  anyffi::type_code_of<Link>();  // types live for ever
  CountingAllocator counting;
  for (int kind = 0; kind < 5; ++kind) {
    AnyValue chain;
    for (int64_t i = 0; i < 200'000; ++i) {
      switch (kind) {
        case 0:
          chain = List<>{chain};
          break;
        case 1:
          chain = Array<>{chain, chain};
          break;
        case 2: {
          Dict<> dict;
          dict.set("next", chain);
          chain = std::move(dict);
          break;
        }
        case 3:
          chain = anyffi::Slice(nullptr, chain, i);
          break;
        default:
          chain = make_object<Link>(Link{std::move(chain)});
      }
    }
    chain = nullptr;
    EXPECT_EQ(counting.live(), 0) << kind;
  }
}

TEST(Object, ChainsOfFunctionsAreDestroyed) {
  AnyValue chain;
  for (int i = 0; i < 200'000; ++i) chain = anyffi::Function::from([chain] { return chain; });
}

TEST(Object, TooDeepChainsRaise) {
  AnyValue one, other;
  for (int i = 0; i < 200'000; ++i) {
    one = List<>{one};
    other = List<>{other};
  }
  EXPECT_RAISES("RecursionError", one == other);
  AnyValue text;
  EXPECT_RAISES("RecursionError", anyffi::detail::check(anyffi_value_repr(&one.raw(), text.out())));
  AnyValue array;
  for (int i = 0; i < 200'000; ++i) array = Array<>{array};
  EXPECT_RAISES("RecursionError", array.hash());
}

TEST(Depth, IsBoundedAndPaired) {
  int entered = 0;
  while (anyffi_depth_enter() == 0) ++entered;
  EXPECT_GT(entered, 100);
  AnyValue error;
  anyffi_error_take_raised(error.out());
  EXPECT_TRUE(anyffi::Error(error).kind() == AnyValue("RecursionError"));
  EXPECT_NE(anyffi_depth_enter(), 0);
  anyffi_error_take_raised(error.out());
  for (int i = 0; i < entered; ++i) anyffi_depth_leave();
  ASSERT_EQ(anyffi_depth_enter(), 0);
  anyffi_depth_leave();
}

__attribute__((noinline)) size_t left_below(size_t size) {
  auto* filled = static_cast<volatile char*>(__builtin_alloca(size));
  filled[0] = 0;
  return anyffi_stack_get_remaining() + static_cast<size_t>(filled[0]);
}

TEST(Depth, ReportsTheRemainingStack) {
  size_t left = anyffi_stack_get_remaining();
  EXPECT_GE(left - left_below(100'000), 100'000U);
  EXPECT_LT(left - left_below(100'000), 110'000U);
}

// ---- the type table ----

TEST(Types, EveryRowIsListedAndFound) {
  std::vector<int32_t> codes(1000);
  int32_t count = anyffi_type_list(codes.data(), 1000);
  ASSERT_LE(count, 1000);
  codes.resize(static_cast<size_t>(count));
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
  for (int32_t code : codes) {
    const AnyffiTypeInfo* info = anyffi_type_get_info(code);
    ASSERT_NE(info, nullptr) << code;
    EXPECT_EQ(info->type_code, code);
    EXPECT_EQ(anyffi_type_find(info->type_key), info);
    EXPECT_TRUE(anyffi_type_is_a(code, code));
    EXPECT_TRUE(anyffi_type_is_a(code, info->parent));
    EXPECT_EQ(anyffi_type_get_family(code), info->family);
    for (int32_t i = 0; i < info->depth; ++i) EXPECT_TRUE(anyffi_type_is_a(code, info->ancestors[i]));
    EXPECT_EQ(anyffi_type_is_a(code, ANYFFI_OBJECT), code > 0);
  }
#define EXPECT_ROW(NAME, code, KIND, PARENT, storage, key, python)         \
  EXPECT_STREQ(anyffi_type_get_info(ANYFFI_##NAME)->type_key, key);        \
  EXPECT_STREQ(anyffi_type_get_info(ANYFFI_##NAME)->python_name, python);  \
  EXPECT_EQ(anyffi_type_get_info(ANYFFI_##NAME)->parent, ANYFFI_##PARENT); \
  EXPECT_EQ(anyffi_type_get_family(ANYFFI_##NAME), ANYFFI_##KIND);
  ANYFFI_TYPES(EXPECT_ROW)
#undef EXPECT_ROW
  EXPECT_EQ(anyffi_type_get_info(99), nullptr);
  EXPECT_EQ(anyffi_type_get_info(-99), nullptr);
  EXPECT_EQ(anyffi_type_get_info(1'000'000), nullptr);
  EXPECT_EQ(anyffi_type_find("no such type"), nullptr);
  EXPECT_FALSE(anyffi_type_is_a(ANYFFI_LIST, ANYFFI_ARRAY));
  EXPECT_FALSE(anyffi_type_is_a(ANYFFI_INT, ANYFFI_OBJECT));
}

TEST(Types, DynamicTypesHaveOneCodeEach) {
  int32_t thing = anyffi::type_code_of<Thing>(), special = anyffi::type_code_of<SpecialThing>();
  EXPECT_GE(thing, ANYFFI_FIRST_DYNAMIC_TYPE);
  EXPECT_TRUE(anyffi_type_is_a(special, thing));
  EXPECT_FALSE(anyffi_type_is_a(thing, special));
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.type_key = "test.SpecialThing";
  info.parent = thing;
  int32_t again = 0;
  EXPECT_EQ(anyffi_type_register(&info, &again), 0);
  EXPECT_EQ(again, special);
  info.parent = ANYFFI_OBJECT;
  EXPECT_RAISES("ValueError", anyffi::detail::check(anyffi_type_register(&info, &again)));
  info.type_key = "test.Orphan";
  info.parent = 12345;
  EXPECT_NE(anyffi_type_register(&info, &again), 0);
  AnyValue error;
  anyffi_error_take_raised(error.out());
}

TEST(Types, ManyThreadsRegisterManyTypes) {
  static std::string keys[400];
  for (int i = 0; i < 400; ++i) keys[i] = "test.many." + std::to_string(i % 100);
  std::vector<std::thread> threads;
  static int32_t codes[400];
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int i = thread * 100; i < thread * 100 + 100; ++i) {
        AnyffiTypeInfo info{};
        info.struct_size = sizeof(info);
        info.type_key = keys[i].c_str();
        info.parent = ANYFFI_OBJECT;
        anyffi::detail::check(anyffi_type_register(&info, &codes[i]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 400; ++i) EXPECT_EQ(codes[i], codes[i % 100]);
}

TEST(Object, FailedAllocationsLeakNothing) {
  anyffi::type_code_of<Thing>();
  expect_no_leak([] { make_object<Thing>(1); });
  EXPECT_EQ(Thing::alive, 0);
}
