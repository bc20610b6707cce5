"""What a Tensor shows of itself to Python; the memory is the runtime's."""

from __future__ import annotations

import sys
from typing import Any

from ._device import Device
from ._dtype import dtype
from ._runtime import Runtime

__all__ = ["TensorMethods"]

#: NumPy's kind letters for DLPack's type codes.
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_CPU = 1
_BYTE_ORDER = "<" if sys.byteorder == "little" else ">"


class TensorMethods:
    """An n-dimensional array of the runtime, in memory that it shares with whoever else holds it.

    `numpy.asarray` makes an array on the same memory, which lives until the last of them is gone.
    """

    __slots__ = ()

    _runtime: Runtime

    def _info(self) -> tuple[Any, ...]:
        return tuple(self._runtime.tensor_info(self))

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return tuple(self._info()[3])

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along each axis, counted in elements."""
        return tuple(self._info()[4])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._info()[3])

    @property
    def dtype(self) -> dtype:
        """Type of the elements."""
        found: dtype = self._info()[2]
        return found

    @property
    def device(self) -> Device:
        """Where the memory lies."""
        found: Device = self._info()[1]
        return found

    @property
    def __array_interface__(self) -> dict[str, Any]:
        pointer, device, element, shape, strides, byte_offset, flags = self._info()
        kind = _KINDS.get(element.type_code)
        if kind is None or element.lanes != 1 or element.bits % 8:
            raise TypeError(f"NumPy has no dtype for {element}")
        if device.dlpack_device_type() != _CPU:
            raise TypeError(f"a tensor on {device} is not in memory that NumPy can read")
        address: int | None = pointer.value
        return {
            "version": 3,
            "shape": tuple(shape),
            "strides": tuple(stride * element.itemsize for stride in strides),
            "typestr": f"{'|' if element.itemsize == 1 else _BYTE_ORDER}{kind}{element.itemsize}",
            "data": ((address or 0) + byte_offset, bool(flags & 1)),  # ANYFFI_TENSOR_READ_ONLY
        }

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __repr__(self) -> str:
        _, device, element, shape, *_ = self._info()
        return f"anyffi.Tensor(shape={tuple(shape)!r}, dtype={str(element)!r}, device={str(device)!r})"
