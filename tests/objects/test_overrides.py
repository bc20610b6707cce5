"""Classes of Python that override virtual functions of C++ classes."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import pytest
from override_sources import OVERRIDES
from support import Build, collect, compiles_classes, count_live, cpython_only, run_in_threads

pytestmark = compiles_classes

KEEPS = "on PyPy an object lives on without its Python part"


@pytest.fixture
def over(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("overrides.cc", OVERRIDES))
    yield module
    module.forget()


def make_circle(over: Any) -> Any:
    class Circle(over.Shape):  # type: ignore[misc, name-defined]
        def __init__(self, radius: float) -> None:
            super().__init__(label="circle")
            self.radius = radius

        def area(self) -> float:
            return 3 * float(self.radius)

    return Circle


def test_overrides(over: Any) -> None:
    circle = make_circle(over)(2)
    assert (circle.area(), over.area_of(circle), over.sum(circle, 10)) == (6, 6, 60)
    assert (circle.describe(), over.name_of(circle), circle.twice()) == (
        "shape circle: 6",
        "shape circle",
        12,
    )
    assert (circle.scale(2), over.scale_of(circle, 5)) == (3, 7)
    circle.touch()
    over.touch(circle)
    assert circle.touched == 2
    assert over.area_of(over.Square(3)) == 9


def test_super_calls_the_function_of_cpp(over: Any) -> None:
    seen = []

    class Loud(make_circle(over)):  # type: ignore[misc]
        def name(self) -> str:
            seen.append("name")
            return str(super().name()).upper() + "!"

        def scale(self, by: int, unit: str = "cm") -> int:
            return 100 * int(super().scale(by, unit))

        def touch(self) -> None:
            super().touch()
            self.touched += 10

        def twice(self) -> float:
            # C++ then calls `area`, which Python defines.
            return float(super().twice()) + 1

    loud = Loud(1)
    assert (over.name_of(loud), loud.name(), loud.describe()) == ("SHAPE CIRCLE!",) * 2 + (
        "SHAPE CIRCLE!: 3",
    )
    assert seen == ["name"] * 3
    assert (loud.scale(1), over.scale_of(loud, 1), loud.twice()) == (300, 300, 7)
    over.touch(loud)
    assert loud.touched == 11
    # The mark that a call must not reach overrides ends with the call.
    assert over.Shape.describe(loud) == "SHAPE CIRCLE!: 3"
    assert over.Shape.name(loud) == "shape circle"
    assert over.name_of(loud) == "SHAPE CIRCLE!"


def test_a_missing_override(over: Any) -> None:
    class Empty(over.Shape):  # type: ignore[misc, name-defined]
        pass

    words = "'area' of over.Shape is pure virtual: a Python class that derives from it must define it"
    for shape in (Empty(), over.Shape("x")):
        for use in (
            over.area_of,
            lambda shape: shape.area(),
            lambda shape: shape.describe(),
            over.area_elsewhere,
        ):
            if use is over.area_elsewhere:
                continue
            with pytest.raises(NotImplementedError, match=words):
                use(shape)
        assert over.guard(shape) == "caught " + words
        assert over.name_of(shape).startswith("shape")

    class Calls(over.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> Any:
            return super().area()

    with pytest.raises(NotImplementedError, match=words):
        over.area_of(Calls())


def test_results_and_exceptions(over: Any) -> None:
    class Odd(over.Shape):  # type: ignore[misc, name-defined]
        result: Any = "x"

        def area(self) -> Any:
            if isinstance(self.result, BaseException):
                raise self.result
            return self.result

    odd = Odd()
    with pytest.raises(TypeError, match=r"the result of <function .*Odd.area>: expected float, got str"):
        over.area_of(odd)
    odd.result = 5
    assert over.area_of(odd) == 5
    odd.result = KeyError("deep")
    with pytest.raises(KeyError) as caught:
        over.area_of(odd)
    assert caught.value is odd.result
    assert over.guard(odd) == "caught 'deep'"
    odd.result = None
    with pytest.raises(TypeError, match=r"the result of <function .*Odd.area>: expected float, got None"):
        over.area_of(odd)


def test_other_attributes(over: Any) -> None:
    class Many(over.Shape):  # type: ignore[misc, name-defined]
        @staticmethod
        def area() -> float:
            return 1.5

        @property
        def name(self) -> str:
            return "property"

    many = Many()
    assert (over.area_of(many), over.name_of(many)) == (1.5, "property")
    plain = make_circle(over)(1)
    plain.area = lambda: 17.0
    assert over.area_of(plain) == 17
    circle = make_circle(over)
    circle.area = lambda self: 4.0
    assert over.area_of(circle(1)) == 4


def test_overrides_that_are_no_functions(over: Any) -> None:
    class Number(over.Shape):  # type: ignore[misc, name-defined]
        area = 3

    class Nothing(Number):
        area = None

    class Property(Number):
        @property
        def area(self) -> Any:
            return "x"

    own = make_circle(over)(1)
    own.area = 2.5
    for shape, where, got in (
        (Number(), "Number", "int"),
        (Nothing(), "Nothing", "NoneType"),
        (own, "Circle", "float"),
    ):
        words = rf"^'area' of \S*{where} overrides a method of C\+\+: expected a function or a property, got {got}$"
        for use in (over.area_of, lambda each: each.describe()):
            with pytest.raises(TypeError, match=words):
                use(shape)
    with pytest.raises(
        TypeError, match=r"^the result of <function \S*Property\.area>: expected float, got str$"
    ):
        over.area_of(Property())


def test_locks_and_threads(over: Any) -> None:
    circle = make_circle(over)(2)
    assert (over.area_unlocked(circle), over.area_elsewhere(circle)) == (6, 6)


@cpython_only(KEEPS)
def test_what_cpp_keeps_while_another_thread_calls_it(over: Any) -> None:
    """The thread that drops the last reference of Python decides that the object lives on; the other calls it."""
    circle = make_circle(over)
    stop = threading.Event()
    over.set_current(circle(0))

    def drop() -> None:
        try:
            for i in range(1000):
                over.set_current(circle(i))
        finally:
            stop.set()

    def call() -> None:
        while not stop.is_set():
            assert over.current_area() % 3 == 0

    run_in_threads([drop, call, call])


@cpython_only(KEEPS)
def test_what_cpp_keeps(over: Any) -> None:
    before = count_live(over)
    circle = make_circle(over)(5)
    circle.extra = ["state"]
    ref = weakref.ref(circle)
    over.keep(circle)
    del circle
    collect()
    assert over.kept_area() == 15
    found = over.kept_at(0)
    assert (found.extra, found.radius, type(found).__name__) == (["state"], 5, "Circle")
    assert over.kept_at(0) is found
    del found
    collect()
    assert over.kept_area() == 15
    # Python has it, and C++ no longer.
    found = over.kept_at(0)
    over.forget()
    collect()
    assert (over.area_of(found), found.extra) == (15, ["state"])
    over.keep(found)
    del found
    assert over.kept_area() == 15
    over.forget()
    assert count_live(over) == before
    assert ref() is None


@cpython_only(KEEPS)
def test_an_object_without_its_python_part_calls_nothing_of_cpp_instead(over: Any) -> None:
    circle = make_circle(over)(2)
    circle.name = lambda: "round"
    type(circle).__del__ = lambda self: None
    over.keep(circle)
    assert over.name_of(circle) == "round"
    del circle
    with pytest.raises(
        RuntimeError, match="^'area' of Shape cannot be called: .* only its C\\+\\+ part is left"
    ):
        over.kept_area()
    with pytest.raises(RuntimeError, match="'name' of Shape"):
        over.name_of(over.kept_at(0))


def test_nothing_waits_for_the_collector_that_cpp_does_not_keep(over: Any) -> None:
    if not hasattr(sys, "getrefcount"):
        pytest.skip("PyPy has no reference counts")
    before = count_live(over)
    gc.disable()
    try:
        circle = make_circle(over)(1)
        over.area_of(circle)
        del circle
        assert over.live() == before
    finally:
        gc.enable()


@cpython_only(KEEPS)
def test_cycles(over: Any) -> None:
    before = count_live(over)
    circle = make_circle(over)(1)
    circle.me = circle
    over.keep(circle)
    del circle
    collect()
    assert over.kept_area() == 3
    over.forget()
    assert count_live(over) == before


@cpython_only(KEEPS)
def test_a_finalizer_of_users(over: Any) -> None:
    deleted = []

    class Final(make_circle(over)):  # type: ignore[misc]
        def __del__(self) -> None:
            deleted.append(self.area())

    before = count_live(over)
    Final(2)
    collect()
    assert deleted == [6]
    over.keep(Final(3))
    collect()
    assert over.kept_area() == 9
    assert deleted == [6]
    over.forget()
    assert count_live(over) == before
    assert deleted == [6, 9]


@cpython_only(KEEPS)
def test_objects_as_results(over: Any) -> None:
    circle = make_circle(over)

    class Works(over.Factory):  # type: ignore[misc, name-defined]
        def make(self) -> Any:
            return circle(7)

        def give(self) -> Any:
            return over.Square(4)

        def words(self, of: Any) -> Any:
            return [*map(str, of), *super().words(of)]

    before = count_live(over)
    works = Works()
    made = over.make_from(works)
    assert (type(made), made.radius) == (circle, 7)
    assert over.give_from(works) == 16
    assert over.words_of(works) == ["1", "2", "3", "3"]
    over.keep(made)
    with pytest.raises(ValueError, match="does not own its content alone"):
        over.take(made)
    over.forget()
    del made, works
    assert count_live(over) == before


def test_metadata(over: Any) -> None:
    assert over.Shape.__doc__ == "Something with an area."
    assert over.Shape.__init__.__doc__ == over.Shape("a").__init__.__doc__ == "Make a shape."
    assert not [
        name for name in dir(over.Shape) if name.startswith("__anyffi") and name != "__anyffi_value__"
    ]
    shape = over.Shape("x")
    with pytest.raises(TypeError, match="already initialized"):
        shape.__init__("y")
