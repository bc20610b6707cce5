// Containers compared with simple models, with failing allocations, and with hostile elements.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::List;
using anyffi::Map;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const AnyView& value) {
  AnyValue text, bytes;
  anyffi::detail::check(anyffi_value_repr(&value.raw(), text.out()));
  anyffi::detail::check(anyffi_str_to_utf8(&text.raw(), bytes.out()));
  AnyffiTextView utf8;
  anyffi_value_get_text_view(&bytes.raw(), &utf8);
  return std::string(static_cast<const char*>(utf8.data), static_cast<size_t>(utf8.length));
}

// ---- an object whose destructor runs a function of the test ----

struct AtEnd {
  static constexpr anyffi::FixedText kTypeKey{"test.AtEnd"};
  std::function<void()> run;
  ~AtEnd() { run(); }
};

AnyValue at_end(std::function<void()> run) { return anyffi::make_object<AtEnd>(std::move(run)); }

// ---- a type whose comparison runs a function of the test ----

struct Opaque {
  AnyffiObject header;
  std::function<int32_t()> equal;
};

int hash_opaque(const AnyffiValue*, int64_t* out) { return *out = 7, 0; }

int equal_opaque(const AnyffiValue* self, const AnyffiValue*, int32_t* out) {
  *out = reinterpret_cast<Opaque*>(self->as_object)->equal();
  return *out < 0 ? anyffi_error_raise("ZeroDivisionError", "not comparable") : 0;
}

void delete_opaque(AnyffiObject* self, int32_t what) {
  if (what & ANYFFI_DELETE_MEMORY) delete reinterpret_cast<Opaque*>(self);
}

AnyValue make_opaque(std::function<int32_t()> equal) {
  AnyffiTypeInfo info{};
  info.struct_size = sizeof(info);
  info.parent = ANYFFI_OBJECT;
  info.type_key = "test.Opaque";
  info.hash = &hash_opaque;
  info.equal = &equal_opaque;
  int32_t code;
  anyffi::detail::check(anyffi_type_register(&info, &code));
  auto* made = new Opaque{AnyffiObject{code, 1, 1, &delete_opaque, nullptr}, std::move(equal)};
  return AnyValue(anyffi::detail::Adopt{}, anyffi_make_object(&made->header));
}

// ---- models ----

AnyValue random_value(std::mt19937& random) {
  int64_t number = random() % 40;
  switch (random() % 6) {
    case 0:
      return number - 20;
    case 1:
      return static_cast<double>(number) + 0.5;
    case 2:
      return anyffi::String(("k" + std::to_string(number)).c_str());
    case 3:
      return anyffi::String(("a string that is on the heap " + std::to_string(number)).c_str());
    case 4:
      return Array<>{AnyValue(number % 5), AnyValue("x")};
    default:
      return anyffi::String(("\u4e2d\u6587" + std::to_string(number)).c_str());
  }
}

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

/// A Dict of keys written directly, each with its index as the value, before `anyffi_mapping_finish`.
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

TEST(Hash, IsPythonsForNumbersAndTuples) {
  EXPECT_EQ(AnyView(1).hash(), 1);
  EXPECT_EQ(AnyView(1.0).hash(), 1);
  EXPECT_EQ(AnyView(true).hash(), 1);
  EXPECT_EQ(AnyView(-1).hash(), -2);
  EXPECT_EQ(AnyView((int64_t{1} << 61) - 1).hash(), 0);
  EXPECT_EQ(AnyView(0.5).hash(), int64_t{1} << 60);
  EXPECT_EQ(AnyView(std::numeric_limits<double>::infinity()).hash(), 314159);
  EXPECT_EQ(AnyView(Array<>{AnyValue(1), AnyValue(2)}).hash(), -3550055125485641917);
}

TEST(Hash, OfASliceDependsOnTheHost) {
  AnyValue held = anyffi::Slice(1, 2, 3);
  EXPECT_THROW(held.hash(), anyffi::Error);
  AnyffiHost hooks{};
  hooks.struct_size = sizeof(hooks);
  hooks.flags = ANYFFI_HOST_HASHES_SLICES;
  anyffi_host_install(&hooks);
  EXPECT_EQ(held.hash(), -2340833382717974474);
  EXPECT_EQ(AnyValue(anyffi::Slice(1.0, true, nullptr)).hash(), AnyValue(anyffi::Slice(true, 1, nullptr)).hash());
  EXPECT_THROW(AnyValue(anyffi::Slice(1, List<>(), nullptr)).hash(), anyffi::Error);
  Dict<> dict;
  dict.set(held, "found");
  EXPECT_TRUE(dict.contains(AnyValue(anyffi::Slice(1.0, 2, 3))));
  anyffi_host_install(nullptr);
}

TEST(Equal, FollowsPython) {
  EXPECT_TRUE(AnyView(1) == AnyView(1.0));
  EXPECT_TRUE(AnyView(1) == AnyView(true));
  EXPECT_TRUE(AnyView(0.0) == AnyView(-0.0));
  EXPECT_FALSE(AnyView((int64_t{1} << 53) + 1) == AnyView(9007199254740992.0));
  EXPECT_FALSE(AnyView(kNan) == AnyView(kNan));
  List<> with_nan{AnyValue(kNan)};
  EXPECT_TRUE(AnyView(with_nan) == AnyView(with_nan));
  EXPECT_FALSE(AnyView(Array<>{AnyValue(1)}) == AnyView(List<>{AnyValue(1)}));
  Dict<> dict, turned;
  dict.set("a", 1), dict.set("b", 2.0);
  turned.set("b", 2), turned.set("a", true);
  EXPECT_TRUE(AnyView(dict) == AnyView(turned));
  EXPECT_TRUE(AnyView(dict) == AnyView(turned.freeze()));
  // A difference after an equal element that needs the slow path, and a key after an equal entry.
  AnyValue one = Array<>{AnyValue(1)};
  EXPECT_FALSE(AnyView(Array<>{one, AnyValue(2)}) == AnyView(Array<>{Array<>{AnyValue(1)}, AnyValue(3)}));
  Dict<> other_key;
  other_key.set("a", 1), other_key.set("c", 2.0);
  EXPECT_FALSE(AnyView(dict) == AnyView(other_key));
  Dict<> nan_key;
  nan_key.set(kNan, 1);
  nan_key.set(-kNan, 2);
  EXPECT_EQ(nan_key.size(), 1);
}

TEST(Repr, IsPythons) {
  for (auto& [number, text] : std::vector<std::pair<double, const char*>>{{0.0, "0.0"},
                                                                          {-0.0, "-0.0"},
                                                                          {1e16, "1e+16"},
                                                                          {9999999999999998.0, "9999999999999998.0"},
                                                                          {0.0001, "0.0001"},
                                                                          {0.00001, "1e-05"},
                                                                          {0.1, "0.1"},
                                                                          {5e-324, "5e-324"},
                                                                          {kNan, "nan"}}) {
    EXPECT_EQ(text_of(number), text);
  }
  EXPECT_EQ(text_of(AnyValue("it's\n\u00e9\u2028")), "\"it's\\n\u00e9\\u2028\"");
  EXPECT_EQ(text_of(Array<>{AnyValue(1)}), "(1,)");
  EXPECT_EQ(text_of(List<>{AnyValue(nullptr), AnyValue(true)}), "[None, True]");
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
