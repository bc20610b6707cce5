"""Values without a class in the standard library: `dtype`, `Device`, and two that never leave the package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

__all__ = ["MISSING", "Device", "Elements", "dtype"]


class _Missing:
    """The only instance stands for an argument that a keyword call left out."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Elements:
    """What a set of the runtime is to hold, in this order; Python's own sets keep none."""

    __slots__ = ("distinct", "frozen")

    def __init__(self, distinct: Iterable[Any], frozen: bool) -> None:
        self.distinct = distinct
        self.frozen = frozen


_INT, _UINT, _FLOAT, _HANDLE, _BFLOAT, _COMPLEX, _BOOL = range(7)
_NAMES = {
    _INT: "int",
    _UINT: "uint",
    _FLOAT: "float",
    _HANDLE: "handle",
    _BFLOAT: "bfloat",
    _COMPLEX: "complex",
    _BOOL: "bool",
}
_CODES = {name: number for number, name in _NAMES.items()}
_SPELLING = re.compile(r"(bool|int|uint|float|handle|bfloat|complex)(\d*)(?:x(\d+))?", re.ASCII)


class _DataType(NamedTuple):
    code: int
    bits: int
    lanes: int


class dtype(_DataType):
    """The type of a tensor's elements, as DLPack has it.

    Parameters
    ----------
    spelling : str or (int, int, int)
        A name such as ``"float32"`` or ``"float32x4"``, or DLPack's code, bits and lanes.

    Examples
    --------
    >>> dtype("float32")
    anyffi.dtype('float32')
    >>> dtype("float32").bits
    32
    """

    __slots__ = ()
    __module__ = "anyffi"

    def __new__(cls, spelling: str | tuple[int, int, int] | dtype) -> Self:
        return super().__new__(cls, *(_parse(spelling) if isinstance(spelling, str) else spelling))

    @property
    def itemsize(self) -> int:
        """Bytes of one element, all lanes together."""
        return (self.bits * self.lanes + 7) // 8

    def __str__(self) -> str:
        name = _NAMES.get(self.code, f"code{self.code}_")
        bits = "" if (self.code, self.bits) == (_BOOL, 8) else str(self.bits)
        return name + bits + (f"x{self.lanes}" if self.lanes != 1 else "")

    def __repr__(self) -> str:
        return f"anyffi.dtype({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, dtype) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


def _parse(spelling: str) -> tuple[int, int, int]:
    match = _SPELLING.fullmatch(spelling)
    if match is None:
        raise ValueError(f"no such dtype: {spelling!r}")
    name, bits, lanes = match.groups()
    if not bits and name != "bool":
        raise ValueError(f"dtype without a number of bits: {spelling!r}")
    parsed = _CODES[name], int(bits or 8), int(lanes or 1)
    if not (0 < parsed[1] < 256 and 0 < parsed[2] < 65536):
        raise ValueError(f"dtype out of range: {spelling!r}")
    return parsed


_DEVICE_TYPES = {
    "cpu": 1,
    "cuda": 2,
    "cuda_host": 3,
    "opencl": 4,
    "vulkan": 7,
    "metal": 8,
    "vpi": 9,
    "rocm": 10,
    "rocm_host": 11,
    "ext_dev": 12,
    "cuda_managed": 13,
    "oneapi": 14,
    "webgpu": 15,
    "hexagon": 16,
    "maia": 17,
    "trn": 18,
}
_DEVICE_NAMES = {number: name for name, number in _DEVICE_TYPES.items()}


class Device(NamedTuple):
    """Where a tensor lies: DLPack's device type (1 is the CPU) and the index among devices of that type."""

    dlpack_device_type: int
    device_index: int = 0

    @property
    def type(self) -> str:
        """The name of the device type, such as ``"cpu"``."""
        return _DEVICE_NAMES.get(self.dlpack_device_type, f"type{self.dlpack_device_type}")

    def __str__(self) -> str:
        return f"{self.type}:{self.device_index}"

    def __repr__(self) -> str:
        return f"anyffi.Device({self.dlpack_device_type}, {self.device_index})"


Device.__module__ = "anyffi"
