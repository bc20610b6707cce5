"""The wrapper of tensors."""

from __future__ import annotations

import functools
import math
import struct
from ctypes import Structure, c_char, c_int32, c_int64, c_uint64, string_at

from .._builtins import *  # noqa: F403
from .._rules.arrays import count_bytes
from .._rules.codes import code
from .._rules.containers import checks_self, wrong_self
from .._rules.device import Device, share_device
from .._rules.dtype import dtype, share_dtype
from .._rules.export import export_tensor
from .._rules.internal import MISSING
from .._typing import TYPE_CHECKING, Any, Callable, TypeVar
from .abi import library, platform, translates_errors
from .containers import unwrap_as
from .structs import Tensor, TensorData
from .wrapper import ObjectCore, unwrap

__all__ = ["TensorCore"]

_SHOWN = "anyffi.Tensor"
_TENSOR, _DATA = code.TENSOR, Tensor.tensor.offset

_Result = TypeVar("_Result")


class _Flat(Structure):
    """An AnyffiTensor without nested structs, whose fields are read in half the time."""

    _fields_ = (
        ("type_code", c_int32),
        ("header", c_char * (_DATA - 4)),
        *TensorData._fields_,
        ("flags", c_uint64),
    )


assert _Flat.flags.offset == Tensor.flags.offset
_flat_at = _Flat.from_address


def _read(tensor: Any) -> Any:
    found = _flat_at(unwrap(tensor))
    if found.type_code != _TENSOR:
        unwrap_as(tensor, _TENSOR)  # raises the error
    return found


@functools.lru_cache(maxsize=64)
def _ints(count: int) -> Callable[[bytes], tuple[int, ...]]:
    return struct.Struct(f"={count}q").unpack


def _axes(address: int, ndim: int) -> tuple[int, ...]:
    return _ints(ndim)(string_at(address, 8 * ndim)) if ndim else ()


def _reader(method: Callable[[Any], _Result]) -> Callable[[Any], _Result]:
    """Make a method reject a wrong `self` as methods of a compiled class do."""

    @translates_errors
    def read(self: Any = MISSING, /) -> _Result:
        if not issubclass(type(self), TensorCore):
            raise wrong_self(method.__name__, _SHOWN, self)
        return method(self)

    return read


if TYPE_CHECKING:
    _Exporting = ObjectCore
else:
    _Exporting = platform.exporting(_SHOWN, ObjectCore, library.wrapper_get_buffer)


@checks_self(_SHOWN, slots=True)
class TensorCore(_Exporting):
    """The wrapper of a Tensor."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        found = _read(self)
        if not found.ndim:
            raise TypeError("len() of unsized object")
        return c_int64.from_address(found.shape).value

    @_reader
    def _anyffi_shape(self) -> tuple[int, ...]:
        found = _read(self)
        return _axes(found.shape, found.ndim)

    @_reader
    def _anyffi_strides(self) -> tuple[int, ...]:
        found = _read(self)
        return _axes(found.strides, found.ndim)

    @_reader
    def _anyffi_ndim(self) -> int:
        ndim: int = _read(self).ndim
        return ndim

    @_reader
    def _anyffi_numel(self) -> int:
        found = _read(self)
        return math.prod(_axes(found.shape, found.ndim))

    @_reader
    def _anyffi_nbytes(self: Any) -> int:
        found = _read(self)
        return count_bytes(math.prod(_axes(found.shape, found.ndim)), found.bits * found.lanes, found.flags)

    @_reader
    def _anyffi_extent(self: Any) -> int:
        size: int = self._anyffi_count_extent()
        return size

    @_reader
    def _anyffi_dtype(self) -> dtype:
        found = _read(self)
        return share_dtype(found.code, found.bits, found.lanes)

    @_reader
    def _anyffi_device(self) -> Device:
        found = _read(self)
        return share_device(found.device_type, found.device_index)

    @_reader
    def _anyffi_data_ptr(self) -> int:
        found = _read(self)
        address: int = (found.data or 0) + found.byte_offset
        return address % 2**64

    @_reader
    def _anyffi_flags(self) -> int:
        flags: int = _read(self).flags
        return flags

    @_reader
    def _anyffi_is_contiguous(self) -> bool:
        return bool(library.tensor_is_contiguous(unwrap_as(self, _TENSOR) + _DATA))


# Set afterwards: it checks `self` itself, and is not a slot.
TensorCore.__dlpack__ = export_tensor  # type: ignore[attr-defined]
