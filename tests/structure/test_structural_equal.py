"""Comparison and hashes by structure, of values without objects of users' types."""

from __future__ import annotations

import math
import pathlib
import pickle
import sys
from typing import Any

import hypothesis
import numpy
import pytest
import strategies
from support import ROOT

#: Each row: values of one structure. Values of different rows differ.
ROWS: list[list[Any]] = [
    [None, None],
    [False, False],
    [True],
    [0],
    [1],
    [1.0],
    [0.0, -0.0],
    [math.nan, -math.nan, float("nan")],
    [math.inf],
    [2**63, 2**63],
    [-(2**200), -(2**200)],
    [2**200],
    [1 + 2j],
    [complex(math.nan, -0.0), complex(math.nan, 0.0)],
    ["", ""],
    ["a"],
    ["a string that is too long to be stored inline", "a string that is too long to be " + "stored inline"],
    ["ä"],
    ["\ud800"],
    [b""],
    [b"a"],
    [b"0123456789abcdef", b"0123456789" + b"abcdef"],
    [...],
    [[], []],
    [()],
    [{}, {}],
    [set()],
    [frozenset()],
    [[1, 2]],
    [[2, 1]],
    [(1, 2)],
    [[1, 2.0]],
    [[1, [2, [3]]], [1, [2, [3]]]],
    [[1, [2, [4]]]],
    [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
    [{"a": 1, "b": 3}],
    [{"a": 1, "c": 2}],
    [{"a": 1}],
    [{1: "a"}],
    [{True: "a"}],
    [{1.0: "a"}],
    [{(1, 2): 3, (3, 4): 5}, {(3, 4): 5, (1, 2): 3}],
    [{(1, 2): 5, (3, 4): 3}],
    [{frozenset([1, 2]): [1]}, {frozenset([2, 1]): [1]}],
    [{math.nan: 1}],
    [{1, 2, 3}, {3, 2, 1}],
    [frozenset([1, 2, 3]), frozenset([3, 2, 1])],
    [{1, 2}],
    [{1.0, 2}],
    [{(1, frozenset(["x"])), ()}, {(), (1, frozenset(["x"]))}],
    [slice(1, 2, 3), slice(1, 2, 3)],
    [slice(1, 2)],
    [numpy.arange(6).reshape(2, 3), numpy.asfortranarray(numpy.arange(6).reshape(2, 3))],
    [numpy.arange(6)],
    [numpy.arange(6.0)],
    [numpy.arange(6)[::-1], numpy.arange(5, -1, -1)],
    [numpy.zeros((0, 3))],
    [numpy.array(1)],
]


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda i: f"{i}: {type(ROWS[i][0]).__name__}")
def test_values_of_one_row_are_the_same_and_others_differ(ffi: Any, row: int) -> None:
    first = ROWS[row][0]
    for i, values in enumerate(ROWS):
        for value in values:
            same = i == row
            assert ffi.structural_equal(first, value) is same, (first, value)
            assert ffi.structural_equal(value, first) is same
            assert (ffi.first_mismatch(first, value) is None) is same
            assert (ffi.diff(first, value) == []) is same
            assert (ffi.structural_hash(first) == ffi.structural_hash(value)) is same, (first, value)


def test_functions_and_opaque_objects_say_themselves_what_they_equal(ffi: Any) -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd)

        __hash__ = None  # type: ignore[assignment]

    assert ffi.structural_equal(Odd(), Odd())
    assert ffi.structural_hash(Odd()) == ffi.structural_hash(Odd())
    assert not ffi.structural_equal(object(), object())
    assert ffi.structural_equal([len, int], [len, int])
    assert not ffi.structural_equal(len, max)
    error = ValueError("x")
    assert ffi.structural_equal(error, error)
    assert not ffi.structural_equal(error, ValueError("x"))


def test_exceptions_of_comparisons_arrive(ffi: Any) -> None:
    class Bad:
        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError("bad")

        def __hash__(self) -> int:
            return 1

    for a, b in [(Bad(), Bad()), ([1, [Bad()]], [1, [Bad()]]), ({"k": Bad()}, {"k": Bad()})]:
        for f in (ffi.structural_equal, ffi.first_mismatch, ffi.diff):
            with pytest.raises(ZeroDivisionError, match="bad"):
                f(a, b)
    with pytest.raises(ZeroDivisionError):
        ffi.structural_equal({Bad(): 1}, {Bad(): 1})


def test_a_comparison_that_changes_the_containers(ffi: Any) -> None:
    class Evil:
        def __init__(self, act: Any) -> None:
            self.act = act

        def __eq__(self, other: object) -> bool:
            self.act()
            return True

        def __hash__(self) -> int:
            return 1

    for make, clear in [
        (lambda x: ffi.List([x, [1], "a long string that is not inline", [2]]), lambda c: c.clear()),
        (lambda x: ffi.List([x]), lambda c: c.extend(range(1000))),
        (lambda x: ffi.Dict({"a": x, "b": [1]}), lambda c: c.clear()),
        (lambda x: ffi.Dict({"a": x, "b": [1]}), lambda c: c.update({i: i for i in range(100)})),
        (lambda x: ffi.Dict({x: 1, (2, 3): [3]}), lambda c: c.clear()),
        (lambda x: ffi.Dict({x: 1, 5: [3]}), lambda c: c.clear()),
        (lambda x: ffi.Set([x, 1, 2]), lambda c: c.clear()),
        (lambda x: ffi.Set([x, (1, 2)]), lambda c: c.clear()),
    ]:
        for search in (ffi.structural_equal, ffi.first_mismatch, ffi.diff):
            both: list[Any] = []
            for _ in range(2):
                both.append(make(Evil(lambda both=both, clear=clear: [clear(c) for c in both])))
            search(*both)
            both.clear()


def test_tensors_without_their_content(ffi: Any) -> None:
    a, b = numpy.zeros(3), numpy.ones(3)
    assert not ffi.structural_equal([a], [b])
    assert ffi.structural_equal([a], [b], skip_tensor_content=True)
    assert ffi.structural_hash(a, skip_tensor_content=True) == ffi.structural_hash(
        b, skip_tensor_content=True
    )
    assert not ffi.structural_equal(a, numpy.ones(4), skip_tensor_content=True)
    assert not ffi.structural_equal(a, numpy.ones(3, "f"), skip_tensor_content=True)


def test_the_path_of_the_first_mismatch(ffi: Any) -> None:
    missing = sys.modules["anyffi"].structure.MISSING
    for a, b, path, left, right in [
        ({"body": [0, {"w": 1}]}, {"body": [0, {"w": 2}]}, '["body"][1]["w"]', 1, 2),
        ([1, 2], [1, 2, 3], "[2]", missing, 3),
        ([1, 2, 3], [1, 2], "[2]", 3, missing),
        ([1, 2, 3], [1, 5], "[1]", 2, 5),
        ({"a": 1}, {"b": 1}, '["a"]', 1, missing),
        ({"a": 1}, {"a": 1, 2: 5}, "[2]", missing, 5),
        ({(1, 2): 0}, {(1, 2): 1}, "[anyffi.Array((1, 2))]", 0, 1),
        ({(1, 2): 0}, {(1, 3): 0}, "[anyffi.Array((1, 2))]", 0, missing),
        ({1}, {2}, "{1}", 1, missing),
        (slice(1, 2), slice(1, 3), ".stop", 2, 3),
        (1, 2.0, "", 1, 2.0),
        ([{'"': 1}], [{'"': 2}], '[0]["\\""]', 1, 2),
    ]:
        found = ffi.first_mismatch(a, b)
        assert str(found) == path
        assert (found.left, found.right) == (left, right)
        if left is not missing and not path.endswith("}"):
            assert found.path.resolve(ffi.convert(a)) == left
    assert ffi.first_mismatch([1], [1]) is None


def test_all_differences(ffi: Any) -> None:
    a = {"x": [1, 2, 3], "y": {1, 2}, "z": 0, "same": [1]}
    b = {"x": [1, 5], "y": {2, 3}, "new": 0, "same": [1]}
    edits = ffi.diff(a, b)
    assert [(e.op, str(e.path)) for e in edits] == [
        ("replace", '["x"][1]'),
        ("remove", '["x"][2]'),
        ("remove", '["y"]{1}'),
        ("add", '["y"]{3}'),
        ("remove", '["z"]'),
        ("add", '["new"]'),
    ]
    assert (edits[0].old, edits[0].new) == (2, 5)


def test_containers_that_contain_themselves(ffi: Any) -> None:
    def ring(length: int, last: Any = None) -> Any:
        lists = [ffi.List([i % 1]) for i in range(length)]
        for i, each in enumerate(lists):
            each.append(lists[(i + 1) % length])
        if last is not None:
            lists[-1][0] = last
        return lists

    kept = []
    for a, b, same in [(1, 1, True), (2, 3, True), (1, 7, True), (100, 101, True)]:
        left, right = ring(a), ring(b)
        assert ffi.structural_equal(left[0], right[0]) is same
        assert ffi.structural_hash(left[0]) == ffi.structural_hash(right[0])
        assert ffi.first_mismatch(left[0], right[0]) is None
        assert ffi.diff(left[0], right[0]) == []
        kept += [*left, *right]
    odd = ring(3, last=5)
    plain = ring(3)
    found = ffi.first_mismatch(odd[0], plain[0])
    assert str(found) == "[1][1][0]"
    kept += [*odd, *plain]
    box = ffi.Dict()
    box["me"] = box
    other = ffi.Dict()
    other["me"] = ffi.Dict({"me": other})
    assert ffi.structural_equal(box, other)
    assert ffi.structural_hash(box) == ffi.structural_hash(other)
    kept += [other["me"], box, other]
    for each in kept:
        each.clear()


def test_shared_values_are_visited_once(ffi: Any) -> None:
    def shared(levels: int, leaf: Any) -> Any:
        value = ffi.List([leaf])
        for _ in range(levels):
            value = ffi.List([value, value])
        return value

    a, b, c = shared(60, 1), shared(60, 1), shared(60, 2)
    assert ffi.structural_equal(a, b)
    assert ffi.structural_hash(a) == ffi.structural_hash(b) != ffi.structural_hash(c)
    assert not ffi.structural_equal(a, c)
    assert len(ffi.first_mismatch(a, c).path) == 61
    assert len(ffi.diff(a, c)) == 1
    sets: Any = frozenset()
    others: Any = frozenset()
    for i in range(60):
        sets = ffi.FrozenSet([sets, ffi.Array((sets, i))])
        others = ffi.FrozenSet([ffi.Array((others, i)), others])
    assert ffi.structural_equal(sets, others)
    assert ffi.structural_hash(sets) == ffi.structural_hash(others)


def test_any_depth(ffi: Any) -> None:
    def deep(levels: int, leaf: Any) -> Any:
        value = ffi.List([leaf])
        for _ in range(levels):
            value = ffi.List([value])
        return value

    a, b, c = deep(60_000, 1), deep(60_000, 1), deep(60_000, 2)
    assert ffi.structural_equal(a, b)
    assert not ffi.structural_equal(a, c)
    assert ffi.structural_hash(a) == ffi.structural_hash(b) != ffi.structural_hash(c)
    assert len(ffi.first_mismatch(a, c).path) == 60_001
    keys: Any = ffi.FrozenSet()
    for _ in range(400):
        keys = ffi.FrozenSet([keys])
    same: Any = ffi.FrozenSet()
    for _ in range(400):
        same = ffi.FrozenSet([same])
    assert ffi.structural_equal(keys, same)


@hypothesis.given(value=strategies.values, other=strategies.values)
def test_equal_values_have_equal_hashes(ffi: Any, value: Any, other: Any) -> None:
    value, copy, other = ffi.convert(value), ffi.convert(value), ffi.convert(other)
    assert ffi.structural_equal(value, copy)
    assert ffi.structural_hash(value) == ffi.structural_hash(copy)
    same = ffi.structural_equal(value, other)
    assert ffi.structural_equal(other, value) is same
    assert (ffi.first_mismatch(value, other) is None) is same
    assert (not ffi.diff(value, other)) is same
    if same:
        assert ffi.structural_hash(value) == ffi.structural_hash(other)


#: These numbers never change: users store them.
KNOWN_HASHES = ROOT / "tests" / "structure" / "known_hashes.txt"


def test_hashes_are_those_of_other_processes_and_versions(ffi: Any) -> None:
    rows = [f"{ffi.structural_hash(values[0])} {type(values[0]).__name__}\n" for values in ROWS]
    assert "".join(rows) == pathlib.Path(KNOWN_HASHES).read_text()


def test_paths_and_differences_are_values(ffi: Any) -> None:
    from anyffi.structure import MISSING, AccessPath, Edit, Mismatch

    found = ffi.first_mismatch([1, {"a": 2}], [1, {}])
    assert repr(found) == '<anyffi.structure.Mismatch at [1]["a"]: 2 != MISSING>'
    assert repr(found.path) == '<anyffi.structure.AccessPath [1]["a"]>'
    for each in (found, found.path, ffi.diff([1], [2])[0], MISSING):
        copy = pickle.loads(pickle.dumps(each))
        assert copy == each
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert found == Mismatch(AccessPath([("index", 1), ("key", "a")]), 2, MISSING)
    assert found != Edit(found.path, 2, MISSING)
    assert hash(found.path) == hash(AccessPath(found.path.steps))
    assert len(found.path) == 2
    with pytest.raises(ValueError, match="unknown type of a step"):
        AccessPath([("what", 1)])
    with pytest.raises(TypeError, match="name: expected str, got int"):
        AccessPath().attr(5)
    with pytest.raises(TypeError, match="other: expected AccessPath, got str"):
        AccessPath().is_prefix_of("x")
    for steps in ([1], ["index"], [("index",)]):
        with pytest.raises(ValueError, match="a step is a pair of its type and a value, not "):
            AccessPath(steps)
    with pytest.raises(KeyError):
        AccessPath([("element", 1)]).resolve({2})


def test_arguments(ffi: Any) -> None:
    for function in (ffi.structural_equal, ffi.first_mismatch, ffi.diff):
        with pytest.raises(TypeError):
            function(1)
        with pytest.raises(TypeError):
            function(1, 2, True)
    assert ffi.structural_equal(1, 1, map_free_vars=1, skip_tensor_content=0)


def test_too_many_differences(ffi: Any) -> None:
    def chain(leaf: int) -> Any:
        value = ffi.List()
        for _ in range(5_000):
            value = ffi.List([leaf, value])
        return value

    with pytest.raises(OverflowError, match="too many differences"):
        ffi.diff(chain(1), chain(2))
