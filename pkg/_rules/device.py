"""`Device`: where a tensor's memory is."""

from __future__ import annotations

import enum
import functools
import operator

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["DLDeviceType", "Device", "device", "read_device", "share_device"]


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers for device types."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
    kDLTrn = 18


DLDeviceType.__module__ = "anyffi"

_NAMES: dict[int, str] = {
    DLDeviceType.kDLCPU: "cpu",
    DLDeviceType.kDLCUDA: "cuda",
    DLDeviceType.kDLCUDAHost: "cuda_host",
    DLDeviceType.kDLOpenCL: "opencl",
    DLDeviceType.kDLVulkan: "vulkan",
    DLDeviceType.kDLMetal: "metal",
    DLDeviceType.kDLVPI: "vpi",
    DLDeviceType.kDLROCM: "rocm",
    DLDeviceType.kDLROCMHost: "rocm_host",
    DLDeviceType.kDLExtDev: "ext_dev",
    DLDeviceType.kDLCUDAManaged: "cuda_managed",
    DLDeviceType.kDLOneAPI: "oneapi",
    DLDeviceType.kDLWebGPU: "webgpu",
    DLDeviceType.kDLHexagon: "hexagon",
    DLDeviceType.kDLMAIA: "maia",
    DLDeviceType.kDLTrn: "trn",
}
_TYPES = {name: int(number) for number, name in _NAMES.items()}
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


class Device:
    """A device: its type, and its index among the devices of that type.

    Parameters
    ----------
    device_type : str or int
        A name, such as ``"cpu"``, with or without an index, as in ``"cuda:1"``; or DLPack's number.
    index : int, optional
        0 by default.

    Examples
    --------
    >>> anyffi.Device("cuda:1")
    anyffi.Device('cuda:1')
    >>> anyffi.Device("cuda", 1).type
    'cuda'
    >>> anyffi.Device("cpu") == anyffi.Device(anyffi.DLDeviceType.kDLCPU, 0)
    True
    """

    __slots__ = ("_pair",)
    __module__ = "anyffi"

    _pair: tuple[int, int]

    def __init__(self, device_type: str | int, index: int | None = None) -> None:
        if isinstance(device_type, str):
            number, parsed = _parse(str.__str__(device_type))
            if index is not None and parsed is not None:
                raise ValueError(f"device {device_type!r} has an index already")
            index = parsed if index is None else index
        else:
            number = operator.index(device_type)
        pair = number, 0 if index is None else operator.index(index)
        if not (_INT32_MIN <= pair[0] <= _INT32_MAX and _INT32_MIN <= pair[1] <= _INT32_MAX):
            raise OverflowError(f"{pair} does not fit a device of DLPack")
        if _is_set(self):
            # It may be a shared device.
            raise TypeError(f"{type(self).__name__} is already initialized")
        _set_pair(self, pair)

    @property
    def type(self) -> str:
        """The name of the type, such as ``"cpu"``."""
        number = read_device(self)[0]
        return _NAMES.get(number, f"type{number}")

    @property
    def index(self) -> int:
        """The index among the devices of the type."""
        return read_device(self)[1]

    def dlpack_device_type(self) -> int:
        """Return DLPack's number for the type."""
        return read_device(self)[0]

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"anyffi.Device({str(self)!r})"

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        return read_device(self) == read_device(other) if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(read_device(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), read_device(self)


_pair_slot: Any = Device.__dict__["_pair"]
_set_pair = _pair_slot.__set__
_get_pair = _pair_slot.__get__


def read_device(x: Device) -> tuple[int, int]:
    """Return DLPack's type and index of a device, ignoring overrides of a subclass."""
    try:
        found: tuple[int, int] = _get_pair(x)
    except AttributeError:
        raise ValueError("this Device is empty: __init__ was not called") from None
    return found


def _is_set(x: Device) -> bool:
    try:
        _get_pair(x)
    except AttributeError:
        return False
    return True


#: The range of shared devices: few enough to keep all of them.
_SHARED_TYPES, _SHARED_INDICES = 32, 16
_shared: dict[tuple[int, int], Device] = {}


def share_device(device_type: int, index: int) -> Device:
    """Return the device with DLPack's type and index; usually a shared object."""
    found = _shared.get((device_type, index))
    if found is None:
        found = Device(device_type, index)
        if 0 <= device_type < _SHARED_TYPES and 0 <= index < _SHARED_INDICES:
            return _shared.setdefault((device_type, index), found)
    return found


def device(device_type: str | int, index: int | None = None) -> Device:
    """Return `Device(device_type, index)`, which may be an existing shared object."""
    if type(device_type) is str and (index is None or type(index) is int):
        return _of_text(device_type, index)
    return Device(device_type, index)


@functools.lru_cache(maxsize=256)
def _of_text(text: str, index: int | None) -> Device:
    return share_device(*read_device(Device(text, index)))


@functools.lru_cache(maxsize=256)
def _parse(text: str) -> tuple[int, int | None]:
    """Return the number of the type, and the index or None."""
    # Imported late: it would take a tenth of this package's import time.
    import re

    name, colon, index = text.partition(":")
    numbered = re.fullmatch("type(0|-?[1-9][0-9]{0,9})", name)
    number = int(numbered[1]) if numbered else _TYPES.get(name)
    if number is None:
        raise ValueError(f"device {text!r}: unknown type {name!r} at position 0")
    if colon and not re.fullmatch("0|-?[1-9][0-9]{0,9}", index):
        raise ValueError(f"device {text!r}: expected an index at position {len(name) + 1}")
    return number, int(index) if colon else None
