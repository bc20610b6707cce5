// Strings and bytes: storage, widths, and characters without heap allocation.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Bytes;
using anyffi::List;
using anyffi::String;

String repeated(char32_t code_point, int64_t length) {
  std::u32string points(static_cast<size_t>(length), code_point);
  return String(points.data(), length, ANYFFI_UCS4);
}

struct Width {
  char32_t code_point;
  int32_t kind;
  int64_t most_in_place;
};

constexpr Width kWidths[] = {{U'\0', ANYFFI_ASCII, 11}, {U'a', ANYFFI_ASCII, 11},  {0x7F, ANYFFI_ASCII, 11},
                             {0x80, ANYFFI_LATIN1, 11}, {0xFF, ANYFFI_LATIN1, 11}, {0x100, ANYFFI_UCS2, 5},
                             {0xD800, ANYFFI_UCS2, 5},  {0xFFFF, ANYFFI_UCS2, 5},  {0x10000, ANYFFI_UCS4, 2},
                             {0x10FFFF, ANYFFI_UCS4, 2}};

}  // namespace

TEST(Text, StorageFollowsLengthAndWidth) {
  for (const Width& width : kWidths) {
    for (int64_t length = 0; length < 30; ++length) {
      String text = repeated(width.code_point, length);
      ASSERT_EQ(text.size(), length);
      EXPECT_EQ(text.value().type_code(), length <= width.most_in_place ? ANYFFI_STR : ANYFFI_STR_OBJECT);
      EXPECT_EQ(text.text().encoding, length == 0 ? ANYFFI_ASCII : width.kind);
      EXPECT_EQ(text.value().family(), ANYFFI_STR);
      for (int64_t i = 0; i < length; ++i) ASSERT_EQ(text.code_point(i), width.code_point);
      EXPECT_TRUE(text == repeated(width.code_point, length));
      EXPECT_FALSE(text == repeated(width.code_point, length + 1));
      EXPECT_EQ(text.hash(), repeated(width.code_point, length).hash());
    }
  }
}

TEST(Text, InlineValuesCompareAsTwoWords) {
  for (const Width& width : kWidths) {
    for (int64_t length = 0; length <= width.most_in_place; ++length) {
      AnyffiValue one = repeated(width.code_point, length).value().raw();
      String wide = repeated(width.code_point, length);
      EXPECT_EQ(std::memcmp(&one, &wide.value().raw(), sizeof(one)), 0);
    }
  }
}

TEST(Text, InlineAsciiEndsInNul) {
  for (int64_t length = 0; length <= 11; ++length) {
    String text = repeated(U'x', length);
    EXPECT_EQ(std::strlen(static_cast<const char*>(text.text().data)), static_cast<size_t>(length));
  }
}

TEST(Text, IsStoredAtTheNarrowestWidth) {
  std::u32string wide = U"plain ASCII, given as four bytes each";
  String text(wide.data(), static_cast<int64_t>(wide.size()), ANYFFI_UCS4);
  EXPECT_EQ(text.text().encoding, ANYFFI_ASCII);
  EXPECT_TRUE(text == String("plain ASCII, given as four bytes each"));
  char16_t latin[] = u"\u00e9t\u00e9";
  EXPECT_EQ(String(latin, 3, ANYFFI_UCS2).text().encoding, ANYFFI_LATIN1);
}

TEST(Text, ConvertedTextIsACopyOfItsOwn) {
  AnyValue text("a text that no value holds inline");
  {
    String copy = text.cast<String>();
    EXPECT_EQ(copy, "a text that no value holds inline");
    EXPECT_EQ(text.raw().as_object->strong_count, 2);
  }
  EXPECT_EQ(text.raw().as_object->strong_count, 1);
  // C code created this text in a wider encoding than needed.
  AnyffiValue wide = anyffi_make_inline_text(ANYFFI_STR, ANYFFI_LATIN1, "abc", 3, 3);
  EXPECT_EQ(AnyView(wide).cast<String>(), "abc");
  EXPECT_EQ(AnyView(wide).cast<String>().text().encoding, ANYFFI_ASCII);
  AnyffiValue bytes = anyffi_make_inline_text(ANYFFI_BYTES, ANYFFI_ASCII, "abc", 3, 3);
  EXPECT_EQ(AnyView(bytes).cast<Bytes>().size(), 3);
  EXPECT_THROW(AnyView(bytes).cast<String>(), anyffi::Error);
}

TEST(Text, FromAndToUtf8) {
  for (const char* utf8 :
       {"", "a", "caf\u00e9", "\u4e2d\u6587", "\U0001F600", "a much longer \u4e2d text \U0001F600"}) {
    String text(utf8);
    Bytes back = text.utf8();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(back.data()), static_cast<size_t>(back.size())), utf8);
  }
  EXPECT_EQ(String("a\0b", 3).size(), 3);
  for (const char* bad :
       {"\xff", "a\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "abc\xe4\xb8", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_RAISES("UnicodeDecodeError", String(bad));
  }
  EXPECT_RAISES("UnicodeEncodeError", repeated(0xD800, 1).utf8());
  EXPECT_RAISES("UnicodeEncodeError", repeated(0xDFFF, 100).utf8());
}

TEST(Text, SurrogatesAreNotFused) {
  char32_t pair[] = {0xD83D, 0xDE00};
  String text(pair, 2, ANYFFI_UCS4);
  EXPECT_EQ(text.size(), 2);
  EXPECT_EQ(text.code_point(0), 0xD83Du);
  EXPECT_FALSE(text == String("\U0001F600"));
}

TEST(Text, CharactersNeedNoHeap) {
  for (const Width& width : kWidths) {
    AnyValue word = repeated(width.code_point, 1000).value();
    List<> list;
    list.reserve(1000);
    CountingAllocator counting;
    for (int64_t i = 0; i < word.size(); ++i) list.push_back(word[i]);
    EXPECT_EQ(counting.total(), 0);
    EXPECT_EQ(list.size(), 1000);
    for (int64_t i = 0; i < list.size(); ++i) {
      AnyValue character = list[i];
      ASSERT_EQ(character.type_code(), ANYFFI_STR);
      ASSERT_EQ(character.cast<String>().code_point(0), width.code_point);
    }
    EXPECT_EQ(counting.total(), 0);
  }
}

TEST(Text, IteratesTypedAndUntyped) {
  String text("a\u00e9\u4e2d\U0001F600");
  std::vector<char32_t> typed, untyped;
  for (const String& character : text) typed.push_back(character.code_point(0));
  for (const AnyValue& character : AnyValue(text)) untyped.push_back(character.cast<String>().code_point(0));
  EXPECT_EQ(typed, (std::vector<char32_t>{U'a', 0xE9, 0x4E2D, 0x1F600}));
  EXPECT_EQ(untyped, typed);
}

TEST(Text, IndexesAsPythonDoes) {
  AnyValue word("h\u00e9llo");
  EXPECT_TRUE(word[1] == AnyValue("\u00e9"));
  EXPECT_TRUE(word[-1] == AnyValue("o"));
  EXPECT_RAISES("IndexError", word[5]);
  EXPECT_RAISES("IndexError", word[-6]);
  EXPECT_RAISES("TypeError", word["0"]);
  EXPECT_RAISES("IndexError", String("abc").code_point(3));
  EXPECT_RAISES("IndexError", String("abc")[-1]);
}

TEST(Text, BytesHoldAnything) {
  for (int64_t length = 0; length < 30; ++length) {
    std::string data(static_cast<size_t>(length), '\0');
    for (int64_t i = 0; i < length; ++i) data[static_cast<size_t>(i)] = static_cast<char>(i * 37);
    Bytes bytes(data.data(), length);
    ASSERT_EQ(bytes.size(), length);
    EXPECT_EQ(bytes.value().type_code(), length <= 11 ? ANYFFI_BYTES : ANYFFI_BYTES_OBJECT);
    EXPECT_EQ(std::memcmp(bytes.data(), data.data(), static_cast<size_t>(length)), 0);
    EXPECT_EQ(bytes.data()[length], 0);
    EXPECT_TRUE(bytes == Bytes(data.data(), length));
    EXPECT_TRUE(bytes == Bytes(std::string_view(bytes)));
    EXPECT_FALSE(AnyView(bytes) == AnyView(String("")));
    for (int64_t i = 0; i < length; ++i) {
      EXPECT_EQ(AnyValue(bytes)[i].cast<int64_t>(), static_cast<uint8_t>(data[static_cast<size_t>(i)]));
    }
  }
  EXPECT_RAISES("IndexError", Bytes("abc", 3)[3]);
}

TEST(Text, AllCodesOfAStringAreOneFamily) {
  String heap("a string that is on the heap");
  AnyffiTextView view = heap.text();
  AnyffiValue borrowed{};
  borrowed.type_code = ANYFFI_STR_VIEW;
  borrowed.aux = static_cast<uint32_t>(view.length) << 2 | static_cast<uint32_t>(view.encoding);
  borrowed.as_pointer = const_cast<void*>(view.data);
  AnyView as_view(borrowed);
  EXPECT_EQ(as_view.family(), ANYFFI_STR);
  EXPECT_TRUE(as_view == AnyView(heap));
  EXPECT_EQ(as_view.hash(), heap.hash());
  EXPECT_EQ(as_view.size(), heap.size());
  EXPECT_TRUE(as_view[3] == heap.value()[3]);
  AnyValue owned(as_view);
  EXPECT_EQ(owned.type_code(), ANYFFI_STR_OBJECT);
  EXPECT_TRUE(owned == as_view);
  List<> list{owned};
  list.push_back(owned);
  EXPECT_TRUE(as_view.cast<String>() == heap);
  anyffi::Dict<> dict;
  dict.set(owned, 1);
  EXPECT_EQ(AnyView(dict)[as_view].cast<int64_t>(), 1);
}

TEST(Text, FailedAllocationsLeakNothing) {
  expect_no_leak([] { String("a string that is on the heap"); });
  expect_no_leak([] { String("\u4e2d\u6587 on the heap").utf8(); });
  expect_no_leak([] { repeated(0x1F600, 50); });
  expect_no_leak([] { Bytes("bytes that are on the heap", 26); });
  expect_no_leak([] { AnyValue(String("a string that is on the heap"))[3]; });
}

TEST(Text, IsMadeOfStandardStrings) {
  std::string text("h\xc3\xa9", 3);
  EXPECT_EQ(String(text).size(), 2);
  EXPECT_EQ(anyffi::Bytes(text).size(), 3);
  EXPECT_EQ(anyffi::Bytes(std::string_view("x\0y", 3))[2], 'y');
}
