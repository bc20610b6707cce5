"""Converts results and callback arguments that are copies to Python's own containers and NumPy arrays."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, library, platform, translates_errors
from .owned import release
from .pack import object_value
from .plain import MAKERS, Makers, convert_object, read_parts
from .scalars import new_object
from .stepping import is_stepping
from .structs import Header
from .unpack import unpack
from .wrapper import refer

__all__ = ["set_makers", "take_native", "unpack_native", "unpack_transferred"]

_NATIVE, _DEEP = 4, 8  # ANYFFI_NATIVE, ANYFFI_DEEP
_value_of = VALUE.unpack
_make_plain = platform.reader(library.wrapper_make_plain)
_UNREAD = platform.UNREAD
_ALL, _TRANSFERRED = 0, 1  # AnyffiPlainMode
_INT = code.INT
_CONTAINERS = (code.LIST, code.ARRAY, code.DICT, code.MAP, code.SET, code.FROZEN_SET)
_makers: Makers = MAKERS


def set_makers(makers: Makers) -> None:
    """Create containers with other functions; see hooks.py."""
    global _makers
    _makers = makers


def unpack_transferred(value: tuple[int, int, int]) -> Any:
    """Unpack a result or an argument of a callback, which the caller keeps alive."""
    return unpack_native(value) if value[0] > 0 and value[1] else unpack(value)


@translates_errors
def take_native(value: tuple[int, int, int], owner: Any) -> Any:
    """Unpack an owned result that may be a copy, read before, and release it."""
    try:
        return unpack_native(value)
    finally:
        release(owner)


def unpack_native(value: tuple[int, int, int]) -> Any:
    """Unpack the value of an object that may be a copy."""
    _, flags, address = value
    if not flags & _NATIVE:
        return unpack(value)
    header = Header.from_address(address)
    type_code = header.type_code
    if type_code in _CONTAINERS and _makers is MAKERS and not is_stepping():
        made = _make_plain(refer(address), type_code, _ALL if flags & _DEEP else _TRANSFERRED)
        if made is not _UNREAD:
            return made
    if flags & _DEEP:
        return convert_object(address, _makers)
    if type_code not in _CONTAINERS:
        return unpack(value)
    if header.strong_count != 1 or header.weak_count != 1 or header.wrapper:
        # Other references exist, through which the container could change during the conversion.
        copy = new_object(library.container_copy, object_value(address), type_code)
        try:
            return _convert(type_code, _value_of(copy)[2])
        finally:
            release(copy)
    return _convert(type_code, address)


def _convert(type_code: int, address: int) -> Any:
    """Convert a container that cannot change meanwhile."""
    parts, cells, hashes = read_parts(type_code, address)
    pairs: Any = {} if hashes and _makers is MAKERS else None
    for cell in cells:
        element_code, flags, payload = cell
        if element_code == _INT:
            parts.append(payload)
        elif element_code > 0 and flags:
            parts.append(unpack_native(cell))
        else:
            parts.append(unpack(cell))
        if pairs is not None and len(parts) == 2:
            # Each key is hashed before the next one is converted, since both may run users' code.
            pairs[parts[0]] = parts[1]
            parts.clear()
    return _makers[type_code](parts if pairs is None else pairs)
