"""Errors about values that cannot be packed name the method or conversion, or the callback that returned the value."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
import pytest
from support import collect

TEXT = np.array(["a"])
DTYPE = "dtype <U1 has no DLPack code; pass the array's .tolist()"


class NoCapsule:
    """Exports something other than a capsule."""

    def __dlpack__(self, **_: Any) -> Any:
        return 5

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


needs_capsules = pytest.mark.skipif(
    sys.implementation.name != "cpython",
    reason="there NumPy itself reads what `__dlpack__` returns, with its own messages",
)
CAPSULE = "expected an unused DLPack capsule, got int"


class Hook:
    """Raises the given error."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error


def message(function: Any, *args: Any, **named: Any) -> str:
    with pytest.raises((TypeError, BufferError, ValueError, RecursionError)) as caught:
        function(*args, **named)
    assert len(caught.value.args) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "place"),
    [(TEXT, ""), ([1, {"k": (TEXT,)}], ', at [1]["k"][0]'), ((slice([TEXT]),), ", at [0].stop[0]")],
)
def test_convert(ffi: Any, given: Any, place: str) -> None:
    assert message(ffi.convert, given) == f"anyffi.convert(): argument 0{place}: {DTYPE}"


def test_from_dlpack(ffi: Any) -> None:
    assert message(ffi.from_dlpack, TEXT) == f"anyffi.from_dlpack(): argument 0: {DTYPE}"


#: The method, a call of it, and the place that the message names.
LIST_CALLS: list[tuple[str, Any, str]] = [
    ("append", lambda xs: xs.append([TEXT]), "argument 0, at [0]"),
    ("insert", lambda xs: xs.insert(0, TEXT), "argument 1"),
    ("insert", lambda xs: xs.insert(sys.maxsize, TEXT), "argument 1"),
    ("extend", lambda xs: xs.extend([1, TEXT]), "argument 0, at [1]"),
    ("extend", lambda xs: xs.extend(iter([1, TEXT])), "argument 0"),
    ("__iadd__", lambda xs: xs.__iadd__((TEXT,)), "argument 0, at [0]"),
    ("__add__", lambda xs: xs + [TEXT], "argument 0, at [0]"),
    ("__radd__", lambda xs: [1, TEXT] + xs, "argument 0, at [1]"),
    ("__setitem__", lambda xs: xs.__setitem__(0, TEXT), "argument 1"),
    ("__setitem__", lambda xs: xs.__setitem__(slice(0, 1), [TEXT]), "argument 1, at [0]"),
    ("__setitem__", lambda xs: xs.__setitem__(slice(None, None, 2), [TEXT]), "argument 1, at [0]"),
]
DICT_CALLS: list[tuple[str, Any, str]] = [
    ("__setitem__", lambda d: d.__setitem__("k", {"a": TEXT}), 'argument 1, at ["a"]'),
    ("setdefault", lambda d: d.setdefault("k", TEXT), "argument 1"),
    ("update", lambda d: d.update({"k": TEXT}), 'argument 0, at ["k"]'),
    ("update", lambda d: d.update([("k", TEXT)]), "argument 0, at [0][1]"),
    ("update", lambda d: d.update(k=[TEXT]), "argument 'k', at [0]"),
    ("__ior__", lambda d: d.__ior__({"k": TEXT}), 'argument 0, at ["k"]'),
    ("__or__", lambda d: d | {"k": TEXT}, 'argument 0, at ["k"]'),
    ("__ror__", lambda d: {"k": TEXT} | d, 'argument 0, at ["k"]'),
    ("fromkeys", lambda d: type(d).fromkeys([1], TEXT), "argument 1"),
]


@pytest.mark.parametrize(("name", "call", "expected"), LIST_CALLS)
def test_lists(ffi: Any, name: str, call: Any, expected: str) -> None:
    xs = ffi.List([1, 2])
    assert message(call, xs) == f"anyffi.List.{name}(): {expected}: {DTYPE}"
    assert xs == [1, 2]


@pytest.mark.parametrize(("name", "call", "expected"), DICT_CALLS)
def test_dicts(ffi: Any, name: str, call: Any, expected: str) -> None:
    d = ffi.Dict({1: 2})
    assert message(call, d) == f"anyffi.Dict.{name}(): {expected}: {DTYPE}"
    assert d == {1: 2}


def test_constructors(ffi: Any) -> None:
    for cls, args, named, expected in [
        ("List", ([1, [TEXT]],), {}, "argument 0, at [1][0]"),
        ("List", (iter([TEXT]),), {}, "argument 0"),
        ("Array", ((TEXT,),), {}, "argument 0, at [0]"),
        ("Dict", ({"k": [TEXT]},), {}, 'argument 0, at ["k"][0]'),
        ("Dict", ([("k", TEXT)],), {}, "argument 0, at [0][1]"),
        ("Dict", (), {"k": [TEXT]}, "argument 'k', at [0]"),
        ("Dict", ({1: 2},), {"k": TEXT}, "argument 'k'"),
        ("Map", ({"k": TEXT},), {}, 'argument 0, at ["k"]'),
        ("Map", (), {"k": TEXT}, "argument 'k'"),
    ]:
        assert message(getattr(ffi, cls), *args, **named) == f"anyffi.{cls}(): {expected}: {DTYPE}"


@pytest.fixture
def odd() -> NoCapsule:
    return NoCapsule()


@needs_capsules
def test_keys_and_elements(ffi: Any, odd: NoCapsule) -> None:
    d, m, s, f = ffi.Dict({1: 2}), ffi.Map({1: 2}), ffi.Set([1]), ffi.FrozenSet([1])
    for name, call in [
        ("Dict.__getitem__", lambda: d[odd]),
        ("Dict.__setitem__", lambda: d.__setitem__(odd, 1)),
        ("Dict.__delitem__", lambda: d.__delitem__(odd)),
        ("Dict.__contains__", lambda: odd in d),
        ("Dict.__contains__", lambda: operator.contains(d.keys(), odd)),
        ("Dict.get", lambda: d.get(odd)),
        ("Dict.pop", lambda: d.pop(odd, 1)),
        ("Dict.setdefault", lambda: d.setdefault(odd)),
        ("Map.__getitem__", lambda: m[odd]),
        ("Map.__contains__", lambda: odd in m),
        ("Map.get", lambda: m.get(odd, 5)),
        ("Set.add", lambda: s.add(odd)),
        ("Set.remove", lambda: s.remove(odd)),
        ("Set.discard", lambda: s.discard(odd)),
        ("Set.__contains__", lambda: odd in s),
        ("FrozenSet.__contains__", lambda: odd in f),
    ]:
        assert message(call) == f"anyffi.{name}(): argument 0: {CAPSULE}"
    assert (d, s) == ({1: 2}, {1})


@needs_capsules
def test_what_is_no_capsule(ffi: Any, odd: NoCapsule) -> None:
    echo, add_one = ffi.get_global_func("testing.echo"), ffi.get_global_func("testing.add_one")
    assert message(echo, [1, (odd,)]) == f"testing.echo(): argument 0, at [1][0]: {CAPSULE}"
    assert message(add_one, odd) == f"testing.add_one(x: int) -> int: argument 0 (x): {CAPSULE}"
    assert message(ffi.convert, [odd]) == f"anyffi.convert(): argument 0, at [0]: {CAPSULE}"
    assert message(ffi.List, [[odd]]) == f"anyffi.List(): argument 0, at [0][0]: {CAPSULE}"
    assert message(ffi.Set, [1, odd]) == f"anyffi.Set(): argument 0, at [1]: {CAPSULE}"


class Returning:
    """Returns the given value, from a method and when called."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self) -> Any:
        return self.value

    def __call__(self) -> Any:
        return self.value

    def __repr__(self) -> str:
        return f"Returning of {np.size(self.value)}"


class Nameless(Returning):
    def __repr__(self) -> str:
        raise KeyError("no name")


def test_results_of_callbacks(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def local() -> Any:
        return [1, {"k": TEXT}]

    # The name is the same as in errors of C++ about results of the wrong type.
    name = "<function test_results_of_callbacks.<locals>.local>"
    place = ', at [1]["k"]'
    assert message(apply, local) == f"the result of {name}{place}: {DTYPE}"
    assert message(ffi.convert(local)) == f"the result of {name}{place}: {DTYPE}"
    method = message(apply, Returning(TEXT).method)
    assert method == f"the result of <bound method Returning.method of Returning of 1>: {DTYPE}"
    assert message(apply, Nameless(TEXT)) == DTYPE
    assert message(apply, Returning((TEXT,))) == f"the result of Returning of 1, at [0]: {DTYPE}"


def test_exceptions_of_hooks_stay_as_they_are(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    for error in (KeyError("mine"), TypeError("mine"), ValueError("a", "b"), TypeError(DTYPE)):
        args, hook = error.args, Hook(error)
        for call in (
            lambda: ffi.convert([hook]),
            lambda: ffi.List([hook]),
            lambda: ffi.List().append(hook),
            lambda: ffi.Dict(k=hook),
            lambda: ffi.Dict().__setitem__("k", hook),
            lambda: ffi.Dict().get(hook),
            lambda: ffi.Set().add(hook),
            lambda: apply(lambda: hook),
        ):
            with pytest.raises(type(error)) as caught:
                call()
            assert caught.value is error
            assert error.args is args or error.args == args


def test_an_error_of_an_inner_call_is_named_once(ffi: Any) -> None:
    def inner(*_: Any) -> Any:
        return ffi.List([TEXT])

    apply = ffi.get_global_func("testing.apply")
    assert message(apply, inner) == f"anyffi.List(): argument 0, at [0]: {DTYPE}"


@pytest.mark.keeps_live("types are never freed")
def test_fields(ffi: Any) -> None:
    @ffi.dataclass
    class Point:
        x: Any
        y: Any = 0

    point = Point(1)
    name = f"{__name__}.test_fields.<locals>.Point"
    shown = message(setattr, point, "y", [TEXT])
    assert shown == f"{shown.partition('.y')[0]}.y, at [0]: {DTYPE}"
    assert "Point" in shown.partition(".y")[0], name
    assert message(Point, [1, TEXT]) == shown.replace(".y, at [0]", ".x, at [1]")
    assert message(Point, 1, y=TEXT) == shown.replace(".y, at [0]", ".y")
    assert point.y == 0


def test_shapes(ffi: Any) -> None:
    shown = message(ffi.Shape, [1, 2.5])
    assert (
        shown
        == "anyffi.Shape(extents: Shape) -> Shape: argument 0 (extents), at [1]: expected int, got float"
    )


def test_numbers_that_no_float_can_hold(ffi: Any) -> None:
    with pytest.raises(OverflowError, match=rf"^testing.*: argument 0 .*: {10**400} does not fit float64$"):
        ffi.get_global_func("testing.typed.float64")(10**400)


def test_a_subclass(ffi: Any) -> None:
    class Own(ffi.List):  # type: ignore[misc,name-defined]
        pass

    assert message(Own, [TEXT]) == f"anyffi.List(): argument 0, at [0]: {DTYPE}"
    assert message(Own().append, TEXT) == f"anyffi.List.append(): argument 0: {DTYPE}"


def test_nothing_is_kept(ffi: Any) -> None:
    xs = ffi.List()
    for _ in range(3):
        message(xs.append, np.array(["a"]))
        message(ffi.convert, [np.array(["a"])])
    collect()
    assert xs == []
