"""NumPy functions in C++: the functions that the library registers under ``npx.``.

Arguments are NumPy arrays, or other objects with ``__dlpack__``, and Python's numbers; a dtype is one of
NumPy's or anyffi's, a class such as `numpy.float32`, or a name. Results are
`anyffi.Tensor`, which `numpy.asarray` converts to arrays without a copy.
"""

from typing import Any

import anyffi
import numpy as np

module = anyffi.load_module("./libnpx.so")
anyffi.init_ffi_api("npx", __name__)
# C++ throws errors by class name; these are NumPy's classes.
anyffi.register_error("AxisError", np.exceptions.AxisError)
anyffi.register_error("LinAlgError", np.linalg.LinAlgError)

from . import linalg, random  # noqa: E402

__all__ = ["einsum", "linalg", "module", "random"]

_einsum = anyffi.get_global_func("npx.einsum")


def einsum(subscripts: str, *operands: Any, out: Any = None, optimize: bool = False) -> Any:
    """Return the sum of products that the subscripts describe, such as ``"ij,jk->ik"``.

    In Python, because the operands are separate arguments. All are multiplied at once, `optimize` or not.
    """
    return _einsum(subscripts, operands, out)
