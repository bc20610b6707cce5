"""How fields and objects of dataclasses take part in comparisons by structure."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


def same(ffi: Any, a: Any, b: Any) -> bool:
    found: bool = ffi.structural_equal(a, b)
    assert found == (ffi.structural_hash(a) == ffi.structural_hash(b))
    assert found == (ffi.first_mismatch(a, b) is None)
    return found


def test_fields(ffi: Any, public: Any) -> None:
    class Token:
        text: str
        line: int = public.field(default=0, structural="ignore")
        origin: object = public.field(default=None, structural="identity", metadata={"doc": "Where from."})

    cls = ffi.dataclass("structural.Token")(Token)
    assert same(ffi, cls("x", 1), cls("x", 2))
    assert not same(ffi, cls("x", 1), cls("y", 1))
    here = ffi.List([1])
    assert same(ffi, cls("x", 1, here), cls("x", 2, here))
    assert not ffi.structural_equal(cls("x", 1, here), cls("x", 1, ffi.List([1])))
    assert cls("x", 1) != cls("x", 2)
    assert cls.__dict__["origin"].__doc__ == "Where from."

    class Derived(cls):  # type: ignore[misc,valid-type]
        line: int = 0
        column: int = public.field(default=0, structural="ignore")

    derived = ffi.dataclass("structural.Derived")(Derived)
    assert same(ffi, derived("x", 1, column=1), derived("x", 2, column=2))


def test_variables(ffi: Any, public: Any) -> None:
    class Var:
        name: str = public.field(default="", structural="ignore")

    var = ffi.dataclass("structural.Var", structural="variable")(Var)

    class Let:
        names: list[Any] = public.field(structural="defines")
        body: object = None

    let = ffi.dataclass("structural.Let")(Let)
    a, b = var("a"), var("b")
    assert same(ffi, let([a], (a, 1)), let([b], (b, 1)))
    assert not same(ffi, let([a], (a, 1)), let([b], (a, 1)))
    assert not ffi.structural_equal(a, b)
    assert ffi.structural_equal(a, b, map_free_vars=True)


def test_shared_lists_of_many_free_variables_are_compared_once(ffi: Any) -> None:
    class Name:
        text: str = ""

    cls = ffi.dataclass("structural.Name", structural="variable")(Name)

    def nest(levels: int, last: Any) -> Any:
        nested = ffi.List([last])
        for _ in range(levels):
            nested = ffi.List([nested, nested, cls()])
        return nested

    a, b, c = (nest(2000, last) for last in (cls(), cls(), 1))
    assert ffi.structural_equal(a, b, map_free_vars=True)
    assert not ffi.structural_equal(a, c, map_free_vars=True)
    assert ffi.structural_hash(a, map_free_vars=True) == ffi.structural_hash(b, map_free_vars=True)
    # Results for a list are not reused after a variable in it was paired with another one.
    x, y = cls(), cls()
    many = [cls() for _ in range(20)]
    left, right = ffi.List([*many, x]), ffi.List([*many, x])
    assert ffi.structural_equal([left, left, x], [right, right, x], map_free_vars=True)
    assert not ffi.structural_equal([left, left, y], [right, right, x], map_free_vars=True)
    other = ffi.List([*many[1:], many[0], x])
    assert not ffi.structural_equal([left, left], [right, other], map_free_vars=True)
    assert not ffi.structural_equal([left, many[0], left], [other, many[1], right], map_free_vars=True)


def test_a_class_that_is_defined_again(ffi: Any, public: Any) -> None:
    def make(word: Any, of_class: Any) -> Any:
        class Again:
            x: int = public.field(default=0, structural=word)

        return ffi.dataclass("structural.Again", structural=of_class)(Again)

    ignoring = make("ignore", None)
    assert same(ffi, ignoring(1), ignoring(2))
    plain = make(None, None)
    assert not same(ffi, plain(1), plain(2))
    unique = make(None, "identity")
    assert not ffi.structural_equal(unique(1), unique(1))
    plain = make("plain", "plain")
    assert same(ffi, plain(1), plain(1))


def test_words_without_meaning(ffi: Any, public: Any) -> None:
    message = (
        "^`structural` of a field is 'plain', 'ignore', 'identity', 'defines' or 'declares', not 'variable'$"
    )
    with pytest.raises(ValueError, match=message):
        public.field(structural="variable")
    with pytest.raises(
        ValueError, match="^`structural` of a class is 'plain', 'identity', 'variable' or 'dag', not 'x'$"
    ):
        ffi.dataclass(structural="x")(type("X", (), {"__annotations__": {"x": int}}))
    with pytest.raises(ValueError, match="cannot specify both"):
        public.field(default=1, default_factory=int, structural="ignore")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        public.field(unknown=1)


def test_fields_of_the_standard_library(public: Any) -> None:
    @dataclasses.dataclass
    class Plain:
        x: int = public.field(default=1, repr=False, structural="ignore")
        y: Any = public.field(default_factory=list)  # noqa: RUF009

    assert repr(Plain()) == "test_fields_of_the_standard_library.<locals>.Plain(y=[])"


@pytest.fixture
def public() -> Any:
    import anyffi

    return anyffi
