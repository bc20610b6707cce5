"""Members of enumerations as arguments: those of another one are refused, and variants hold the enumeration."""

from __future__ import annotations

import enum
import inspect
import re
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/string.h>
#include <anyffi/stl/variant.h>
#include <anyffi/stl/vector.h>

#include <optional>
#include <string>
#include <variant>

namespace paint {
enum class Color : int8_t { kRed, kBlue, kDark = -7 };
enum class Shape { kRound, kSquare };
enum Finish : uint64_t { kMatt = 1, kThick = 2, kTop = uint64_t{1} << 63 };
struct Tint {
  Color color;
};
struct Brush {
  explicit Brush(Color color = Color::kBlue, int64_t size = 1) : color(color), size(size) {}
  Color paint(Color other) const { return other; }
  Color color;
  int64_t size;
  std::optional<Color> second;
  std::variant<Color, int64_t> either = int64_t{3};
  anyffi::AnyValue any;
};
}  // namespace paint

using anyffi::arg;
using paint::Brush;
using paint::Color;
using paint::Finish;
using paint::Shape;

ANYFFI_ENUM(Color, "paint.Color")
    .value("RED", Color::kRed)
    .value("BLUE", Color::kBlue)
    .value("DARK", Color::kDark);
ANYFFI_ENUM(Shape, "paint.Shape").value("ROUND", Shape::kRound).value("SQUARE", Shape::kSquare);
ANYFFI_ENUM(Finish, "paint.Finish")
    .flags()
    .value("MATT", Finish::kMatt)
    .value("THICK", Finish::kThick)
    .value("TOP", Finish::kTop);
ANYFFI_CLASS(Brush, "paint.Brush")
    .init<Color, int64_t>(arg("color") = Color::kBlue, arg("size") = 1)
    .method("paint", &Brush::paint, arg("other"))
    .property("hue", [](const Brush& brush) { return brush.color; }, [](Brush& brush, Color hue) { brush.color = hue; })
    .op(anyffi::ops::add, [](const Brush& brush, Color color) { return Brush(color, brush.size + 1); })
    .field("color", &Brush::color)
    .field("second", &Brush::second)
    .field("either", &Brush::either)
    .field("any", &Brush::any);

template <>
struct anyffi::Traits<paint::Tint> : anyffi::TraitsVia<paint::Tint, Color> {
  static paint::Tint from(Color color) { return {color}; }
  static Color to(const paint::Tint& tint) { return tint.color; }
};

std::string describe(Color color) { return "color " + std::to_string(static_cast<int>(color)); }
std::string describe(Shape shape) { return "shape " + std::to_string(static_cast<int>(shape)); }
std::string describe(int64_t number) { return "int " + std::to_string(number); }
std::string describe(double number) { return "float " + std::to_string(static_cast<int>(number)); }
std::string describe(bool flag) { return flag ? "true" : "false"; }
std::string describe(const std::string& text) { return "text " + text; }
std::string describe(const anyffi::AnyValue& x) { return x.type_code() == ANYFFI_INT ? "any int" : "any"; }

struct Describe {
  template <class T>
  std::string operator()(const T& x) const {
    return describe(x);
  }
  template <class T>
  std::string operator()(const std::optional<T>& x) const {
    return x ? "maybe " + (*this)(*x) : "none";
  }
  template <class T>
  std::string operator()(const anyffi::Optional<T>& x) const {
    return x ? "Maybe " + (*this)(*x) : "none";
  }
  template <class... Ts>
  std::string operator()(const std::variant<Ts...>& x) const {
    return std::visit(*this, x);
  }
  template <class... Ts>
  std::string operator()(const anyffi::Variant<Ts...>& x) const {
    return x.visit(*this);
  }
  std::string operator()(const paint::Tint& tint) const { return describe(tint.color); }
};
template <class T>
std::string take(T x) {
  return Describe()(x);
}

ANYFFI_EXPORT(plain, &take<Color>, arg("color"));
ANYFFI_EXPORT(with_default, &take<Color>, arg("color") = Color::kDark);
ANYFFI_EXPORT(unlocked, &take<Color>, arg("color")).release_gil();
ANYFFI_EXPORT(number, [](Color color) { return static_cast<int64_t>(color); }, arg("color"));
ANYFFI_EXPORT(finish, [](Finish finish) { return finish; }, arg("finish"));
ANYFFI_EXPORT(maybe, &take<std::optional<Color>>, arg("color") = std::nullopt);
ANYFFI_EXPORT(own_maybe, &take<anyffi::Optional<Color>>, arg("color"));
ANYFFI_EXPORT(tint, &take<paint::Tint>, arg("tint"));
ANYFFI_EXPORT(named, [](const std::string& text, Color color, Shape shape) {
  return text + ' ' + describe(color) + ' ' + describe(shape);
}, arg("text"), arg("color") = Color::kDark, arg("shape") = Shape::kSquare);
ANYFFI_EXPORT(only, [](Color color, Shape shape) { return describe(color) + ' ' + describe(shape); },
              arg("color"), anyffi::kw_only(), arg("shape") = Shape::kRound);
ANYFFI_EXPORT(beside, [](const std::vector<int64_t>& numbers, Color color, int64_t x) {
  return describe(color) + ' ' + std::to_string(numbers.size() + static_cast<size_t>(x));
}, arg("numbers"), arg("color"), arg("x") = 0);
ANYFFI_EXPORT(elements, [](std::vector<Color> all) { return all; }, arg("all"));
ANYFFI_EXPORT(many, [](Color a, Color b, Color c, Color d, Color e, Color f, Color g, Color h, Color i) {
  return describe(a) + describe(b) + describe(c) + describe(d) + describe(e) + describe(f) + describe(g) + describe(h) +
         describe(i);
}, arg("a"), arg("b"), arg("c"), arg("d"), arg("e"), arg("f"), arg("g"), arg("h"), arg("i"));

ANYFFI_EXPORT(text_or_default, &take<std::variant<std::string, Shape, Color>>, arg("x") = Color::kDark);
ANYFFI_EXPORT(maybe_default, &take<std::optional<Color>>, arg("x") = Color::kDark);
ANYFFI_EXPORT(int_default, &take<std::variant<Color, int64_t>>, arg("x") = 1);
ANYFFI_EXPORT(color_or_int, &take<std::variant<Color, int64_t>>, arg("x"));
ANYFFI_EXPORT(int_or_color, &take<std::variant<int64_t, Color>>, arg("x"));
ANYFFI_EXPORT(float_or_color_or_int, &take<std::variant<double, Color, int64_t>>, arg("x"));
ANYFFI_EXPORT(bool_or_color_or_int, &take<std::variant<bool, Color, int64_t>>, arg("x"));
ANYFFI_EXPORT(text_or_two, &take<std::variant<std::string, Shape, Color>>, arg("x"));
ANYFFI_EXPORT(any_or_color, &take<std::variant<anyffi::AnyValue, Color>>, arg("x"));
ANYFFI_EXPORT(color_or_any, [](const std::variant<Color, anyffi::AnyValue>& x) { return x; }, arg("x"));
ANYFFI_EXPORT(own_color_or_int, &take<anyffi::Variant<Color, int64_t>>, arg("x"));
ANYFFI_EXPORT(own_int_or_color, &take<anyffi::Variant<int64_t, Color>>, arg("x"));
ANYFFI_EXPORT(maybe_either, &take<std::optional<std::variant<int64_t, Color>>>, arg("x") = std::nullopt);
ANYFFI_EXPORT(own_maybe_either, &take<anyffi::Optional<anyffi::Variant<int64_t, Color>>>, arg("x"));
ANYFFI_EXPORT(nested, &take<std::variant<int64_t, std::optional<Color>>>, arg("x"));
ANYFFI_EXPORT(either_with_text, [](const std::variant<Color, int64_t>& x, const std::string& text) {
  return Describe()(x) + ' ' + text;
}, arg("x"), arg("text") = "");
ANYFFI_EXPORT(same, [](const std::variant<Color, int64_t>& x) { return x; }, arg("x"));

ANYFFI_EXPORT(color_else_text, &take<Color>, arg("x")).def(&take<std::string>, arg("x"));
ANYFFI_EXPORT(color_else_int, &take<Color>, arg("x")).def(&take<int64_t>, arg("x"));
ANYFFI_EXPORT(maybe_else_int, &take<std::optional<Color>>, arg("x")).def(&take<int64_t>, arg("x"));
ANYFFI_EXPORT(either_else_text, &take<std::variant<int64_t, Color>>, arg("x")).def(&take<std::string>, arg("text"));
"""


@pytest.fixture
def paint(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("enum_arguments.cc", SOURCE))


class Own(enum.IntEnum):
    ONE = 1


def _call_both(f: Any, x: Any) -> str:
    """Return the outcome of passing an argument by position and by name."""
    name = "x" if f.__name__.endswith(("_else_int", "_or_text")) else next(iter(f.__signature__.parameters))
    said = []
    for call in (f, lambda x: f(**{name: x})):
        try:
            said.append(str(call(x)))
        except (TypeError, ValueError) as exception:
            said.append(f"{type(exception).__name__}: {exception}")
    assert said[0] == said[1]
    return said[0]


@pytest.mark.parametrize(
    "name", ["plain", "with_default", "unlocked", "number", "maybe", "own_maybe", "tint"]
)
def test_members_of_another_enumeration_are_refused(paint: Any, name: str) -> None:
    f, color = getattr(paint, name), paint.Color
    before = [_call_both(f, x) for x in (0, 1, -7, True)]
    assert before == [_call_both(f, x) for x in (color.RED, color.BLUE, color.DARK, Own.ONE)]
    param = next(iter(f.__signature__.parameters))
    wanted = "paint.Color | None" if "maybe" in name else "paint.Color"
    for x, shown in [
        (paint.Shape.SQUARE, "paint.Shape.SQUARE"),
        (paint.Finish.MATT, "paint.Finish.MATT"),
        (paint.Finish(0), "paint.Finish(0)"),
    ]:
        message = _call_both(f, x)
        assert message.startswith(f"TypeError: {name}({param}: {wanted}")
        assert message.endswith(f": argument 0 ({param}): expected {wanted}, got {shown}")
    assert [_call_both(f, x) for x in (0, 1, -7, True)] == before
    assert "expected a member of paint.Color, got 9" in _call_both(f, 9)


def test_flags(paint: Any) -> None:
    finish = paint.Finish
    for x in (finish.MATT, finish.TOP, finish.MATT | finish.THICK, finish(0), finish.TOP | finish.MATT):
        assert paint.finish(x) is x
        assert paint.finish(finish=int(x)) is x
    message = "expected paint.Finish, got paint.Color.BLUE"
    assert message in _call_both(paint.finish, paint.Color.BLUE)
    with pytest.raises(OverflowError, match="-7 does not fit uint64"):
        paint.finish(-7)


def test_among_other_arguments(paint: Any) -> None:
    color, shape = paint.Color, paint.Shape
    long = "text that is too long to be inline " * 30
    for text in ("a", "é", long):
        assert paint.named(text, color.RED) == f"{text} color 0 shape 1"
        assert paint.named(shape=shape.ROUND, text=text) == f"{text} color -7 shape 0"
        for call in (
            lambda text=text: paint.named(text, shape.SQUARE, shape.ROUND),
            lambda text=text: paint.named(shape=shape.ROUND, color=shape.SQUARE, text=text),
        ):
            with pytest.raises(
                TypeError, match=r"argument 1 \(color\): expected paint.Color, got paint.Shape.SQUARE"
            ):
                call()
    assert paint.only(color.BLUE, shape=shape.SQUARE) == "color 1 shape 1"
    with pytest.raises(TypeError, match=r"argument 1 \(shape\): expected paint.Shape, got paint.Color.BLUE"):
        paint.only(color.BLUE, shape=color.BLUE)
    assert paint.beside([1, 2], color.BLUE, color.BLUE) == "color 1 3"
    assert paint.beside(x=color.BLUE, color=color.BLUE, numbers=(1,)) == "color 1 2"
    for numbers in ([1], (1,), range(3)):
        with pytest.raises(
            TypeError, match=r"argument 1 \(color\): expected paint.Color, got paint.Shape.ROUND"
        ):
            paint.beside(numbers, shape.ROUND)
    assert paint.many(*[color.BLUE] * 9) == "color 1" * 9
    with pytest.raises(TypeError, match=r"argument 8 \(i\): expected paint.Color, got paint.Shape.ROUND"):
        paint.many(*[color.BLUE] * 8, shape.ROUND)


def test_methods(paint: Any) -> None:
    color, brush = paint.Color, paint.Brush()
    assert (paint.Brush(color.RED).color, paint.Brush(size=2, color=color.DARK).color) == (
        color.RED,
        color.DARK,
    )
    assert (brush.paint(color.RED), (brush + color.DARK).color) == (color.RED, color.DARK)

    class Derived(paint.Brush):  # type: ignore[misc]
        def __init__(self, x: Any) -> None:
            super().__init__(x)

    assert Derived(color.RED).color is color.RED
    square = paint.Shape.SQUARE
    for call in (
        paint.Brush,
        Derived,
        lambda x: paint.Brush(size=2, color=x),
        brush.paint,
        lambda x: brush.paint(other=x),
        lambda x: setattr(brush, "hue", x),
    ):
        with pytest.raises(TypeError, match=r": expected paint\.Color, got paint\.Shape\.SQUARE$"):
            call(square)
    with pytest.raises(TypeError, match="unsupported operand"):
        brush + square
    assert brush.color is color.BLUE


def test_fields(paint: Any) -> None:
    color, square, brush = paint.Color, paint.Shape.SQUARE, paint.Brush()
    for name in ("color", "second", "hue"):
        for x in (color.RED, 1, True, Own.ONE):
            setattr(brush, name, x)
            assert getattr(brush, name) is color(x)
        wanted = "paint.Color | None" if name == "second" else "paint.Color"
        for _ in range(2):
            with pytest.raises(
                TypeError, match=rf": expected {re.escape(wanted)}, got paint\.Shape\.SQUARE$"
            ) as caught:
                setattr(brush, name, square)
            assert name == "hue" or str(caught.value).startswith(f"paint.Brush.{name}: ")
        assert getattr(brush, name) is color.BLUE
    brush.second = None
    assert brush.second is None
    for x in (color.BLUE, 1, square, paint.Finish.TOP):
        brush.any = x
        assert type(brush.any) is int
        assert brush.any == x
    assert brush.either == 3
    brush.either = color.BLUE
    assert brush.either is color.BLUE
    for x in (1, square):
        brush.either = x
        assert type(brush.either) is int


def test_variants_hold_the_enumeration(paint: Any) -> None:
    color, shape = paint.Color, paint.Shape
    given = [color.BLUE, 1, True, shape.SQUARE, Own.ONE, 2**40]
    small = ["color 1", "int 1", "int 1", "int 1", "int 1", f"int {2**40}"]
    for name in (
        "color_or_int",
        "int_or_color",
        "own_color_or_int",
        "own_int_or_color",
        "float_or_color_or_int",
    ):
        assert [_call_both(getattr(paint, name), x) for x in given] == small
    for prefix, name in (("maybe ", "maybe_either"), ("Maybe ", "own_maybe_either")):
        assert [_call_both(getattr(paint, name), x) for x in given] == [prefix + each for each in small]
        assert _call_both(getattr(paint, name), None) == "none"
    assert [_call_both(paint.nested, x) for x in (*given, None)] == ["maybe color 1", *small[1:], "none"]
    flags = [_call_both(paint.bool_or_color_or_int, x) for x in given]
    assert flags == ["color 1", "int 1", "true", "int 1", "int 1", f"int {2**40}"]
    two = [_call_both(paint.text_or_two, x) for x in (color.BLUE, shape.SQUARE, "a", color.DARK, -7)]
    assert two == ["color 1", "shape 1", "text a", "color -7", "color -7"]
    assert "expected str | paint.Shape | paint.Color, got paint.Finish.MATT" in _call_both(
        paint.text_or_two, paint.Finish.MATT
    )
    assert [_call_both(paint.any_or_color, x) for x in (color.RED, 0, shape.SQUARE)] == [
        "color 0",
        "any int",
        "any int",
    ]
    assert paint.either_with_text(text="a" * 50, x=color.RED) == "color 0 " + "a" * 50
    assert paint.same(color.BLUE) is color.BLUE
    assert type(paint.same(1)) is int


def test_defaults_show_the_member(paint: Any) -> None:
    assert [f() for f in (paint.text_or_default, paint.maybe_default, paint.int_default)] == [
        "color -7",
        "maybe color -7",
        "int 1",
    ]
    shown = []
    for function in (paint.with_default, paint.text_or_default, paint.maybe_default, paint.int_default):
        with pytest.raises(TypeError) as caught:
            function(2.5)
        shown.append(str(caught.value).partition(" -> ")[0])
    assert shown == [
        "with_default(color: paint.Color = Color.DARK)",
        "text_or_default(x: str | paint.Shape | paint.Color = Color.DARK)",
        "maybe_default(x: paint.Color | None = Color.DARK)",
        "int_default(x: paint.Color | int = 1)",
    ]
    defaults = [
        inspect.signature(f).parameters["x"].default for f in (paint.text_or_default, paint.int_default)
    ]
    assert defaults == [paint.Color.DARK, 1]
    assert [type(x) for x in defaults] == [paint.Color, int]


def test_what_keeps_a_value_keeps_an_int(paint: Any) -> None:
    assert paint.color_or_any(paint.Color.BLUE) is paint.Color.BLUE
    kept = paint.color_or_any(paint.Shape.SQUARE)
    assert type(kept) is int
    assert {1: "found"}[kept] == "found"
    assert paint.elements([paint.Color.BLUE, 0, paint.Shape.SQUARE]) == [1, 0, 1]


def test_overloads_agree(paint: Any) -> None:
    color, square = paint.Color, paint.Shape.SQUARE
    given = (color.RED, 1, square)
    assert [_call_both(paint.color_else_int, x) for x in given] == ["color 0", "int 1", "int 1"]
    assert [_call_both(paint.maybe_else_int, x) for x in given] == ["maybe color 0", "int 1", "int 1"]
    for call in (paint.either_else_text, lambda x: paint.either_else_text(x=x)):
        assert [call(x) for x in given] == ["color 0", "int 1", "int 1"]
    assert [paint.color_else_text(x) for x in (color.RED, 1, "a")] == ["color 0", "color 1", "text a"]
    for call, given_as in ((paint.color_else_text, ""), (lambda x: paint.color_else_text(x=x), "x=")):
        with pytest.raises(TypeError) as caught:
            call(square)
        assert str(caught.value).splitlines() == [
            f"color_else_text(): no overload takes ({given_as}Shape)",
            "    color_else_text(x: paint.Color) -> str: argument 0 (x): expected paint.Color, got paint.Shape.SQUARE",
            "    color_else_text(x: str) -> str: argument 0 (x): expected str, got int",
        ]
