// Tuples, variants, shapes, big and complex numbers; and conversions of typed views on entry.
#include <anyffi/anyffi.h>
#include <anyffi/stl/complex.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "allocation.h"

namespace {

using anyffi::AnyPad;
using anyffi::AnyValue;
using anyffi::AnyView;
using anyffi::Array;
using anyffi::BigInt;
using anyffi::Dict;
using anyffi::Function;
using anyffi::List;
using anyffi::Map;
using anyffi::Optional;
using anyffi::Shape;
using anyffi::String;
using anyffi::Tuple;
using anyffi::Variant;

std::string message_of(const AnyView& function, const AnyView& argument) {
  try {
    function(AnyValue(argument));
  } catch (const anyffi::Error& error) {
    return error.what();
  }
  return "";
}

template <class T>
std::string name_of() {
  return static_cast<const char*>(anyffi::Traits<T>::name);
}

/// 2 to the power of `bits`.
BigInt power_of_two(int bits, bool negative = false) {
  uint64_t words[20] = {};
  words[bits / 64] = uint64_t{1} << bits % 64;
  return BigInt(words, bits / 64 + 1, negative);
}

}  // namespace

// ---- tuples ----

TEST(Tuple, NamesArePythons) {
  EXPECT_EQ((name_of<Tuple<int64_t, String>>()), "tuple[int, str]");
  EXPECT_EQ((name_of<Tuple<Array<double>>>()), "tuple[Array[float]]");
  EXPECT_EQ(name_of<Tuple<>>(), "tuple[()]");
  EXPECT_EQ((name_of<Variant<int64_t, String>>()), "int | str");
  EXPECT_EQ((name_of<Array<Variant<std::nullptr_t, Tuple<double>>>>()), "Array[None | tuple[float]]");
  EXPECT_EQ(name_of<std::complex<double>>(), "complex");
  EXPECT_EQ(name_of<anyffi::Set<BigInt>>(), "Set[int]");
}

TEST(Tuple, BindsItsElements) {
  Tuple<int64_t, String, double> tuple(1, "two", 3.0);
  auto [number, text, real] = tuple;
  EXPECT_EQ(number, 1);
  EXPECT_TRUE(text == String("two"));
  EXPECT_EQ(real, 3.0);
  EXPECT_EQ(tuple.size(), 3);
  EXPECT_EQ(AnyValue(tuple).type_code(), ANYFFI_ARRAY);
  EXPECT_EQ(Tuple<>().get()->type_code, ANYFFI_ARRAY);
}

TEST(Tuple, TakesSequencesOfItsLength) {
  AnyValue array = Array<>{AnyValue(1), AnyValue("x")};
  auto shared = array.cast<Tuple<int64_t, String>>();
  EXPECT_EQ(shared.get(), array.raw().as_object);
  List<> list{AnyValue(1), AnyValue("x")};
  auto snapshot = AnyView(list).cast<Tuple<int64_t, String>>();
  list.set(0, "changed");
  EXPECT_EQ(snapshot.get<0>(), 1);
  EXPECT_RAISES("ValueError", (array.cast<Tuple<int64_t>>()));
  EXPECT_RAISES("ValueError", (array.cast<Tuple<>>()));
  EXPECT_RAISES("TypeError", (array.cast<Tuple<String, String>>()));
  EXPECT_RAISES("TypeError", (AnyView(1).cast<Tuple<int64_t>>()));
  AnyValue f = Function::from([](const Tuple<int64_t, Array<String>>&) {}, anyffi::arg("x"));
  EXPECT_EQ(message_of(f, Array<>{AnyValue(1), Array<>{AnyValue("a"), AnyValue(5)}}),
            "function(x: tuple[int, Array[str]]) -> None: argument 0 (x), at [1][1]: expected str, got int");
  EXPECT_EQ(message_of(f, Array<>{AnyValue(1)}),
            "function(x: tuple[int, Array[str]]) -> None: argument 0 (x): expected 2 elements, "
            "got (1,)");
}

// ---- conversions of views on entry ----

TEST(View, ElementsAreConvertedOnceAndOnlyWhereNeeded) {
  List<> inner{AnyValue(1), AnyValue(2)};
  AnyValue fitting = Array<>{AnyValue(Array<>{AnyValue(1)})};
  EXPECT_EQ(fitting.cast<Array<Array<int64_t>>>().get(), fitting.raw().as_object);
  AnyValue mixed = Array<>{Array<>{AnyValue(1)}, inner};
  auto converted = mixed.cast<Array<Array<int64_t>>>();
  EXPECT_NE(converted.get(), mixed.raw().as_object);
  EXPECT_EQ(converted[1].get(), converted[1].get());
  EXPECT_EQ(converted[0].get(), mixed[0].raw().as_object);
  inner.set(0, "changed");
  EXPECT_EQ(converted[1][0], 1);
  EXPECT_EQ(mixed[1][0].cast<String>().size(), 7);
  // Also if the elements of the inner containers have any type; the type mask is that of the new elements.
  AnyValue any = Array<>{inner};
  EXPECT_RAISES("TypeError", AnyValue(any.cast<Array<Array<>>>()).cast<Array<List<>>>());
  EXPECT_EQ((any.cast<Array<Array<>>>()[0].get()->type_code), ANYFFI_ARRAY);
  EXPECT_EQ((any.cast<Array<Array<>>>()[0].same_as(any.cast<Array<Array<>>>()[0])), false);
}

TEST(View, ValuesOfMapsAreConvertedInPlace) {
  Dict<> dict;
  for (int64_t i = 0; i < 20; ++i) dict.set(i, List<int64_t>{i});
  for (int64_t i = 0; i < 20; i += 3) dict.erase(i);
  dict.set(1, Array<int64_t>{-1});
  auto map = AnyView(dict).cast<Map<int64_t, Array<int64_t>>>();
  EXPECT_EQ(map.size(), dict.size());
  for (const auto& [key, value] : map) EXPECT_EQ(value[0], key == 1 ? -1 : key);
  EXPECT_TRUE(map[4].same_as(map[4]));
  dict.set(19, List<>{AnyValue("x")});
  EXPECT_RAISES("TypeError", (AnyView(dict).cast<Map<int64_t, Array<int64_t>>>()));
  EXPECT_EQ(AnyView(dict)[2].type_code(), ANYFFI_LIST);
}

TEST(View, ElementsOfTuplesAndOptionalsAreConverted) {
  AnyValue given = Array<>{List<>{AnyValue(1)}, AnyValue(nullptr), List<>{AnyValue(2)}};
  auto optional = given.cast<Array<Optional<Array<int64_t>>>>();
  EXPECT_TRUE(optional[0].value().same_as(optional[0].value()));
  EXPECT_FALSE(optional[1]);
  auto tuple = given.cast<Tuple<Array<int64_t>, AnyValue, AnyValue>>();
  EXPECT_TRUE(tuple.get<0>().same_as(tuple.get<0>()));
  EXPECT_EQ(tuple.get<2>().type_code(), ANYFFI_LIST);
}

TEST(View, ARefusedElementIsShownAfterConversions) {
  AnyValue f = Function::from([](const Array<Optional<Tuple<Array<String>, Array<String>>>>&) {}, anyffi::arg("x"));
  List<> refused{AnyValue("a"), Array<>{AnyValue("an element that is on the heap")}};
  AnyValue given = List<>{Array<>{List<>{AnyValue("b")}, List<>{}}, Array<>{List<>{AnyValue("c")}, refused}};
  EXPECT_EQ(message_of(f, given),
            "function(x: Array[tuple[Array[str], Array[str]] | None]) -> None: argument 0 (x), at [1][1][1]: "
            "expected str, got tuple");
}

TEST(View, NarrowFloatsAreCheckedOnEntry) {
  EXPECT_RAISES("OverflowError", AnyView(List<double>{1.0, 1e300}).cast<Array<float>>());
  EXPECT_EQ(AnyView(List<double>{1.0, 2.5}).cast<Array<float>>()[1], 2.5f);
}

// ---- variants ----

TEST(Variant, KeepsTheTypeWherePossible) {
  using Number = Variant<double, int64_t, bool>;
  EXPECT_EQ(AnyView(1).cast<Number>().index(), 1);
  EXPECT_EQ(AnyView(true).cast<Number>().index(), 2);
  EXPECT_EQ(AnyView(1.0).cast<Number>().index(), 0);
  EXPECT_EQ((AnyView(true).cast<Variant<String, double>>().get<double>()), 1.0);
  EXPECT_RAISES("TypeError", AnyValue("x").cast<Number>());
  using Words = Variant<double, BigInt>;
  EXPECT_EQ(AnyValue(power_of_two(1100)).cast<Words>().index(), 1);
  EXPECT_RAISES("OverflowError", (AnyValue(power_of_two(1100)).cast<Variant<double, String>>()));
  AnyValue none;
  anyffi_error_take_raised(none.out());
  EXPECT_TRUE(none.is_none());
}

TEST(Variant, HoldsOneOfItsTypes) {
  Variant<int64_t, String> variant = 5;
  EXPECT_TRUE(variant.holds<int64_t>());
  EXPECT_EQ(variant.get<int64_t>(), 5);
  EXPECT_RAISES("TypeError", variant.get<String>());
  variant = String("text");
  EXPECT_EQ(variant.index(), 1);
  variant = "literal";
  EXPECT_TRUE(variant.get<String>() == String("literal"));
  auto size = variant.visit([](auto&& value) {
    if constexpr (std::is_same_v<anyffi::Bare<decltype(value)>, String>) return value.size();
    return int64_t{-1};
  });
  EXPECT_EQ(size, 7);
  EXPECT_EQ(AnyValue(variant).family(), ANYFFI_STR);
}

TEST(Variant, PrefersATypeThatNeedsNoCopy) {
  List<int64_t> list{1};
  auto variant = AnyView(list).cast<Variant<Array<int64_t>, List<int64_t>>>();
  EXPECT_EQ(variant.index(), 1);
  EXPECT_TRUE((variant.get<List<int64_t>>().same_as(list)));
  EXPECT_EQ((AnyView(list).cast<Variant<String, Array<int64_t>>>().get<Array<int64_t>>()[0]), 1);
}

TEST(Variant, TakesAMovableArgument) {
  AnyValue f = Function::from([](Variant<String, List<int64_t>> x) { return x.get<List<int64_t>>().use_count(); });
  // References of the variant and its typed copy.
  EXPECT_EQ(f(List<int64_t>{1}).cast<int64_t>(), 2);
}

TEST(Variant, MessagesNameTheExpectedTypes) {
  AnyValue f = Function::from([](const Variant<int8_t, Array<int64_t>>&) {}, anyffi::arg("x"));
  EXPECT_EQ(message_of(f, AnyValue("x")),
            "function(x: int | Array[int]) -> None: argument 0 (x): expected int | Array[int], got str");
  EXPECT_EQ(message_of(f, AnyValue(300)),
            "function(x: int | Array[int]) -> None: argument 0 (x): 300 does not fit int8");
  EXPECT_EQ(message_of(f, Array<>{AnyValue(1), AnyValue("x")}),
            "function(x: int | Array[int]) -> None: argument 0 (x), at [1]: expected int, got str");
}

// ---- shapes ----

TEST(Shape, IsAnArrayOfInts) {
  Shape shape{2, 3, 4};
  EXPECT_EQ(shape.size(), 3);
  EXPECT_EQ(shape[2], 4);
  EXPECT_EQ(shape.numel(), 24);
  EXPECT_EQ(Shape().numel(), 1);
  EXPECT_EQ((Shape{INT64_MAX, INT64_MAX, 0}).numel(), 0);
  EXPECT_RAISES("OverflowError", (Shape{INT64_MAX, 2}).numel());
  AnyValue value = shape;
  EXPECT_EQ(value.type_code(), ANYFFI_SHAPE);
  EXPECT_EQ(value.family(), ANYFFI_ARRAY);
  EXPECT_TRUE(anyffi_type_is_a(ANYFFI_SHAPE, ANYFFI_ARRAY));
  EXPECT_TRUE(anyffi_type_is_a(ANYFFI_SHAPE, ANYFFI_OBJECT));
  EXPECT_FALSE(anyffi_type_is_a(ANYFFI_SHAPE, ANYFFI_LIST));
  EXPECT_FALSE(anyffi_type_is_a(ANYFFI_ARRAY, ANYFFI_SHAPE));
  AnyValue equal = Array<int64_t>{2, 3, 4};
  EXPECT_TRUE(value == equal);
  EXPECT_TRUE(equal == value);
  EXPECT_FALSE(value == AnyValue(List<int64_t>{2, 3, 4}));
  EXPECT_EQ(value.hash(), equal.hash());
  EXPECT_EQ(value.cast<Array<int64_t>>().get(), shape.get());
  EXPECT_EQ((value.cast<Tuple<int64_t, double, int8_t>>().get<1>()), 3.0);
  EXPECT_EQ(value[-1].cast<int64_t>(), 4);
  EXPECT_EQ(value.size(), 3);
  Dict<> dict;
  dict.set(value, "found");
  EXPECT_TRUE(dict.contains(equal));
  AnyValue in_array = Array<>{value};
  EXPECT_EQ(in_array.cast<Array<Array<>>>().get(), in_array.raw().as_object);
}

TEST(Shape, TakesSequencesOfInts) {
  EXPECT_EQ(AnyView(Shape{1, 2}).cast<Shape>()[1], 2);
  EXPECT_EQ(AnyView(Array<>{AnyValue(true), AnyValue(2)}).cast<Shape>()[0], 1);
  EXPECT_EQ(AnyValue(AnyView(List<>{AnyValue(true)}).cast<Shape>())[0].type_code(), ANYFFI_INT);
  EXPECT_RAISES("TypeError", AnyView(List<>{AnyValue(1.0)}).cast<Shape>());
  EXPECT_RAISES("OverflowError", AnyView(List<>{AnyValue(power_of_two(64))}).cast<Shape>());
  EXPECT_RAISES("TypeError", AnyView(1).cast<Shape>());
  AnyValue shape, list = List<>{AnyValue(1), AnyValue("x")};
  EXPECT_RAISES("TypeError", anyffi::detail::check(anyffi_container_copy(&list.raw(), ANYFFI_SHAPE, shape.out())));
  list.cast<List<>>().set(1, 5);
  anyffi::detail::check(anyffi_container_convert(list.out(), ANYFFI_SHAPE, shape.out()));
  EXPECT_EQ(shape.cast<Shape>()[1], 5);
  AnyValue made = Function::get_global("anyffi.Shape")(Array<int64_t>{7});
  EXPECT_TRUE(made.type_code() == ANYFFI_SHAPE && made == AnyValue(Shape{7}));
  AnyValue copy = Function::get_global("anyffi.container.freeze")(shape);
  EXPECT_EQ(copy.type_code(), ANYFFI_SHAPE);
  EXPECT_EQ(Function::get_global("anyffi.container.thaw")(shape).type_code(), ANYFFI_LIST);
}

// ---- numbers ----

TEST(BigInt, HoldsIntegersOfAnySize) {
  for (int64_t number : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    BigInt big = number;
    EXPECT_TRUE(big.fits_int64());
    EXPECT_EQ(big.to_int64(), number);
    EXPECT_EQ(big.negative(), number < 0);
    EXPECT_EQ(AnyValue(big).type_code(), ANYFFI_INT);
  }
  EXPECT_EQ(BigInt(INT64_MIN).word(0), uint64_t{1} << 63);
  EXPECT_EQ(BigInt(0).size(), 0);
  EXPECT_EQ(AnyValue(BigInt(true)).type_code(), ANYFFI_INT);
  BigInt large = UINT64_MAX;
  EXPECT_FALSE(large.fits_int64());
  EXPECT_EQ(large.word(0), UINT64_MAX);
  EXPECT_EQ(large.word(1), 0u);
  EXPECT_RAISES("OverflowError", large.to_int64());
  EXPECT_EQ(large.to_double(), 0x1p64);
  EXPECT_RAISES("OverflowError", power_of_two(1100).to_double());
  EXPECT_EQ(AnyValue(power_of_two(70)).cast<BigInt>().word(1), 64u);
  EXPECT_EQ(AnyView(true).cast<BigInt>().to_int64(), 1);
  EXPECT_RAISES("TypeError", AnyView(1.0).cast<BigInt>());
  EXPECT_EQ(AnyView(List<>{AnyValue(1), AnyValue(power_of_two(64))}).cast<Array<BigInt>>()[1].size(), 2);
}

TEST(BigInt, IsOrdered) {
  const BigInt ordered[] = {power_of_two(130, true), power_of_two(64, true), INT64_MIN, -1, 0, 1, INT64_MAX, UINT64_MAX,
                            power_of_two(64),        power_of_two(65)};
  constexpr int kCount = sizeof(ordered) / sizeof(ordered[0]);
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kCount; ++j) {
      EXPECT_EQ(ordered[i] < ordered[j], i < j) << i << " " << j;
      EXPECT_EQ(ordered[i] == ordered[j], i == j);
      EXPECT_EQ(ordered[i] >= ordered[j], i >= j);
    }
  }
}

TEST(Complex, TakesEveryNumber) {
  using Complex = std::complex<double>;
  EXPECT_EQ(AnyValue(Complex(1, -2)).cast<Complex>(), Complex(1, -2));
  EXPECT_EQ(AnyValue(Complex(1, 0)).type_code(), ANYFFI_COMPLEX);
  EXPECT_EQ(AnyView(1).cast<Complex>(), Complex(1, 0));
  EXPECT_EQ(AnyView(true).cast<Complex>(), Complex(1, 0));
  EXPECT_EQ(AnyView(2.5).cast<Complex>(), Complex(2.5, 0));
  EXPECT_EQ(AnyValue(power_of_two(64)).cast<Complex>(), Complex(0x1p64, 0));
  EXPECT_RAISES("OverflowError", AnyValue(power_of_two(1100)).cast<Complex>());
  EXPECT_RAISES("TypeError", AnyValue("1j").cast<Complex>());
  Complex signed_zero = AnyValue(Complex(-0.0, -0.0)).cast<Complex>();
  EXPECT_TRUE(std::signbit(signed_zero.real()) && std::signbit(signed_zero.imag()));
  EXPECT_TRUE(std::isnan(AnyValue(Complex(0, NAN)).cast<Complex>().imag()));
  EXPECT_EQ(AnyView(List<>{AnyValue(1), AnyValue(Complex(0, 1))}).cast<Array<Complex>>()[1], Complex(0, 1));
}

TEST(Complex, NarrowTypesRefuseOverflow) {
  using Complex = std::complex<float>;
  EXPECT_EQ(AnyValue(std::complex<double>(1, 2)).cast<Complex>(), Complex(1, 2));
  EXPECT_RAISES("OverflowError", AnyValue(std::complex<double>(1, 1e300)).cast<Complex>());
  EXPECT_RAISES("OverflowError", AnyView(1e300).cast<Complex>());
  EXPECT_TRUE(std::isinf(AnyView(std::numeric_limits<double>::infinity()).cast<Complex>().real()));
  AnyValue f = Function::from([](const Array<Complex>&) {}, anyffi::arg("x"));
  EXPECT_EQ(message_of(f, List<>{AnyValue(std::complex<double>(1, 1e300))}),
            "function(x: Array[complex]) -> None: argument 0 (x), at [0]: (1+1e+300j) does not fit complex64");
  EXPECT_EQ(message_of(f, List<>{AnyValue("x")}),
            "function(x: Array[complex]) -> None: argument 0 (x), at [0]: expected complex, got str");
}

// ---- memory ----

TEST(Typed, FailedAllocationsLeakNothing) {
  expect_no_leak([] {
    AnyValue nested = List<>{List<>{AnyValue(1)}, Array<>{AnyValue(2)}, List<>{AnyValue(3)}};
    nested.cast<Array<Array<int64_t>>>();
    AnyValue f = Function::from([](const Array<Array<int64_t>>& x) { return x; });
    f(List<>{AnyValue(List<>{AnyValue(1)})});
  });
  expect_no_leak([] {
    Dict<> dict;
    for (int64_t i = 0; i < 12; ++i) dict.set(i, List<int64_t>{i});
    AnyView(dict).cast<Map<int64_t, Array<int64_t>>>();
  });
  expect_no_leak([] {
    Tuple<String, List<int64_t>> tuple("a string that is on the heap", List<int64_t>{1});
    AnyValue(tuple).cast<Tuple<String, Array<int64_t>>>();
  });
  expect_no_leak([] {
    Variant<int64_t, String> variant = "a string that is on the heap";
    AnyView(List<>{AnyValue(1)}).cast<Variant<Array<int64_t>, List<String>>>();
    AnyView(List<>{AnyValue(1)}).cast<Array<Variant<Array<int64_t>, int64_t>>>();
  });
  expect_no_leak([] {
    AnyView(List<>{AnyValue(1), AnyValue(true)}).cast<Shape>();
    Shape shape{1, 2, 3};
  });
  expect_no_leak([] {
    BigInt number = power_of_two(200);
    AnyValue(std::complex<double>(1, 2)).cast<std::complex<double>>();
    AnyView(List<>{AnyValue(number)}).cast<Array<BigInt>>();
  });
  expect_no_leak([] {
    AnyPad<2> pad = "text that is too long for the pad";
    AnyPad<2> copy = pad;
    copy = "other text that is too long for it";
    AnyPad<8> wide = "\u4e2d\u6587 of two bytes each";
  });
}
