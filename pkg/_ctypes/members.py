"""Arguments that are members of C++ enumerations: ints marked with the enumeration."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.conversions import enumeration_codes
from .._typing import Any
from .abi import VALUE, VALUE_SIZE

__all__ = ["name_enumeration"]

_INT = code.INT
_value = VALUE.pack
_value_of = VALUE.unpack


def name_enumeration(x: Any, packed: bytes) -> bytes:
    """Return a packed argument; an int that is a member of an enumeration is marked with it."""
    type_code = enumeration_codes.get(id(type(x)))
    if type_code is not None and len(packed) == VALUE_SIZE:
        found, _, number = _value_of(packed)
        if found == _INT:
            return _value(_INT, type_code, number)
    return packed
