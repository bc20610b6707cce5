"""Dataclasses: their structure, walks and JSON."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import anyffi
import pytest

pytestmark = [
    pytest.mark.keeps_live("types are never freed"),
    pytest.mark.unrecorded("keys of types differ between modes"),
]


def make_classes(ffi: Any) -> Any:
    class Classes:
        @ffi.dataclass(f"struct.{ffi.ffi_mode}.Var", structural="variable")
        class Var:
            name: str = anyffi.field(structural="ignore")

        @ffi.dataclass(f"struct.{ffi.ffi_mode}.Add")
        class Add:
            a: Any
            b: Any

        @ffi.dataclass(f"struct.{ffi.ffi_mode}.Lambda")
        class Lambda:
            params: list[Any] = anyffi.field(structural="defines")
            body: Any = None

        @ffi.dataclass(f"struct.{ffi.ffi_mode}.Numbers")
        class Numbers:
            i: int
            f: float
            flag: bool
            text: str
            next: Any = None

    return Classes


def test_structure(ffi: Any) -> None:
    c = make_classes(ffi)
    x, y = c.Var("x"), c.Var("y")
    assert ffi.structural_equal(c.Lambda([x], c.Add(x, 1)), c.Lambda([y], c.Add(y, 1)))
    assert ffi.structural_hash(c.Lambda([x], c.Add(x, 1))) == ffi.structural_hash(c.Lambda([y], c.Add(y, 1)))
    assert not ffi.structural_equal(c.Lambda([x], c.Add(x, 1)), c.Lambda([y], c.Add(x, 1)))
    assert not ffi.structural_equal(x, y)
    assert str(ffi.first_mismatch(c.Add(1, c.Add(2, {"w": 3})), c.Add(1, c.Add(2, {"w": 4})))) == '.b.b["w"]'
    a, b = c.Numbers(1, 2.0, True, "text"), c.Numbers(1, 2.0, True, "text")
    assert ffi.structural_equal(a, b)
    for name, value in [("i", 2), ("f", 3.0), ("flag", False), ("text", "other"), ("next", 1)]:
        assert str(ffi.first_mismatch(a, dataclasses.replace(b, **{name: value}))) == f".{name}"
    with pytest.raises(ValueError, match="`structural` of a field is"):

        @ffi.dataclass(f"struct.{ffi.ffi_mode}.Bad")
        class Bad:
            a: int = anyffi.field(structural="what")


def test_walks_and_json(ffi: Any) -> None:
    c = make_classes(ffi)
    x = c.Var("x")
    term = c.Lambda([x], c.Add(x, c.Numbers(1, 2.5, True, "text")))
    made = ffi.from_json(ffi.to_json(term))
    assert type(made) is c.Lambda
    assert type(made.body.b) is c.Numbers
    assert made.params[0].same_as(made.body.a)
    assert made == term or ffi.structural_equal(made.body.b, term.body.b)
    copied = ffi.copy(term)
    assert ffi.structural_equal(copied, term)
    assert not copied.body.same_as(term.body)
    more = ffi.map(term, lambda e: e + 1 if type(e) is int else e)
    assert (more.body.b.i, term.body.b.i) == (2, 1)
    assert more.params[0].same_as(x)
    ring = c.Numbers(1, 2.0, False, "ring")
    ring.next = ffi.List([ring])
    read = ffi.from_json(ffi.to_json(ring))
    assert read.next[0].same_as(read)
    copied = ffi.copy(ring)
    assert copied.next[0].same_as(copied)
    assert ffi.structural_equal(read, ring)
    for each in (ring, read, copied):
        each.next = None
    key = f"struct.{ffi.ffi_mode}.Numbers"
    for data, message in [
        ('{"i": 1}', "the field 'f' is missing"),
        ('{"i": "x", "f": 1.0, "flag": true, "text": "", "next": null}', "expected int, got str"),
        ('{"i": 1, "f": 1.0, "flag": true, "text": "", "next": null, "more": 1}', "an unknown field"),
    ]:
        text = f'{{"format": "anyffi", "version": 1, "root": {{"ref": 0}}, "nodes": [{{"type": "{key}", "data": {data}}}]}}'
        with pytest.raises(ValueError, match=message):
            ffi.from_json(text)


@pytest.mark.parametrize("structural", [None, "identity", "variable", "dag"])
def test_objects_without_fields(structural: str | None, ffi: Any) -> None:
    """Such as a statement that only its class tells from others."""

    @ffi.dataclass(f"struct.{ffi.ffi_mode}.Break.{structural}", structural=structural, eq=False)
    class Break:
        pass

    @ffi.dataclass(f"struct.{ffi.ffi_mode}.Continue.{structural}", structural=structural, eq=False)
    class Continue:
        pass

    one, other = Break(), Break()
    is_one = {"structural_equal": ffi.structural_equal, "==": lambda a, b: a == b}
    assert {name: same(one, other) for name, same in is_one.items()} == {
        "structural_equal": structural in (None, "dag"),
        "==": False,
    }
    assert ffi.structural_equal([one, one], [other, other]) is (structural in (None, "dag"))
    assert ffi.structural_equal([one, one], [one, other]) is (structural is None)
    assert ffi.structural_equal([one, 1], [one, 1])
    assert ffi.structural_hash(one) == ffi.structural_hash(other) != ffi.structural_hash(Continue())
    assert str(ffi.first_mismatch([one, one], [one, Continue()])) == "[1]"
    assert ffi.children(one) == []
    assert ffi.map([one, 1], {Break: lambda each: 2}) == [2, 1]
    text = ffi.to_json([one, one, other])
    assert text.count('"data": {}') == 2
    for made in (ffi.from_json(text), ffi.copy([one, one, other])):
        assert [type(each) for each in made] == [Break] * 3
        assert made[0] is made[1] is not made[2]
        assert made[0] is not one


def test_an_object_with_an_unset_field_is_not_written(ffi: Any) -> None:
    @ffi.dataclass(f"struct.{ffi.ffi_mode}.Unset")
    class Unset:
        a: int
        b: int = anyffi.field(init=False)

    message = r"^Unset cannot be written as JSON, since a field is not set: at \[1\].b$"
    with pytest.raises(TypeError, match=message):
        ffi.to_json([1, Unset(1)])


def test_an_unset_field_is_not_read(ffi: Any) -> None:
    """C++ has an object in such a field, which all objects of the class share: no walk may hand it out."""

    @ffi.dataclass(f"struct.{ffi.ffi_mode}.Inner")
    class Inner:
        a: int = 0

    @ffi.dataclass(f"struct.{ffi.ffi_mode}.Outer")
    class Outer:
        inner: Inner
        ignored: int = anyffi.field(default=0, structural="ignore")

    unset, other = Outer.__new__(Outer), Outer.__new__(Outer)
    walks: list[Callable[[], Any]] = [
        lambda: ffi.children(unset),
        lambda: ffi.visit([unset], lambda part: None),
        lambda: ffi.map([unset], lambda part: part),
        lambda: ffi.copy(unset),
        lambda: ffi.structural_equal(unset, other),
        lambda: ffi.structural_equal(unset, Outer(Inner())),
        lambda: ffi.structural_equal(Outer(Inner()), unset),
        lambda: ffi.structural_hash(unset),
    ]
    for walk in walks:
        with pytest.raises(AttributeError, match=r"^'Outer' object has no attribute 'inner'$"):
            walk()
    unset.inner = Inner(1)
    assert ffi.structural_equal(unset, Outer(Inner(1), 5))


def test_an_object_that_refers_to_itself_alone(ffi: Any) -> None:
    c = make_classes(ffi)
    x, y = c.Add(1, None), c.Add(1, None)
    x.b, y.b = x, y
    assert ffi.structural_equal(x, y)
    assert ffi.structural_hash(x) == ffi.structural_hash(y)
    for made in (ffi.from_json(ffi.to_json(x)), ffi.copy(x)):
        assert made.b is made
        assert made is not x
        made.b = None
    y.a = 2
    assert not ffi.structural_equal(x, y)
    x.b = y.b = None


def test_objects_with_and_without_wrappers(ffi: Any) -> None:
    c = make_classes(ffi)

    def make(held: list[Any]) -> Any:
        shared = c.Add(0, 0)
        for _ in range(40):
            held.append(shared)
            shared = c.Add(shared, shared)
        top = c.Add(shared, None)
        bottom = c.Add(None, top)
        held.append(bottom)
        top.b = bottom
        return top

    held: list[Any] = []
    with_wrappers, without = make(held), make([])
    assert ffi.structural_equal(with_wrappers, without)
    assert ffi.structural_hash(with_wrappers) == ffi.structural_hash(without)
    seen: list[Any] = []
    ffi.visit(with_wrappers, lambda part: seen.append(part) if isinstance(part, c.Add) else None)
    assert len(seen) == 43
    copied = ffi.copy(with_wrappers)
    assert copied.a.a is copied.a.b
    assert copied.b.b is copied
    assert ffi.structural_equal(copied, without)
    for top in (with_wrappers, without, copied):
        top.b = None
