// AnyValue and AnyView: ownership, conversion, untyped operations, boxes.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Bool;
using anyffi::Dict;
using anyffi::Ellipsis;
using anyffi::Float;
using anyffi::Function;
using anyffi::Int;
using anyffi::List;
using anyffi::Map;
using anyffi::ObjectRef;
using anyffi::Optional;
using anyffi::Slice;
using anyffi::String;

/// A value that contains a box, which only C code can create.
AnyValue boxed(const AnyView& plain) {
  AnyValue box;
  anyffi::detail::check(anyffi_box_create(&plain.raw(), box.out()));
  return box;
}

}  // namespace

TEST(Value, DefaultIsNone) {
  AnyValue value;
  EXPECT_TRUE(value.is_none());
  const AnyffiValue zero{};
  EXPECT_EQ(std::memcmp(&value.raw(), &zero, sizeof(zero)), 0);
  EXPECT_TRUE(value == AnyView(nullptr));
}

TEST(Value, PlainValuesAllocateNothing) {
  CountingAllocator counting;
  AnyValue values[] = {true, 5, 2.5, "short", nullptr, Ellipsis()};
  for (const AnyValue& value : values) {
    AnyValue copy = value;
    EXPECT_LE(copy.type_code(), 0);
    EXPECT_TRUE(copy == value);
  }
  EXPECT_EQ(counting.total(), 0);
}

TEST(Value, CopiesAreCounted) {
  List<> list;
  EXPECT_EQ(list.use_count(), 1);
  {
    AnyValue one(list);
    EXPECT_EQ(list.use_count(), 2);
    AnyValue two = one;
    EXPECT_EQ(list.use_count(), 3);
    AnyValue moved = std::move(two);
    EXPECT_EQ(list.use_count(), 3);
    EXPECT_TRUE(two.is_none());
    [[maybe_unused]] AnyView view(moved);
    EXPECT_EQ(list.use_count(), 3);
    one = moved;
    AnyValue& same = one;
    one = same;
    EXPECT_EQ(list.use_count(), 3);
    moved = nullptr;
    EXPECT_EQ(list.use_count(), 2);
  }
  EXPECT_EQ(list.use_count(), 1);
}

TEST(Value, NumbersConvertWithoutLossOrRefuse) {
  EXPECT_EQ(AnyView(300).cast<int16_t>(), 300);
  EXPECT_RAISES("OverflowError", AnyView(300).cast<int8_t>());
  EXPECT_RAISES("OverflowError", AnyView(-1).cast<uint64_t>());
  EXPECT_EQ(AnyView(true).cast<int64_t>(), 1);
  EXPECT_RAISES("TypeError", AnyView(1.0).cast<int64_t>());
  EXPECT_RAISES("TypeError", AnyValue("1").cast<int64_t>());
  EXPECT_EQ(AnyView(3).cast<double>(), 3.0);
  EXPECT_RAISES("OverflowError", AnyView(1e300).cast<float>());
  EXPECT_EQ(AnyView(std::numeric_limits<double>::infinity()).cast<float>(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(AnyView(1).cast<bool>());
  EXPECT_RAISES("ValueError", AnyView(2).cast<bool>());
  EXPECT_RAISES("TypeError", AnyView(1.0).cast<bool>());
  EXPECT_RAISES("TypeError", AnyView(nullptr).cast<int64_t>());
  int64_t implicit = AnyValue(5);
  EXPECT_EQ(implicit, 5);
}

TEST(Value, UnsupportedUntypedOperationsRaise) {
  for (const AnyValue& value : {AnyValue(5), AnyValue(nullptr), AnyValue(1.5), AnyValue(Ellipsis())}) {
    EXPECT_RAISES("TypeError", value.size());
    EXPECT_RAISES("TypeError", value[0]);
    EXPECT_RAISES("TypeError", value(1));
    EXPECT_RAISES("TypeError", value.push_back(1));
  }
  EXPECT_RAISES("TypeError", AnyValue(List<>()).hash());
  EXPECT_RAISES("TypeError", AnyValue(Array<>{AnyValue(List<>())}).hash());
}

TEST(Value, UntypedOperationsOnContainers) {
  AnyValue list = List<>{AnyValue(1), AnyValue("two")};
  list.push_back(3.0);
  EXPECT_EQ(list.size(), 3);
  EXPECT_TRUE(list[1] == AnyValue("two"));
  EXPECT_TRUE(list[-1] == AnyView(3));
  EXPECT_RAISES("IndexError", list[3]);
  int64_t count = 0;
  for (const AnyValue& item : list) count += item.is_none() ? 0 : 1;
  EXPECT_EQ(count, 3);
  Dict<> dict;
  dict.set("k", list);
  AnyValue any = dict;
  EXPECT_TRUE(any["k"] == list);
  EXPECT_RAISES("KeyError", any["absent"]);
  EXPECT_RAISES("TypeError", any[List<>()]);
  AnyValue function = Function::from([](int64_t x) { return x * 2; });
  EXPECT_EQ(function(21).cast<int64_t>(), 42);
}

TEST(Value, AListThatShrinksEndsItsIteration) {
  List<> list{AnyValue(1), AnyValue(2), AnyValue(3), AnyValue(4)};
  int64_t seen = 0;
  for (const AnyValue& item : list) {
    ++seen;
    if (item == AnyView(2)) list.erase(2, 2);
  }
  EXPECT_EQ(seen, 2);
}

TEST(Value, SlicesHoldAnyParts) {
  Slice slice(AnyValue("a"), nullptr, 2);
  EXPECT_TRUE(slice.start() == AnyValue("a"));
  EXPECT_TRUE(slice.stop().is_none());
  EXPECT_TRUE(AnyView(slice) == AnyView(Slice(AnyValue("a"), nullptr, 2)));
  EXPECT_FALSE(AnyView(slice) == AnyView(Slice(AnyValue("a"), nullptr, 3)));
}

TEST(Value, OptionalIsTheValueOrNone) {
  EXPECT_FALSE(AnyView(nullptr).cast<Optional<int64_t>>().has_value());
  EXPECT_EQ(AnyView(5).cast<Optional<int64_t>>().value(), 5);
  EXPECT_EQ(AnyView(nullptr).cast<Optional<int64_t>>().value_or(7), 7);
  EXPECT_RAISES("TypeError", AnyValue("x").cast<Optional<int64_t>>());
  EXPECT_RAISES("TypeError", AnyView(nullptr).cast<Optional<int64_t>>().value());
}

// ---- boxes ----

TEST(Box, APlainValueIsBoxedForAnObject) {
  for (const AnyValue& plain : {AnyValue(5), AnyValue(2.5), AnyValue(true), AnyValue("short"), AnyValue(Ellipsis())}) {
    ObjectRef object = plain.cast<ObjectRef>();
    EXPECT_EQ(object.type_code(), ANYFFI_BOX);
    EXPECT_TRUE(AnyValue(object) == plain);
  }
  EXPECT_RAISES("TypeError", AnyView(nullptr).cast<ObjectRef>());
  ObjectRef heap = AnyValue("a string that is on the heap").cast<ObjectRef>();
  EXPECT_EQ(heap.type_code(), ANYFFI_STR_OBJECT);
}

TEST(Box, ABoxIsUnboxedForAPlainValue) {
  EXPECT_EQ(boxed(5).cast<int64_t>(), 5);
  EXPECT_EQ(boxed(5).cast<int8_t>(), 5);
  EXPECT_RAISES("OverflowError", boxed(500).cast<int8_t>());
  EXPECT_EQ(boxed(5).cast<double>(), 5.0);
  EXPECT_EQ(boxed(2.5).cast<double>(), 2.5);
  EXPECT_TRUE(boxed(true).cast<bool>());
  EXPECT_TRUE(boxed(AnyValue("short")).cast<String>() == String("short"));
  EXPECT_RAISES("TypeError", boxed(AnyValue("short")).cast<int64_t>());
  Function twice = Function::from([](int64_t x) { return 2 * x; });
  ObjectRef object = Int(21);
  EXPECT_EQ(twice(object).cast<int64_t>(), 42);
  EXPECT_EQ(twice(Int(4)).cast<int64_t>(), 8);
  EXPECT_EQ(static_cast<int64_t>(Int(3)), 3);
  EXPECT_EQ(Float(2.5).value(), 2.5);
  EXPECT_TRUE(Bool(true).value());
}

TEST(Box, ABoxIsUnboxedWhenStored) {
  ObjectRef object = Int(5);
  EXPECT_EQ(AnyValue(object).type_code(), ANYFFI_INT);
  EXPECT_EQ(AnyView(object).type_code(), ANYFFI_INT);
  List<ObjectRef> list;
  list.push_back(object);
  list.push_back(Int(6));
  EXPECT_EQ(AnyValue(list)[0].type_code(), ANYFFI_INT);
  EXPECT_EQ(AnyValue(list)[1].type_code(), ANYFFI_INT);
  Dict<String, ObjectRef> dict;
  dict.set("k", object);
  EXPECT_EQ(AnyValue(dict)["k"].type_code(), ANYFFI_INT);
  EXPECT_EQ(AnyValue(Array<ObjectRef>{object})[0].type_code(), ANYFFI_INT);
  EXPECT_EQ(AnyValue(AnyView(boxed(5).raw())).type_code(), ANYFFI_INT);
  AnyffiValue owned;
  AnyValue box = boxed(5);
  ASSERT_EQ(anyffi_value_own(&box.raw(), &owned), 0);
  EXPECT_EQ(owned.type_code, ANYFFI_INT);
  Function returns_it = Function::from([&] { return object; });
  EXPECT_EQ(returns_it().type_code(), ANYFFI_INT);
  EXPECT_EQ(Function::from([](const AnyView& x) { return int64_t{x.type_code()}; })(object).cast<int64_t>(),
            ANYFFI_INT);
}

TEST(Box, AnObjectFromAMapConvertsToInt) {
  Map<String, ObjectRef> map = [] {
    Dict<String, ObjectRef> dict;
    dict.set("n", Int(20));
    return std::move(dict).freeze();
  }();
  ObjectRef n = map["n"];
  EXPECT_EQ(n.type_code(), ANYFFI_BOX);
  EXPECT_EQ(Function::from([](int64_t x) { return x + 1; })(n).cast<int64_t>(), 21);
}

TEST(Box, AnArrayViewedAsObjects) {
  Array<> array{AnyValue(1), AnyValue("short"), AnyValue(List<>())};
  Array<ObjectRef> view = AnyView(array).cast<Array<ObjectRef>>();
  EXPECT_EQ(view.get(), array.get());
  EXPECT_EQ(view[0].type_code(), ANYFFI_BOX);
  EXPECT_EQ(view[2].type_code(), ANYFFI_LIST);
  EXPECT_EQ(AnyValue(view[1]).cast<String>().size(), 5);
  Array<> with_none{AnyValue(1), AnyValue(nullptr)};
  EXPECT_RAISES("TypeError", AnyView(with_none).cast<Array<ObjectRef>>());
}

TEST(Value, FailedAllocationsLeakNothing) {
  expect_no_leak([] { AnyView(5).cast<ObjectRef>(); });
  expect_no_leak([] { Slice(AnyValue("a string that is on the heap"), List<>(), nullptr); });
  expect_no_leak([] {
    AnyValue list = List<>{AnyValue("a string that is on the heap"), AnyValue(1)};
    for (int64_t i = 0; i < 20; ++i) list.push_back(i);
  });
}

TEST(Value, TryCast) {
  AnyValue number(int64_t{1} << 40), text("a"), texts(anyffi::List<anyffi::String>{"a"});
  EXPECT_EQ(number.try_cast<int64_t>().value(), int64_t{1} << 40);
  EXPECT_FALSE(number.try_cast<int32_t>());
  EXPECT_FALSE(text.try_cast<double>());
  EXPECT_EQ(*text.try_cast<anyffi::String>(), "a");
  EXPECT_FALSE(AnyValue(2.5).try_cast<int64_t>());
  EXPECT_EQ(texts.try_cast<anyffi::List<anyffi::String>>().value().size(), 1);
  EXPECT_FALSE(texts.try_cast<anyffi::List<int64_t>>());
  AnyValue error;
  anyffi_error_take_raised(error.out());
  EXPECT_TRUE(error.is_none());
}

TEST(Value, Repr) {
  EXPECT_EQ(AnyValue(anyffi::List<anyffi::String>{"a"}).repr(), "['a']");
  EXPECT_EQ(AnyValue().repr(), "None");
}
