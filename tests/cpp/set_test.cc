// Sets and their typed views, compared with a model, with failing allocations and hostile elements.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::BigInt;
using anyffi::Dict;
using anyffi::FrozenSet;
using anyffi::Function;
using anyffi::List;
using anyffi::Set;
using anyffi::String;

std::string text_of(const AnyView& value) {
  AnyValue text;
  anyffi::detail::check(anyffi_value_repr(&value.raw(), text.out()));
  anyffi::Bytes utf8 = text.cast<String>().utf8();
  return std::string(reinterpret_cast<const char*>(utf8.data()), static_cast<size_t>(utf8.size()));
}

std::string message_of(const AnyView& function, const AnyView& argument) {
  try {
    function(AnyValue(argument));
  } catch (const anyffi::Error& error) {
    return error.what();
  }
  return "";
}

/// A List, which makes an Array unhashable.
AnyValue unhashable() { return Array<>{List<>{}}; }

}  // namespace

TEST(Set, BehavesAsAVectorOfDistinctElements) {
  std::mt19937 random(5);
  Set<> set;
  std::vector<std::string> model;
  for (int64_t step = 0; step < 30000; ++step) {
    std::string name = "element " + std::to_string(random() % 90);
    if (random() % 2) name = name.substr(8);
    AnyValue element(name.c_str());
    auto found = std::find(model.begin(), model.end(), name);
    bool is_there = found != model.end();
    ASSERT_EQ(set.contains(element), is_there);
    if (random() % 2) {
      ASSERT_EQ(set.add(element), !is_there);
      if (!is_there) model.push_back(name);
    } else {
      ASSERT_EQ(set.erase(element), is_there);
      if (is_there) model.erase(found);
    }
    if (step % 7000 == 6999) {
      set.clear();
      model.clear();
    }
    ASSERT_EQ(set.size(), static_cast<int64_t>(model.size()));
    if (step % 100 != 0) continue;
    auto expected = model.begin();
    for (const AnyValue& seen : set) EXPECT_TRUE(seen == AnyValue((expected++)->c_str()));
    EXPECT_EQ(expected, model.end());
  }
}

TEST(Set, ElementsAreEqualAsInPython) {
  Set<> set{AnyValue(1)};
  EXPECT_FALSE(set.add(true));
  EXPECT_FALSE(set.add(1.0));
  EXPECT_EQ(text_of(set), "{1}");
  EXPECT_TRUE(set.add(1.5));
  EXPECT_TRUE(set.erase(true));
  EXPECT_FALSE(set.erase(true));
  EXPECT_RAISES("TypeError", set.add(List<>{}));
  EXPECT_RAISES("TypeError", set.add(Set<>{}));
  EXPECT_RAISES("TypeError", set.add(unhashable()));
  EXPECT_RAISES("TypeError", set.contains(Dict<>{}));
  EXPECT_TRUE(set.add(FrozenSet<>{}));
  EXPECT_EQ(set.size(), 2);
}

TEST(Set, AnEntryHasNoValue) {
  Set<> set;
  AnyffiValue key = anyffi_make_int(1), value = anyffi_make_int(2);
  int32_t existed;
  EXPECT_RAISES("ValueError", anyffi::detail::check(anyffi_mapping_set(set.get(), &key, &value, &existed)));
  EXPECT_TRUE(set.empty());
}

TEST(Set, HashIsPythonsForNumbers) {
  EXPECT_EQ(AnyView(FrozenSet<>{}).hash(), 133146708735736);
  EXPECT_EQ(AnyView(FrozenSet<>{AnyValue(1)}).hash(), -558064481276695278);
  EXPECT_EQ(AnyView(FrozenSet<int64_t>{1, 2, 3}).hash(), -272375401224217160);
  EXPECT_EQ(AnyView(FrozenSet<int64_t>{3, 1, 2}).hash(), -272375401224217160);
  uint64_t words[] = {7766279631452241920u, 5};  // 10**20
  EXPECT_EQ(AnyView(FrozenSet<>{AnyValue(-1), AnyValue(0.5), AnyValue(BigInt(words, 2, false))}).hash(),
            -867518377502093160);
  EXPECT_EQ(AnyView(FrozenSet<>{FrozenSet<>{AnyValue(1)}, FrozenSet<>{}}).hash(), -67101846648477850);
  EXPECT_EQ(AnyView(Array<>{FrozenSet<int64_t>{1, 2}}).hash(), -7012583072833282776);
  EXPECT_RAISES("TypeError", AnyView(Set<>{}).hash());
  // Removed elements are not counted.
  Set<> many;
  for (int64_t i = 0; i < 2000; ++i) many.add(i);
  for (int64_t i = 1999; i >= 1000; --i) many.erase(i);
  Set<> holes;
  for (int64_t i = -500; i < 1000; ++i) holes.add(i);
  for (int64_t i = -500; i < 0; ++i) holes.erase(i);
  EXPECT_EQ(AnyView(many.freeze()).hash(), 1340344670691924669);
  AnyValue frozen;
  AnyValue given(holes);
  holes = Set<>();
  anyffi::detail::check(anyffi_container_convert(given.out(), ANYFFI_FROZEN_SET, frozen.out()));
  EXPECT_EQ(frozen.hash(), 1340344670691924669);
}

TEST(Set, EqualityIgnoresOrderAndMutability) {
  Set<> a{AnyValue(1), AnyValue("two")}, b{AnyValue("two"), AnyValue(1.0)};
  EXPECT_TRUE(AnyView(a) == AnyView(b));
  EXPECT_TRUE(AnyView(a) == AnyView(b.freeze()));
  b.add(3);
  EXPECT_FALSE(AnyView(a) == AnyView(b));
  a.add(4);
  EXPECT_FALSE(AnyView(a) == AnyView(b));
}

TEST(Set, IsNeverEqualToAnotherContainer) {
  Set<> set;
  EXPECT_FALSE(AnyView(set) == AnyView(Dict<>{}));
  EXPECT_FALSE(AnyView(Dict<>{}) == AnyView(FrozenSet<>{}));
  EXPECT_FALSE(AnyView(set) == AnyView(List<>{}));
  EXPECT_FALSE(AnyView(set) == AnyView(nullptr));
  set.add(1);
  Dict<> dict;
  dict.set(1, nullptr);
  EXPECT_FALSE(AnyView(set) == AnyView(dict));
}

TEST(Set, ReprIsPythons) {
  EXPECT_EQ(text_of(Set<>{}), "set()");
  EXPECT_EQ(text_of(FrozenSet<>{}), "frozenset()");
  EXPECT_EQ(text_of(Set<>{AnyValue(1), AnyValue("x")}), "{1, 'x'}");
  EXPECT_EQ(text_of(FrozenSet<>{AnyValue(FrozenSet<>{AnyValue(1)})}), "frozenset({frozenset({1})})");
}

TEST(Set, UntypedOperations) {
  AnyValue set = Set<>{AnyValue(5), AnyValue("x")};
  EXPECT_EQ(set.size(), 2);
  List<> seen;
  for (const AnyValue& element : set) seen.push_back(element);
  EXPECT_EQ(text_of(seen), "[5, 'x']");
  EXPECT_RAISES("TypeError", set[0]);
  Dict<> dict;
  dict.set("a", 1), dict.set("b", 2), dict.set("c", 3);
  dict.erase("a");
  List<> keys;
  for (const AnyValue& key : AnyView(dict)) keys.push_back(key);
  EXPECT_EQ(text_of(keys), "['b', 'c']");
}

TEST(Set, FreezesInPlaceOrByCopy) {
  Set<int64_t> set{1, 2};
  const void* object = set.get();
  FrozenSet<int64_t> frozen = std::move(set).freeze();
  EXPECT_EQ(frozen.get(), object);
  EXPECT_EQ(frozen.type_code(), ANYFFI_FROZEN_SET);
  Set<int64_t> own = frozen.thaw();
  own.add(7);
  FrozenSet<int64_t> snapshot = own.freeze();
  own.clear();
  EXPECT_EQ(snapshot.size(), 3);
  object = snapshot.get();
  EXPECT_EQ(std::move(snapshot).thaw().get(), object);
  object = frozen.get();
  AnyValue shared(frozen), thawed;
  anyffi::detail::check(anyffi_container_convert(shared.out(), ANYFFI_SET, thawed.out()));
  EXPECT_NE(thawed.raw().as_object, object);
  EXPECT_EQ(thawed.type_code(), ANYFFI_SET);
  AnyValue again(thawed), other;
  anyffi::detail::check(anyffi_container_convert(again.out(), ANYFFI_SET, other.out()));
  EXPECT_NE(other.raw().as_object, thawed.raw().as_object);
  thawed.cast<Set<>>().add(3);
  EXPECT_EQ(other.size(), 2);
  EXPECT_EQ(frozen.size(), 2);
  AnyValue copy;
  EXPECT_RAISES("TypeError", anyffi::detail::check(anyffi_container_copy(&thawed.raw(), ANYFFI_DICT, copy.out())));
  EXPECT_RAISES("TypeError",
                anyffi::detail::check(anyffi_container_copy(&AnyView(Dict<>{}).raw(), ANYFFI_SET, copy.out())));
}

TEST(Set, ParametersTakeTheirMutability) {
  Set<> set{AnyValue(1), AnyValue(2)};
  FrozenSet<> frozen{AnyValue(1)};
  EXPECT_EQ(AnyView(set).cast<Set<int64_t>>().get(), set.get());
  EXPECT_EQ(AnyView(frozen).cast<FrozenSet<int64_t>>().get(), frozen.get());
  FrozenSet<int64_t> snapshot = AnyView(set).cast<FrozenSet<int64_t>>();
  set.add(3);
  EXPECT_EQ(snapshot.size(), 2);
  EXPECT_TRUE(snapshot.contains(2));
  EXPECT_RAISES("TypeError", AnyView(frozen).cast<Set<>>());
  EXPECT_RAISES("TypeError", AnyView(Dict<>{}).cast<Set<>>());
  EXPECT_RAISES("TypeError", AnyView(set).cast<Dict<>>());
  EXPECT_RAISES("TypeError", AnyView(set).cast<Array<>>());
  set.add("four");
  EXPECT_RAISES("TypeError", AnyView(set).cast<Set<int64_t>>());
  EXPECT_RAISES("TypeError", AnyView(set).cast<FrozenSet<int64_t>>());
  set.erase("four");
  EXPECT_EQ(AnyView(set).cast<Set<int64_t>>().size(), 3);
  set.add(300);
  EXPECT_RAISES("OverflowError", AnyView(set).cast<FrozenSet<int8_t>>());
}

TEST(Set, EachReadOfAMutableSetIsChecked) {
  Set<> set{AnyValue(1)};
  Set<int64_t> typed = AnyView(set).cast<Set<int64_t>>();
  set.add("two");
  auto walk = [&] {
    for (int64_t element : typed) (void)element;
  };
  EXPECT_RAISES("TypeError", walk());
}

TEST(Set, MessagesNameTheElement) {
  AnyValue f = Function::from([](const FrozenSet<Array<int64_t>>&) {}, anyffi::arg("x"));
  EXPECT_EQ(message_of(f, Set<>{Array<>{AnyValue(1)}, Array<>{AnyValue("two")}}),
            "function(x: FrozenSet[Array[int]]) -> None: argument 0 (x), at [('two',)][0]: expected int, got str");
  EXPECT_EQ(message_of(f, Dict<>{}),
            "function(x: FrozenSet[Array[int]]) -> None: argument 0 (x): expected FrozenSet[Array[int]], got dict");
}

TEST(Set, ChildrenAreTheElements) {
  AnyValue set = FrozenSet<>{AnyValue(1), AnyValue("x")};
  std::string seen;
  auto visit = [](const AnyffiValue* child, void* context) {
    *static_cast<std::string*>(context) += text_of(AnyView(*child)) + ";";
    return 0;
  };
  ASSERT_EQ(anyffi_type_get_info(ANYFFI_FROZEN_SET)->visit_children(&set.raw(), visit, &seen), 0);
  EXPECT_EQ(seen, "1;'x';");
}

TEST(Set, DeepNestingIsDestroyedIteratively) {
  AnyValue chain;
  for (int i = 0; i < 300000; ++i) {
    FrozenSet<> outer;
    AnyffiValue key = chain.release(), none{};
    int32_t existed;
    ASSERT_EQ(anyffi_mapping_set(outer.get(), &key, &none, &existed), 0);
    chain = outer;
  }
}

TEST(Set, Builtins) {
  auto call = [](const char* name, auto&&... args) { return Function::get_global(name)(args...); };
  AnyValue set = Set<>{};
  EXPECT_TRUE(call("anyffi.Set.add", set, 1).cast<bool>());
  EXPECT_FALSE(call("anyffi.Set.add", set, true).cast<bool>());
  EXPECT_RAISES("TypeError", call("anyffi.Set.add", FrozenSet<>{}, 1));
  EXPECT_RAISES("TypeError", call("anyffi.Set.add", Dict<>{}, 1));
  AnyValue frozen = call("anyffi.container.freeze", set);
  EXPECT_EQ(frozen.type_code(), ANYFFI_FROZEN_SET);
  EXPECT_EQ(call("anyffi.container.thaw", frozen).type_code(), ANYFFI_SET);
  EXPECT_EQ(call("anyffi.container.copy", frozen).type_code(), ANYFFI_FROZEN_SET);
  EXPECT_TRUE(call("anyffi.Set.discard", set, 1).cast<bool>());
  EXPECT_FALSE(call("anyffi.Set.discard", set, 1).cast<bool>());
  call("anyffi.Set.update", set, FrozenSet<>{AnyValue("x"), AnyValue(2)});
  call("anyffi.Set.update", set, set);
  EXPECT_EQ(text_of(set), "{'x', 2}");
  call("anyffi.Set.change", set, FrozenSet<>{AnyValue("x"), AnyValue(3)}, Array<>{AnyValue(2.0), AnyValue(4)});
  EXPECT_EQ(text_of(set), "{'x', 3}");
  call("anyffi.Set.change", set, FrozenSet<>{AnyValue(4)}, Array<>{AnyValue("x"), AnyValue("x"), AnyValue(4)});
  EXPECT_EQ(text_of(set), "{3, 4}");
  call("anyffi.Set.assign", set, FrozenSet<>{AnyValue("x"), AnyValue(2)});
  call("anyffi.Set.assign", set, set);
  EXPECT_EQ(text_of(set), "{'x', 2}");
  AnyValue last = call("anyffi.Set.peek_last", set);
  EXPECT_EQ(text_of(last), "(1, 2, None)");
  EXPECT_EQ(call("anyffi.container.erase_peeked", set, last), AnyValue(1));
  EXPECT_EQ(call("anyffi.container.erase_peeked", set, last), AnyValue(0));
  EXPECT_EQ(text_of(set), "{'x'}");
  EXPECT_EQ(call("anyffi.Set.pop", set), AnyValue("x"));
  EXPECT_RAISES("KeyError", call("anyffi.Set.pop", set));
  EXPECT_RAISES("TypeError", call("anyffi.Set.peek_last", FrozenSet<>{AnyValue(1)}));
  EXPECT_RAISES("TypeError", call("anyffi.container.erase_peeked", frozen, last));
  EXPECT_RAISES("TypeError", call("anyffi.container.erase_peeked", set, Array<>{1}));
  call("anyffi.Set.clear", set);
  EXPECT_EQ(call("anyffi.Set.peek_last", set), AnyValue());
  EXPECT_EQ(set.size(), 0);
  EXPECT_EQ(frozen.size(), 1);
}

TEST(Set, FailedAllocationsLeakNothing) {
  expect_no_leak([] {
    Set<> set;
    for (int64_t i = 0; i < 40; ++i) set.add(("an element that is on the heap " + std::to_string(i)).c_str());
    FrozenSet<> snapshot = AnyView(set).cast<FrozenSet<>>();
    FrozenSet<String> frozen{"one element that is on the heap", "two"};
    set.add(frozen);
    text_of(set);
    EXPECT_TRUE(AnyView(set) != AnyView(snapshot));
    (void)AnyView(snapshot).hash();
  });
}
