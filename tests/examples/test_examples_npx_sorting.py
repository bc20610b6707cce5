"""The example npx does what NumPy does: sorting, and counts and searches in sorted elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npx_cases import DTYPES, FEW, agree, arrays, same

#: Some functions of NumPy accept arrays without axes as ones of one axis.
SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple) | st.just((300,))
AXIS = st.none() | st.integers(-4, 3)


@given(
    array=arrays(shapes=SHAPES),
    axis=AXIS,
    kind=st.sampled_from([None, "stable", "quicksort", "heapsort", "best"]),
)
def test_sort(npx: Any, array: Any, axis: Any, kind: Any) -> None:
    array = np.where(array == 0, np.zeros_like(array), array)  # either zero is correct
    agree(npx.sort, np.sort, array, axis, kind)


@given(array=arrays(shapes=SHAPES), axis=AXIS)
def test_argsort(npx: Any, array: Any, axis: Any) -> None:
    agree(npx.argsort, np.argsort, array, axis, "stable")
    array = np.where(np.isnan(array), 0, array) + 0
    for kind in (None, "heapsort"):
        positions = np.asarray(npx.argsort(array, kind=kind))
        same(np.take_along_axis(array, positions, -1), np.sort(array, kind="stable"), exact=False)


def test_sorts_nan_to_the_end(npx: Any) -> None:
    parts = [np.nan, 1.0, -np.inf, 0.0]
    array = np.array([complex(a, b) for a in parts for b in parts])
    agree(npx.sort, np.sort, array)
    agree(npx.argsort, np.argsort, array, kind="stable")


FLAGS = st.tuples(st.booleans(), st.booleans(), st.booleans())


@given(array=arrays(), flags=FLAGS, equal_nan=st.booleans())
def test_unique(npx: Any, array: Any, flags: Any, equal_nan: bool) -> None:
    array = np.where(array == 0, np.zeros_like(array), array)
    equal_nan = equal_nan or not flags[0]  # else NumPy leaves NaNs in any order
    results = npx.unique(array, *flags, equal_nan=equal_nan)
    expected = np.unique(array, *flags, equal_nan=equal_nan)
    if not any(flags):
        results, expected = [results], [expected]
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        same(result, wanted)


@given(
    array=arrays(shapes=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple), tame=True), axis=AXIS
)
def test_unique_parts(npx: Any, array: Any, axis: Any) -> None:
    array = np.where(array == 0, np.zeros_like(array), array)
    agree(npx.unique, np.unique, array, axis=axis)
    if axis is not None and -array.ndim <= axis < array.ndim:
        results = npx.unique(array, True, True, True, axis)
        for result, wanted in zip(results, np.unique(array, True, True, True, axis)):
            same(result, wanted.reshape(result.shape))  # NumPy 2.0 has more axes


# ---- statistics ------------------------------------------------------------------------------------------

SOME = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple) | st.just((30,))
AXES = st.none() | st.integers(-4, 3) | st.sampled_from([(0,), (0, 1), (-1, 0)])
METHODS = (
    *("linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
)
#: Fractions that are exact in a float16.
PARTS = st.integers(-1, 17).map(lambda part: part / 16)


@pytest.mark.parametrize("method", METHODS)
@FEW
@given(
    array=arrays((*DTYPES[1:9], "float32", "float64", "complex64"), SOME, tame=True),
    q=PARTS | st.lists(PARTS, max_size=3).map(np.array),
    axis=AXES,
    keepdims=st.booleans(),
)
def test_quantile(npx: Any, array: Any, q: Any, axis: Any, method: str, keepdims: bool) -> None:
    options = {"method": method, "keepdims": keepdims, "exact": False}
    agree(npx.quantile, np.quantile, array, q, axis, **options)
    agree(npx.percentile, np.percentile, array, q * 100, axis, **options)
    agree(npx.quantile, np.quantile, np.arange(9.0)[::-1], np.arange(17) / 16, **options)


def test_quantile_of_nan_and_to_out(npx: Any) -> None:
    array = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 7.0]])
    for method in METHODS[:6]:
        agree(npx.quantile, np.quantile, array, 0.5, axis=1, method=method)
        same(
            npx.quantile(array, 0.5, axis=1, interpolation=method), np.quantile(array, 0.5, 1, method=method)
        )
    out = np.zeros(2, np.float32)
    npx.quantile(array, 1, axis=1, out=out)
    same(out, np.array([np.nan, 7], np.float32))
    for method in METHODS[:5]:
        agree(npx.quantile, np.quantile, array > 3, 0.5, method=method)
    agree(npx.quantile, np.quantile, array, 0.5, method="other")
    for empty, axis in ((np.zeros(0), None), (np.zeros((0, 2)), 0), (np.zeros((2, 0)), 0)):
        agree(npx.quantile, np.quantile, empty, 0.5, axis)


@given(array=arrays(shapes=SOME, tame=True), axis=AXES, keepdims=st.booleans(), data=st.data())
def test_average(npx: Any, array: Any, axis: Any, keepdims: bool, data: Any) -> None:
    shape = data.draw(st.sampled_from([array.shape, array.shape[:1], array.shape[1:], array.shape[::-1]]))
    weights = data.draw(st.none() | arrays(shapes=st.just(shape), tame=True))

    agree(npx.average, np.average, array, axis, weights, keepdims=keepdims, exact=False, scale=30)
    agree(returned(npx.average), returned(np.average), array, axis, weights, exact=False, scale=30)


def returned(average: Any) -> Any:
    """Return a function that returns the sum of the weights instead of the mean."""
    return lambda *args: average(*args, returned=True)[1]


@given(
    x=arrays(DTYPES[:-2], st.lists(st.integers(1, 5), min_size=1, max_size=2).map(tuple), tame=True),
    minlength=st.integers(-1, 9),
    data=st.data(),
)
def test_bincount(npx: Any, x: Any, minlength: int, data: Any) -> None:
    if x.dtype == np.uint64:  # refused by NumPy until 2.1
        return
    shape = data.draw(st.sampled_from([x.shape, x.shape, (3,)]))
    weights = data.draw(st.none() | arrays(shapes=st.just(shape), tame=True))
    agree(npx.bincount, np.bincount, x, weights, minlength)


EDGES = st.lists(st.integers(-4, 4).map(lambda edge: edge / 2), min_size=1, max_size=5)


@given(
    array=arrays(DTYPES[1:-2], tame=True),
    bins=st.integers(0, 12) | EDGES | EDGES.map(sorted) | EDGES.map(sorted).map(np.array),
    limits=st.none() | st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    density=st.booleans(),
    data=st.data(),
)
def test_histogram(npx: Any, array: Any, bins: Any, limits: Any, density: bool, data: Any) -> None:
    weights = data.draw(st.none() | arrays(("int64", "float32", "float64"), st.just(array.shape), tame=True))
    for part in (0, 1):
        ours, theirs = (
            lambda *args, library=library: library.histogram(*args)[part] for library in (npx, np)
        )
        # NumPy computes in the dtype of narrow floats.
        precise = density and array.dtype.name not in ("float16", "float32")
        agree(ours, theirs, array, bins, limits, precise, weights, exact=False)
