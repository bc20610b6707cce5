"""Methods of `Tensor`."""

from __future__ import annotations

import math
import operator

from .._pickling import describe_tensor, unpickle_tensor
from .._rules.arrays import HAS_CAPSULES, make_array, make_interface
from .._rules.device import Device, DLDeviceType
from .._rules.dtype import dtype
from .._typing import Any
from .runtime import Runtime

__all__ = ["TensorMethods"]

#: Devices whose streams are numbers, and the numbers that the array API standard forbids.
_NUMBERED_STREAMS: dict[int, tuple[int, ...]] = {
    DLDeviceType.kDLCUDA: (0,),
    DLDeviceType.kDLCUDAManaged: (0,),
    DLDeviceType.kDLROCM: (1, 2),
}
#: Devices that have no streams.
_WITHOUT_STREAMS = (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost, DLDeviceType.kDLROCMHost)


def _is_stream(stream: Any, device_type: int) -> bool:
    if stream is None:
        return True
    forbidden = _NUMBERED_STREAMS.get(device_type)
    if forbidden is not None:
        # -1 means no synchronization.
        return isinstance(stream, int) and stream >= -1 and stream not in forbidden
    # Streams of other devices are not standardised.
    return device_type not in _WITHOUT_STREAMS


def _read_pair(name: str, given: Any) -> tuple[int, int]:
    """Convert an argument of `__dlpack__` to two ints."""
    try:
        first, second = given
        return operator.index(first), operator.index(second)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be a tuple of two ints, not {given!r}")


class TensorMethods:
    """An n-dimensional array on shared memory.

    A NumPy array, or any object with a method ``__dlpack__``, is passed to a function as a tensor on its own
    memory. `numpy.asarray` and the ``from_dlpack`` of other libraries make arrays on the memory of a tensor;
    it is freed with the last of them.
    """

    __slots__ = ()

    _runtime: Runtime

    def _info(self) -> tuple[Any, ...]:
        return tuple(self._runtime.tensor_info(self))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each axis."""
        return tuple(self._info()[3])

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides of each axis, in elements."""
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
        """Device of the memory."""
        found: Device = self._info()[1]
        return found

    def size(self, axis: int) -> int:
        """Return the number of elements along an axis; negative axes count from the last."""
        return self.shape[operator.index(axis)]

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        info = self._info()
        address: int = (info[0].value or 0) + info[5]
        return address

    def is_contiguous(self) -> bool:
        """Return whether the elements are contiguous in row-major order."""
        _, _, _, shape, strides, *_ = self._info()
        step = 1
        for extent, stride in zip(reversed(shape), reversed(strides)):
            if extent > 1 and stride != step:
                return 0 in shape
            step *= extent
        return True

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self.device
        return device.dlpack_device_type(), device.index

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule, for the ``from_dlpack`` of another library.

        Streams are not synchronised: the caller orders pending work on the memory.

        Raises
        ------
        BufferError
            The stream is invalid for the device, another device is given, the version cannot represent the
            tensor, or the copy cannot be made.
        TypeError
            `max_version` or `dl_device` is no pair of ints.
        """
        version = None if max_version is None else _read_pair("max_version", max_version)
        place = None if dl_device is None else _read_pair("dl_device", dl_device)
        if not _is_stream(stream, self.device.dlpack_device_type()):
            raise BufferError(f"{stream!r} is no stream of {self.device}")
        if place is not None and place != self.__dlpack_device__():
            raise BufferError(f"a tensor on {self.device} cannot be exported to {Device(*place)}")
        tensor = self._runtime.tensor_copy(self) if copy else self
        if not HAS_CAPSULES:
            return make_array(tensor, tensor._info()).__dlpack__()
        return self._runtime.tensor_to_capsule(tensor, version is None or version[0] < 1)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return make_interface(self._info())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = make_array(self, self._info())
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a tensor of {array.dtype} cannot be an array of {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle the elements in row-major order: out of band, without a copy, from protocol 5 on."""
        compact = self if self.is_contiguous() else self._runtime.tensor_copy(self)
        return unpickle_tensor, describe_tensor(compact, compact._info(), self._info()[6], protocol)

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __repr__(self) -> str:
        text: str = self._runtime.value_repr(self)
        return text
