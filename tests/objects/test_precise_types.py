"""Annotations that say as much as the C++ does: pointers that are never null, the parameters of callbacks."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from precise_sources import PRECISE
from programs import stubgen
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def desk(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("desk.cc", PRECISE))


def signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


def test_pointers_that_are_never_null_are_objects(desk: Any) -> None:
    one = desk.Desk(["red", "blue"])
    for function, shown in (
        (desk.Desk.first, "(self) -> desk.Pen"),
        (desk.Desk.find, "(self, ink: str) -> desk.Pen"),
        (desk.Desk.find_or_none, "(self, ink: str) -> desk.Pen | None"),
        (desk.Desk.all, "(self) -> list[desk.Pen]"),
        (desk.share, "() -> desk.Pen"),
        (desk.make, "(is_there: bool = True) -> desk.Pen"),
        (desk.keep, "(pen: desk.Pen) -> None"),
        (desk.inks, "(pens: Sequence[desk.Pen]) -> str"),
        (desk.take, "(pen: desk.Pen) -> str"),
    ):
        assert signature(function) == shown
    assert desk.Desk.last.type_name == "desk.Pen"
    assert one.first() is one.find("red") is one.all()[0]
    assert one.last is one.all()[1]
    one.first().ink = "green"
    assert one.find("green") is one.first()
    pen = desk.Pen("black")
    desk.keep(pen)
    assert desk.share() is pen
    desk.drop()
    assert desk.make().ink == "new"
    assert desk.ink(pen) + desk.ink(pen=one.last) == "blackblue"
    assert desk.inks([pen, desk.make()]) == "blacknew"


def test_null_pointers_are_errors(desk: Any) -> None:
    words = "^a pointer is null that is declared as one that never is$"
    for call in (
        desk.Desk([]).first,
        lambda: desk.Desk([]).last,
        lambda: desk.Desk(["red"]).find("blue"),
        desk.share,
        lambda: desk.make(is_there=False),
        lambda: desk.Pen(""),
        lambda: desk.Pen(0),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert desk.Desk(["red"]).find_or_none("blue") is None


@pytest.mark.parametrize("name", ["keep", "ink", "take"])
def test_parameters_refuse_none(desk: Any, name: str) -> None:
    for bad, got in ((None, "NoneType"), (5, "int")):
        with pytest.raises(TypeError, match=rf"\(pen\): expected desk\.Pen, got {got}$"):
            getattr(desk, name)(bad)


def test_elements_refuse_none(desk: Any) -> None:
    with pytest.raises(TypeError, match=r"\(pens\), at \[1\]: expected desk\.Pen, got NoneType$"):
        desk.inks([desk.Pen("red"), None])


def test_constructors_by_pointers(desk: Any) -> None:
    assert [desk.Pen("red").ink, desk.Pen(7).ink, desk.Pen(x=0.5).ink] == ["red", "7", "0.500000"]
    shown = [str(each).replace("'", "") for each in inspect.signature(desk.Pen).all]
    assert shown == ["(ink: str) -> None", "(number: int) -> None", "(x: float) -> None"]


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy refers to each object more than once")
def test_an_object_is_taken(desk: Any) -> None:
    pen = desk.make()
    assert desk.take(pen) == "new"
    with pytest.raises(ValueError, match="C\\+\\+ took the object"):
        pen.ink


def test_functions_say_what_they_take(desk: Any) -> None:
    for function, shown in (
        (desk.each, "(f: Callable[[int, list[float]], None]) -> None"),
        (desk.choose, "(f: Callable[[desk.Pen], Sequence[float]]) -> int"),
        (desk.adder, "(x: float) -> Callable[[Sequence[float]], float]"),
        (desk.twice, "(f: Callable[[], Callable[[int], int]]) -> int"),
        (desk.maybe, "(fs: Mapping[str, Callable[[], Any]]) -> list[Callable[[], Any]]"),
    ):
        assert signature(function) == shown
    assert desk.choose(lambda pen: [1.0] * len(pen.ink)) == 3
    assert desk.adder(1)([2]) == 3
    assert desk.twice(lambda: lambda x: x * 4) == 8
    assert [f() for f in desk.maybe({"a": lambda: 1})] == [1]


def test_what_is_no_function_is_refused(desk: Any) -> None:
    words = r"\(f\): expected Callable\[\[int, list\[float\]\], None\], got int$"
    with pytest.raises(TypeError, match=words):
        desk.each(5)
    with pytest.raises(TypeError, match=r"at \[\"a\"\]: expected Callable\[\[\], Any\], got NoneType$"):
        desk.maybe({"a": None})


def test_stubs(desk: Any) -> None:
    text = stubgen(desk.__file__)
    for line in (
        "    def first(self) -> Pen: ...",
        "    def find_or_none(self, ink: str) -> Pen | None: ...",
        "    def all(self) -> list[Pen]: ...",
        "    def last(self) -> Pen: ...",
        "def keep(pen: Pen) -> None: ...",
        "def make(is_there: bool = True) -> Pen: ...",
        # The callback's result is ignored.
        "def each(f: Callable[[int, list[float]], object]) -> None: ...",
        "def choose(f: Callable[[Pen], Sequence[float]]) -> int: ...",
        "def adder(x: float) -> Callable[[Sequence[float]], float]: ...",
        "def twice(f: Callable[[], Callable[[int], int]]) -> int: ...",
        "def maybe(fs: Mapping[str, Callable[[], Any]]) -> list[Callable[[], Any]]: ...",
    ):
        assert f"{line}\n" in text
