"""NumPy's own arrays as recipes, on CPython.

This says the same as `_rules.arrays.lower_array`, which is asked for the first array of each dtype, shape and
strides; for the next ones what it said is looked up. That takes a fifth of the time.
"""

from __future__ import annotations

import struct
import sys
from ctypes import c_void_p

from .._rules.arrays import PADDED, READ_ONLY
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, platform
from .recipe import RECIPE

__all__ = ["learn", "write_ndarray"]

_CPU = 1  # kDLCPU of DLPack
#: Where an array keeps the address of its first element, in all versions of NumPy since 1.7. PyPy knows no
#: such place, and nothing is learnt there.
_DATA = getattr(object, "__basicsize__", 0)
#: NPY_ARRAY_WRITEABLE, and NPY_ARRAY_WARN_ON_WRITE, with which NumPy shows an array as read-only.
_WRITABLE, _ACCESS = 0x400, 0x80000400
#: AnyffiTensorRecipe: address, all the rest of the AnyffiTensorData, flags, handle, what counts it.
_recipe = struct.Struct("=Q40sQQQ").pack
_layout = struct.Struct("=iiiBBHQQQ").pack
_value = VALUE.pack

#: By dtype, shape and strides: the part of a recipe that they say, flags, and what the part points to.
_plans: dict[Any, tuple[bytes, int, bytes]] = {}
_MOST_PLANS = 1000


def write_ndarray(x: Any, keep: list[Any]) -> bytes | None:
    """The recipe of an array; None if its like was not learnt."""
    plan = _plans.get((x.dtype, x.shape, x.strides))
    if plan is None:
        return None
    layout, flags, _ = plan
    if x.flags.num & _ACCESS != _WRITABLE:
        flags |= READ_ONLY
    address = c_void_p.from_address(id(x) + _DATA).value or 0
    recipe = _recipe(address, layout, flags, id(x), platform.retain)
    # The plan too: another array of this call may have all plans cleared, or this one learnt anew.
    keep.append((recipe, plan))
    return _value(code.TENSOR, RECIPE, platform.lend_bytes(recipe, keep))


def learn(x: Any, address: int, dtype: tuple[int, int, int], ndim: int, extents: bytes, flags: int) -> bool:
    """Keeps what the rules say of an object's memory; True if it is an array of exactly NumPy's class."""
    if not platform.retain or type(x) is not getattr(sys.modules.get("numpy"), "ndarray", None):
        return False
    if c_void_p.from_address(id(x) + _DATA).value != (address or None):
        return False
    if (x.flags.num & _ACCESS != _WRITABLE) != bool(flags & READ_ONLY):
        return False
    if len(_plans) >= _MOST_PLANS:
        _plans.clear()
    shape = platform.lend_bytes(extents, [])
    layout = _layout(_CPU, 0, ndim, *dtype, shape, shape + len(extents) // 2, 0)
    _plans[x.dtype, x.shape, x.strides] = layout, flags & PADDED, extents
    return True
