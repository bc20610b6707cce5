"""Dataclasses that derive from classes of C++."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import sys
import weakref
from typing import Any

import pytest
from derived_sources import DERIVED
from pickles import every_protocol
from support import Build, collect, compiles_classes, count_live, cpython_only

pytestmark = compiles_classes

KEEPS = "on PyPy an object lives on without its Python part"


@pytest.fixture
def lib(ffi: Any, build: Build) -> Any:
    module = ffi.load_module(build("derived.cc", DERIVED))
    yield module
    module.forget()


class Classes:
    """The classes of each backend, declared once: types are never freed."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        @ffi.dataclass("test.derived.Named")
        class Named(lib.Shape):  # type: ignore[misc, name-defined]
            name: str
            tags: list[str] = dataclasses.field(default_factory=list)
            other: Any = None

            def __post_init__(self) -> None:
                super().__init__("named", size=len(self.name))

            def area(self) -> int:
                return 1000 + int(super().area())

        @ffi.dataclass("test.derived.Deeper")
        class Deeper(Named):
            depth: float = 0.5

        @ffi.dataclass("test.derived.Simple")
        class Simple(lib.Plain):  # type: ignore[misc, name-defined]
            y: int
            next: Simple | None = None

        @ffi.dataclass("test.derived.Own", init=False, eq=False)
        class Own(lib.Wide):  # type: ignore[misc, name-defined]
            flag: bool
            late: Any = None

            def __init__(self, x: int) -> None:
                super().__init__(x)
                self.from_start = self.x
                self.flag = x > 5

            from_start: int

        @ffi.dataclass("test.derived.Bare", init=False)
        class Bare(lib.Plain):  # type: ignore[misc, name-defined]
            note: str = "a"

        @ffi.dataclass("test.derived.Mixed")
        class Mixed(lib.Plain):  # type: ignore[misc, name-defined]
            words: list[str]
            text: str
            maybe: int | None
            anything: Any
            table: ffi.Map[str, int]
            number: float

        self.Named, self.Deeper, self.Simple, self.Own, self.Bare = Named, Deeper, Simple, Own, Bare
        self.Mixed = Mixed
        for cls in (Named, Deeper, Simple, Own, Bare, Mixed):
            cls.__qualname__ = cls.__name__
            setattr(sys.modules[__name__], cls.__name__, cls)


_declared: dict[type, Classes] = {}


@pytest.fixture
def classes(ffi: Any, lib: Any) -> Classes:
    core = ffi.Object
    if core not in _declared:
        _declared[core] = Classes(ffi, lib)
    made = _declared[core]
    for cls in vars(made).values():
        setattr(sys.modules[__name__], cls.__name__, cls)
    return made


def test_members_of_both(classes: Classes, lib: Any) -> None:
    named = classes.Named("four", ["a"])
    assert (named.name, list(named.tags), named.label, named.size) == ("four", ["a"], "named", 4)
    assert isinstance(named, lib.Shape)
    assert dataclasses.is_dataclass(named)
    assert repr(named).endswith("Named(name='four', tags=anyffi.List(['a']), other=None)")
    named.size = 5
    named.name = "x"
    assert (named.area(), named.size, named.name) == (1025, 5, "x")
    assert named == classes.Named("x", ["a"])
    assert [field.name for field in dataclasses.fields(named)] == ["name", "tags", "other"]
    deeper = classes.Deeper("ab", depth=2)
    assert (deeper.depth, deeper.size, deeper.area(), deeper.name) == (2.0, 2, 1004, "ab")
    assert lib.read(deeper, "depth") == 2.0
    assert lib.read(deeper, "label") == "named"
    assert lib.read(deeper, "name") == "ab"


def test_types_of_fields_are_checked(classes: Classes) -> None:
    with pytest.raises(TypeError, match=r"test\.derived\.Named\.name: expected str, got int"):
        classes.Named(5)
    named = classes.Named("a")
    with pytest.raises(TypeError, match=r"tags, at \[0\]: expected str, got int"):
        named.tags = [1]


def test_overrides(classes: Classes, lib: Any) -> None:
    named = classes.Deeper("four")
    assert lib.area_of(named) == 1016
    assert lib.area_of(lib.Shape("a", 3)) == 9
    assert named.me() is named


def test_default_constructor(classes: Classes, lib: Any) -> None:
    simple = classes.Simple(3)
    assert (simple.x, simple.y, simple.next) == (1, 3, None)
    assert lib.grow(simple, 4) == 5
    simple.next = classes.Simple(4, simple.next)
    assert (simple.next.y, simple.x) == (4, 5)
    bare = classes.Bare(9)
    assert (bare.x, bare.note) == (9, "a")
    assert dataclasses.replace(simple, y=5).x == 1


def test_own_init(classes: Classes, lib: Any) -> None:
    own = classes.Own(7)
    assert (own.x, own.y, own.flag, own.from_start, own.late) == (7, 2, True, 7, None)
    assert lib.grow(own, 1) == 8
    assert own.x == 8
    made = classes.Own.__new__(classes.Own)
    with pytest.raises(AttributeError, match="flag"):
        made.flag
    with pytest.raises(TypeError):
        lib.grow(made, 1)
    with pytest.raises((TypeError, AttributeError)):
        made.x
    lib.Wide.__init__(made, 1)
    assert (made.x, made.late) == (1, None)
    with pytest.raises(AttributeError, match="flag"):
        made.flag
    with pytest.raises(TypeError, match="already initialized"):
        lib.Wide.__init__(made, 1)
    with pytest.raises(TypeError, match=r"makes no derive\.Wide"):
        lib.Plain.__init__(classes.Own.__new__(classes.Own), 1)


def test_refused_declarations(ffi: Any, lib: Any) -> None:
    with pytest.raises(TypeError, match="field 'x' of Bad is a member of its base Plain"):

        @ffi.dataclass("test.derived.Bad")
        class Bad(lib.Plain):  # type: ignore[misc, name-defined]
            x: int

    with pytest.raises(TypeError, match="several bases"):

        @ffi.dataclass("test.derived.Bad2")
        class Bad2(lib.Plain, lib.Closed):  # type: ignore[misc, name-defined]
            z: int

    with pytest.raises(TypeError, match="Bad3 derives from List"):

        @ffi.dataclass("test.derived.Bad3")
        class Bad3(ffi.List):  # type: ignore[misc, name-defined]
            z: int


@cpython_only(KEEPS)
def test_an_object_without_its_base_may_be_kept(ffi: Any, lib: Any, classes: Classes) -> None:
    classes.Named("whole")
    draft = classes.Named.__new__(classes.Named)
    draft.name = "draft"
    kept = ffi.List([draft])
    del draft
    collect()
    assert kept[0].name == "draft"


def test_failing_construction(ffi: Any, lib: Any, classes: Classes) -> None:
    @ffi.dataclass("test.derived.Failing")
    class Failing(lib.Closed):  # type: ignore[misc, name-defined]
        y: int = 0

    live = count_live(lib)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Failing()

    @ffi.dataclass("test.derived.OfShared")
    class OfShared(lib.Shared):  # type: ignore[misc, name-defined]
        y: int = 0

    made = OfShared(3)
    assert (made.x, made.y, lib.get_shared()) == (5, 3, made)
    with pytest.raises(TypeError, match="not new|object of another class"):
        OfShared()
    assert made.x == 5
    assert count_live(lib) == live


def test_copies(classes: Classes, lib: Any) -> None:
    named = classes.Deeper("four", ["a"], depth=3)
    named.size = 10
    for made in (copy.copy(named), copy.deepcopy(named)):
        assert type(made) is classes.Deeper
        assert (made.name, made.tags, made.depth, made.size, made.label) == ("four", ["a"], 3.0, 10, "named")
        assert lib.area_of(made) == 1100
        assert made is not named
    assert copy.copy(named).tags is named.tags
    assert copy.deepcopy(named).tags is not named.tags
    loop = classes.Named("loop")
    loop.other = [loop]
    made = copy.deepcopy(loop)
    assert made.other[0] is made
    loop.other = made.other = None
    with pytest.raises(TypeError, match=r"its base derive\.Plain has no copyable\(\) or pickle\(\) in C\+\+"):
        copy.copy(classes.Simple(1))


@every_protocol
def test_pickles(classes: Classes, lib: Any, protocol: int) -> None:
    named = classes.Deeper("four", ["a"], depth=3)
    named.size = 10
    made = pickle.loads(pickle.dumps(named, protocol))
    assert (type(made), made.name, made.depth, made.size) == (classes.Deeper, "four", 3.0, 10)
    assert lib.area_of(made) == 1100
    with pytest.raises(TypeError, match=r"cannot pickle 'Simple' object: its base derive\.Plain"):
        pickle.dumps(classes.Simple(1), protocol)


def test_structure(classes: Classes, ffi: Any) -> None:
    a, b = classes.Simple(1), classes.Simple(1)
    assert ffi.structural_equal(a, b)
    assert ffi.structural_hash(a) == ffi.structural_hash(b)
    b.x = 7
    assert not ffi.structural_equal(a, b)
    assert str(ffi.first_mismatch(a, b).path) == ".x"
    a.next = b
    made = ffi.from_json(ffi.to_json(a))
    assert type(made) is classes.Simple
    assert (made.x, made.y, made.next.x, made.next.y) == (1, 1, 7, 1)
    made.next.x = 8
    assert b.x == 7
    # Defaults of the class, and of the constructor of its base.
    text = (
        '{"format": "anyffi", "version": 1, "root": {"ref": 0}, "nodes": [{"type": "test.derived.Simple", '
        '"data": {"y": 1, "held": null}}]}'
    )
    made = ffi.from_json(text)
    assert (made.x, made.y, made.next) == (1, 1, None)
    with pytest.raises(ValueError, match="the field 'y' is missing"):
        ffi.from_json(text.replace('"y": 1, ', ""))
    with pytest.raises(ValueError, match="the field 'held' is missing"):
        ffi.from_json(text.replace(', "held": null', ""))
    draft = classes.Simple.__new__(classes.Simple)
    draft.y, draft.next = 3, None
    with pytest.raises(
        TypeError, match=r"^Simple cannot be written as JSON, since it is not initialized: at \[1\]$"
    ):
        ffi.to_json([1, draft])
    text = (
        '{"format": "anyffi", "version": 1, "root": {"ref": 0}, "nodes": [{"type": "test.derived.Simple '
        '(not initialized)", "data": {"y": 3, "next": null}}]}'
    )
    with pytest.raises(ValueError, match="an object of Simple that is not initialized cannot be made again"):
        ffi.from_json(text)
    for change in (
        ffi.copy,
        lambda x: ffi.map([x], lambda part: 4 if part == 3 else part),
        lambda x: ffi.map_children(x, lambda part: 4 if part == 3 else part),
    ):
        with pytest.raises(TypeError, match="the constructor of its base in C.. was not called"):
            change(draft)
    named = classes.Named("a")
    with pytest.raises(ValueError, match=r"Python overrides functions of C\+\+"):
        ffi.from_json(ffi.to_json(named))


def test_structure_keeps_the_base(classes: Classes, ffi: Any) -> None:
    """Initial values of a copy's fields are not written into its C++ part."""
    mixed = classes.Mixed(["a"], "text", 3, [None], ffi.Map({"k": 1}), 2.5)
    mixed.x = 5
    for made in (ffi.copy(mixed), ffi.from_json(ffi.to_json(mixed))):
        assert made.x == 5
        made.x = 7
        assert (made.words, made.text, made.maybe, made.anything) == (["a"], "text", 3, [None])
        assert (made.table, made.number) == ({"k": 1}, 2.5)
    assert mixed.x == 5


def test_life(classes: Classes, lib: Any) -> None:
    before = count_live(lib)
    named = classes.Named("four")
    lib.keep(named)
    assert lib.get_kept() is named
    found = weakref.ref(named)
    del named
    gc.collect()
    if sys.implementation.name != "pypy":
        assert lib.area_of_kept() == 1016
        assert lib.get_kept().name == "four"
        assert type(lib.get_kept()) is classes.Named
    lib.forget()
    collect()
    assert found() is None
    assert count_live(lib) == before
    with pytest.raises(ValueError, match="does not own its content alone"):
        lib.take(classes.Named("a"))


@cpython_only(KEEPS)
def test_cycles_are_collected(classes: Classes, lib: Any) -> None:
    before = count_live(lib)
    named, own, simple = classes.Named("four"), classes.Own(3), classes.Bare(3)
    # Through fields of Python, fields of C++, attributes, and overrides.
    named.other = lambda: named
    own.held = lambda: own
    own.late = [lambda: own]
    simple.held = lambda: simple
    lib.area_of(named)
    assert lib.live() == before + 3
    del named, own, simple
    collect()
    assert count_live(lib) == before


def test_frozen(ffi: Any, lib: Any) -> None:
    @ffi.dataclass("test.derived.Frozen", frozen=True)
    class Frozen(lib.Plain):  # type: ignore[misc, name-defined]
        y: int

    frozen = Frozen(2)
    assert (frozen.x, frozen.y, hash(frozen)) == (1, 2, hash(Frozen(2)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        frozen.y = 3


def test_class_of_python_in_between(ffi: Any, lib: Any) -> None:
    class Between(lib.Shape):  # type: ignore[misc, name-defined]
        def area(self) -> int:
            return 77

    @ffi.dataclass("test.derived.Above")
    class Above(Between):
        y: int

    class Below(Above):
        pass

    for cls in (Above, Below):
        made = cls(3)
        assert (made.y, lib.area_of(made), made.label) == (3, 77, "none")
