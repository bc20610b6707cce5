"""Helpers for the tests of the example npx: arrays of every dtype and layout, and the comparison of results."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

WHOLE = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*WHOLE, *FLOATS)
DTYPES = (*REAL, *COMPLEX)
#: Settings for tests that run for many functions.
FEW = settings(max_examples=settings.default.max_examples // 7)
#: Tolerance by the dtype of the result, if NumPy computes in that dtype and npx in double.
TOLERANCE = {"float16": 2e-3, "float32": 3e-6, "float64": 1e-12, "complex64": 3e-6, "complex128": 1e-12}

SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple) | st.sampled_from([(300,), (2, 130), (1, 1)])


def values(dtype: str, tame: bool) -> list[Any]:
    """Return a pool of elements; `tame` ones are small, so that no function overflows."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [False, True]
    if kind in "iu":
        info = np.iinfo(dtype)
        small = [0, 1, 2, 3, 7] + [-1, -2, -5] * (kind == "i")
        return small if tame else [*small, info.min, info.max, info.min + 1, info.max // 3]
    small_floats = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.75, 3.0]
    if kind == "f":
        info_f = np.finfo(dtype)
        wild = [
            np.inf,
            -np.inf,
            np.nan,
            info_f.max,
            info_f.smallest_subnormal,
            info_f.tiny,
            1 + float(info_f.eps),
        ]
        return small_floats if tame else [*small_floats, *wild]
    return [complex(a, b) for a in small_floats for b in small_floats[:6]]


@st.composite
def arrays(
    draw: Callable[..., Any], dtypes: Any = DTYPES, shapes: Any = SHAPES, tame: bool = False
) -> np.ndarray[Any, Any]:
    """Draw an array of any layout: transposed, reversed, with gaps, read-only."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes)
    # Half of them contiguous, the rest views of a larger array.
    layout = draw(st.sampled_from(["C", "C", "C", "F", "gaps", "backwards", "read-only"]))
    choose = np.random.RandomState(draw(st.integers(0, 2**16)))
    full = tuple(2 * extent for extent in shape) if layout == "gaps" else shape
    pool = np.array(values(dtype, tame), dtype)
    array = np.array(pool[choose.randint(len(pool), size=full)], order="F" if layout == "F" else "C")
    if layout == "gaps":
        array = array[(..., *(slice(None, None, 2),) * len(shape))]
    elif layout == "backwards":
        array = array[(..., *(slice(None, None, -1),) * len(shape))]
    array.flags.writeable = layout != "read-only"
    return array


@st.composite
def broadcastable(draw: Callable[..., Any], count: int, shapes: Any = SHAPES) -> list[tuple[int, ...]]:
    """Draw shapes that broadcast: some axes omitted or of length one."""
    shape = draw(shapes)
    result = []
    for _ in range(count):
        kept = [1 if draw(st.integers(0, 3)) == 0 else extent for extent in shape]
        result.append(tuple(kept[draw(st.sampled_from([0, 0, 0, *range(len(shape) + 1)])) :]))
    return result


def same(result: Any, expected: Any, *, exact: bool = True, scale: float = 1.0) -> None:
    """Compare a tensor with NumPy's result: dtype, shape and elements, bit by bit except for NaN."""
    result, expected = np.asarray(result), np.asarray(expected)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if exact or expected.dtype.kind in "biu":
        np.testing.assert_array_equal(result, expected)
        if expected.dtype.kind == "f":
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))
        return
    rtol = TOLERANCE[expected.dtype.name]
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol * scale)


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result as an array, or the nearest builtin class of the exception."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return np.asarray(function(*args, **kwargs))
        except Exception as error:
            return builtin_of(type(error))


def builtin_of(cls: type) -> type:
    if cls is np.exceptions.AxisError:
        return cls
    return next(base for base in cls.__mro__ if base.__module__ == "builtins")


def agree(
    npx: Callable[..., Any],
    numpy: Callable[..., Any],
    *args: Any,
    exact: bool = True,
    scale: float = 1.0,
    **kwargs: Any,
) -> None:
    """Assert that both give the same result, or raise exceptions of the same class."""
    result, expected = outcome(npx, *args, **kwargs), outcome(numpy, *args, **kwargs)
    if isinstance(result, type) or isinstance(expected, type):
        assert result is expected
    else:
        same(result, expected, exact=exact, scale=scale)
