"""Fields of dataclasses: what their annotations mean, and what they refuse."""

# ruff: noqa: UP006, UP035, UP045

from __future__ import annotations

import collections.abc
import copy
import ctypes
import dataclasses
import enum
import gc
import pathlib
import re
import sys
import typing
from typing import Annotated, Any, Callable, Dict, List, Literal, NewType, Optional, Tuple, TypeVar, Union

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


class Color(enum.IntEnum):
    RED = 1
    BLUE = 7


class Kind(str, enum.Enum):
    ADD = "+"


class Mood(enum.Enum):
    GOOD = 1
    FAIR = 2
    BAD = 3


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2
    BOTH = 3


class Wide(enum.IntFlag):
    LOW = 1
    TOP = 2**63


class Root(complex, enum.Enum):
    I = 1j  # noqa: E741


class Indexed(enum.Enum):
    ONE = 1

    def __index__(self) -> int:
        return 1


class Bag(collections.abc.Mapping[str, int]):
    """What C++ gets as a Dict."""


class Valued:
    def __anyffi_value__(self) -> int:
        return 1


class Closable(typing.Protocol):
    def close(self) -> None: ...


UserId = NewType("UserId", int)
Bound = TypeVar("Bound", bound=float)
Free = TypeVar("Free")


def one_field(ffi: Any, annotation: Any, key: str = "test.one") -> Any:
    """Return a dataclass with a field `x`."""
    cls = type("One", (), {"__annotations__": {"x": annotation}, "__module__": __name__})
    return ffi.dataclass(key)(cls)


def name_of(ffi: Any, cls: Any) -> Any:
    return cls.__dict__["x"].type_name


#: Annotation, its name in the runtime, values that it accepts, and values that it refuses.
ROWS: list[tuple[Any, str, list[Any], list[Any]]] = [
    (int, "int", [1, True, -(2**63)], ["1", 1.5, None, 2**63]),
    (float, "float", [1.5, 2, True, float("inf")], ["1", None, 1j]),
    (bool, "bool", [True, False], [2, "x", None]),
    (str, "str", ["", "short", "a much longer text ∀" * 9, "\ud800"], [b"x", 1, None]),
    (bytes, "bytes", [b"", b"x" * 99, bytearray(b"y")], ["x", 1]),
    (complex, "complex", [1j, 2], ["x"]),
    (None, "None", [None], [1]),
    (slice, "slice", [slice(1, 2)], [1]),
    (object, "Any", [1, None, "x", object()], []),
    (Any, "Any", [[1], {"a": 1}, len], []),
    (list, "List[Any]", [[], [1, "a"]], [(1,), 3, None]),
    (List[int], "List[int]", [[], [1, True]], [["a"], [1, None], (1,)]),
    (tuple, "Array[Any]", [(), (1, "x")], [3, None]),
    (Tuple, "Array[Any]", [(1,)], [3]),
    (Tuple[int, ...], "Array[int]", [(), (1, 2), [3]], [("a",)]),
    (Tuple[int, str], "tuple[int, str]", [(1, "a"), [1, "a"]], [(1, 2), ("a", "a"), 3]),
    (Dict[str, float], "Dict[str, float]", [{}, {"a": 1, "b": 2.5}], [{1: 1.0}, {"a": "b"}, []]),
    (typing.FrozenSet[int], "FrozenSet[int]", [frozenset({1}), {2}], [frozenset("a")]),
    (typing.Set[str], "Set[str]", [{"a"}], [{1}, frozenset("a")]),
    (Optional[int], "int | None", [1, None], ["a", 1.5]),
    (Union[int, str, None], "int | str | None", [1, "a", None], [1.5, []]),
    (Union[float, int], "float | int", [1, 1.5, True], ["a"]),
    (Union[int, List[str]], "int | List[str]", [1, ["a"]], [[1], "a"]),
    (Union[int, Any], "Any", [1, "a", None], []),
    (Literal["a", "b", 3], "Literal['a', 'b', 3]", ["a", 3], ["c", 3.0, None]),
    (Optional[Literal[1]], "Literal[1] | None", [1, None], [2]),
    (Literal[Color.RED], f"Literal[{__name__}.Color.RED]", [Color.RED, 1], [Color.BLUE, 2, "RED", None]),
    (Literal[Color.RED, None], f"Literal[{__name__}.Color.RED] | None", [1, None], [2]),  # noqa: PYI061
    (Literal[Wide.TOP], f"Literal[{__name__}.Wide.TOP]", [Wide.TOP, 2**63], [Wide.LOW, 2**64, 2**63 + 1]),
    (Root, f"{__name__}.Root", [Root.I, 1j], [2j, 1]),
    (Literal[Kind.ADD], f"Literal[{__name__}.Kind.ADD]", [Kind.ADD, "+"], ["-", 1]),
    (Literal[Access.READ], f"Literal[{__name__}.Access.READ]", [Access.READ], [Access.BOTH, 0]),
    (
        Literal[Mood.GOOD, Mood.BAD],
        f"Literal[{__name__}.Mood.GOOD, {__name__}.Mood.BAD]",
        [Mood.GOOD, Mood.BAD],
        [Mood.FAIR, 1, None],
    ),
    (UserId, "int", [1], ["a"]),
    (Annotated[int, "note"], "int", [1], ["a"]),
    (Bound, "float", [1.5], ["a"]),
    (Free, "Any", [1, "a"], []),
    (Callable[[int], int], "Function", [len, lambda x: x], [1, None]),
    (collections.abc.Callable, "Function", [len], [1]),
    (typing.Sequence[int], "List[int] | Array[int]", [[1], (1,)], [["a"], 3]),
    (typing.Mapping[str, int], "Dict[str, int] | Map[str, int]", [{"a": 1}], [{"a": "b"}]),
    (List[Dict[str, List[int]]], "List[Dict[str, List[int]]]", [[{"a": [1]}]], [[{"a": ["b"]}]]),
    (pathlib.PurePath, "pathlib.PurePath", [pathlib.PurePosixPath("/a")], ["/a", 1]),
    (ctypes.c_void_p, "c_void_p", [ctypes.c_void_p(8)], [8]),
    (Color, f"{__name__}.Color", [Color.RED, 7], [0, 2**70, 1.0, True, "RED", None]),
    (Kind, f"{__name__}.Kind", [Kind.ADD, "+"], ["-", 1, None]),
    (Access, f"{__name__}.Access", [Access.READ, Access.BOTH, 0], ["1", None]),
    (Optional[Color], f"{__name__}.Color | None", [Color.BLUE, None], [2, "x"]),
]


@pytest.mark.parametrize(("annotation", "name", "good", "bad"), ROWS, ids=[row[1] for row in ROWS])
def test_types(annotation: Any, name: str, good: list[Any], bad: list[Any], ffi: Any) -> None:
    cls = one_field(ffi, annotation)
    assert name_of(ffi, cls) == name
    for value in good:
        made = cls(value)
        if isinstance(value, ctypes.c_void_p):
            assert made.x.value == value.value
        elif not isinstance(value, (bytearray, list, set, frozenset)):
            assert ffi.to_python(made.x) == value
        else:
            assert type(value)(made.x) == value
    made = cls.__new__(cls)
    for value in bad:
        with pytest.raises((TypeError, ValueError, OverflowError), match=r"^test\.one\.x"):
            cls(value)
        with pytest.raises((TypeError, ValueError, OverflowError)):
            made.x = value
        with pytest.raises(AttributeError, match="no attribute 'x'"):
            made.x


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (List[Dict[str, int]], [{"a": 1}, {"b": "c"}], '.x, at [1]["b"]: expected int, got str'),
        (Dict[str, int], {1: 2}, ".x, at [key 1]: expected str, got int"),
        (Tuple[int, str], (1, 2), ".x, at [1]: expected str, got int"),
        (Tuple[int, str], (1,), ".x: expected 2 elements, got (1,)"),
        (Literal["a"], "b", ".x: expected Literal['a'], got 'b'"),
        (Literal["a", 2], 2**70, f".x: expected Literal['a', 2], got {2**70}"),
        (Literal[Color.RED], Color.BLUE, f".x: expected Literal[{__name__}.Color.RED], got 7"),
        (Literal[Mood.BAD], Mood.GOOD, f".x: expected Literal[{__name__}.Mood.BAD], got {__name__}.Mood"),
        (Literal["a", 2], [1], ".x: expected Literal['a', 2], got list"),
        (Union[Literal["a"], int], 1.5, ".x: expected Literal['a'] | int, got float"),
        (Union[Literal["a"], List[int]], ["b"], ".x, at [0]: expected int, got str"),
        (Union[Literal["a"], List[int]], "b", ".x: expected Literal['a'], got 'b'"),
        (Optional[int], "b", ".x: expected int | None, got str"),
        (int, memoryview(b"x"), ".x: expected int, got memoryview"),
        (List[str], [{1}], ".x, at [0]: expected str, got set"),
        (int, 2**64, ".x: 18446744073709551616 does not fit int64"),
        (pathlib.PurePath, 3, ".x: expected pathlib.PurePath, got int"),
        (Color, 3, f".x: expected a member of {__name__}.Color, got 3"),
        (Color, "RED", f".x: expected {__name__}.Color, got str"),
        (Tuple[Color, ...], (1, 3), f".x, at [1]: expected a member of {__name__}.Color, got 3"),
    ],
)
def test_messages(annotation: Any, value: Any, message: str, ffi: Any) -> None:
    cls = one_field(ffi, annotation)
    with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
        cls(value)
    assert str(raised.value) == "test.one" + message


def test_containers_are_references(ffi: Any) -> None:
    cls = one_field(ffi, List[int])
    given = ffi.List([1])
    made = cls(given)
    made.x.append(2)
    assert made.x is given
    assert list(given) == [1, 2]
    frozen = one_field(ffi, Tuple[Tuple[int, ...], ...])([[1], [2, 3]])
    assert type(frozen.x) is type(frozen.x[0]) is ffi.Array


def test_enumerations(ffi: Any) -> None:
    rows = [
        (Color, Color, (1, Color.BLUE)),
        (Kind, Kind, ("+",)),
        (Access, Access, (2, 3, 0)),
        (Literal[Color.BLUE], Color, (7,)),
        ("Literal[Access.READ]", Access, (1,)),
        (Literal[Wide.TOP], Wide, (2**63, Wide.TOP)),
    ]
    for annotation, enumeration, values in rows:
        cls = one_field(ffi, annotation)
        for value in values:
            made = cls(value)
            assert type(made.x) is enumeration
            assert made.x is enumeration(value)
            for again in (copy.deepcopy(made), ffi.from_json(ffi.to_json(made))):
                assert ffi.structural_equal(made, again)
                assert again.x is made.x
            assert ffi.map(made, lambda x: x) is made
    assert one_field(ffi, Tuple[Color, ...])([1]).x[0] is Color.RED


def test_public_classes(ffi: Any) -> None:
    numpy = pytest.importorskip("numpy")

    class Holder:
        items: ffi.List[int]  # type: ignore[name-defined]
        table: ffi.Dict  # type: ignore[name-defined]
        any_object: ffi.Object  # type: ignore[name-defined]
        weights: numpy.ndarray  # type: ignore[name-defined]
        device: ffi.Device  # type: ignore[name-defined]

    Holder.__annotations__ = {
        "items": ffi.List[int],
        "table": ffi.Dict,
        "any_object": ffi.Object,
        "weights": numpy.ndarray,
    }
    cls = ffi.dataclass(Holder)
    made = cls([1], {}, ffi.List(), numpy.zeros(3))
    assert made.weights.shape == (3,)
    with pytest.raises(TypeError, match="weights: expected Tensor, got str"):
        made.weights = "x"
    with pytest.raises(TypeError, match=r"items, at \[0\]: expected int, got str"):
        made.items = ["x"]


@pytest.mark.parametrize(
    "annotation",
    [
        ctypes.c_int,
        type,
        3,
        "1 +",
        "[int]",
        "len",
        "List[3]",
        Literal[Color.RED, 1],
        Literal[Color.RED, Kind.ADD],
        Indexed,
        Literal[Indexed.ONE],
        memoryview,
        enum.IntEnum,
        collections.ChainMap,
        Bag,
        Valued,
        Closable,
    ],
)
def test_annotations_without_meaning(annotation: Any, ffi: Any) -> None:
    if annotation is ctypes.c_int:
        assert one_field(ffi, annotation)(ctypes.c_int(3)).x.value == 3
        return
    with pytest.raises(
        TypeError, match=r"^field 'x' of One: the annotation .* is no type of values in C\+\+"
    ):
        one_field(ffi, annotation)


def test_final_fields_without_a_type(ffi: Any) -> None:
    cls = one_field(ffi, typing.Final)
    assert (cls(1).x, cls("a").x) == (1, "a")


@pytest.mark.parametrize(
    ("annotation", "shown"),
    [
        ("list[int,str]", "list[int, str]"),
        ("dict[str, List[int, str]] | None", "List[int, str]"),
        ("Optional[Dict[str]]", "Dict[str]"),
        ("Literal['a', 1.5]", "Literal['a', 1.5]"),
        ("list[int][str]", "list[int]"),
    ],
)
def test_text_without_meaning_is_shown(annotation: str, shown: str, ffi: Any) -> None:
    words = (
        f"field 'x' of One: the annotation {shown} is no type of values in C++; use typing.Any for any value"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        one_field(ffi, annotation)


def test_an_error_about_a_name_that_a_module_lacks_names_the_field(ffi: Any) -> None:
    with pytest.raises(AttributeError) as caught:
        one_field(ffi, "typing.Listt[int]")
    assert str(caught.value) == "field 'x' of One: module 'typing' has no attribute 'Listt'"
    if sys.version_info >= (3, 10):
        assert (caught.value.name, caught.value.obj) == ("Listt", typing)


def test_an_error_that_a_module_keeps_is_not_changed(ffi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (AttributeError("kept"), type("Absent", (AttributeError,), {})("kept", 2)):

        class Lazy:
            def __getattr__(self, name: str, kept: Any = kept) -> Any:
                raise kept

        args = kept.args
        monkeypatch.setitem(globals(), "lazy", Lazy())
        with pytest.raises(type(kept)):
            one_field(ffi, "lazy.x")
        assert kept.args == args


def test_names_of_later_classes(ffi: Any) -> None:
    @ffi.dataclass
    class Parent:
        child: Child | None = None
        children: list["Child"] = ffi.dataclass and None  # type: ignore[assignment]  # noqa: UP037

    @ffi.dataclass
    class Child:
        parent: Optional[Parent] = None

    parent = Parent(None, [])
    parent.child = Child(parent)
    parent.children.append(parent.child)
    parent.children = list(parent.children)
    assert parent.child.parent is parent
    with pytest.raises(TypeError, match=r"child: expected .*\.Child | None, got Parent"):
        parent.child = parent
    with pytest.raises(TypeError, match=r"parent: expected .*Parent \| None, got .*Child"):
        Child(Child())


def test_unions_in_text(ffi: Any) -> None:
    """Also on interpreters without `int | None`."""
    assert name_of(ffi, one_field(ffi, "int | None")) == "int | None"
    assert name_of(ffi, one_field(ffi, "'int'")) == "int"
    assert name_of(ffi, one_field(ffi, "dict[str, list[int | 'str']]")) == "Dict[str, List[int | str]]"
    assert name_of(ffi, one_field(ffi, "typing.Optional['One']")) == "test.one | None"
    assert name_of(ffi, one_field(ffi, "tuple[()]")) == "tuple[()]"
    assert name_of(ffi, one_field(ffi, "Literal[-1, 'a']")) == "Literal[-1, 'a']"
    assert name_of(ffi, one_field(ffi, "Callable[[int], str]")) == "Function"
    assert name_of(ffi, one_field(ffi, "ClassVarOf.nothing")) == f"{__name__}.ClassVarOf.nothing"


def test_a_field_keeps_its_type(ffi: Any) -> None:
    @ffi.dataclass
    class Base:
        x: int
        y: Any = None

    @ffi.dataclass
    class Same(Base):
        x: int = 3

    assert Same().x == 3
    with pytest.raises(TypeError, match="field 'x' of Other is str, in its base int: a field keeps its type"):

        @ffi.dataclass
        class Other(Base):
            x: str = ""  # type: ignore[assignment]


def test_keys(ffi: Any) -> None:
    first = one_field(ffi, int, "test.key")
    again = one_field(ffi, int, "test.key")
    assert first(1) != again(1)
    assert type(ffi.List([again(1)])[0]) is again

    with pytest.raises(ValueError, match="the type key 'test.key' is that of the dataclass"):
        ffi.dataclass("test.key")(type("Two", (), {"__annotations__": {"x": int}, "__module__": __name__}))
    with pytest.raises(ValueError, match="type key 'Array' is reserved for the runtime"):
        one_field(ffi, int, "Array")


def test_wrong_subclass_of_python(ffi: Any) -> None:
    """An object whose wrapper is gone arrives as the declared class, not as its Python subclass."""

    @ffi.dataclass
    class Point:
        x: int

    class Named(Point):
        name = "n"

    kept = ffi.List([Named(3)])
    gc.collect()  # PyPy counts no references
    assert type(kept[0]) is Point
    alive = Named(4)
    kept.append(alive)
    assert kept[1] is alive


if sys.version_info >= (3, 11):

    def test_self(ffi: Any) -> None:
        cls = one_field(ffi, Optional[typing.Self])  # type: ignore[valid-type,misc]
        made = cls(None)
        made.x = made
        assert made.x is made


def test_frozen_fields_are_set_once(ffi: Any) -> None:
    import anyffi

    @ffi.dataclass("test.fields.Frozen")
    class Frozen:
        a: int = anyffi.field(frozen=True)
        b: int
        c: Any = anyffi.field(default_factory=list, frozen=True, doc="What there is.")
        d: str = anyffi.field(default="d", frozen=True, init=False)

    @ffi.dataclass("test.fields.FrozenChild")
    class Child(Frozen):
        e: int = anyffi.field(default=5, frozen=True)
        b: int = anyffi.field(default=6, frozen=True)

    @ffi.dataclass("test.fields.OwnInit")
    class OwnInit:
        a: int = anyffi.field(frozen=True)

        def __init__(self, a: int) -> None:
            self.a = a

    assert Frozen.c.__doc__ == "What there is."
    x, child, own = Frozen(1, 2), Child(1, 2, [3]), OwnInit(1)
    x.b = 9
    for each, names in ((x, "acd"), (child, "abcde"), (own, "a")):
        for name in names:
            former = getattr(each, name)
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(each, name, 7)
            assert getattr(each, name) == former
            with pytest.raises(AttributeError):
                delattr(each, name)
    assert (x.a, x.b, x.c, x.d) == (1, 9, [], "d")
    for made in (copy.copy(child), copy.deepcopy(child), dataclasses.replace(child, e=5)):
        assert made == child
        assert not made.same_as(child)
        with pytest.raises(AttributeError):
            made.a = 3
    assert dataclasses.replace(child, a=7).a == 7
    Frozen.a.set(child, 70)
    assert child.a == 70
    with pytest.raises(TypeError, match=r"test.fields.Frozen.a.*expected int, got str"):
        Frozen.a.set(x, "x")
    with pytest.raises(TypeError, match="expected int, got str"):
        Frozen("x", 1)
    assert ffi.from_json(ffi.to_json(child)) == child


def test_names_of_later_classes_with_keys(ffi: Any) -> None:

    @ffi.dataclass("test.later.Statement")
    class Statement:
        value: Optional[Expression] = None
        others: List[Expression] = dataclasses.field(default_factory=list)

    class Other:
        @ffi.dataclass("test.later.Other")
        class Expression:
            pass

    for _ in range(2):  # as in a notebook

        @ffi.dataclass("test.later.Expression")
        class Expression:
            body: Optional[Statement] = None

        @ffi.dataclass("test.later.Call")
        class Call(Expression):
            name: str = ""

        call = Call(Statement(Expression()), "f")
        made = Statement(call, [call, Expression()])
        assert made.value.same_as(made.others[0])
        assert made.value.body.value == Expression()
        assert ffi.structural_equal(ffi.from_json(ffi.to_json(made)), made)
    with pytest.raises(TypeError, match=r"Statement.value: expected .*Expression"):
        made.value = Statement()
    with pytest.raises(TypeError, match=r"Statement.value: expected .*Expression"):
        made.value = Other.Expression()


def test_refused_containers_of_other_objects_have_the_runtimes_names(ffi: Any) -> None:
    """By the constructor and by assignment, which convert values in different ways."""

    @ffi.dataclass
    class Counted:
        count: int = 0

    class Given:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __anyffi_value__(self) -> Any:
            return self.value

    def assign(value: Any) -> None:
        Counted().count = value

    for given, name in (([1], "List"), ((1,), "Array"), ({1: 2}, "Dict"), ({1}, "Set"), ("x", "str")):
        for put in (Counted, lambda x: Counted(count=x), assign):
            with pytest.raises(TypeError, match=rf"\.count: expected int, got {name}$"):
                put(Given(given))


@pytest.mark.parametrize(
    "name", ["__init__", "__weakref__", "_anyffi_runtime", "_anyffi_set_nowhere", "_anyffi_type_code"]
)
def test_names_that_all_objects_have(ffi: Any, name: str) -> None:
    cls = type("C", (), {"__annotations__": {name: int}, "__module__": __name__})
    with pytest.raises(TypeError, match=rf"^field '{name}' of C: its objects have this attribute already$"):
        ffi.dataclass("test.reserved")(cls)


def test_a_method_of_all_objects_is_no_default(ffi: Any) -> None:
    cls = ffi.dataclass("test.same_as")(
        type("C", (), {"__annotations__": {"same_as": int}, "__module__": __name__})
    )
    assert cls(3).same_as == 3
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'same_as'"):
        cls()


def test_numbers_of_subclasses(ffi: Any) -> None:
    """The value of the number itself is used, whatever methods the subclass overrides."""

    class Odd(int):
        def __index__(self) -> int:
            raise AssertionError("never called")

        __int__ = __float__ = __bool__ = __pos__ = __eq__ = __hash__ = __index__  # type: ignore[assignment]

    class OddFloat(float):
        def __float__(self) -> float:
            raise AssertionError("never called")

        __pos__ = __float__

    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2**40

    @ffi.dataclass("fields.Numbers")
    class Numbers:
        whole: int = 0
        real: float = 0.0
        flag: bool = False
        anything: Any = None

    made = Numbers()
    made.whole, made.real, made.anything = Odd(5), OddFloat(1.5), Level.HIGH
    assert (made.whole, made.real, made.anything) == (5, 1.5, 2**40)
    made.whole, made.real, made.flag = Level.HIGH, Level.LOW, Level.LOW
    assert (made.whole, made.real, made.flag) == (2**40, 1.0, True)
    assert (type(made.whole), type(made.real), type(made.flag)) == (int, float, bool)
    with pytest.raises(OverflowError, match="whole: 36893488147419103232 does not fit int64"):
        made.whole = Odd(2**65)
    with pytest.raises(TypeError, match="whole: expected int, got .*OddFloat"):
        made.whole = OddFloat(2.5)
    with pytest.raises(ValueError, match="must be 0 or 1"):
        made.flag = Odd(7)
    assert (made.whole, made.flag) == (2**40, True)
