"""Pickles of NumPy arrays that share memory, or whose elements do not lie one after the other."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["reduce_view"]


def reduce_view(x: Any, most: int) -> Any:
    """Return how to pickle a view with its strides, as a part of the array that owns the memory.

    Pickled together, two views of one array then share memory again. NumPy makes each an array of its own.

    Parameters
    ----------
    x : object
    most : int
        How many bytes a pickle may have; of a larger array the view alone is pickled.

    Returns
    -------
    tuple or NotImplemented
        What `pickle.Pickler.reducer_override` returns; NotImplemented for what is no such view.
    """
    np: Any = sys.modules.get("numpy")
    if np is None or type(x) is not getattr(np, "ndarray", None) or x.dtype.hasobject:
        return NotImplemented
    whole = x
    while type(whole.base) is np.ndarray:
        whole = whole.base
    if whole is x or not (whole.flags.c_contiguous or whole.flags.f_contiguous):
        return NotImplemented
    if whole.nbytes > most // 2 or whole.dtype.hasobject:
        return NotImplemented
    offset = x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return _restore, (whole, offset, x.dtype, x.shape, x.strides, x.flags.writeable)


def _restore(whole: Any, offset: int, dtype: Any, shape: Any, strides: Any, is_writeable: bool) -> Any:
    import numpy as np

    made: Any = np.ndarray(shape, dtype, whole.ravel("K"), offset, strides)
    if not is_writeable:
        made.flags.writeable = False
    return made
