// Hashes, equality and repr of values, which are the same as Python's.
#include <anyffi/anyffi.h>
#include <anyffi/host_api.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "container_values.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::Dict;
using anyffi::List;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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
