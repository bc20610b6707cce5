"""JSON and pickles that an older version of a dataclass has written, without fields that were added since."""

from __future__ import annotations

import enum
import pickle
import re
import sys
from dataclasses import field
from typing import Any

import pytest
from pickles import every_protocol

pytestmark = pytest.mark.keeps_live("types are never freed")

LONG = "a text that is not stored inline"


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


def publish(cls: Any) -> Any:
    """Let pickles find a class, in the place of its former version."""
    cls.__qualname__, cls.__module__ = cls.__name__, __name__
    setattr(sys.modules[__name__], cls.__name__, cls)
    return cls


def declare(ffi: Any, version: int, **options: Any) -> Any:
    key = "test.versions.Config"
    if version == 1:

        @ffi.dataclass(key, **options)
        class Config:
            x: int
            more: Any = None

    else:

        @ffi.dataclass(key, **options)
        class Config:  # type: ignore[no-redef]
            x: int
            more: Any = None
            text: str = LONG
            items: list[int] = field(default_factory=lambda: [1, 2])
            pair: tuple[int, ...] = (3, 4)
            mode: Mode = Mode.FAST
            rate: float = field(default=2, init=False)

    return publish(Config)


def check(ffi: Any, made: Any, cls: Any) -> None:
    assert type(made) is cls
    assert (made.x, made.text, made.items, made.pair, made.rate) == (5, LONG, [1, 2], (3, 4), 2.0)
    assert type(made.items) is ffi.List
    assert made.mode is Mode.FAST
    assert made == cls(5, made.more)


@pytest.mark.parametrize("frozen", [False, True])
def test_json(ffi: Any, frozen: bool) -> None:
    old = declare(ffi, 1, frozen=frozen)(5)
    text = ffi.to_json([old, old])
    cls = declare(ffi, 2, frozen=frozen)
    made = ffi.from_json(text)
    check(ffi, made[0], cls)
    assert made[0] is made[1]
    assert made[0].items is not ffi.from_json(text)[0].items
    new = cls(6, text="new")
    assert ffi.from_json(ffi.to_json(new)) == new


@every_protocol
@pytest.mark.parametrize("frozen", [False, True])
def test_pickles(ffi: Any, frozen: bool, protocol: int) -> None:
    text = pickle.dumps(declare(ffi, 1, frozen=frozen)(5), protocol)
    cls = declare(ffi, 2, frozen=frozen)
    made = pickle.loads(text)
    check(ffi, made, cls)
    assert made.items is not pickle.loads(text).items
    state: dict[str, Any] = {"x": 1}
    again = cls.__new__(cls)
    again.__setstate__(state)
    assert again == cls(1)
    assert state == {"x": 1}


def test_cycles(ffi: Any) -> None:
    old = declare(ffi, 1)(5)
    old.more = ffi.List([old])
    texts = ffi.to_json(old), pickle.dumps(old)
    cls = declare(ffi, 2)
    for made in (ffi.from_json(texts[0]), pickle.loads(texts[1])):
        assert made.more[0] is made
        assert (type(made), made.items) == (cls, [1, 2])
        made.more = None
    old.more = None


def test_derived_dataclasses(ffi: Any) -> None:
    """The default of the class itself counts, not that of the base."""

    @ffi.dataclass("test.versions.Base")
    class Base:
        a: int
        b: int = 1

    @ffi.dataclass("test.versions.Derived")
    class Derived(Base):
        b: int = 2
        c: str = "c"

    text = ffi.to_json([Derived(1), Base(1)])
    short = re.sub(r', "b": \d(, "c": "c")?', "", text)
    assert ffi.from_json(short) == [Derived(1), Base(1)]
    made = Derived.__new__(Derived)
    made.__setstate__({"a": 1})
    assert made == Derived(1)


def test_the_last_declaration_counts(ffi: Any) -> None:
    for default in (1, 2):

        @ffi.dataclass("test.versions.Again")
        class Again:
            a: int
            b: int = default

    text = ffi.to_json(Again(1)).replace(', "b": 2', "")
    assert ffi.from_json(text) == Again(1, 2)

    @ffi.dataclass("test.versions.Again")
    class Again:  # type: ignore[no-redef]
        a: int
        b: int

    with pytest.raises(ValueError, match="the field 'b' is missing"):
        ffi.from_json(text)


def test_fields_without_a_default(ffi: Any) -> None:
    text = ffi.to_json([declare(ffi, 1)(5)]).replace('"x": 5, ', "")
    name = "test.versions.Config"
    place = text.index('"data": {"more"') - len(f'{{"type": "{name}", ')
    message = rf"^the field 'x' is missing, in the node at position {place} \({name}\)$"
    with pytest.raises(ValueError, match=message):
        ffi.from_json(text)
    cls = declare(ffi, 2)
    made = cls.__new__(cls)
    made.__setstate__({})
    assert made.text == LONG
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        made.x


def test_defaults_that_fail(ffi: Any) -> None:
    def fail() -> int:
        raise KeyError("mine")

    @ffi.dataclass("test.versions.Failing")
    class Failing:
        a: int = field(default_factory=fail)
        b: int = None  # type: ignore[assignment]

    text = ffi.to_json(Failing(1, 2))
    with pytest.raises(KeyError, match="mine"):
        ffi.from_json(text.replace('"a": 1, ', ""))
    message = r"TypeError: test.versions.Failing.b: expected int, got NoneType, in the node"
    with pytest.raises(ValueError, match=message):
        ffi.from_json(text.replace(', "b": 2', ""))
    made = Failing.__new__(Failing)
    with pytest.raises(KeyError, match="mine"):
        made.__setstate__({"b": 2})
    with pytest.raises(TypeError, match="Failing.b: expected int, got NoneType"):
        made.__setstate__({"a": 2})


def test_states_in_parts(ffi: Any) -> None:
    @ffi.dataclass("test.versions.Parts")
    class Parts:
        x: int
        cache: Any = None

    made = Parts(1, "kept")
    made.__setstate__({"x": 2})
    assert (made.x, made.cache) == (2, "kept")
    empty = Parts.__new__(Parts)
    empty.__setstate__({"cache": "kept"})
    empty.__setstate__({"x": 3})
    assert (empty.x, empty.cache) == (3, "kept")


def test_a_declaration_that_fails_changes_nothing(ffi: Any) -> None:
    class Refusing(type):
        def __setattr__(cls, name: str, value: Any) -> None:
            if name == "y":
                raise ValueError("no y")
            super().__setattr__(name, value)

    def declare_with(default: int, **options: Any) -> Any:
        @ffi.dataclass("test.versions.Refused")
        class Refused(**options):
            x: int
            y: int = default

        return Refused

    cls = declare_with(5)
    text = ffi.to_json(cls(1)).replace(', "y": 5', "")
    with pytest.raises(ValueError, match="no y"):
        declare_with(77, metaclass=Refusing)
    made = ffi.from_json(text)
    assert type(made) is cls
    assert made.y == 5
