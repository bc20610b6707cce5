"""Calls of dataclasses whose fields an `__init__` sets, and of classes of Python that derive from dataclasses."""

from __future__ import annotations

import abc
import dataclasses
import gc
from typing import Any, Optional, Union

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


def make_point(ffi: Any) -> Any:
    @ffi.dataclass
    class Point:
        x: int
        y: int = 2

    return Point


def test_own_constructors(ffi: Any) -> None:
    @ffi.dataclass
    class Own:
        a: int
        b: str = "b"
        c: Any = None

        def __init__(self, a: int, *more: int, scale: int = 1, **named: int) -> None:
            self.a = a * scale
            if more or named:
                self.c = (more, dict(sorted(named.items())))

    assert (Own(1).a, Own(1).b, Own(1).c, Own(2, scale=3).a) == (1, "b", None, 6)
    assert Own(*range(20)).c == (tuple(range(1, 20)), {})
    assert Own(1, **{f"k{i}": i for i in range(9)}).c == ((), {f"k{i}": i for i in range(9)})
    assert Own(a=5).a == 5
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        Own()
    with pytest.raises(TypeError, match="int"):
        Own("x")


def test_constructors_that_fail(ffi: Any) -> None:
    @ffi.dataclass
    class Failing:
        a: int = 0

        def __init__(self, how: str) -> None:
            if how == "raise":
                raise KeyError(how)
            return how  # type: ignore[return-value]

    with pytest.raises(KeyError, match="raise"):
        Failing("raise")
    with pytest.raises(TypeError, match=r"__init__\(\) should return None"):
        Failing("return")


def test_classes_of_python_that_derive(ffi: Any) -> None:
    Point = make_point(ffi)

    class Plain(Point):
        def sum(self) -> int:
            return int(self.x + self.y)

    class Deeper(Plain):
        __slots__ = ("extra",)

    class Own(Plain):
        def __init__(self, x: int) -> None:
            super().__init__(x, y=x)
            self.name = "own"

    class New(Plain):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            made = object.__new__(cls) if args == (9,) else super().__new__(cls, *args, **named)
            made.made = True
            return made

    for cls in (Plain, Deeper, New):
        made = [cls(1), cls(1, 3), cls(y=3, x=1), cls(x=1)]
        assert [(type(p), p.x, p.y, p.sum()) for p in made] == [(cls, 1, y, 1 + y) for y in (2, 3, 3, 2)]
        made[0].extra = 1
        for args, named in (((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1}), (("a",), {})):
            with pytest.raises(TypeError):
                cls(*args, **named)
    assert (Own(4).sum(), Own(4).name, New(1).made) == (8, "own", True)
    assert type(object.__new__(Plain)) is Plain


def test_dataclasses_that_derive(ffi: Any) -> None:
    Point = make_point(ffi)

    @ffi.dataclass(init=False)
    class Without(Point):
        z: int = 7

    @ffi.dataclass
    class With(Point):
        z: int = 8

    class Sub(With):
        pass

    assert [getattr(Without(1), name) for name in "xyz"] == [1, 2, 7]
    assert [getattr(cls(1, z=9), name) for cls in (With, Sub) for name in "xyz"] == [1, 2, 9] * 2
    assert ffi.asdict(Sub(1)) == {"x": 1, "y": 2, "z": 8}
    assert ffi.asdict(Without(1)) == {"x": 1, "y": 2, "z": 7}


def test_what_changes_a_class_later(ffi: Any) -> None:
    Point = make_point(ffi)

    class Sub(Point):
        pass

    def init(self: Any, x: int) -> None:
        self.x, self.y = x, -x

    assert Sub(1).y == 2
    Sub.__init__ = init
    assert (Sub(1).y, Point(1).y) == (-1, 2)
    del Sub.__init__
    assert Sub(1, 5).y == 5
    Point.__init__ = init
    assert (Sub(1).y, Point(1).y) == (-1, -1)


def test_abstract_classes_of_python(ffi: Any) -> None:
    Point = make_point(ffi)

    class Abstract(Point, abc.ABC):
        @abc.abstractmethod
        def get(self) -> int: ...

    class Concrete(Abstract):
        def get(self) -> int:
            return int(self.x)

    with pytest.raises(TypeError, match="abstract"):
        Abstract(1)
    assert Concrete(3).get() == 3


def test_parameters_that_are_no_fields(ffi: Any) -> None:
    @ffi.dataclass
    class Var:
        a: int
        by: dataclasses.InitVar[int] = 2
        b: int = dataclasses.field(default=5, init=False)

        def __post_init__(self, by: int) -> None:
            self.a *= by

    assert [(v.a, v.b) for v in (Var(1), Var(1, 3), Var(a=1, by=4))] == [(2, 5), (3, 5), (4, 5)]


def test_objects_of_a_class_that_is_declared_again(ffi: Any) -> None:
    """As when a cell of a notebook runs again: cached information about the fields stays correct."""

    def declare() -> Any:
        @ffi.dataclass("test.again.Cell")
        class Cell:
            a: int
            b: Any = None
            c: str = "c"
            d: list[int] = dataclasses.field(default_factory=list)

        return Cell

    former = declare()
    old = former(1)
    old.b, old.c, old.d = [1], "old", [1]
    for _ in range(3):
        latest = declare()
        for x in (old, former(1, [2], "x", [3]), latest(1), former.__new__(former)):
            x.a, x.b, x.c, x.d = 5, [2], "new", [3, 4]
            assert (x.a, x.b, x.c, x.d) == (5, [2], "new", [3, 4])
    draft = former.__new__(former)
    with pytest.raises(AttributeError, match="'Cell' object has no attribute 'a'"):
        draft.a
    draft.b = [1]
    draft.a = 1
    assert (draft.a, draft.b) == (1, [1])


def test_objects_of_a_former_definition_are_refused_with_the_reason(ffi: Any) -> None:
    """The names of both classes are the same."""

    def declare(name: str, key: str = "test.former.Cell") -> Any:
        class Cell:
            pass

        Cell.__annotations__ = {name: int}
        return ffi.dataclass(key)(Cell)

    old = declare("a")(1)
    cell = declare("b")
    boxed = "test.former.Box[int | str]"
    old_box = declare("a", boxed)(1)
    box = declare("b", boxed)
    for annotation, value in [
        (cell, old),
        (Optional[cell], old),
        (Union[int, cell, str], old),
        (list[cell], [old]),
        (Optional[list[cell]], [old]),
        (tuple[cell, int], (old, 1)),
        (box, old_box),
        (Optional[box], old_box),
    ]:
        holder = ffi.dataclass("test.former.Holder")(
            type("Holder", (), {"__annotations__": {"x": annotation}})
        )
        with pytest.raises(TypeError, match=r", got test\.former\.\S.* of another definition of the class$"):
            holder(value)
    holder = ffi.dataclass("test.former.Holder")(type("Holder", (), {"__annotations__": {"x": list[cell]}}))
    with pytest.raises(TypeError, match=r"expected List\[test.former.Cell\], got test.former.Cell$"):
        holder(cell(1))


def test_a_class_that_is_changed_while_it_is_called(ffi: Any) -> None:
    changes = [None]

    def make_default() -> int:
        if changes:
            changes.pop()
            Derived.__init__ = lambda self, *args: None
            Derived.__init_subclass__()
            gc.collect()
        return 7

    @ffi.dataclass
    class Point:
        x: int = dataclasses.field(default_factory=make_default)
        y: int = 2
        z: str = "z"

    class Derived(Point):
        pass

    made = Derived()
    assert (made.x, made.y, made.z) == (7, 2, "z")


def test_names_that_the_package_uses(ffi: Any) -> None:
    Point = make_point(ffi)

    class Defaults(Point):
        _anyffi_defaults = 5

        def __init__(self) -> None:
            super().__init__(1)

    class Record(Point):
        def _anyffi_record(self) -> int:
            return 1

    class Later(Point):
        def __init__(self) -> None:
            super().__init__(1)

    Later._anyffi_record = 5
    for cls in (Defaults, Later):
        with pytest.raises(TypeError):
            cls()


def test_finalizers_and_calls_that_fail(ffi: Any) -> None:
    Point = make_point(ffi)
    ended = []

    class Ending(Point):
        def __del__(self) -> None:
            ended.append(type(self).__name__)

    for args in (("x",), (), (1, 2, 3)):
        with pytest.raises(TypeError):
            Ending(*args)
        gc.collect()
    assert ended == ["Ending"] * 3

    class Slot(Point):
        __init__ = list.__init__

    with pytest.raises(TypeError):
        Slot()
