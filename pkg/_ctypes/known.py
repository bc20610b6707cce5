"""Packs the arguments of container methods as recipes, if that runs no users' code."""

from __future__ import annotations

import operator
import sys

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE
from .pack import argument_writers, find_argument_writer
from .recipe import write_plain
from .scalars import RECIPE, scalar_borrowers
from .writers import is_static

__all__ = ["as_number", "pack_compared", "pack_known"]

_value = VALUE.pack
_INT, _INT64_MIN, _INT64_MAX = code.INT, -(2**63), 2**63 - 1


def pack_known(x: Any, keep: list[Any]) -> bytes | None:
    """Pack any value as a recipe; None if that is not possible."""
    cls = type(x)
    if cls is int and _INT64_MIN <= x <= _INT64_MAX:
        return _value(_INT, 0, x)
    write = argument_writers.get(id(cls))
    if write is None:
        write = find_argument_writer(cls)
    packed = None if write is None else write(x, keep)
    return packed if type(packed) is bytes else None


def pack_compared(x: Any, keep: list[Any]) -> bytes | None:
    """Pack a value that is compared without users' code; None for others."""
    x = as_number(x)
    cls = type(x)
    if cls is int:
        return _value(_INT, 0, x) if _INT64_MIN <= x <= _INT64_MAX else None
    if cls is tuple or cls is list:
        x = tuple(x)
        written = write_plain(x, keep)
        step = _value(code.ARRAY if cls is tuple else code.LIST, RECIPE, len(x))
        return None if written is None else written + step
    pack = scalar_borrowers.get(id(cls))
    packed = None if pack is None else pack(x, keep)
    return packed if type(packed) is bytes else None


#: Whether a class is one of NumPy's integers, by the id of the class, which is never destroyed.
_integers: dict[int, bool] = {id(cls): False for cls in (int, str, float, bool, tuple, list, slice)}
_EXACT_AS_FLOAT = 2**53


def as_number(x: Any) -> Any:
    """Return the int that equals a NumPy integer; other values unchanged."""
    cls = type(x)
    is_integer = _integers.get(id(cls))
    if is_integer is None:
        np: Any = sys.modules.get("numpy")
        if not is_static(cls) or not hasattr(np, "integer"):
            return x
        is_integer = issubclass(cls, np.integer) and not issubclass(cls, np.timedelta64)
        _integers[id(cls)] = is_integer
    if not is_integer:
        return x
    number = operator.index(x)
    # NumPy compares larger ones with floats as floats.
    return number if -_EXACT_AS_FLOAT <= number <= _EXACT_AS_FLOAT else x
