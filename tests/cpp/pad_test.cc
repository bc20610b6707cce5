// AnyPad: text and bytes inline, and values as in AnyValue.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include "allocation.h"

namespace {

using anyffi::AnyPad;
using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Dict;
using anyffi::Function;
using anyffi::List;

}  // namespace

TEST(Pad, StoresTextInline) {
  CountingAllocator counting;
  int64_t before = counting.total();
  AnyPad<4> pad = "no heap for this text";
  EXPECT_EQ(pad.raw().type_code, ANYFFI_STR_VIEW);
  AnyPad<4> copy = pad;
  EXPECT_NE(copy.raw().as_pointer, pad.raw().as_pointer);
  EXPECT_TRUE(AnyView(copy) == AnyView(pad));
  EXPECT_EQ(AnyView(pad).size(), 21);
  EXPECT_EQ(AnyView(pad).hash(), AnyView(copy).hash());
  copy = AnyValue("short");
  EXPECT_EQ(copy.raw().type_code, ANYFFI_STR);
  EXPECT_EQ(counting.total(), before);
  AnyValue owned = pad;
  EXPECT_EQ(owned.type_code(), ANYFFI_STR_OBJECT);
  EXPECT_TRUE(owned == AnyView(pad));
  EXPECT_EQ(counting.total(), before + 1);
}

TEST(Pad, StoresLongTextAsAnyValueDoes) {
  AnyPad<2> exact("fifteen letters", 15);
  EXPECT_EQ(exact.raw().type_code, ANYFFI_STR_VIEW);
  AnyPad<2> longer("sixteen letters.", 16);
  EXPECT_EQ(longer.raw().type_code, ANYFFI_STR_OBJECT);
  AnyPad<8> wide("\u4e2d\u6587 of two bytes each");
  EXPECT_EQ(wide.raw().type_code, ANYFFI_STR_VIEW);
  EXPECT_TRUE(AnyView(wide) == AnyValue("\u4e2d\u6587 of two bytes each"));
  EXPECT_EQ(AnyView(wide).hash(), AnyValue("\u4e2d\u6587 of two bytes each").hash());
  EXPECT_RAISES("UnicodeDecodeError", AnyPad<8>("\xff and more than eleven"));
  AnyPad<8> bytes = anyffi::Bytes("bytes\0with a zero", 17);
  EXPECT_EQ(bytes.raw().type_code, ANYFFI_BYTES_VIEW);
  EXPECT_TRUE(AnyView(bytes) == AnyValue(anyffi::Bytes("bytes\0with a zero", 17)));
  AnyPad<8> number = 5;
  EXPECT_EQ(AnyView(number).cast<int64_t>(), 5);
  List<> list;
  AnyPad<8> object = list;
  EXPECT_EQ(list.use_count(), 2);
  object = number;
  EXPECT_EQ(list.use_count(), 1);
}

TEST(Pad, MayBeAssignedFromItself) {
  AnyPad<8> pad = "text that stays in the pad";
  pad = *&pad;
  EXPECT_TRUE(AnyView(pad) == AnyValue("text that stays in the pad"));
  AnyPad<2> owner = "text that is too long for the pad";
  owner = *&owner;
  EXPECT_TRUE(AnyView(owner) == AnyValue("text that is too long for the pad"));
  EXPECT_EQ(owner.raw().as_object->strong_count, 1u);
}

TEST(Pad, IsAKeyAndArgumentWithoutHeap) {
  Dict<> dict;
  dict.set("a key that is on the heap", 1);
  AnyValue f = Function::from_packed([](anyffi::Args args, AnyValue* result) { *result = args[0].size(); });
  CountingAllocator counting;
  int64_t before = counting.total();
  AnyPad<8> pad = "a key that is on the heap";
  EXPECT_EQ(AnyView(dict)[pad].cast<int64_t>(), 1);
  EXPECT_EQ(f(pad).cast<int64_t>(), 25);
  EXPECT_EQ(counting.total(), before);
}
