"""Implements `Tensor.__dlpack__` with the keywords of the array API standard."""

from __future__ import annotations

import operator

from .._builtins import *  # noqa: F403
from .._typing import Any
from .arrays import HAS_CAPSULES, make_array
from .containers import wrong_self
from .device import Device, DLDeviceType, read_device

__all__ = ["TEXT_SIGNATURE", "export_tensor"]

#: Devices whose streams are numbers, with the numbers that the array API standard forbids.
_NUMBERED_STREAMS: dict[int, tuple[int, ...]] = {
    DLDeviceType.kDLCUDA: (0,),
    DLDeviceType.kDLCUDAManaged: (0,),
    DLDeviceType.kDLROCM: (1, 2),
}
#: Devices without streams.
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


def _name_as_method(function: Any) -> Any:
    function.__qualname__ = "Tensor.__dlpack__"
    function.__module__ = "anyffi"
    # The compiled marshaller's method has a signature without annotations.
    function.__annotations__.clear()
    return function


#: The signature of `__dlpack__`, as C methods have it at the start of their docstrings.
TEXT_SIGNATURE = "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"


@_name_as_method
def __dlpack__(
    self: Any,
    /,
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
        `max_version` or `dl_device` is not a pair of ints.
    """
    read = getattr(type(self), "_anyffi_device", None)
    if read is None:
        raise wrong_self("__dlpack__", "anyffi.Tensor", self, is_slot=False)
    version = None if max_version is None else _read_pair("max_version", max_version)
    place = None if dl_device is None else _read_pair("dl_device", dl_device)
    if stream is not None or place is not None:
        device = read(self)
        own = read_device(device)
        if not _is_stream(stream, own[0]):
            raise BufferError(f"{stream!r} is no stream of {device}")
        if place is not None and place != own:
            raise BufferError(f"a tensor on {device} cannot be exported to {Device(*place)}")
    tensor = self._anyffi_runtime.tensor_copy(self) if copy else self
    if not HAS_CAPSULES:
        return make_array(tensor).__dlpack__()
    return self._anyffi_runtime.tensor_to_capsule(tensor, version is None or version[0] < 1)


export_tensor = __dlpack__
