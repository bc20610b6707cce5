"""The example npx does what NumPy does: rounding, polynomials, vector products and similar functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from npx_cases import COMPLEX, DTYPES, FLOATS, REAL, WHOLE, agree, arrays, broadcastable, same
from tensors import NUMPY

SHAPE = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(array=arrays((*WHOLE[:5], *FLOATS, *COMPLEX), tame=True), decimals=st.integers(-2, 3))
def test_around(npx: Any, array: Any, decimals: int) -> None:
    agree(npx.around, np.around, array, decimals, exact=False)
    agree(npx.round, np.round, np.asarray(array * array.dtype.type(3)), decimals=decimals, exact=False)
    out = np.zeros(array.shape, complex)
    npx.around(array, 0, out)
    same(out, np.around(array).astype(complex))


@given(
    array=arrays(),
    nan=st.floats(-3, 3),
    posinf=st.none() | st.floats(-3, 3),
    neginf=st.none() | st.floats(-3, 3),
)
def test_nan_to_num(npx: Any, array: Any, nan: float, posinf: Any, neginf: Any) -> None:
    agree(npx.nan_to_num, np.nan_to_num, array, nan=nan, posinf=posinf, neginf=neginf)


def test_nan_to_num_in_place(npx: Any) -> None:
    array = np.array([np.nan, np.inf, complex(1, -np.inf)], np.complex64)
    expected = np.nan_to_num(array)
    npx.nan_to_num(array, copy=False)
    same(array, expected)
    array.flags.writeable = False
    agree(npx.nan_to_num, np.nan_to_num, array, copy=False)


@given(data=st.data())
def test_ldexp(npx: Any, data: Any) -> None:
    shapes = data.draw(broadcastable(2))
    x = data.draw(arrays((*REAL, "complex64"), st.just(shapes[0])))
    exponent = data.draw(arrays((*WHOLE, "float32"), st.just(shapes[1]), tame=True))
    agree(npx.ldexp, np.ldexp, x, exponent)
    same(npx.ldexp(np.ones(2), np.array([2**62, -(2**62)])), np.array([np.inf, 0]))


@given(p=arrays(DTYPES, SHAPE, tame=True), x=arrays(DTYPES, SHAPE, tame=True))
def test_polyval(npx: Any, p: Any, x: Any) -> None:
    if p.ndim > 1:  # broadcast at each step, so that errors depend on the order
        p = p.ravel()
    agree(npx.polyval, np.polyval, p[:4] if p.ndim else p, x, exact=False, scale=100)


@given(data=st.data(), axes=st.lists(st.integers(-3, 2), min_size=3, max_size=3))
def test_cross(npx: Any, data: Any, axes: Any) -> None:
    # NumPy 2.5 has no products of vectors in a plane.
    few = 2 if NUMPY < (2, 5) else 3
    sizes = st.sampled_from([few, 3, 3, 4])
    shapes = [(*data.draw(st.sampled_from([(), (few,), (1,)])), data.draw(sizes)) for _ in "ab"]
    a, b = (data.draw(arrays(DTYPES[1:], st.just(shape), tame=True)) for shape in shapes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        agree(npx.cross, np.cross, a, b, exact=False, scale=10)
        cube = np.arange(27.0).reshape(3, 3, 3)
        agree(npx.cross, np.cross, cube, cube[::-1] * 2, *axes)
        agree(npx.cross, np.cross, cube, b, axis=axes[0], exact=False, scale=100)


def test_may_share_memory(npx: Any) -> None:
    x = np.arange(6)
    for a, b in ((x, x), (x[:3], x[3:]), (x[::2], x[1::2]), (x[:0], x), (x[::-1], x[5:]), (x, x.copy())):
        assert npx.may_share_memory(a, b) is np.may_share_memory(a, b)
