"""Arrays for the tests of typed tensors, and the message of a refused one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import get_testing_function

X = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)


def typed(ffi: Any, name: str) -> Any:
    return get_testing_function(ffi, "tensors." + name)


def unaligned(shape: tuple[int, ...], dtype: str = "float64") -> Any:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    array = np.ndarray(shape, dtype, bytearray(size + 1), 1)
    array[...] = np.arange(array.size).reshape(shape)
    return array


def refusal(function: Any, *args: Any) -> str:
    """Return the part of the message after the signature."""
    with pytest.raises(TypeError) as caught:
        function(*args)
    signature, place, reason = str(caught.value).partition(": argument 0 (x): ")
    assert place
    name = function.__name__
    assert signature.startswith(f"{name}(x: ")
    return reason
