"""The example npx does what NumPy does: rearranged elements, diagonals, triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npx_cases import DTYPES, agree, arrays, same

SHAPE = st.lists(st.integers(0, 3), max_size=3).map(tuple)
#: Some functions of NumPy accept arrays without axes as ones of one axis.
SOME_AXES = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)
AXIS = st.none() | st.integers(-4, 3)


@given(
    array=arrays(shapes=SHAPE), reps=st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=4).map(tuple)
)
def test_tile(npx: Any, array: Any, reps: Any) -> None:
    agree(npx.tile, np.tile, array, reps)


@given(
    array=arrays(shapes=SOME_AXES),
    repeats=st.integers(-1, 3)
    | st.lists(st.integers(-1, 3), min_size=1, max_size=3)
    | arrays(("int8", "bool", "uint16", "float32"), st.integers(1, 3).map(lambda size: (size,)), tame=True),
    axis=AXIS,
)
def test_repeat(npx: Any, array: Any, repeats: Any, axis: Any) -> None:
    agree(npx.repeat, np.repeat, array, repeats, axis)
    with pytest.raises((MemoryError, ValueError)):
        npx.repeat(np.ones(2), 2**62)


SHIFT = st.integers(-5, 5) | st.lists(st.integers(-5, 5), min_size=1, max_size=3).map(tuple)


@given(
    array=arrays(shapes=SHAPE), shift=SHIFT, axis=AXIS | st.sampled_from([(0,), (0, 1), (-1, 0, 1), (0, 0)])
)
def test_roll(npx: Any, array: Any, shift: Any, axis: Any) -> None:
    agree(npx.roll, np.roll, array, shift, axis)


@given(
    array=arrays(shapes=SHAPE),
    k=st.integers(-5, 5),
    axes=st.lists(st.integers(-4, 3), min_size=1, max_size=3),
)
def test_rot90(npx: Any, array: Any, k: int, axes: Any) -> None:
    agree(npx.rot90, np.rot90, array, k, axes)
    agree(npx.rot90, np.rot90, array)


POSITIONS = (
    st.integers(-4, 4)
    | st.lists(st.integers(-3, 3), max_size=3)
    | arrays(("int8", "int64"), st.integers(0, 3).map(lambda size: (size,)), tame=True)
)


@given(array=arrays(shapes=SOME_AXES), positions=POSITIONS, axis=AXIS)
def test_delete(npx: Any, array: Any, positions: Any, axis: Any) -> None:
    agree(npx.delete, np.delete, array, positions, axis)


@given(array=arrays(shapes=SOME_AXES), data=st.data())
def test_delete_by_a_mask(npx: Any, array: Any, data: Any) -> None:
    size = array.shape[0] + data.draw(st.sampled_from([0, 0, 0, 1]))
    mask = data.draw(arrays(("bool",), st.just((size,))))
    agree(npx.delete, np.delete, array, mask, 0)


@given(array=arrays(DTYPES[1:], SOME_AXES, tame=True), positions=POSITIONS, axis=AXIS, data=st.data())
def test_insert(npx: Any, array: Any, positions: Any, axis: Any, data: Any) -> None:
    values = data.draw(
        st.integers(0, 9)
        | arrays((array.dtype.name,), st.lists(st.integers(1, 3), max_size=3).map(tuple), tame=True)
        | arrays(("bool",), st.just((1,)))
    )
    size = array.size if axis is None else array.shape[axis % array.ndim]
    if np.size(positions) > 1:  # NumPy does not check the range of several
        positions = [int(np.clip(position, -size, size)) for position in positions]
    agree(npx.insert, np.insert, array, positions, values, axis)
    square = np.arange(9).reshape(3, 3)
    agree(npx.insert, np.insert, square, 1, square[:2], 1)
    agree(npx.insert, np.insert, square, [2, 0], square[:, :2], 1)


@given(array=arrays(shapes=SHAPE), n=st.integers(-1, 4), axis=st.integers(-3, 2))
def test_diff(npx: Any, array: Any, n: int, axis: int) -> None:
    agree(npx.diff, np.diff, array, n, axis)


ENDS = st.none() | arrays(DTYPES, SHAPE, tame=True)


@given(array=arrays(shapes=SHAPE, tame=True), to_end=ENDS, to_begin=ENDS)
def test_ediff1d(npx: Any, array: Any, to_end: Any, to_begin: Any) -> None:
    agree(npx.ediff1d, np.ediff1d, array, to_end, to_begin)


K = st.integers(-4, 4)


@given(array=arrays(shapes=SHAPE), k=K)
def test_diagonals(npx: Any, array: Any, k: int) -> None:
    agree(npx.diag, np.diag, array, k)
    agree(npx.diagflat, np.diagflat, array, k)
    agree(npx.tril, np.tril, array, k)
    agree(npx.triu, np.triu, array, k)


def test_diagonals_far_away(npx: Any) -> None:
    for k in (2**63 - 1, -(2**63), 2**62):
        same(npx.triu(np.ones((2, 2)), k), np.full((2, 2), float(k < 0)))
        same(npx.tril(np.ones((2, 2)), k), np.full((2, 2), float(k > 0)))
        with pytest.raises(ValueError, match="too big"):
            npx.diag(np.ones(2), k)


@given(array=arrays(shapes=SHAPE, tame=True), k=K, axes=st.tuples(st.integers(-3, 2), st.integers(-3, 2)))
def test_trace(npx: Any, array: Any, k: int, axes: Any) -> None:
    agree(npx.trace, np.trace, array, k, *axes, exact=False)
    agree(npx.trace, np.trace, array, dtype="complex128", exact=False)


@given(array=arrays(("int8",), SHAPE))
def test_diag_indices_from(npx: Any, array: Any) -> None:
    agree(lambda x: list(map(np.asarray, npx.diag_indices_from(x))), np.diag_indices_from, array)


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
@given(given_arrays=st.lists(arrays(("int8", "float32"), SHAPE), max_size=3))
def test_at_least(npx: Any, name: str, given_arrays: Any) -> None:
    results, expected = getattr(npx, name)(*given_arrays), getattr(np, name)(*given_arrays)
    if len(given_arrays) == 1:
        results, expected = [results], [expected]
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        same(result, wanted)
    with pytest.raises(TypeError, match="expected Tensor, got str"):
        getattr(npx, name)(np.ones(2), "x")
