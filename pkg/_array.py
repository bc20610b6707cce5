"""Arrays as tensors."""

from __future__ import annotations

import struct
from typing import Any

from ._dtype import find_dtype
from ._types import code

__all__ = ["lower_array"]

_READ_ONLY, _PADDED = 1, 4  # ANYFFI_TENSOR_READ_ONLY, ANYFFI_TENSOR_PADDED


def lower_array(np: Any, x: Any) -> tuple[int, Any]:
    """The memory of a NumPy array, as `rules.lower` gives it."""

    def read(name: str) -> Any:
        # From the array's own storage: no attribute of a subclass is asked.
        return np.ndarray.__dict__[name].__get__(x)

    element = find_dtype(read("dtype"))
    assert element is not None
    shape, strides, size = read("shape"), read("strides"), read("itemsize")
    # Where an axis has no two elements, how far apart they would be does not matter.
    if 0 not in shape and any(stride % size for extent, stride in zip(shape, strides) if extent > 1):
        raise BufferError(f"strides {strides} are not multiples of the {size} bytes of an element")
    extents = struct.pack(f"={2 * len(shape)}q", *shape, *(stride // size for stride in strides))
    address, read_only = read("__array_interface__")["data"]
    flags = (_READ_ONLY if read_only else 0) | (_PADDED if element[1] % 8 else 0)
    return code.TENSOR_VIEW, (address, element, len(shape), extents, flags, x)
