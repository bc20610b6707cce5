"""Recipes of NumPy's arrays, on CPython.

`_rules.arrays.lower_array` converts the first array with a dtype, shape and strides. Its result is cached for
later ones, which then take a fifth of the time.
"""

from __future__ import annotations

import struct
import sys
from ctypes import c_void_p

from .._builtins import *  # noqa: F403
from .._rules.arrays import PADDED, READ_ONLY
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, platform
from .scalars import RECIPE

__all__ = ["cache_layout", "describe_ndarray", "write_array", "write_ndarray"]

_CPU = 1  # kDLCPU of DLPack
#: The offset of `PyArrayObject.data`. PyPy has no such struct, and caches nothing.
_DATA = platform.ndarray_data
#: NPY_ARRAY_WRITEABLE, and NPY_ARRAY_WARN_ON_WRITE, with which NumPy shows an array as read-only.
_WRITABLE, _ACCESS = 0x400, 0x80000400
#: AnyffiTensorRecipe: address, the rest of the AnyffiTensorData, flags, handle, function that retains it.
_recipe = struct.Struct("=Q40sQQQ").pack
_data = struct.Struct("=Q40s").pack
_layout = struct.Struct("=iiiBBHQQQ").pack
_value = VALUE.pack

#: By dtype, shape and strides: the part of a recipe that depends on them, flags, and the memory to which the
#: part points.
_layouts: dict[Any, tuple[bytes, int, bytes]] = {}
_MAX_LAYOUTS = 1000


def write_ndarray(x: Any, keep: list[Any]) -> bytes | None:
    """Return the recipe of an exact `numpy.ndarray`; None if its layout is not cached."""
    cached = _layouts.get((x.dtype, x.shape, x.strides))
    if cached is None:
        return None
    layout, flags, _ = cached
    return _write(x, layout, flags, x.flags.num, keep, cached)


def write_array(x: Any, keep: list[Any]) -> bytes | None:
    """Return the same for an array of a subclass, whose attributes may be overridden."""
    if not _readers:
        return None
    dtype, shape, strides, access = _readers
    cached = _layouts.get((dtype(x), shape(x), strides(x)))
    return None if cached is None else _write(x, *cached[:2], access(x).num, keep, cached)


def _write(x: Any, layout: bytes, flags: int, access: int, keep: list[Any], cached: Any) -> bytes:
    if access & _ACCESS != _WRITABLE:
        flags |= READ_ONLY
    address = c_void_p.from_address(id(x) + _DATA).value or 0
    recipe = _recipe(address, layout, flags, id(x), platform.retain)
    # Keeps the layout alive: another array of this call may clear the cache or replace the entry.
    keep.append((recipe, cached))
    return _value(code.TENSOR, RECIPE, platform.lend_bytes(recipe, keep))


#: Functions that read dtype, shape, strides and flags directly from an array, ignoring overrides of a
#: subclass.
_readers: list[Any] = []


def describe_ndarray(x: Any) -> tuple[bytes, int, Any] | None:
    """Return an AnyffiTensorData, flags, and the owner of shape and strides; None if the layout is not
    cached.

    The array may be of a subclass.
    """
    if not _readers:
        return None
    dtype, shape, strides, access = _readers
    cached = _layouts.get((dtype(x), shape(x), strides(x)))
    if cached is None:
        return None
    layout, flags, _ = cached
    if access(x).num & _ACCESS != _WRITABLE:
        flags |= READ_ONLY
    return _data(c_void_p.from_address(id(x) + _DATA).value or 0, layout), flags, cached


def cache_layout(
    x: Any, address: int, dtype: tuple[int, int, int], ndim: int, extents: bytes, flags: int
) -> bool:
    """Cache the layout of an array that the rules described; return whether it is an exact ndarray."""
    ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
    if not platform.retain or ndarray is None or not issubclass(type(x), ndarray):
        return False
    if not _readers:
        _readers[:] = (vars(ndarray)[name].__get__ for name in ("dtype", "shape", "strides", "flags"))
    if c_void_p.from_address(id(x) + _DATA).value != (address or None):
        return False
    key = tuple(read(x) for read in _readers[:3])
    if (_readers[3](x).num & _ACCESS != _WRITABLE) != bool(flags & READ_ONLY):
        return False
    if len(_layouts) >= _MAX_LAYOUTS:
        _layouts.clear()
    shape = platform.lend_bytes(extents, [])
    layout = _layout(_CPU, 0, ndim, *dtype, shape, shape + len(extents) // 2, 0)
    _layouts[key] = layout, flags & PADDED, extents
    return type(x) is ndarray
