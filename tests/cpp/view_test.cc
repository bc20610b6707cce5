// Typed views of containers: the arguments that they accept, and the checks of each read.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::Function;
using anyffi::List;
using anyffi::Map;
using anyffi::String;

std::string message_of(const AnyView& function, const AnyView& argument) {
  try {
    function(AnyValue(argument));
  } catch (const anyffi::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(View, ImmutableParametersTakeBothOfAPair) {
  Array<> array{AnyValue(1)};
  List<> list{AnyValue(1)};
  EXPECT_EQ(AnyView(array).cast<Array<int64_t>>().get(), array.get());
  Array<int64_t> snapshot = AnyView(list).cast<Array<int64_t>>();
  EXPECT_NE(snapshot.get(), list.get());
  list.push_back(2);
  EXPECT_EQ(snapshot.size(), 1);
  EXPECT_EQ(AnyView(list).cast<List<int64_t>>().get(), list.get());
  EXPECT_RAISES("TypeError", AnyView(array).cast<List<int64_t>>());
  Dict<> dict;
  dict.set("k", 1);
  Map<String, int64_t> map = AnyView(dict).cast<Map<String, int64_t>>();
  dict.set("l", 2);
  EXPECT_EQ(map.size(), 1);
  EXPECT_EQ(map["k"], 1);
  EXPECT_RAISES("KeyError", map["l"]);
  EXPECT_RAISES("TypeError", AnyView(map).cast<Dict<>>());
  EXPECT_RAISES("TypeError", AnyView(map).cast<Array<>>());
}

TEST(View, ElementsAreCheckedOnEntry) {
  List<> list{AnyValue(1), AnyValue("two")};
  EXPECT_RAISES("TypeError", AnyView(list).cast<List<int64_t>>());
  EXPECT_RAISES("TypeError", AnyView(list).cast<Array<int64_t>>());
  list.set(1, 2);
  EXPECT_EQ(AnyView(list).cast<List<int64_t>>().size(), 2);
  List<> numbers{AnyValue(1), AnyValue(300)};
  EXPECT_RAISES("OverflowError", AnyView(numbers).cast<List<int8_t>>());
  EXPECT_EQ(AnyView(numbers).cast<List<double>>()[1], 300.0);
}

TEST(View, EachReadOfAMutableContainerIsChecked) {
  List<> list{AnyValue(1), AnyValue(2)};
  List<int64_t> view = AnyView(list).cast<List<int64_t>>();
  list.set(1, "text");
  EXPECT_EQ(view[0], 1);
  EXPECT_RAISES("TypeError", view[1]);
  list.erase(0, 2);
  EXPECT_RAISES("IndexError", view[0]);
  Dict<> dict;
  dict.set("k", 1);
  Dict<String, int64_t> typed = AnyView(dict).cast<Dict<String, int64_t>>();
  dict.set("k", "text");
  EXPECT_RAISES("TypeError", typed["k"]);
  dict.set(5, 5);
  auto walk = [&] {
    for (const auto& [key, value] : typed) (void)key, (void)value;
  };
  EXPECT_RAISES("TypeError", walk());
}

TEST(View, TheTypeMaskReplacesChecks) {
  // One deeply nested element of a wrong type is found among others that match.
  List<> list;
  for (int64_t i = 0; i < 1000; ++i) list.push_back(i);
  EXPECT_EQ(AnyView(list).cast<List<int64_t>>()[999], 999);
  list.set(500, 1.5);
  EXPECT_RAISES("TypeError", AnyView(list).cast<List<int64_t>>());
  list.set(500, 5);
  EXPECT_EQ(AnyView(list).cast<List<int64_t>>()[500], 5);
}

TEST(View, MessagesNameThePath) {
  AnyValue f = Function::from([](const Map<String, Array<int64_t>>&) {}, anyffi::arg("x"));
  Dict<> dict;
  dict.set("good", Array<>{AnyValue(1)});
  dict.set("bad", Array<>{AnyValue(1), AnyValue("two")});
  EXPECT_EQ(message_of(f, dict),
            "function(x: Map[str, Array[int]]) -> None: argument 0 (x), at [\"bad\"][1]: expected int, got str");
  EXPECT_EQ(message_of(f, 5),
            "function(x: Map[str, Array[int]]) -> None: argument 0 (x): expected Map[str, Array[int]], got int");
}

TEST(View, LongPathsKeepTheirOuterEnd) {
  AnyValue value = 5;
  for (int i = 0; i < 60; ++i) {
    Dict<> dict;
    dict.set("a rather long key, of some level", value);
    value = dict;
  }
  AnyValue f = Function::from([](const Map<String, Map<String, Map<String, Map<String, Map<String, int64_t>>>>>&) {});
  std::string message = message_of(f, value);
  EXPECT_NE(message.find("at [\"a rather long key"), std::string::npos) << message;
}

TEST(View, TypedContainersAreMadeFromCpp) {
  Array<int64_t> array{1, 2, 3};
  int64_t total = 0;
  for (int64_t x : array) total += x;
  EXPECT_EQ(total, 6);
  List<String> list{"a", "b"};
  list.push_back("c");
  list.insert(0, "z");
  list.set(1, "y");
  list.pop_back();
  EXPECT_EQ(list.size(), 3);
  EXPECT_TRUE(list[0] == String("z"));
  EXPECT_RAISES("IndexError", list.set(3, "x"));
  EXPECT_RAISES("IndexError", list.insert(9, "x"));
  EXPECT_RAISES("IndexError", list.erase(0, 9));
  list.clear();
  EXPECT_RAISES("IndexError", list.pop_back());
  Dict<String, int64_t> dict;
  dict.set("k", 1);
  dict.set("k", 2);
  EXPECT_EQ(dict.size(), 1);
  EXPECT_EQ(dict["k"], 2);
  EXPECT_TRUE(dict.contains("k"));
  EXPECT_TRUE(dict.erase("k"));
  EXPECT_FALSE(dict.erase("k"));
}

TEST(View, FreezingInPlaceOrByCopy) {
  List<int64_t> list{1, 2};
  const void* object = list.get();
  Array<int64_t> frozen = std::move(list).freeze();
  EXPECT_EQ(frozen.get(), object);
  List<int64_t> shared{1, 2};
  List<int64_t> other = shared;
  Array<int64_t> copied = std::move(shared).freeze();
  EXPECT_NE(copied.get(), other.get());
  other.push_back(3);
  EXPECT_EQ(copied.size(), 2);
  Dict<String, int64_t> dict;
  dict.set("k", 1);
  const void* mapping = dict.get();
  EXPECT_EQ(std::move(dict).freeze().get(), mapping);
}

TEST(View, ThawingInPlaceOrByCopy) {
  Array<int64_t> array{1, 2};
  const void* object = array.get();
  List<int64_t> thawed = std::move(array).thaw();
  EXPECT_EQ(thawed.get(), object);
  EXPECT_EQ(thawed.type_code(), ANYFFI_LIST);
  Array<int64_t> shared{1, 2};
  Array<int64_t> other = shared;
  List<int64_t> copied = std::move(shared).thaw();
  EXPECT_NE(copied.get(), other.get());
  copied.push_back(3);
  EXPECT_EQ(other.size(), 2);

  Dict<String, int64_t> dict;
  dict.set("k", 1);
  Map<String, int64_t> map = std::move(dict).freeze();
  const void* mapping = map.get();
  Dict<String, int64_t> changed = std::move(map).thaw();
  EXPECT_EQ(changed.get(), mapping);
  EXPECT_EQ(changed.type_code(), ANYFFI_DICT);
  changed.set("k", 2);
  EXPECT_EQ(changed["k"], 2);
}

TEST(View, StoredArgumentsAreCopied) {
  List<int64_t> list{1, 2};
  Array<int64_t> frozen = list.freeze();
  list.push_back(3);
  EXPECT_EQ(frozen.size(), 2);
  List<int64_t> thawed = frozen.thaw();
  thawed.clear();
  EXPECT_EQ(frozen[1], 2);

  Dict<String, int64_t> dict;
  dict.set("k", 1);
  Map<String, int64_t> map = dict.freeze();
  dict.set("k", 2);
  EXPECT_EQ(map["k"], 1);
  Dict<String, int64_t> changed = map.thaw();
  changed.clear();
  EXPECT_EQ(map.size(), 1);
  EXPECT_EQ(list.use_count() + frozen.use_count() + dict.use_count() + map.use_count(), 4);
}

TEST(View, AWeaklyReferencedContainerIsCopied) {
  List<int64_t> list{1};
  AnyffiObject* object = list.get();
  anyffi_object_retain_weak(object);
  Array<int64_t> frozen = std::move(list).freeze();
  EXPECT_NE(frozen.get(), object);
  anyffi_object_release_weak(object);
}

TEST(View, AWrappedContainerIsCopied) {
  List<int64_t> list{1};
  int wrapper;
  list.get()->wrapper = &wrapper;
  AnyffiObject* object = list.get();
  List<int64_t> kept = list;
  Array<int64_t> frozen = std::move(list).freeze();
  EXPECT_NE(frozen.get(), object);
  object->wrapper = nullptr;
}

TEST(View, FailedAllocationsLeakNothing) {
  expect_no_leak([] {
    List<> list{AnyValue(1), AnyValue(2)};
    AnyView(list).cast<Array<int64_t>>();
  });
  expect_no_leak([] {
    Dict<String, int64_t> dict;
    for (int64_t i = 0; i < 40; ++i) dict.set(String(("a key that is on the heap " + std::to_string(i)).c_str()), i);
    dict.erase("k");
    Dict<String, int64_t> other = dict;
    std::move(dict).freeze().thaw().clear();
  });
  expect_no_leak([] {
    AnyValue f = Function::from([](const Array<int64_t>&) {});
    expect_error("TypeError", [&] { f(List<>{AnyValue("a string that is on the heap")}); });
  });
}
