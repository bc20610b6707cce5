"""The wrapper of tensors."""

from __future__ import annotations

import functools
import math
import struct
from ctypes import string_at

from .._rules.codes import code
from .._rules.containers import checks_self, wrong_self
from .._rules.device import Device, share_device
from .._rules.dtype import dtype, share_dtype
from .._rules.export import export_tensor
from .._typing import TYPE_CHECKING, Any, Callable, TypeVar
from .abi import Tensor, TensorData, library, platform, translates_errors
from .containers import unwrap_as
from .wrapper import ObjectCore

__all__ = ["TensorCore"]

_SHOWN = "anyffi.Tensor"
#: An AnyffiTensorData and the flags after it: data, device, ndim, dtype, shape, strides, byte offset, flags.
_layout = struct.Struct("=QiiiBBHQQQQ")
_DATA, _SIZE = Tensor.tensor.offset, _layout.size
assert Tensor.flags.offset == Tensor.tensor.offset + TensorData.byte_offset.offset + 8
_unpack = _layout.unpack

_Result = TypeVar("_Result")


def _read(tensor: Any) -> tuple[int, ...]:
    return _unpack(string_at(unwrap_as(tensor, code.TENSOR) + _DATA, _SIZE))


@functools.lru_cache(maxsize=64)
def _ints(count: int) -> Callable[[bytes], tuple[int, ...]]:
    return struct.Struct(f"={count}q").unpack


def _axes(address: int, ndim: int) -> tuple[int, ...]:
    return _ints(ndim)(string_at(address, 8 * ndim)) if ndim else ()


def _reader(method: Callable[[Any], _Result]) -> Callable[[Any], _Result]:
    """Make a method refuse another `self` as those of a compiled class do."""

    @translates_errors
    def read(self: Any, /) -> _Result:
        if not issubclass(type(self), TensorCore):
            raise wrong_self(method.__name__, _SHOWN, self)
        return method(self)

    return read


if TYPE_CHECKING:
    _Exporting = ObjectCore
else:
    _Exporting = platform.exporting(ObjectCore, library.wrapper_get_buffer)


@checks_self(_SHOWN, slots=True)
class TensorCore(_Exporting):
    """The wrapper of a Tensor."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        found = _read(self)
        if not found[3]:
            raise TypeError("len() of unsized object")
        return _axes(found[7], found[3])[0]

    @_reader
    def _shape(self) -> tuple[int, ...]:
        found = _read(self)
        return _axes(found[7], found[3])

    @_reader
    def _strides(self) -> tuple[int, ...]:
        found = _read(self)
        return _axes(found[8], found[3])

    @_reader
    def _ndim(self) -> int:
        return _read(self)[3]

    @_reader
    def _numel(self) -> int:
        found = _read(self)
        return math.prod(_axes(found[7], found[3]))

    @_reader
    def _dtype(self) -> dtype:
        return share_dtype(*_read(self)[4:7])

    @_reader
    def _device(self) -> Device:
        return share_device(*_read(self)[1:3])

    @_reader
    def _data_ptr(self) -> int:
        found = _read(self)
        return (found[0] + found[9]) % 2**64

    @_reader
    def _flags(self) -> int:
        return _read(self)[10]

    @_reader
    def _is_contiguous(self) -> bool:
        return bool(library.tensor_is_contiguous(unwrap_as(self, code.TENSOR) + _DATA))


# Afterwards: it checks `self` itself, and is no slot.
TensorCore.__dlpack__ = export_tensor  # type: ignore[attr-defined]
