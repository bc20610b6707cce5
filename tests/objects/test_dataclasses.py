"""Dataclasses behave like those of the standard library: each case runs with both decorators."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import sys
from dataclasses import InitVar, field
from typing import Any, Callable, ClassVar, Generic, TypeVar

import pytest

T = TypeVar("T")
Decorator = Callable[..., Any]

pytestmark = pytest.mark.keeps_live("types are never freed")

needs_kw_only = pytest.mark.skipif(sys.version_info < (3, 10), reason="dataclasses have no kw_only")


def outcome(run: Callable[[], Any]) -> Any:
    """Return what a function returns, or its exception."""
    try:
        return run()
    except Exception as error:
        return type(error), str(error)


def defaults(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Item:
        """Something."""

        name: str
        price: float = 1.5
        tags: list[str] = field(default_factory=list)
        count: int = field(default=3, repr=False, compare=False)

        def total(self) -> float:
            return self.price * self.count

    one, two = Item("a"), Item("a", count=4)
    two.tags.append("x")
    return [
        one.total(),
        one == two,
        list(one.tags),
        one == Item("a", 1.5, [], 9),
        one != Item("b"),
        one == "a",
        Item.__doc__,
        Item.__name__,
        Item.__match_args__ if hasattr(Item, "__match_args__") else None,
        repr(Item("b", 2.0)).replace("anyffi.List([])", "[]"),
        str(inspect.signature(Item)),
        outcome(Item),
        outcome(lambda: Item("a", 1.0, [], 1, 2)),
        outcome(lambda: Item("a", nope=1)),
        outcome(lambda: Item("a", name="b")),
        outcome(lambda: hash(one)),
        outcome(lambda: one < two),
        [(f.name, f.type, f.repr, f.compare) for f in dataclasses.fields(Item)],
        dataclasses.is_dataclass(one),
        dataclasses.replace(one, name="z").name,
        outcome(lambda: dataclasses.replace(one, nope=1)),
        dataclasses.astuple(Item("q"))[:2],
    ]


def ordered(dataclass: Decorator) -> list[Any]:
    @dataclass(order=True, unsafe_hash=True)
    class Version:
        major: int
        minor: int = 0
        note: str = field(default="", compare=False)

    versions = [Version(2), Version(1, 5), Version(1, 2, "x")]
    return [
        [(v.major, v.minor) for v in sorted(versions)],
        Version(1) < Version(1, 1),
        Version(1) <= Version(1, note="y"),
        outcome(lambda: Version(1) < 3),
        hash(Version(1)) == hash(Version(1, note="z")),
        len({Version(1), Version(1), Version(2)}),
    ]


def frozen(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 0

        def moved(self, by: int) -> Any:
            return dataclasses.replace(self, x=self.x + by)

    @dataclass(frozen=True)
    class Named(Point):
        name: str = "n"

    point = Point(1)

    def assign() -> None:
        point.x = 2

    def delete() -> None:
        del point.x

    def mix() -> None:
        @dataclass
        class Thawed(Point):
            z: int = 0

    return [
        outcome(assign),
        outcome(delete),
        outcome(mix),
        point.moved(3).x,
        hash(point) == hash(Point(1)),
        repr(Named(1, name="m")).rpartition(".")[2],
        Named(1) == Point(1),
    ]


def without_init(dataclass: Decorator) -> list[Any]:
    @dataclass(init=False, repr=False, eq=False)
    class Plain:
        x: int
        y: float = 2.0

        def __init__(self, x: int) -> None:
            self.x = x
            self.y = x / 2

        def __repr__(self) -> str:
            return f"<{self.x}>"

    plain = Plain(4)
    return [repr(plain), plain.y, plain == Plain(4), plain == plain, str(inspect.signature(Plain))]


def fields_set_later(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Square:
        side: int
        area: int = field(init=False)
        label: str = field(init=False, default="s")
        scale: InitVar[int] = 1
        made: ClassVar[int] = 0

        def __post_init__(self, scale: int) -> None:
            type(self).made += 1
            if scale:
                self.area = self.side * self.side * scale

    square = Square(3)
    return [
        square.area,
        Square(3, 2).area,
        Square.made,
        square.label,
        [f.name for f in dataclasses.fields(square)],
        outcome(lambda: Square(2, 0).area),
        outcome(lambda: repr(Square(2, 0)))[0],
    ]


def inheritance(dataclass: Decorator) -> list[Any]:
    class Mixin:
        def describe(self) -> str:
            return f"{type(self).__name__} of {self.x}"  # type: ignore[attr-defined]

    @dataclass
    class Base:
        x: int = 1
        y: int = 2

        def both(self) -> int:
            return self.x + self.y

    @dataclass
    class Derived(Mixin, Base):
        z: int = 3
        x: int = 10

        def both(self) -> int:
            return super().both() + self.z

        def __init_subclass__(cls) -> None:
            super().__init_subclass__()

    class Plain(Derived):
        def both(self) -> int:
            return -super().both()

    @dataclass
    class Wrapper(Generic[T]):
        content: T

    @functools.wraps(Base.both)
    def wrapped(self: Any) -> int:
        return 0

    derived = Derived(y=5)
    return [
        derived.both(),
        derived.describe(),
        derived == Derived(10, 5),
        [f.name for f in dataclasses.fields(Derived)],
        Plain(1, 1, 1).both(),
        type(Plain()).__name__,
        isinstance(derived, Base),
        Wrapper("x").content,
        Wrapper[int](3).content,
        wrapped(derived),
        Derived.both.__get__(derived)(),
    ]


def cooperation(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Pair:
        first: Any
        second: Any = None

        @property
        def swapped(self) -> Any:
            return __class__(self.second, self.first)  # type: ignore[name-defined]

        @staticmethod
        def zero() -> Any:
            return Pair(0, 0)

        @classmethod
        def twice(cls, x: Any) -> Any:
            return cls(x, x)

        def __bool__(self) -> bool:
            return self.first is not None

    pair = Pair(1, "b")
    pair.first = "changed"
    return [
        (pair.swapped.first, pair.swapped.second),
        (Pair.zero().first, Pair.twice(4).second),
        bool(Pair(None)),
        (copy.copy(pair) == pair, copy.deepcopy(pair) == pair, copy.copy(pair) is pair),
        outcome(lambda: delattr(pair, "nope"))[0],
        outcome(lambda: pair.nope)[0],
    ]


@pytest.mark.parametrize(
    "case", [defaults, ordered, frozen, without_init, fields_set_later, inheritance, cooperation]
)
def test_as_the_standard_library(case: Callable[[Decorator], list[Any]], ffi: Any) -> None:
    expected, found = case(dataclasses.dataclass), case(ffi.dataclass)
    for index, (mine, theirs) in enumerate(zip(found, expected)):
        assert mine == theirs, f"{case.__name__}, value {index}"


@needs_kw_only
def test_keyword_only_fields(ffi: Any) -> None:
    @ffi.dataclass(kw_only=True)
    class All:
        a: int
        b: int = 2

    @ffi.dataclass
    class Some:
        a: int
        _: dataclasses.KW_ONLY  # type: ignore[name-defined,unused-ignore]
        b: int = 2
        c: int = dataclasses.field(kw_only=True, default=4)  # type: ignore[call-overload,unused-ignore]

    assert All(a=1).b == 2
    with pytest.raises(TypeError, match="positional"):
        All(1)
    assert (Some(1, b=3).b, Some(1).c) == (3, 4)
    with pytest.raises(TypeError, match="positional"):
        Some(1, 2)
    assert Some.__match_args__ == ("a",)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="no match statement")
def test_match(ffi: Any) -> None:
    @ffi.dataclass
    class Point:
        x: int
        y: int = 0

    scope: dict[str, Any] = {"Point": Point}
    exec(
        "def find(p):\n"
        "    match p:\n"
        "        case Point(0, y=y): return y\n"
        "        case Point(x, 0): return -x\n"
        "        case _: return None\n",
        scope,
    )
    assert [scope["find"](p) for p in (Point(0, 3), Point(4), Point(4, 1), 3)] == [3, -4, None, None]


def test_options(ffi: Any) -> None:
    class Body:
        x: int

    with pytest.raises(TypeError, match=r"^dataclass\(\) got an unexpected keyword argument 'wrong'$"):
        ffi.dataclass(wrong=True)
    with pytest.raises(TypeError, match="takes a class or a type key, not int"):
        ffi.dataclass(3)
    for cls in (int, dict, ffi.Object, ffi.List, ffi.Function):
        with pytest.raises(TypeError, match=f"decorates classes of your own, not {cls.__name__}"):
            ffi.dataclass("test.not_own")(cls)
    with pytest.raises(TypeError, match="decorates classes, not 3"):
        ffi.dataclass()(3)
    open_class = ffi.dataclass(slots=False)(Body)
    made = open_class(1)
    made.other = 2
    assert (made.x, made.other) == (1, 2)
    closed = ffi.dataclass("test.closed")(Body)(1)
    with pytest.raises(AttributeError):
        closed.other = 2


def test_classes_of_the_package(ffi: Any) -> None:
    @ffi.dataclass
    class Point(ffi.Object):  # type: ignore[name-defined,misc]
        x: int

    assert isinstance(Point(1), ffi.Object)
    assert Point(1) == Point(1)

    # That Object is registered for this type does not allow List or Function as a base.
    ffi.register_object("testing.Watcher")(ffi.Object)
    for base in (ffi.List, ffi.Function):
        with pytest.raises(TypeError, match="derives from"):
            ffi.dataclass(type("Wrong", (base,), {"__annotations__": {"x": int}}))

    @ffi.dataclass
    class Other:
        y: int

    with pytest.raises(
        TypeError, match=r"class Both has several bases in C\+\+, .*Point and .*Other, of which"
    ):

        @ffi.dataclass
        class Both(Point, Other):
            z: int


def test_asdict_of_containers(ffi: Any) -> None:
    @ffi.dataclass
    class Leaf:
        x: int

    @ffi.dataclass
    class Tree:
        leaves: list[Leaf]
        by_name: dict[str, Leaf]
        pair: tuple[Leaf, int]
        rest: Any = None

    tree = Tree([Leaf(1)], {"a": Leaf(2)}, (Leaf(3), 4), {5})
    assert ffi.asdict(tree) == {
        "leaves": [{"x": 1}],
        "by_name": {"a": {"x": 2}},
        "pair": ({"x": 3}, 4),
        "rest": {5},
    }
    assert type(ffi.asdict(tree)["leaves"]) is list
    assert ffi.astuple(tree) == ([(1,)], {"a": (2,)}, ((3,), 4), {5})
    assert ffi.asdict(Leaf(1), dict_factory=list) == [("x", 1)]
    assert [f.name for f in ffi.fields(tree)] == ["leaves", "by_name", "pair", "rest"]

    @ffi.dataclass
    class Empty:
        pass

    assert (ffi.asdict(Empty()), ffi.astuple(Empty())) == ({}, ())
    assert ffi.asdict(Tree([], {}, (Leaf(3), 4), [Empty()]))["rest"] == [{}]
    for wrong in (Leaf, 3, ffi.List([1])):
        with pytest.raises(TypeError, match=r"asdict\(\) should be called on dataclass instances"):
            ffi.asdict(wrong)
