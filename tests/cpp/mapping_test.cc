// Mappings compared with a simple model, and their entries and index.
#include <anyffi/anyffi.h>
#include <anyffi/stl/vector.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocation.h"
#include "container_values.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Dict;
using anyffi::List;

void expect_entries(const Dict<>& dict, const std::vector<std::pair<std::string, int64_t>>& model) {
  ASSERT_EQ(dict.size(), static_cast<int64_t>(model.size()));
  auto expected = model.begin();
  for (const auto& [key, value] : dict) {
    EXPECT_EQ(text_of(key), expected->first);
    EXPECT_EQ(value.cast<int64_t>(), expected->second);
    ++expected;
  }
}

}  // namespace

TEST(Mapping, BehavesAsAnOrderedModel) {
  for (int64_t shift : {0, 20, 52}) {
    std::mt19937 random(2);
    Dict<> dict;
    std::vector<std::pair<std::string, int64_t>> model;
    for (int64_t step = 0; step < 20000; ++step) {
      AnyValue key = random_value(random);
      if (random() % 2) key = AnyValue(static_cast<int64_t>(random() % 30) << shift);
      std::string name = text_of(key);
      auto found = std::find_if(model.begin(), model.end(), [&](const auto& entry) { return entry.first == name; });
      ASSERT_EQ(dict.contains(key), found != model.end()) << name;
      ASSERT_EQ(dict.value_or(key, -1), found != model.end() ? found->second : -1) << name;
      // Grows for a while, then shrinks, so that it grows while it has holes.
      if (step % 1000 < 500) {
        dict.set(key, step);
        if (found != model.end()) {
          found->second = step;
        } else {
          model.emplace_back(name, step);
        }
      } else {
        ASSERT_EQ(dict.erase(key), found != model.end());
        if (found != model.end()) model.erase(found);
      }
      if (step % 5000 == 4999) {
        dict.clear();
        model.clear();
      }
      if (step % 100 == 0) expect_entries(dict, model);
    }
  }
}

TEST(Mapping, FindsShortKeysAmongRemovedOnes) {
  std::mt19937 random(3);
  Dict<> dict;
  std::vector<std::pair<std::string, int64_t>> model;
  for (int64_t step = 0; step < 20000; ++step) {
    std::string name = "k" + std::to_string(random() % 60);
    AnyValue key(name.c_str());
    auto found = std::find_if(model.begin(), model.end(), [&](const auto& entry) { return entry.first == name; });
    ASSERT_EQ(dict.contains(key), found != model.end()) << name;
    if (found != model.end()) {
      ASSERT_TRUE(dict.erase(key));
      model.erase(found);
    } else {
      dict.set(key, step);
      model.emplace_back(name, step);
    }
    ASSERT_EQ(dict.size(), static_cast<int64_t>(model.size()));
  }
}

TEST(Mapping, FindsAKeyAlthoughComparisonsMovedIt) {
  for (int size : {2, 6, 20, 60}) {
    Dict<> dict;
    bool armed = false;
    auto grow_once = [&] {
      if (!std::exchange(armed, false)) return 0;
      for (int i = 0; i < 300; ++i) dict.set(i + 100, nullptr);
      return 0;
    };
    for (int i = 0; i < size; ++i) dict.set(make_opaque(grow_once), nullptr);
    bool is_equal = false;
    dict.set(make_opaque([&] { return is_equal; }), nullptr);
    armed = is_equal = true;
    AnyValue key = make_opaque([] { return 0; });
    int64_t entry;
    ASSERT_EQ(anyffi_mapping_find(dict.get(), &key.raw(), &entry), 0);
    EXPECT_EQ(entry, size);
    EXPECT_FALSE(armed);
  }
}

TEST(Mapping, RemovalAtTheEndDoesNotFillTheIndex) {
  Dict<> dict;
  for (int64_t i = 0; i < 20; ++i) dict.set(i, i);
  for (int64_t i = 100; i < 200000; ++i) {
    dict.set(i, i);
    ASSERT_TRUE(dict.erase(i));
  }
  EXPECT_EQ(dict.size(), 20);
  EXPECT_LE(reinterpret_cast<AnyffiMapping*>(dict.get())->capacity, 64);
}

namespace {

/// Creates a Dict by writing its keys directly, each with its index as the value, before `anyffi_mapping_finish`.
AnyValue written(const std::vector<AnyValue>& keys) {
  AnyValue made;
  anyffi::detail::check(anyffi_mapping_create(ANYFFI_DICT, static_cast<int64_t>(keys.size()), made.out()));
  auto* mapping = reinterpret_cast<AnyffiMapping*>(made.raw().as_object);
  for (const AnyValue& key : keys) {
    AnyffiEntry& entry = mapping->entries[mapping->used];
    entry.value = AnyValue(mapping->used).release();
    entry.key = AnyValue(key).release();
    mapping->key_type_mask |= anyffi_type_bit(entry.key.type_code);
    mapping->value_type_mask |= anyffi_type_bit(entry.value.type_code);
    ++mapping->used;
  }
  return made;
}

}  // namespace

TEST(Mapping, IsFinishedFromWrittenEntries) {
  CountingAllocator counting;
  for (int64_t size : {0, 1, 8, 9, 100}) {
    std::vector<AnyValue> keys;
    for (int64_t i = 0; i < size; ++i) {
      std::string text = (i % 2 ? "a key that is on the heap " : "key ") + std::to_string(i);
      keys.push_back(i % 3 ? AnyValue(text.c_str()) : AnyValue(i));
    }
    AnyValue made = written(keys);
    int64_t first, second;
    ASSERT_EQ(anyffi_mapping_finish(made.raw().as_object, &first, &second), 0);
    EXPECT_EQ(first, -1);
    EXPECT_EQ(second, -1);
    ASSERT_EQ(made.size(), size);
    for (int64_t i = 0; i < size; ++i) EXPECT_TRUE(made[keys[static_cast<size_t>(i)]] == AnyValue(i));
    auto dict = made.cast<Dict<>>();
    dict.set("one more", 1);
    EXPECT_EQ(dict.size(), size + 1);
    EXPECT_TRUE(dict.contains("one more"));
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Mapping, EqualKeysAreReportedByIndex) {
  CountingAllocator counting;
  for (bool many : {false, true}) {
    std::vector<AnyValue> keys{AnyValue("x"), AnyValue(1), AnyValue("a string that is on the heap"), AnyValue(1.0)};
    if (many) {
      for (int64_t i = 100; i < 150; ++i) keys.insert(keys.begin(), AnyValue(i));
    }
    AnyValue made = written(keys);
    int64_t first, second;
    ASSERT_EQ(anyffi_mapping_finish(made.raw().as_object, &first, &second), 0);
    EXPECT_EQ(first, many ? 51 : 1);
    EXPECT_EQ(second, many ? 53 : 3);
    made = written({AnyValue("x"), AnyValue(List<>()), AnyValue("a string that is on the heap")});
    EXPECT_EQ(anyffi_mapping_finish(made.raw().as_object, &first, &second), -1);
    AnyValue error;
    anyffi_error_take_raised(error.out());
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Mapping, IsMadeOfEntries) {
  anyffi::Map<anyffi::String, int64_t> map{{"a", 1}, {"b", 2}, {"a", 3}};
  EXPECT_EQ(map.size(), 2);
  EXPECT_EQ(map["a"], 3);
  Dict<anyffi::String> mixed{{"a", 1}, {"b", "x"}, {"c", List<>{1, "y"}}};
  EXPECT_EQ(mixed["b"].cast<anyffi::String>(), anyffi::String("x"));
  anyffi::Map<int64_t, anyffi::Map<int64_t, double>> nested{{1, {{2, 3.0}}}, {4, {}}};
  EXPECT_EQ(nested[1][2], 3.0);
  EXPECT_EQ(nested[4].size(), 0);
}

// Numbers under int keys are written in place.
TEST(Mapping, NumbersReplaceValuesOfAnyType) {
  CountingAllocator counting;
  {
    List<> held{1};
    Dict<> dict;
    auto floats = AnyView(dict).cast<Dict<int64_t, double>>();
    dict.set(0, nullptr), dict.set(1, 2), dict.set(2, held), dict.set(3, "x"), dict.set(4, true);
    dict.set(5, "a text that no value holds inline"), dict.set(6, 1.5);
    EXPECT_EQ(held.use_count(), 2);
    for (int64_t key = 0; key <= 7; ++key) floats.set(key, 0.5);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(dict.size(), 8);
    for (const auto& [key, value] : dict) EXPECT_EQ(value.cast<double>(), 0.5);
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Mapping, ANumberUnderAnEqualKeyOfAnotherTypeKeepsTheKey) {
  Dict<> dict;
  auto floats = AnyView(dict).cast<Dict<int64_t, double>>();
  dict.set(4.0, 5);
  floats.set(4, 0.5);
  EXPECT_EQ(dict.size(), 1);
  for (const auto& [key, value] : dict) {
    EXPECT_EQ(key.type_code(), ANYFFI_FLOAT);
    EXPECT_EQ(value.cast<double>(), 0.5);
  }
}

enum class Wide : uint64_t { kOne = 1, kTop = uint64_t{1} << 63 };

// From 2**63 on, they are objects.
TEST(Mapping, LargeNumbersAreReleased) {
  CountingAllocator counting;
  {
    Dict<int64_t, uint64_t> numbers;
    for (uint64_t number : {uint64_t{1} << 63, (uint64_t{1} << 63) + 1, uint64_t{5}, ~uint64_t{0}}) {
      numbers.set(1, number);
      EXPECT_EQ(numbers[1], number);
    }
    Dict<int64_t, Wide> members;
    List<Wide> list{Wide::kOne};
    for (Wide member : {Wide::kTop, Wide::kTop, Wide::kOne, Wide::kTop}) {
      members.set(1, member), list.set(0, member);
      EXPECT_EQ(members[1], member);
      EXPECT_EQ(list[0], member);
    }
    std::vector<Wide> given{Wide::kOne, Wide::kTop};
    AnyValue result = anyffi::Function::from([&given] { return given; })();
    EXPECT_EQ(AnyView(result)[1].cast<uint64_t>(), uint64_t{1} << 63);
  }
  EXPECT_EQ(counting.live(), 0);
}

TEST(Mapping, NumbersWrittenInPlaceAreNoticed) {
  Dict<> dict;
  auto floats = AnyView(dict).cast<Dict<int64_t, double>>();
  auto ints = AnyView(dict).cast<Dict<int64_t, int64_t>>();
  for (int64_t key = 0; key < 1000; ++key) dict.set(key, 1);
  // The second time the result of the first check is cached.
  for (int i = 0; i < 2; ++i) EXPECT_EQ((AnyView(dict).cast<Dict<int64_t, int8_t>>()).size(), 1000);
  ints.set(7, 128);
  EXPECT_RAISES("OverflowError", (AnyView(dict).cast<Dict<int64_t, int8_t>>()));
  floats.set(7, 0.5);
  EXPECT_RAISES("TypeError", (AnyView(dict).cast<Dict<int64_t, int64_t>>()));
}
