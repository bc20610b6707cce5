// Sequences compared with a vector; containers with failing allocations, and changed by destructors and comparisons.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocation.h"
#include "container_values.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::List;

// ---- an object whose destructor runs a function of the test ----

struct AtEnd {
  static constexpr anyffi::FixedText kTypeKey{"test.AtEnd"};
  std::function<void()> run;
  ~AtEnd() { run(); }
};

AnyValue at_end(std::function<void()> run) { return anyffi::make_object<AtEnd>(std::move(run)); }

}  // namespace

TEST(Sequence, BehavesAsAVector) {
  std::mt19937 random(1);
  List<> list;
  std::vector<std::string> model;
  for (int step = 0; step < 20000; ++step) {
    auto size = static_cast<int64_t>(model.size());
    auto at = static_cast<int64_t>(random() % (size + 1));
    AnyValue value = random_value(random);
    switch (random() % 6) {
      case 0:
      case 1:
        list.push_back(value);
        model.push_back(text_of(value));
        break;
      case 2:
        list.insert(at, value);
        model.insert(model.begin() + at, text_of(value));
        break;
      case 3:
        if (at == size) break;
        list.set(at, value);
        model[at] = text_of(value);
        break;
      default: {
        int64_t count = std::min<int64_t>(size - at, random() % (step % 500 == 0 ? 1000 : 4));
        list.erase(at, count);
        model.erase(model.begin() + at, model.begin() + at + count);
      }
    }
    ASSERT_EQ(list.size(), static_cast<int64_t>(model.size()));
    if (step % 50 != 0) continue;
    for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(text_of(list[i]), model[i]);
  }
}

TEST(Sequence, AppendsItsOwnElement) {
  List<> list{AnyValue("a string that is on the heap")};
  for (int i = 0; i < 50; ++i) {
    const AnyffiValue* own = reinterpret_cast<AnyffiSequence*>(list.get())->data;
    ASSERT_EQ(anyffi_sequence_insert(list.get(), 0, own), 0);
  }
  EXPECT_EQ(list[50], list[0]);
}

TEST(Containers, ElementsAreReadInOneStep) {
  const AnyValue text("an element on the heap");
  Array<> array{1, text};
  AnyValue first, second;
  anyffi_sequence_get(array.get(), 1, first.out());
  EXPECT_EQ(first, text);
  EXPECT_EQ(text.raw().as_object->strong_count, 3u);
  for (int64_t index : {int64_t{2}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    anyffi_sequence_get(array.get(), index, second.out());
    EXPECT_EQ(second.type_code(), ANYFFI_UNSET);
  }

  Dict<> dict;
  for (int i = 0; i < 20; ++i) dict.set(i, text);
  for (int i = 0; i < 20; i += 2) dict.erase(i);
  ASSERT_EQ(anyffi_mapping_get(dict.get(), &AnyView(3).raw(), second.out()), 0);
  EXPECT_EQ(second, text);
  second = AnyValue();
  ASSERT_EQ(anyffi_mapping_get(dict.get(), &AnyView(2).raw(), second.out()), 0);
  EXPECT_EQ(second.type_code(), ANYFFI_UNSET);
  AnyValue list = List<>{};
  EXPECT_NE(anyffi_mapping_get(dict.get(), &list.raw(), second.out()), 0);
  EXPECT_TRUE(second.is_none());
  AnyValue error;
  anyffi_error_take_raised(error.out());

  AnyValue key, value;
  int64_t position = -1;
  for (int i = 1; i < 20; i += 2) {
    position = anyffi_mapping_next(dict.get(), position + 1, 1, key.out(), value.out());
    EXPECT_EQ(key, AnyValue(i));
    EXPECT_EQ(value, text);
    value = AnyValue();
  }
  EXPECT_EQ(position, 19);
  for (int64_t entry : {int64_t{20}, int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(anyffi_mapping_next(dict.get(), entry, 1, key.out(), value.out()), -1);
    EXPECT_EQ(key.type_code(), ANYFFI_UNSET);
    EXPECT_EQ(value.type_code(), ANYFFI_UNSET);
  }
  position = INT64_MAX;
  for (int i = 19; i > 0; i -= 2) {
    position = anyffi_mapping_next(dict.get(), position, -1, key.out(), value.out());
    EXPECT_EQ(key, AnyValue(i));
    value = AnyValue();
    --position;
  }
  EXPECT_EQ(anyffi_mapping_next(dict.get(), position, -1, key.out(), value.out()), -1);
}

TEST(Containers, ElementsAreReadInPlace) {
  const anyffi::String text = "a text that no value holds inline";
  List<anyffi::String> texts{text, "short"};
  EXPECT_EQ(&texts[1], &texts[1]);
  EXPECT_EQ(texts.freeze()[0], text);
  anyffi::String copy = texts[0];
  for (const anyffi::String& each : texts) EXPECT_GE(each.size(), 5);
  texts.set(0, texts[1]);
  EXPECT_EQ(texts[0], "short");
  EXPECT_EQ(copy, text);
  // Untyped code may add an element that is no str.
  AnyView(texts).push_back(AnyView(5));
  EXPECT_THROW(texts[2], anyffi::Error);
  EXPECT_THROW(for (const auto& each : texts)(void) each.size(), anyffi::Error);

  List<List<int64_t>> rows{{1, 2}, {3}};
  const List<int64_t>& row = rows[0];
  EXPECT_TRUE(row.same_as(rows[0]));
  EXPECT_EQ(row.use_count(), 1);
  List<int64_t> held = row;
  EXPECT_EQ(held.use_count(), 2);
  AnyView(rows[1]).push_back(texts[0]);
  EXPECT_THROW(rows[1], anyffi::Error);
  rows.set(1, rows[0]);
  rows.set(0, rows[0]);
  EXPECT_EQ(held.use_count(), 3);

  Dict<anyffi::String, List<int64_t>> dict;
  dict.set(text, held);
  for (const auto& [key, value] : dict) {
    EXPECT_EQ(key, text);
    EXPECT_TRUE(value.same_as(held));
  }
  EXPECT_EQ(held.use_count(), 4);
}

TEST(Containers, ReplacedNumbersAreCheckedAgain) {
  List<int64_t> list;
  for (int64_t i = 0; i < 100; ++i) list.push_back(i);
  AnyView view(list);
  // Long enough that the result of the check is cached.
  EXPECT_EQ(view.cast<List<int8_t>>()[7], 7);
  list.set(7, 1000);
  EXPECT_THROW(view.cast<List<int8_t>>(), anyffi::Error);
  list.set(7, 8);
  EXPECT_EQ(view.cast<List<int8_t>>()[7], 8);
}

TEST(Containers, FailedAllocationsChangeNothing) {
  CountingAllocator counting;
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    failed = false;
    int64_t before = counting.live();
    {
      List<> list;
      Dict<> dict;
      counting.fail_after(n);
      auto attempt = [&](auto&& step) {
        try {
          step();
          return true;
        } catch (const std::exception&) {
          counting.fail_after(-1);
          failed = true;
          return false;
        }
      };
      int64_t inserted = 0, set = 0;
      for (int64_t i = 0; i < 40; ++i) {
        inserted += attempt([&] { list.insert(inserted / 2, i); });
        set += attempt([&] { dict.set(("a string that is on the heap " + std::to_string(i)).c_str(), i); });
        EXPECT_EQ(list.size(), inserted);
        EXPECT_EQ(dict.size(), set);
      }
      bool erased = attempt([&] { list.erase(1, 20); });
      EXPECT_EQ(list.size(), erased ? inserted - 20 : inserted);
      attempt([&] { dict.freeze(); });
      attempt([&] { text_of(AnyView(dict)); });
      counting.fail_after(-1);
      for (const auto& [key, value] : dict) EXPECT_EQ(dict[key], value);
    }
    EXPECT_EQ(counting.live(), before);
    ASSERT_LT(n, 500);
  }
}

TEST(Containers, DestructorsSeeAConsistentContainer) {
  List<> list;
  Dict<> dict;
  int runs = 0;
  auto meddle = [&] {
    list.push_back(int64_t{++runs});
    dict.set(int64_t{1000} + runs, runs);
    if (runs % 3 == 0) list.erase(0, 1);
    if (runs % 5 == 0) dict.clear();
  };
  for (int64_t i = 0; i < 60; ++i) {
    list.push_back(at_end(meddle));
    dict.set(i, at_end(meddle));
  }
  list.erase(10, 30);
  list.set(0, nullptr);
  while (dict.size() > 0 && runs < 120) {
    dict.clear();
    list.clear();
  }
  list.clear();
  EXPECT_EQ(runs, 120);
}

TEST(Containers, ComparisonMayChangeTheMapping) {
  enum Mischief { kClear, kGrow, kErase, kReplace, kRaise, kMischiefs };
  for (int mischief = 0; mischief < kMischiefs; ++mischief) {
    for (int size : {3, 20}) {
      Dict<> dict;
      int calls = 0;
      auto compare = [&]() -> int32_t {
        if (++calls > 30) return 0;
        if (mischief == kClear) dict.clear();
        if (mischief == kGrow) {
          for (int i = 0; i < 40; ++i) dict.set(calls * 100 + i, nullptr);
        }
        if (mischief == kErase && !dict.empty()) dict.erase((*dict.begin()).key);
        if (mischief == kReplace) {
          dict.clear();
          dict.set(make_opaque([] { return 0; }), nullptr);
        }
        return mischief == kRaise ? -1 : 0;
      };
      bool armed = false;
      for (int i = 0; i < size; ++i) {
        dict.set(make_opaque([&] { return armed ? compare() : 0; }), nullptr);
      }
      armed = true;
      AnyValue key = make_opaque([] { return 0; });
      int64_t entry;
      EXPECT_EQ(anyffi_mapping_find(dict.get(), &key.raw(), &entry) != 0, mischief == kRaise);
      EXPECT_EQ(entry, -1);
      AnyValue error;
      anyffi_error_take_raised(error.out());
      armed = false;
      dict.clear();
    }
  }
}

TEST(Containers, SelfContainmentIsAnError) {
  List<> list, other;
  list.push_back(list);
  other.push_back(other);
  EXPECT_EQ(text_of(AnyView(list)), "[[...]]");
  EXPECT_TRUE(AnyView(list) == AnyView(list));
  EXPECT_THROW((void)(AnyView(list) == AnyView(other)), anyffi::Error);
  EXPECT_THROW((void)AnyView(list).hash(), anyffi::Error);
  list.clear();
  other.clear();
}

TEST(Convert, ConvertsInPlaceWithoutOtherReferences) {
  AnyValue list = List<>{AnyValue(1)}, array;
  const AnyffiObject* object = list.raw().as_object;
  ASSERT_EQ(anyffi_container_convert(list.out(), ANYFFI_ARRAY, array.out()), 0);
  EXPECT_EQ(array.raw().as_object, object);
  EXPECT_EQ(array.type_code(), ANYFFI_ARRAY);
  AnyValue shared = array, thawed;
  ASSERT_EQ(anyffi_container_convert(shared.out(), ANYFFI_LIST, thawed.out()), 0);
  EXPECT_NE(thawed.raw().as_object, object);
  EXPECT_EQ(array.type_code(), ANYFFI_ARRAY);
}
