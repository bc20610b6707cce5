"""Elements of Array, List and Shape: indices, slices, and sequences made of them."""

from __future__ import annotations

from typing import Any

import pytest
from support import CPYTHON


def test_indices_of_numpy_and_subclasses_of_int(ffi: Any) -> None:
    np = pytest.importorskip("numpy")
    for cls in (ffi.List, ffi.Array, ffi.Shape):
        x = cls([5, 6, 7])
        for index in (np.int64(1), np.uint8(1), np.array(1), True, type("Number", (int,), {})(1)):
            assert x[index] == 6
        assert x[np.int8(-1)] == 7
        with pytest.raises(IndexError, match="index out of range"):
            x[np.int64(3)]
        for bad in (np.float64(1), np.array([1, 2])):
            with pytest.raises(TypeError):
                x[bad]
        with pytest.raises(IndexError, match="cannot fit 'uint64' into an index-sized integer"):
            x[np.uint64(2**63)]
    xs = ffi.List([5, 6, 7])
    xs[np.int64(-1)] = 8
    del xs[np.int16(0)]
    assert xs == [6, 8]


def test_an_index_that_changes_the_list(ffi: Any) -> None:
    class Clearing:
        def __index__(self) -> int:
            xs.clear()
            return 0

    for act in (
        lambda: xs[Clearing()],
        lambda: xs.__setitem__(Clearing(), 1),
        lambda: xs.__delitem__(Clearing()),
    ):
        xs = ffi.List([1, 2])
        with pytest.raises(IndexError):
            act()
        assert xs == []

    class Packed:
        def __anyffi_value__(self) -> int:
            xs.clear()
            return 5

    xs = ffi.List([1, 2])
    with pytest.raises(IndexError):
        xs[1] = Packed()
    assert xs == []


def test_extended_slices_exchange_elements(ffi: Any) -> None:
    def use(xs: Any, make: Any) -> Any:
        xs[::2] = make(["a" * 20, "b", 3])
        xs[::-2] = make(["x", "y", "z" * 30])
        xs[::2] = xs[::2]
        xs[::-1] = xs
        try:
            xs[::3] = make([1])
        except ValueError as error:
            return list(xs), str(error)
        raise AssertionError

    expected = use([0, 1, 2, 3, 4, 5], list)
    for make in (list, tuple, ffi.List, ffi.Array, iter):
        assert use(ffi.List([0, 1, 2, 3, 4, 5]), make) == expected


def test_repeating_in_place(ffi: Any) -> None:
    for times in (-1, 0, 1, 3):
        xs, model = ffi.List([1, "a" * 20]), [1, "a" * 20]
        same = xs
        xs *= times
        model *= times
        assert xs is same
        assert xs == model
    xs = ffi.List([1])
    with pytest.raises(MemoryError):
        xs *= 2**62
    with pytest.raises(TypeError, match="can't multiply sequence by non-int of type 'float'"):
        xs *= 1.5
    assert xs == [1]


def test_a_shape_stays_a_shape(ffi: Any) -> None:
    s = ffi.Shape([1, 2, 3])
    for made in (s[1:], s[::-1], s * 2, 2 * s, s + s, s + (4,), (4,) + s, s + ffi.Array([4])):
        assert type(made) is ffi.Shape
    assert type(ffi.Array([1]) + s) is ffi.Array
    assert s[:] is s
    for bad in (("a",), ffi.Array([1.5])):
        with pytest.raises(TypeError, match="expected int, got"):
            s + bad
    assert s == (1, 2, 3) == ffi.Array(s)
    assert hash(s) == hash((1, 2, 3))


_SORTED = {
    "ints": lambda i: i * 37 % 101,
    "floats": lambda i: i * 37 % 101 / 4,
    "str": lambda i: "ab\xe9\u20ac"[i % 4] * (i % 13),
    "bytes": lambda i: bytes([i * 37 % 256]) * (i % 20),
    "numbers": lambda i: (i % 5, bool(i % 2), i % 5 + 0.5)[i % 3],
    "big": lambda i: (2**53 + i % 3, float(2**53))[i % 2],
    "pairs": lambda i: (i % 7, str(i % 3)),
    "lists": lambda i: [i % 7, (i % 3, "x")],
    "NaN": lambda i: float("nan") if i % 5 == 0 else float(i * 37 % 101),
}


@pytest.mark.parametrize("kind", _SORTED)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 100])
def test_sort(ffi: Any, kind: str, size: int) -> None:
    if kind == "NaN" and not CPYTHON:
        pytest.skip("where NaNs go depends on the algorithm")
    for reverse in (False, True):
        model = [_SORTED[kind](i) for i in range(size)]
        xs = ffi.List(model)
        alive = list(xs)
        for _ in range(2):
            xs.sort(reverse=reverse)
            model.sort(reverse=reverse)
            assert repr(ffi.to_python(xs)) == repr(model)
            del alive[:]
            xs.reverse()
            model.reverse()
        xs.sort()
        model.sort()
        assert repr(ffi.to_python(xs)) == repr(model)


def test_a_list_that_cannot_be_sorted_is_unchanged(ffi: Any) -> None:
    for bad in ([3, "a", 1], [3, 1, None, 2], [(2, "a"), (1, 2), (1, "b")], [2, 1j]):
        xs = ffi.List(bad)
        with pytest.raises(TypeError, match="not supported between instances of"):
            xs.sort()
        assert xs == bad
    with pytest.raises(TypeError):
        ffi.List([1]).sort(True)


def test_sort_and_equality_of_elements_whose_class_compares(ffi: Any) -> None:
    class Pair(ffi.Array):  # type: ignore[misc]
        def __eq__(self, other: object) -> bool:
            return True

        def __lt__(self, other: Any) -> bool:
            return bool(self[0] > other[0])

        __hash__ = None  # type: ignore[assignment]

    kept = [Pair((i,)) for i in range(5)]
    xs = ffi.List(kept)
    assert xs == [(9,)] * 5
    assert xs == ffi.List([(9,)] * 5)
    xs.sort()
    assert [x[0] for x in xs] == [4, 3, 2, 1, 0]


def test_equality_of_nested_sequences(ffi: Any) -> None:
    nan = float("nan")
    deep: Any = (1,)
    for _ in range(60):
        deep = (deep,)
    for content in ([(1, 2)], [[1, [2.5, "x" * 20]]], [((), [])], [deep], [(None, ...)], [(b"y" * 20,)]):
        xs, ys = ffi.List(content), ffi.List(content)
        alive = list(ys)
        assert xs == ys
        assert xs == content
        assert content == xs
        assert not xs.__ne__(content)
        del alive[:]
        assert xs == ys
    assert ffi.List([(1, 2)]) != [[1, 2]]
    assert ffi.List([(1, 2)]) != ffi.List([[1, 2]])
    assert ffi.List([(1, 2)]) != [(1, 2, 3)]
    assert ffi.List([(1, nan)]) != [(1, nan)]
    xs = ffi.List([(1, nan)])
    assert xs == xs.copy()
    assert ffi.List([(1, 2), (1, 3)]) < [(1, 2), (1, 4)]
    assert ffi.Array([(1, 2), (1, 3)]) >= ffi.Array([(1, 2), (1,)])
    assert ffi.List([ffi.Shape([1, 2])]) == [(1, 2)]
