"""Arrays and exporters for the tests of tensors."""

from __future__ import annotations

from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from support import CPYTHON, CPYTHON_313T, get_testing_function

cpython_only = pytest.mark.skipif(not CPYTHON, reason="counts are CPython's")
capsules = pytest.mark.skipif(not CPYTHON, reason="only CPython's capsules are within reach")

if CPYTHON and not CPYTHON_313T:
    import ml_dtypes
else:
    ml_dtypes = None

READ_ONLY, COPIED, PADDED = 1, 2, 4

#: NumPy arrays of every layout and dtype.
ARRAYS = [x for x in cases.EXAMPLES if isinstance(x, np.ndarray)]
IDS = [f"{x.dtype}{x.shape}" for x in map(np.asarray, ARRAYS)]

#: The version of NumPy, such as (2, 4).
NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])
#: Whether NumPy supports versioned capsules, and so read-only arrays.
VERSIONED = NUMPY >= (2, 1)


class Exporter:
    """An array of another library, which only has `__dlpack__`."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.asked: list[Any] = []

    def __dlpack__(self, **options: Any) -> Any:
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __index__(self) -> int:
        raise AssertionError("exporting comes before being an index")


class OldExporter(Exporter):
    """An exporter from before DLPack had versions."""

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()


def address(x: Any) -> int:
    return x.__array_interface__["data"][0]  # type: ignore[no-any-return]


def read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def make(ffi: Any, shape: Any = (2, 2), dtype: str = "float64", **more: Any) -> Any:
    return get_testing_function(ffi, "tensor.make")(shape, anyffi.dtype(dtype), **more)
