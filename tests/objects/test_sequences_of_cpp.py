"""Slices and iteration of C++ containers, arrays inside of objects, sparse enumerations, exceptions of one name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from sequence_sources import SAME_NAMES, SEQUENCES
from support import Build, collect, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def seqs(ffi: Any, build: Build) -> Any:
    return ffi.load_module(build("sequences.cc", SEQUENCES))


def test_slices(seqs: Any) -> None:
    words, plain = seqs.Words(), list("abcde")
    bounds = (None, 0, 1, 3, 5, 9, -1, -5, -9, 2**70, -(2**70), 2**63 - 1, -(2**63))
    steps = (None, 1, 2, -1, -2, 7, -7, 2**63 - 1, -(2**63), 2**70, -(2**70))
    for start in bounds:
        for stop in bounds:
            for step in steps:
                assert words[start:stop:step] == plain[start:stop:step]
    assert type(words[:]) is list
    assert (words[2], len(words)) == ("c", 5)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        words[::0]
    with pytest.raises(TypeError):
        words["a":]
    with pytest.raises(IndexError):
        words[5]


def test_iteration_over_what_changes(seqs: Any) -> None:
    words, found = seqs.Words(), []
    for word in words:
        found.append(word)
        if len(found) < 500:
            words.push(word + "!")
    assert (len(found), found[:6]) == (504, [*"abcde", "a!"])
    rest = iter(words)
    assert next(rest) == "a"
    words.clear()
    assert list(rest) == []
    words.push("f")
    words.push("g")
    assert next(rest, None) is None
    assert list(words) == ["f", "g"]


def test_iteration_over_a_map(seqs: Any) -> None:
    counts = seqs.Counts()
    for word in ("b", "a", "b"):
        counts.count(word)
    assert list(counts) == [("a", 1), ("b", 2)]
    assert dict(counts) == {"a": 1, "b": 2}
    assert counts.first() == ("a", 1)
    assert type(next(iter(counts))) is tuple
    assert inspect.signature(seqs.Counts.__iter__).return_annotation == "Iterator[tuple[str, int]]"


def test_arrays_inside_of_objects(seqs: Any) -> None:
    np = pytest.importorskip("numpy")
    net = seqs.Net()
    weights = np.asarray(net.w)
    weights[1] = 10
    assert (net.sum(), weights.dtype, weights.shape) == (18, np.float64, (4,))
    assert seqs.Net.w.__doc__.splitlines()[-1] == "The weights."
    plain = np.asarray(net.plain)
    assert (plain.tolist(), plain.dtype) == ([[1, 2, 3], [4, 5, 6]], np.float32)
    plain[1, 2] = 60
    assert np.asarray(net.plain)[1, 2] == 60
    fixed = np.asarray(net.fixed)
    assert (fixed.tolist(), fixed.flags.writeable) == ([7, 8, 9], False)
    with pytest.raises(AttributeError):
        net.w = weights
    del net, plain, fixed
    collect()
    assert weights.tolist() == [1, 10, 3, 4]


def test_a_sparse_enumeration(seqs: Any) -> None:
    sparse = seqs.Sparse
    for member in sparse:
        assert seqs.same(member) is member
        assert seqs.same(int(member)) is member
    assert sparse.ALSO is sparse.FAR
    for number in (1, 999999, -4, 2**62):
        with pytest.raises(ValueError, match="expected a member of seqs.Sparse"):
            seqs.same(number)


def test_exceptions_of_one_name(ffi: Any, build: Build) -> None:
    modules = [
        ffi.load_module(build(f"{key}.cc", SAME_NAMES.replace("KEY", key)))
        for key in ("one_error", "two_error")
    ]
    for module, key in zip(modules, ("one_error", "two_error")):
        with pytest.raises(ValueError, match=f"of {key}") as caught:
            module.fail()
        assert type(caught.value) is module.Failure
        assert f"{type(caught.value).__module__}" == key
