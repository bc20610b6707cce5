// Reflection of object classes.
#include <anyffi/anyffi.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyValue;
using anyffi::Array;
using anyffi::Function;
using anyffi::List;
using anyffi::String;

struct Point {
  static constexpr anyffi::FixedText kTypeKey{"test.Point"};
  static constexpr const char* kDoc = "A place on the plane.";
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&Point::x>("x", "To the right."), anyffi::field<&Point::y>("y"),
                          anyffi::field<&Point::tags>("tags"), anyffi::field<&Point::sum>("sum", "Of both."),
                          anyffi::field<&Point::fail>("fail"));
  }
  double x;
  int32_t y;
  List<String> tags;
  double sum() const { return x + y; }
  int64_t fail() const { throw anyffi::Error("KeyError", "no such thing"); }
};

struct Pixel : Point {
  static constexpr anyffi::FixedText kTypeKey{"test.Pixel"};
  static constexpr auto fields() {
    return anyffi::fields(anyffi::field<&Pixel::color>("color"), anyffi::field<&Pixel::x2>("x", "Twice as far."));
  }
  using Parent = Point;
  String color;
  double x2() const { return 2 * x; }
};

struct Silent : Pixel {
  static constexpr anyffi::FixedText kTypeKey{"test.Silent"};
  using Parent = Pixel;
};

struct Plain {
  static constexpr anyffi::FixedText kTypeKey{"test.Plain"};
};

AnyValue call(const char* name, const AnyValue& a) { return Function::get_global(name)(a); }
AnyValue get(const AnyValue& object, const char* field) {
  return Function::get_global("anyffi.Object.get_field")(object, field);
}

Pixel make_pixel() { return Pixel{{1.5, 2, List<String>{"a"}}, "red"}; }

enum Column { kDoc = 1, kFields = 3 };

AnyValue describe(const AnyValue& code, Column column) { return call("anyffi.type.describe", code)[column]; }

}  // namespace

TEST(Reflection, TypesListTheirFields) {
  int32_t code = anyffi::type_code_of<Point>();
  const AnyffiTypeInfo* info = anyffi_type_get_info(code);
  ASSERT_EQ(info->num_fields, 5);
  EXPECT_STREQ(info->doc, "A place on the plane.");
  EXPECT_STREQ(info->fields[0].name, "x");
  EXPECT_STREQ(info->fields[0].type_name, "float");
  EXPECT_STREQ(info->fields[0].doc, "To the right.");
  EXPECT_EQ(info->fields[1].doc, nullptr);
  EXPECT_STREQ(info->fields[2].type_name, "List[str]");
  EXPECT_TRUE(describe(code, kDoc) == AnyValue("A place on the plane."));
  AnyValue row = describe(code, kFields)[1];
  EXPECT_TRUE(row == AnyValue(Array<>{AnyValue("y"), AnyValue("int"), AnyValue(nullptr), AnyValue(false)}));
  EXPECT_EQ(describe(int64_t{ANYFFI_LIST}, kFields).size(), 0);
  EXPECT_TRUE(describe(anyffi::type_code_of<Plain>(), kDoc).is_none());
  EXPECT_TRUE(describe(anyffi::type_code_of<Pixel>(), kDoc).is_none());
  EXPECT_RAISES("ValueError", call("anyffi.type.describe", 100000));
}

TEST(Reflection, TypesListTheirOwnFields) {
  EXPECT_EQ(describe(anyffi::type_code_of<Pixel>(), kFields).size(), 2);
  EXPECT_EQ(describe(anyffi::type_code_of<Silent>(), kFields).size(), 0);
  EXPECT_EQ(anyffi_type_get_info(anyffi::type_code_of<Silent>())->num_fields, 0);
}

TEST(Reflection, FieldsAreRead) {
  AnyValue point = anyffi::make_object<Point>(Point{1.5, 2, List<String>{"a"}});
  EXPECT_EQ(get(point, "x").cast<double>(), 1.5);
  EXPECT_EQ(get(point, "y").type_code(), ANYFFI_INT);
  EXPECT_EQ(get(point, "sum").cast<double>(), 3.5);
  EXPECT_EQ(get(point, "tags").raw().as_object, get(point, "tags").raw().as_object);
  EXPECT_RAISES("KeyError", get(point, "fail"));
  AnyValue pixel = anyffi::make_object<Silent>(Silent{make_pixel()});
  EXPECT_EQ(get(pixel, "y").cast<int64_t>(), 2);
  EXPECT_TRUE(get(pixel, "color") == AnyValue("red"));
  // A field hides one of the same name in an ancestor.
  EXPECT_EQ(get(pixel, "x").cast<double>(), 3.0);
}

TEST(Reflection, UnknownFieldsAreSuggested) {
  AnyValue point = anyffi::make_object<Point>(Point{1, 2, List<String>{}});
  try {
    get(point, "tagz");
    ADD_FAILURE();
  } catch (const anyffi::Error& error) {
    EXPECT_TRUE(error.kind() == AnyValue("AttributeError"));
    EXPECT_STREQ(error.what(), "'Point' object has no attribute 'tagz'; did you mean 'tags'?");
  }
  EXPECT_RAISES("AttributeError", get(AnyValue(List<>{}), "x"));
}

TEST(Names, SuggestionsAreSortedByDistance) {
  auto suggest = [](const char* name, Array<String> known) {
    return AnyValue(Function::get_global("anyffi.names.suggest")(name, known));
  };
  EXPECT_TRUE(suggest("apend", {"pop", "spend", "append", "upend"}) ==
              AnyValue(Array<String>{"append", "spend", "upend"}));
  EXPECT_TRUE(suggest("zzz", {"pop"}) == AnyValue(Array<String>{}));
}

TEST(Reflection, FailedAllocationsLeakNothing) {
  expect_no_leak([] {
    AnyValue point = anyffi::make_object<Point>(Point{1, 2, List<String>{"a"}});
    get(point, "x");
    get(point, "tags");
    call("anyffi.type.describe", anyffi::type_code_of<Pixel>());
  });
}
