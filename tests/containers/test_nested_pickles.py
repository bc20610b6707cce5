"""Pickles of containers inside of containers, which keep references to shared parts."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def nested(ffi: Any) -> list[Any]:
    return [
        ffi.List([(1, "a"), (2.5, None), [True, b"x" * 20], {"k": [1], 2: ()}]),
        ffi.Array([[1], (2, (3, [4]))]),
        ffi.Dict({"a": [1, 2], (1, (2, 3)): {"b": 2**70}}),
        ffi.Map({"a": {"b": [1j]}}),
        ffi.List([{1, 2}, frozenset({3}), ffi.Shape((1, 2)), ffi.Map({1: 2})]),
        ffi.Set([(3, 1), (2, 1), (1, 1)]),
        ffi.FrozenSet([(3, (1, "a")), frozenset({2}), 1]),
        ffi.Set(),
        ffi.List([[[[1]]]] * 3),
    ]


def kinds(x: Any) -> Any:
    """Return the names of the classes at all levels; pickles are read by the process's backend."""
    inside = (
        list(x.items())
        if hasattr(x, "items")
        else list(x)
        if hasattr(x, "__iter__") and not isinstance(x, str)
        else []
    )
    return type(x).__name__, [kinds(item) for item in inside if type(item) not in (int, bytes)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nested(ffi: Any, protocol: int) -> None:
    for x in nested(ffi):
        made = pickle.loads(pickle.dumps(x, protocol))
        assert (made, repr(made), kinds(made)) == (x, repr(x), kinds(x))


def test_size(ffi: Any) -> None:
    pairs = [(i, i + 1) for i in range(100)]
    # As large as a pickle of Python's own list, plus a few bytes for the class.
    for cls in (ffi.List, ffi.FrozenSet, ffi.Set):
        assert len(pickle.dumps(cls(pairs), 5)) < len(pickle.dumps(pairs, 5)) + 100


def test_shared(ffi: Any) -> None:
    inner = ffi.List([1])
    outer, again = pickle.loads(pickle.dumps((ffi.List([inner, inner, (5,)]), inner)))
    assert outer[0] is outer[1] is again
    again.append(2)
    assert outer == [[1, 2], [1, 2], (5,)]
    row: Any = []
    twice = ffi.List([row, row, row])
    made = pickle.loads(pickle.dumps(twice))
    made[0].append(1)
    assert made == [[1], [1], [1]]


def test_wrapped(ffi: Any) -> None:
    """A wrapper of a nested container refers to the nested container of the copy, too."""
    outer = ffi.Dict({"a": [1], "b": [2]})
    inner = outer["b"]
    made, other = pickle.loads(pickle.dumps((outer, inner)))
    assert made["b"] is other
    elements = ffi.Set([(1, 2), (3, 4)])
    inner = next(iter(elements))
    made, other = pickle.loads(pickle.dumps((elements, inner)))
    assert next(iter(made)) is other


def test_deeper_than_trees(ffi: Any) -> None:
    x: Any = 1
    for _ in range(60):
        x = [x]
    assert pickle.loads(pickle.dumps(ffi.List(x))) == x


def test_classes_of_users(ffi: Any) -> None:
    seen: list[Any] = []

    class Mine(ffi.List):  # type: ignore[misc]
        def extend(self, items: Any) -> None:
            for item in items:
                self.append(item)

        def append(self, item: Any) -> None:
            seen.append(type(item).__name__)
            super().append(item)

    globals()["Mine"] = Mine
    Mine.__qualname__ = "Mine"
    Mine.__module__ = __name__
    x = Mine([(1, 2)])
    seen.clear()
    assert pickle.loads(pickle.dumps(x)) == [(1, 2)]
    assert set(seen) == {"Array"}
