"""`np.zeros` in C++: the runtime owns the memory, and every array on it keeps it alive."""

from collections.abc import Iterator
from typing import Any, Callable

import _npi
import anyffi
import numpy as np


def zeros(shape: Any, dtype: Any = None, order: str = "C", ctx: str = "cpu") -> Any:
    """Make a new tensor of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the dimensions.
    dtype : dtype, optional
        An `anyffi.dtype` or anything that `numpy.dtype` takes. C++ chooses if it is left out.
    order : {"C", "F"}
        Whether the last or the first dimension is contiguous.
    ctx : {"cpu"}
        The location of the memory.

    Returns
    -------
    anyffi.Tensor
        `np.asarray` of it is writable and shares its memory.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `np.zeros`, and TypeError for a dtype without a DLPack code.
    NotImplementedError
        The order or context is not supported.
    """
    if not isinstance(dtype, (type(None), anyffi.dtype)):
        dtype = np.dtype[Any](dtype)
    try:
        return _npi.zeros(shape, dtype, order, ctx)
    except OverflowError as error:
        # NumPy's exception for a dimension beyond 64 bits.
        raise ValueError("Maximum allowed dimension exceeded") from error


def outcome(function: Callable[..., Any], *args: Any) -> str:
    """Return the name of the class of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:
        return type(error).__name__
    return "no error"


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Yield the calls to show: the text, the result, and the result of plain Python."""
    yield "zeros(3)", np.asarray(zeros(3)), np.zeros(3)
    yield "zeros(np.int16(2))", np.asarray(zeros(np.int16(2))), np.zeros(np.int16(2))
    yield "zeros([2, 3], np.uint8)", np.asarray(zeros([2, 3], np.uint8)), np.zeros([2, 3], np.uint8)
    yield "zeros((2, 2), bool, 'F')", np.asarray(zeros((2, 2), bool, "F")), np.zeros((2, 2), bool, "F")
    yield "zeros((), 'c8')", np.asarray(zeros((), "c8")), np.zeros((), "c8")
    yield "zeros((4, 0))", np.asarray(zeros((4, 0))), np.zeros((4, 0))
    array = np.asarray(zeros((2, 2), np.int32))
    array[0, 1] = 7
    yield (
        "array = np.asarray(zeros((2, 2), np.int32)); array[0, 1] = 7",
        array,
        np.array([[0, 7], [0, 0]], np.int32),
    )
    yield "zeros(-1)", outcome(zeros, -1), outcome(np.zeros, -1)
    yield "zeros(1.5)", outcome(zeros, 1.5), outcome(np.zeros, 1.5)
    yield "zeros(2**70)", outcome(zeros, 2**70), outcome(np.zeros, 2**70)
    yield "zeros(2, object)", outcome(zeros, 2, object), "TypeError"
    yield "zeros(2, order='K')", outcome(zeros, 2, None, "K"), "NotImplementedError"


if __name__ == "__main__":
    for text, result, _ in examples():
        print(f"{text}\n    {result!r}")
