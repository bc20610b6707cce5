// The layouts that other languages depend on.
#include <anyffi/c_api.h>
#include <gtest/gtest.h>

#include <cstddef>

TEST(Layout, ValueIsTwoWords) {
  EXPECT_EQ(sizeof(AnyffiValue), 16u);
  EXPECT_EQ(alignof(AnyffiValue), 8u);
  EXPECT_EQ(offsetof(AnyffiValue, type_code), 0u);
  EXPECT_EQ(offsetof(AnyffiValue, aux), 4u);
  EXPECT_EQ(offsetof(AnyffiValue, as_int), 8u);
  EXPECT_EQ(offsetof(AnyffiValue, as_object), 8u);
}

TEST(Layout, ZeroBytesAreNone) {
  const AnyffiValue none{};
  EXPECT_EQ(none.type_code, ANYFFI_NONE);
  EXPECT_EQ(none.as_int, 0);
}

TEST(Layout, ObjectBeginsWithItsTypeCode) {
  EXPECT_EQ(offsetof(AnyffiObject, type_code), 0u);
  EXPECT_EQ(offsetof(AnyffiObject, weak_count), 4u);
  EXPECT_EQ(offsetof(AnyffiObject, strong_count), 8u);
  EXPECT_EQ(offsetof(AnyffiObject, deleter), 16u);
  EXPECT_EQ(offsetof(AnyffiObject, wrapper), 24u);
  EXPECT_EQ(sizeof(AnyffiObject), 32u);
}

TEST(Layout, ObjectCodesArePositiveAndInlineCodesAreNot) {
#define EXPECT_STORAGE_SIGN(NAME, code, FAMILY, PARENT, storage, key, python) \
  EXPECT_EQ((code) > 0, ANYFFI_STORAGE_##storage == ANYFFI_STORAGE_OBJECT) << key;
  ANYFFI_TYPES(EXPECT_STORAGE_SIGN)
#undef EXPECT_STORAGE_SIGN
}
