"""Helpers shared by the wrappers of all containers.

Other threads may run between any two lines of these modules. So each read is a single call of the runtime,
whose result is owned.
"""

from __future__ import annotations

from array import array

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import library, platform
from .structs import Header
from .wrapper import unwrap

__all__ = ["read_numbers", "set_unwrapper", "unwrap_as"]

_unwrap: Callable[[Any], int] = unwrap
# Without declared parameters, because converting arguments for them needs memory.
_is_a = platform.plain(library.type_is_a)


def set_unwrapper(unwrap: Callable[[Any], int]) -> None:
    """Find the object of a wrapper with another function; see hooks.py."""
    global _unwrap
    _unwrap = unwrap


def unwrap_as(wrapper: Any, type_code: int) -> int:
    """Return the borrowed address of a wrapper's object; raise TypeError if it has another type."""
    address = _unwrap(wrapper)
    found = Header.from_address(address).type_code
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found != type_code and not _is_a(found, type_code):
        raise rules.wrong_object(wrapper)
    return address


#: The `array` type code for the payloads of numbers of one kind, by type mask.
_READERS = {1 << -code.INT: "q", 1 << -code.FLOAT: "d"}


def read_numbers(cells: bytes, type_mask: int) -> list[Any] | None:
    """Return numbers of one kind, ten times as fast as one by one; None for cells with other values."""
    reader = _READERS.get(type_mask)
    return None if reader is None else array(reader, cells)[1::2].tolist()
