"""Equality of containers that hold containers, with Python's own and with others of the runtime."""

from __future__ import annotations

import collections
import itertools
from types import MappingProxyType
from typing import Any

from support import CPYTHON

LONG = "a text that is too long to be stored in place"
NESTED: list[Any] = [
    {"a": [1, {"b": (1, 2.0)}], "c": {"d": LONG}},
    {"c": {"d": LONG}, "a": [1, {"b": (1, 2.0)}]},
    {"a": [True, {"b": (1.0, 2)}], "c": {"d": LONG}},
    {"a": [1, {"b": (1, 2.0)}], "c": {"d": LONG + "!"}},
    {"a": [1, {"b": [1, 2.0]}], "c": {"d": LONG}},
    {"a": (1, {"b": (1, 2.0)}), "c": {"d": LONG}},
    {"a": [1, {"b": (1, 2.0)}], "c": {}},
    {"a": [1, {"b": (1, 2.0), "e": None}], "c": {"d": LONG}},
    {"a": [1, MappingProxyType({"b": (1, 2.0)})], "c": MappingProxyType({"d": LONG})},
    {"a": [1, collections.OrderedDict(b=(1, 2.0))], "c": {"d": LONG}},
    {1: [{2: []}], (1, "x"): [{}]},
    {True: [{2.0: []}], (1.0, "x"): [{}]},
    {1: [{2: ()}], (1, "x"): [{}]},
    [{"x": {1, 2}}, {"y": frozenset([(1,)])}],
    [{"x": {1.0, 2}}, {"y": frozenset([(True,)])}],
    [{"x": {1, 3}}, {"y": frozenset([(1,)])}],
    [[{"k": [{"k": [{"k": None}]}]}]],
    [[{"k": [{"k": [{"k": ...}]}]}]],
    {},
    [],
]


def test_as_python_compares(ffi: Any) -> None:
    convert = ffi.convert
    for one, other in itertools.product(NESTED, NESTED):
        expected = one == other
        for left, right in ((convert(one), other), (one, convert(other)), (convert(one), convert(other))):
            assert (left == right, left != right) == (expected, not expected), (one, other)


def test_parts_with_wrappers(ffi: Any) -> None:
    made = ffi.Dict(a=[1, {"b": 2}], c={"d": (1,)})
    plain = {"a": [1, {"b": 2}], "c": {"d": (1,)}}
    kept = [made["a"], made["a"][1], made["c"], made["c"]["d"]]
    assert made == plain
    kept[1]["b"] = 3
    assert made != plain
    plain["a"] = made["a"]
    assert made == plain
    assert ffi.List([made, [made]]) == [plain, [made]]


def test_classes_of_users_compare_themselves(ffi: Any) -> None:
    seen = []

    class Same(ffi.Dict):  # type: ignore[misc, name-defined]
        def __eq__(self, other: object) -> bool:
            seen.append(other)
            return True

        __hash__ = None  # type: ignore[assignment]

    class Alike(dict):  # type: ignore[type-arg]
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    same = Same(a=1)
    made = ffi.Dict(x=[same])
    assert made == {"x": [{"b": 2}]}
    assert seen == [{"b": 2}]
    assert ffi.Dict(x=[{"a": 1}]) == {"x": [Alike()]}


def test_values_that_equal_nothing(ffi: Any) -> None:
    nan = float("nan")
    assert ffi.List([{"x": nan}]) != [{"x": nan}]
    if CPYTHON:  # on PyPy all NaNs of one bit pattern are one object
        assert ffi.Dict({nan: [1]}) != {nan: [1]}
    deep: Any = []
    for _ in range(40):
        deep = [{"x": deep}]
    assert ffi.convert(deep) == deep
