"""Helpers that the wrappers of all containers share.

Other threads may run between any two lines of these modules. So each read is one call of the runtime, whose
result is owned.
"""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._typing import Any, Callable
from .abi import library
from .structs import Header
from .wrapper import unwrap

__all__ = ["set_unwrapper", "unwrap_as"]

_unwrap: Callable[[Any], int] = unwrap


def set_unwrapper(unwrap: Callable[[Any], int]) -> None:
    """Find the object of a wrapper by another function; see hooks.py."""
    global _unwrap
    _unwrap = unwrap


def unwrap_as(wrapper: Any, type_code: int) -> int:
    """Return the address of a wrapper's object, borrowed; TypeError unless it is of a type."""
    address = _unwrap(wrapper)
    found = Header.from_address(address).type_code
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found != type_code and not library.type_is_a(found, type_code):
        raise rules.wrong_object(wrapper)
    return address
