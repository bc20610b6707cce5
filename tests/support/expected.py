"""Expected outcomes, computed from Python values only: what the callee sees, and whether two results are the same."""

from __future__ import annotations

import ctypes
import struct
import types
from typing import Any

import numpy as np
from anyffi import Device, dtype

INLINE_BYTES = 11


# ---- what the callee sees -----------------------------------------------------------------------


def _storage(size: int, top: bool) -> str:
    return "inline" if size <= INLINE_BYTES else "borrowed" if top else "heap"


def describe_str(x: str, top: bool) -> str:
    points = [ord(c) for c in str.__iter__(x)]
    widest = max(points, default=0)
    kind, width = (
        ("ascii", 1) if widest < 0x80
        else ("latin1", 1) if widest < 0x100
        else ("ucs2", 2) if widest < 0x10000
        else ("ucs4", 4)
    )  # fmt: skip
    # A subclass is copied into a new string.
    storage = _storage(len(points) * width, top and type(x) is str)
    return f"Str({storage}, {kind}, {len(points)}, [{' '.join(f'{p:x}' for p in points)}])"


def describe_bytes(x: Any, top: bool) -> str:
    data = bytes(x)
    # Only exact bytes cannot change while borrowed.
    storage = _storage(len(data), top and type(x) is bytes)
    return f"Bytes({storage}, {len(data)}, [{data.hex(' ')}])"


def describe_int(x: int) -> str:
    if -(2**63) <= x < 2**63:
        return f"Int({x})"
    # Python limits the number of digits in decimal text.
    return f"BigInt({x:#x})" if abs(x) >= 10**4300 else f"BigInt({x})"


def describe_float(x: float, top: bool = True) -> str:
    return f"Float({struct.pack('>d', x).hex()})"


def describe_complex(x: complex) -> str:
    return f"Complex({struct.pack('>d', x.real).hex()}, {struct.pack('>d', x.imag).hex()})"


def describe_array(x: Any) -> str:
    x = np.asarray(x)
    code, bits = DLPACK[x.dtype.name]
    # Strides of axes with fewer than two elements have no meaning; NumPy still reports multiples of the item
    # size.
    strides = [stride // x.itemsize for stride in x.strides]
    access = "writable" if x.flags.writeable else "read-only"
    return f"Tensor(Device(1, 0), DataType({code}, {bits}, 1), shape {list(x.shape)}, strides {strides}, {access})"


#: DLPack's type code and bits, by NumPy's dtype name.
DLPACK = {
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "complex64": (5, 64),
    "complex128": (5, 128),
    "bool": (6, 8),
}


# ---- what comes back ----------------------------------------------------------------------------


def same(got: Any, expected: Any) -> bool:
    """Compare deeply with exact types, floats by their bits, opaque objects by identity.

    A tensor is the same as the array whose memory it shares.
    """
    cls = type(expected)
    if issubclass(cls, np.ndarray):
        return type(got).__qualname__ == "Tensor" and _memory(np.asarray(got)) == _memory(
            np.asarray(expected)
        )
    if type(got) is not cls:
        return False
    if cls is float:
        return struct.pack("d", got) == struct.pack("d", expected)
    if cls is complex:
        return same((got.real, got.imag), (expected.real, expected.imag))
    if cls in (tuple, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if cls in (set, frozenset):
        found = {item: item for item in expected}
        return len(got) == len(expected) and all(item in found and same(item, found[item]) for item in got)
    if cls in (dict, types.MappingProxyType):
        return same(tuple(got.items()), tuple(expected.items()))
    if cls is slice:
        return same((got.start, got.stop, got.step), (expected.start, expected.stop, expected.step))
    if cls is ctypes.c_void_p:
        return bool(got.value == expected.value)
    if cls in (int, bool, str, bytes, type(None), Device, dtype):
        return bool(got == expected)
    return got is expected


def _memory(x: Any) -> Any:
    return x.dtype, x.shape, x.strides, x.__array_interface__["data"]


def normal(x: Any, ffi: Any) -> Any:
    """Convert a result to a form that is equal if the results of the two backends are equal."""
    cls = type(x)
    if issubclass(cls, ffi.Tensor):
        return cls.__qualname__, _memory(np.asarray(x))
    if issubclass(cls, ffi.Object):
        content = ffi.to_python(x)
        return cls.__qualname__, None if content is x else normal(content, ffi)
    if cls is float:
        return "float", struct.pack("d", x)
    if cls is complex:
        return "complex", normal(x.real, ffi), normal(x.imag, ffi)
    if cls in (tuple, list, set, frozenset):
        return cls.__qualname__, [normal(item, ffi) for item in x]
    if cls in (dict, types.MappingProxyType):
        return cls.__qualname__, [(normal(k, ffi), normal(v, ffi)) for k, v in x.items()]
    if cls is slice:
        return "slice", [normal(part, ffi) for part in (x.start, x.stop, x.step)]
    if cls is ctypes.c_void_p:
        return "c_void_p", x.value
    if cls in (int, bool, str, bytes, type(None), Device, dtype):
        return cls.__qualname__, x
    return cls.__qualname__, id(x)
