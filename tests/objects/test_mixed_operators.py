"""Operators between an object and an operand of another type, and methods whose parameters have no names."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Callable
from typing import Any

import pytest
from support import Build, compiles_classes

pytestmark = compiles_classes

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/string.h>

struct Span { int64_t size = 1; };
struct Length {
  double meters = 0;
  Length operator*(double by) const { return {meters * by}; }
  Length operator*(const Length& by) const { return {meters * by.meters}; }
  Length operator+(const Length& by) const { return {meters + by.meters}; }
  Length& operator*=(double by) { return meters *= by, *this; }
  Length operator-(double by) const { return {meters - by}; }
  bool operator<(double by) const { return meters < by; }
  bool operator==(double by) const { return meters == by; }
  Length operator/(const Span& by) const { return {meters / by.size}; }
  friend Length operator*(double by, const Length& a) { return {by * a.meters + 1000}; }
  friend Length operator-(double by, const Length& a) { return {by - a.meters}; }
  friend std::string operator+(const std::string& text, const Length& a) {
    return text + std::to_string(int(a.meters));
  }
  int get() const& { return 1; }
  int get() & { return 2; }
  int get() && { return 3; }
  int move(int by) & noexcept { return by; }
  int move() const& noexcept { return 0; }
  int same() const noexcept { return 4; }
  int same() noexcept { return 5; }
};

using anyffi::arg;
using anyffi::const_;
using anyffi::overload_cast;
namespace ops = anyffi::ops;

ANYFFI_CLASS(Span, "mixed.Span").init<int64_t>(arg("size"));
ANYFFI_CLASS(Length, "mixed.Length")
    .init<double>(arg("meters"))
    .field("meters", &Length::meters)
    .op<double>(ops::mul)
    .op(ops::mul)
    .op(ops::add, arg("more"))
    .op<double>(ops::rmul, arg("by"))
    .op<const double&>(ops::imul)
    .op<double>(ops::sub)
    .op<double>(ops::rsub).doc("What is left of a number.")
    .op<double>(ops::lt)
    .op<double>(ops::eq)
    .op<Span>(ops::truediv)
    .op<std::string>(ops::radd)
    .method("get", overload_cast<>(&Length::get, const_))
    .method("get_mutable", overload_cast<>(&Length::get))
    .method("move", overload_cast<int>(&Length::move))
    .method("move", overload_cast<>(&Length::move, const_))
    .method("same", overload_cast<>(&Length::same, const_))
    .method("same_mutable", overload_cast<>(&Length::same))
    .method("on", [](const Length&, const Span&, int64_t x) { return x; })
    .method("on_one", [](const Length&, int64_t x) { return x; })
    .method("either", [](const Length&, int64_t x) { return x; })
    .method("either", [](const Length&, const std::string&, const std::string& x) { return x; })
    .method("any", [](const Length&, const anyffi::AnyValue& x) { return x; })
    .static_method("apart", [](int64_t x, int64_t y) { return x + y; });
"""


@pytest.fixture(scope="module")
def mixed(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("mixed_operators.cc", SOURCE))


def test_operators_with_an_operand_of_another_type(mixed: Any) -> None:
    length = mixed.Length(2)
    assert ((length * 3).meters, (length * mixed.Length(4)).meters, (3 * length).meters) == (6, 8, 1006)
    assert ((length - 0.5).meters, (0.5 - length).meters) == (1.5, -1.5)
    assert (length < 3, 3 > length, length < 2, length == 2, 2.0 == length) == (True, True, False, True, True)
    assert (length / mixed.Span(4)).meters == 0.5
    assert (length + length).meters == 4
    assert "m" + length == "m2"
    before = length
    length *= 4
    assert length is before
    assert length.meters == 8


def test_operands_that_an_operator_does_not_take(mixed: Any) -> None:
    length = mixed.Length(2)
    computations: list[Callable[[], Any]] = [
        lambda: length - "x",
        lambda: [] - length,
        lambda: length / 2,
        lambda: length < "x",
    ]
    for compute in computations:
        with pytest.raises(TypeError, match=r"unsupported operand|not supported between"):
            compute()
    assert (length == "x") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        length *= "x"


def test_an_operator_of_objects_takes_nothing_else(mixed: Any) -> None:
    class Own(mixed.Length):  # type: ignore[misc, name-defined]
        pass

    class Foreign:
        def __rtruediv__(self, other: object) -> str:
            return "foreign"

    for length in (mixed.Length(2), Own(2)):
        for operand in (
            None,
            ...,
            True,
            2,
            2**70,
            0.5,
            "x",
            "a text that is not short",
            b"x",
            [],
            (),
            {},
            length,
            Own,
        ):
            with pytest.raises(TypeError, match="unsupported operand"):
                length / operand
            assert type(length).__truediv__(length, operand) is NotImplemented
        assert length / Foreign() == "foreign"
        assert (length / mixed.Span(4)).meters == 0.5


def test_signatures_of_operators(mixed: Any) -> None:
    cls = mixed.Length
    assert str(inspect.signature(cls.__sub__)) == "(self, other: 'float') -> 'mixed.Length'"
    assert str(inspect.signature(cls.__add__)) == "(self, more: 'mixed.Length') -> 'mixed.Length'"
    assert str(inspect.signature(cls.__rmul__)) == "(self, by: 'float') -> 'mixed.Length'"
    assert cls.__rsub__.__doc__.endswith("What is left of a number.")


def test_overloads_by_the_kind_of_their_object(mixed: Any) -> None:
    length = mixed.Length(1)
    assert (length.get(), length.get_mutable()) == (1, 2)
    assert (length.move(7), length.move(), length.same(), length.same_mutable()) == (7, 0, 4, 5)


# ---- parameters without names ----


def test_the_object_of_a_method_without_names_is_self(mixed: Any) -> None:
    cls, length = mixed.Length, mixed.Length(1)
    assert str(inspect.signature(cls.on)) == "(self, arg0: 'mixed.Span', arg1: 'int', /) -> 'int'"
    assert str(inspect.signature(length.on_one)) == "(arg0: 'int', /) -> 'int'"
    # Python 3.14 shows annotations without quotes.
    shown = pydoc.plain(pydoc.render_doc(cls)).replace("'", "")
    assert "on(self, arg0: mixed.Span, arg1: int, /) -> int" in shown
    assert str(inspect.signature(cls.apart)) == "(arg0: 'int', arg1: 'int', /) -> 'int'"
    overloaded: Any = inspect.signature(cls.either)
    assert [str(one) for one in overloaded.all] == [
        "(self, arg0: 'int', /) -> 'int'",
        "(self, arg0: 'str', arg1: 'str', /) -> 'str'",
    ]


def test_errors_count_the_arguments_behind_self(mixed: Any) -> None:
    length, span = mixed.Length(1), mixed.Span(1)
    for arguments, message in (
        ((span, "x"), "argument 2 (arg1): expected int, got str"),
        ((1, 2), "argument 1 (arg0): expected mixed.Span, got int"),
    ):
        with pytest.raises(TypeError) as caught:
            length.on(*arguments)
        signature = "on(self: mixed.Length, arg0: mixed.Span, arg1: int) -> int"
        assert str(caught.value) == f"{signature}: {message}"
    with pytest.raises(TypeError) as caught:
        length.on(span)
    assert str(caught.value) == "on() missing 1 required positional argument: 'arg1'"
    with pytest.raises(TypeError) as caught:
        length.on()
    assert str(caught.value) == "on() missing 2 required positional arguments: 'arg0' and 'arg1'"
    with pytest.raises(TypeError, match=re.escape("on() takes no keyword arguments")):
        length.on(span, self=length)
    with pytest.raises(TypeError) as caught:
        length.either("x")
    assert "either(self: mixed.Length, arg0: int) -> int: argument 1 (arg0): expected int" in str(
        caught.value
    )
    assert "either(self: mixed.Length, arg0: str, arg1: str) -> str: either() missing 1" in str(caught.value)
    with pytest.raises(TypeError, match=re.escape("argument 0 (arg0)")):
        mixed.Length.apart("x", 1)
    with pytest.raises(
        ValueError, match=r"any\(self: mixed\.Length, arg0: Any\) -> Any: argument 1 \(arg0\)"
    ):
        length.any({float("nan"), float("nan")})
