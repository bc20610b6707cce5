"""The example npx does what NumPy does: sequences of arrays, selection, views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from npx_cases import DTYPES, FEW, REAL, WHOLE, agree, arrays, broadcastable, outcome, same

SHAPE = st.lists(st.integers(0, 3), max_size=3).map(tuple)


# ---- sequences -------------------------------------------------------------------------------------------


@st.composite
def sequences(draw: Any, alike: bool = False) -> Any:
    """Draw a tuple or list of arrays that mostly differ along one axis at most."""
    shape = draw(SHAPE)
    axis = draw(st.integers(0, max(0, len(shape) - 1)))
    result = []
    for _ in range(draw(st.integers(0, 4))):
        extents = list(shape)
        if extents and not alike:
            extents[axis] = draw(st.integers(0, 3))
        if draw(st.integers(0, 20)) == 0:
            extents.append(1)
        result.append(draw(arrays(shapes=st.just(tuple(extents)))))
    return draw(st.sampled_from([tuple, list]))(result)


@given(arrays=sequences(), axis=st.none() | st.integers(-3, 3))
def test_concatenate(npx: Any, arrays: Any, axis: Any) -> None:
    agree(npx.concatenate, np.concatenate, arrays, axis)


@given(arrays=sequences(), dtype=st.sampled_from(DTYPES))
def test_concatenate_to_a_dtype(npx: Any, arrays: Any, dtype: str) -> None:
    agree(npx.concatenate, np.concatenate, arrays, dtype=dtype)


@given(arrays=sequences(alike=True), axis=st.integers(-4, 4))
def test_stack(npx: Any, arrays: Any, axis: int) -> None:
    agree(npx.stack, np.stack, arrays, axis)


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
@FEW
@given(arrays=sequences())
def test_stacks(npx: Any, name: str, arrays: Any) -> None:
    agree(getattr(npx, name), getattr(np, name), arrays)


def test_concatenate_out(ffi: Any, npx: Any) -> None:
    x, y = np.ones((2, 2), np.float32), np.zeros((1, 2))
    out = npx.zeros((3, 2))
    assert npx.concatenate((x, y), out=out) is out
    same(out, np.concatenate((x, y)))
    memory = np.arange(6)
    npx.concatenate([memory[3:], memory[:3]], out=memory)
    same(memory, np.array([3, 4, 5, 0, 1, 2]))
    for bad in (np.zeros((2, 2)), np.zeros((3, 2), int)):
        agree(npx.concatenate, np.concatenate, [x, y], out=bad)
    agree(npx.concatenate, np.concatenate, [x, y], out=out, dtype="float32")
    agree(npx.append, np.append, x, y, axis=0)
    agree(npx.append, np.append, x, y)
    with pytest.raises(TypeError, match=r"argument 0 \(arrays\), at \[1\]: expected Tensor, got str"):
        npx.concatenate([x, "y"])


CUTS = st.integers(-1, 4) | st.lists(st.integers(-5, 5), max_size=3) | st.lists(st.integers(0, 3)).map(tuple)


def pieces(split: Any) -> Any:
    """Split an array; return all elements concatenated, and the shapes."""

    def run(*args: Any, **kwargs: Any) -> Any:
        parts = [np.asarray(part) for part in split(*args, **kwargs)]
        shapes = [extent for part in parts for extent in part.shape]
        return np.concatenate([*(part.ravel().astype(complex) for part in parts), shapes])

    return run


@given(array=arrays(DTYPES[:-1], SHAPE.filter(len), tame=True), cuts=CUTS, axis=st.integers(-3, 2))
def test_split(npx: Any, array: Any, cuts: Any, axis: int) -> None:
    axis %= array.ndim
    agree(pieces(npx.split), pieces(np.split), array, cuts, axis)
    agree(pieces(npx.array_split), pieces(np.array_split), array, cuts, axis=axis)


@pytest.mark.parametrize("name", ["hsplit", "vsplit", "dsplit"])
@FEW
@given(array=arrays(("int16",), SHAPE), cuts=CUTS)
def test_splits(npx: Any, name: str, array: Any, cuts: Any) -> None:
    agree(pieces(getattr(npx, name)), pieces(getattr(np, name)), array, cuts)


def test_parts_are_views(ffi: Any, npx: Any) -> None:
    array = np.zeros((4, 3))
    parts = npx.split(array, 2)
    assert type(parts) is ffi.List
    np.asarray(parts[1])[0, 0] = 7
    assert array[2, 0] == 7
    with pytest.raises(np.exceptions.AxisError):
        npx.split(array, 2, axis=2)
    tensor = npx.zeros((4, 3))
    part = npx.split(tensor, [1], 1)[1]
    del tensor
    assert np.asarray(part).sum() == 0
    array.flags.writeable = False
    assert not np.asarray(npx.split(array, 2)[0]).flags.writeable


# ---- selection -------------------------------------------------------------------------------------------

POSITIONS = (
    st.integers(-4, 3)
    | st.lists(st.integers(-4, 3), max_size=4)
    | arrays(("bool", "int8", "int64", "uint8", "float32"), SHAPE, tame=True)
)


@given(
    array=arrays(shapes=st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)),
    positions=POSITIONS,
    axis=st.none() | st.integers(-3, 2),
    mode=st.sampled_from(["raise", "raise", "wrap", "clip"]),
)
def test_take(npx: Any, array: Any, positions: Any, axis: Any, mode: str) -> None:
    if isinstance(positions, list) and not positions:
        positions = np.array(positions, int)
    agree(npx.take, np.take, array, positions, axis, mode=mode)


def test_take_out(npx: Any) -> None:
    memory = np.arange(5.0)
    npx.take(memory, [4, 3, 2, 1, 0], out=memory)
    same(memory, np.arange(5.0)[::-1])
    with pytest.raises(ValueError, match="does not fit"):
        npx.take(memory, [1], out=memory)
    with pytest.raises(TypeError, match="positions must be integers"):
        npx.take(memory, np.array([1], np.uint64))
    with pytest.raises(ValueError, match="clipmode"):
        npx.take(memory, 1, mode="other")


BOUND = st.none() | st.integers(-2, 2) | st.integers(-8, 8).map(lambda bound: bound / 4)


@given(array=arrays(REAL[1:], tame=True), low=BOUND, high=BOUND)
def test_clip(npx: Any, array: Any, low: Any, high: Any) -> None:
    if low is None and high is None:
        same(npx.clip(array), array)
        return
    array = np.atleast_1d(array) + np.zeros(1, array.dtype)  # either zero is correct
    if array.dtype.kind == "u":
        low, high = (bound if bound is None else abs(bound) for bound in (low, high))
    agree(npx.clip, np.clip, array, low, high)


def test_clip_by_an_int_beyond_the_dtype(npx: Any) -> None:
    with pytest.raises(OverflowError):
        npx.clip(np.zeros(2, np.uint8), -1, 1)


@given(data=st.data())
def test_clip_between_arrays(npx: Any, data: Any) -> None:
    given_arrays = [data.draw(arrays(WHOLE[1:], st.just(shape))) for shape in data.draw(broadcastable(3))]
    agree(npx.clip, np.clip, *given_arrays)


@given(data=st.data())
def test_where(npx: Any, data: Any) -> None:
    agree(npx.where, np.where, *(data.draw(arrays(DTYPES, st.just(s))) for s in data.draw(broadcastable(3))))


@given(array=arrays(shapes=SHAPE.filter(len)))
def test_nonzero(npx: Any, array: Any) -> None:
    result, expected = npx.nonzero(array), np.nonzero(array)
    assert len(result) == len(expected)
    for ours, theirs in zip(result, expected):
        same(ours, theirs)


def test_where_with_numbers(npx: Any) -> None:
    condition = np.array([True, False])
    agree(npx.where, np.where, condition, 1, 2.5)
    agree(npx.where, np.where, condition, np.float32([1, 2]), 0)
    agree(npx.where, np.where, True, np.ones(2), np.zeros((2, 2)))
    agree(npx.where, np.where, np.ones(3), np.ones(2), 0)


WIDTH = st.integers(0, 3) | st.integers(-1, 9)
WIDTHS = (
    WIDTH
    | st.lists(WIDTH, min_size=1, max_size=3).map(tuple)
    | st.lists(st.tuples(WIDTH, WIDTH), min_size=1, max_size=3).map(tuple)
    | st.lists(st.lists(WIDTH, min_size=1, max_size=1), min_size=1, max_size=3)
)


@given(
    array=arrays(shapes=SHAPE.filter(len), tame=True),
    widths=WIDTHS,
    mode=st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
)
@example(array=np.ones((2, 2)), widths=((1, 2), (1, 2)), mode="constant")
@example(array=np.ones((2, 2)), widths=((1, 2), 1), mode="constant")
def test_pad(npx: Any, array: Any, widths: Any, mode: str) -> None:
    agree(npx.pad, np.pad, array, widths, mode)


@given(array=arrays(("int16", "float32"), SHAPE.filter(len)), value=st.integers(-5, 5))
def test_pad_with_a_number(npx: Any, array: Any, value: int) -> None:
    agree(npx.pad, np.pad, array, 1, constant_values=value)
    with pytest.raises(ValueError, match="no mode is called other"):
        npx.pad(array, 1, mode="other")


# ---- views -----------------------------------------------------------------------------------------------

#: Never the same axis twice: which of two errors NumPy raises then differs between functions.
AXES = st.integers(-4, 3) | st.sampled_from([(0,), (0, 1), (-1, -2), (0, 1, 2), (2, 0, 1), (0, 3), ()])


@given(array=arrays(shapes=st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple)), axes=AXES)
def test_axes(npx: Any, array: Any, axes: Any) -> None:
    agree(npx.squeeze, np.squeeze, array, axes)
    agree(npx.squeeze, np.squeeze, array)
    agree(npx.expand_dims, np.expand_dims, array, axes)
    agree(npx.transpose, np.transpose, array)
    if isinstance(axes, tuple):
        agree(npx.transpose, np.transpose, array, axes)


@given(
    array=arrays(shapes=st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)),
    offset=st.integers(-4, 4) | st.sampled_from([2**62, -(2**63)]),
    axes=st.tuples(st.integers(-3, 2), st.integers(-3, 2)),
)
def test_diagonal(npx: Any, array: Any, offset: int, axes: tuple[int, int]) -> None:
    if abs(offset) < 2**60:
        agree(npx.diagonal, np.diagonal, array, offset, *axes)
    elif array.ndim > 1:
        assert npx.diagonal(array, offset).shape[-1] == 0


@given(shapes=broadcastable(2), data=st.data())
def test_broadcast_to(npx: Any, shapes: Any, data: Any) -> None:
    array = data.draw(arrays(shapes=st.just(shapes[0])))
    agree(npx.broadcast_to, np.broadcast_to, array, shapes[1])
    result = outcome(npx.broadcast_to, array, (2, *array.shape))
    assert not result.flags.writeable
