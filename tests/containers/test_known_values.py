"""Elements, keys and operands, whether or not user code runs when they are packed: equal results."""

from __future__ import annotations

import ctypes
import operator
from collections import OrderedDict, namedtuple
from datetime import datetime
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

LONG = "a text that is too long to be stored in place"
NAN = float("nan")
Pair = namedtuple("Pair", "a b")


class Color(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) or other == "other"

    def __hash__(self) -> int:
        return str.__hash__(self)


VALUES: list[Any] = [
    None, ..., True, 7, 2**62, 2**63, -(2**70), 1.5, NAN, 3j, "a", "é", LONG, "€" * 20, b"b", b"c" * 50,
    bytearray(b"d"), memoryview(b"e" * 30), slice(1, None, 2), (1, (2, LONG)), [1, [2.5, None]], {"a": [1]},
    {1, 2}, frozenset({1, (2, 3)}), [2**70, 3j], Pair(1, 2), OrderedDict(a=1), Color.RED, Text("t"),
    Fraction(1, 3), datetime(2020, 1, 2), ValueError("x"), len, lambda: 0, object(), int, np.float32,
    np.int8(3), np.uint64(2**63), np.float32(0.5), np.float64(0.5), np.bool_(True), np.complex64(1j),
    np.str_("s"), np.bytes_(b"t"), np.dtype("int8"), np.datetime64("2020-01-01"), ctypes.c_void_p(8),
    [np.float64(0.5)] * 6, [(1, 2), (3, 4)] * 3, [(i, i + 1) for i in range(9)], [True] * 9, [(1,), ("a",)] * 3,
]  # fmt: skip


def show(x: Any) -> str:
    """Show a value, its type and, in containers, those of its elements, without addresses."""
    name = type(x).__name__
    if name in ("List", "Array", "Set", "FrozenSet"):
        return f"{name}({', '.join(map(show, x))})"
    if name in ("Dict", "Map"):
        return f"{name}({', '.join(f'{show(key)}: {show(item)}' for key, item in x.items())})"
    return f"{name}({x!r})" if name not in ("Tensor", "Function") else name


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{type(x).__name__}")
def test_an_element_is_what_a_call_returns(ffi: Any, x: Any) -> None:
    wanted = show(ffi.get_global_func("testing.echo")(x))
    xs = ffi.List([0])
    xs[0] = x
    xs.append(x)
    xs.insert(1, x)
    xs.extend([x])
    xs += (x,)
    xs[2:3] = [x, x]
    assert [*map(show, xs)] == [wanted] * 6
    d = ffi.Dict()
    d["k"] = x
    d.setdefault("other", x)
    d.update({"third": x})
    assert [*map(show, d.values())] == [wanted] * 3
    made = [ffi.List([x]), ffi.Array((x,)), ffi.List() + [x], (x,) + ffi.Array(), ffi.Dict(a=x).values()]
    assert [show(element) for elements in made for element in elements] == [wanted] * 5


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{type(x).__name__}")
def test_a_key_is_found_as_by_python(ffi: Any, x: Any) -> None:
    try:
        d, s = ffi.Dict({x: 1}), ffi.Set([x])
    except TypeError:
        pytest.skip("it cannot be a key")
    if x == x and not isinstance(x, (Text, np.generic)):
        assert (x in d, d.get(x), d[x], x in s) == (True, 1, 1, True)
    s.discard(x)
    s.add(x)
    assert len(s) == 1 or x != x
    assert d.pop(x, 2) == 1 or x != x
    assert x not in d


def test_numpy_indices_and_values(ffi: Any) -> None:
    xs = ffi.List([10, 0.5, 2.0**53, True, "a"])
    assert xs[np.int8(0)] == xs[np.uint64(0)] == 10
    xs[np.int16(1)] = 0.25
    assert xs[np.int32(-4)] == 0.25
    del xs[np.int64(1)]
    plain = [10, 2.0**53, True, "a"]
    for x in (np.int8(10), np.uint8(1), np.int64(2**53), np.int64(2**53 + 1)):
        assert (x in xs, xs.count(x)) == (x in plain, plain.count(x))
    with pytest.raises(IndexError):
        xs[np.int64(9)]
    with pytest.raises((TypeError, IndexError)):
        xs[np.float64(0)]


def test_equal_elements_are_found_without_conversion_of_subclasses(ffi: Any) -> None:
    xs = ffi.List(["other", (1, 2), [3], (1, NAN)])
    assert Text("x") in xs
    assert (1, 2) in xs
    assert (1.0, True + 1) in xs
    assert [3] in xs
    assert (3,) not in xs
    assert [1, 2] not in xs
    assert (1, NAN) not in xs
    assert xs.index((1, 2)) == 1
    assert xs.count([3]) == 1
    xs.remove((1, 2))
    assert len(xs) == 3


class Step:
    """A part of a slice that counts its uses."""

    def __init__(self, value: int) -> None:
        self.value, self.uses = value, 0

    def __index__(self) -> int:
        self.uses += 1
        return self.value


def test_parts_of_slices_are_read_once(ffi: Any) -> None:
    xs, step = ffi.List([1, 2, 3, 4]), Step(2)
    assert xs[::step] == [1, 3]
    xs[::step] = (5, 6)
    del xs[::step]
    assert xs == [2, 4]
    assert step.uses == 3
    for change in (
        lambda: xs[::0],
        lambda: xs.__setitem__(slice(None, None, 0), []),
        lambda: xs.__delitem__(slice(None, None, 0)),
    ):
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            change()


def test_shared_structure_stays_shared(ffi: Any) -> None:
    inner, pair = [1], (1, 2)
    for made in (
        ffi.List([0]) + [inner, inner],
        ffi.List([inner, inner]),
        ffi.Array((pair,) * 6),
        ffi.List([pair] * 6),
    ):
        assert made[-1].same_as(made[-2])


def test_operands_of_scalars_tuples_and_frozensets(ffi: Any) -> None:
    s = ffi.Set([1, (1, 2), frozenset({3})])
    for other in (
        {1, (1, 2)},
        [1, 1, (1, 2)],
        ((1, 2), (1, 2)),
        {(1, NAN), 1},
        frozenset({frozenset({3})}),
        {NAN},
    ):
        plain = {1, (1, 2), frozenset({3})}
        for method in ("union", "intersection", "difference"):
            result = ffi.to_python(getattr(s, method)(other))
            # Compared by text, since a NaN does not equal itself.
            assert {*map(repr, result)} == {*map(repr, getattr(plain, method)(other))}
        assert (s.issuperset(other), s.isdisjoint(other)) == (
            plain.issuperset(other),
            plain.isdisjoint(other),
        )
        if isinstance(other, (set, frozenset)):
            for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
                assert compare(s, other) == compare(plain, other)


def test_views_of_subclasses_are_compared_by_their_methods(ffi: Any) -> None:
    class Silent(ffi.Dict):
        def __len__(self) -> int:
            return 0

    assert ffi.Dict({1: (2, 3)}).items() == ffi.Map({1: (2, 3)}).items()
    assert ffi.Dict({1: NAN}).items() != ffi.Dict({1: NAN}).items()
    assert ffi.Dict({1: 2}).keys() == ffi.Map({1.0: 3}).keys() != {2}
    assert Silent({1: 2}).keys() != ffi.Dict({1: 2}).keys()


def test_a_position_has_64_bits(ffi: Any) -> None:
    """In ctypes mode, an iterator at a position beyond 32 bits reads no element."""
    if ffi.ffi_mode != "ctypes":
        pytest.skip("compiled iterators read the containers themselves")
    from anyffi._ctypes import iterators

    xs = ffi.List([1, 2, 3])
    walk = iter(xs)
    assert next(walk) == 1
    walk._cursor = iterators._moved(walk._cursor, index=2**32 + 1)
    assert walk.__length_hint__() == 0
    assert list(walk) == []
