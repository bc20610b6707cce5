"""Packs scalars: exact builtins without parts. Runs no users' code."""

from __future__ import annotations

import functools
import struct
import sys
from ctypes import ArgumentError

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error
from .owned import OwnedValue
from .unpack import raise_taken

__all__ = [
    "INLINE_BYTES",
    "MAX_BORROWED",
    "NONE",
    "RECIPE",
    "Packed",
    "Writer",
    "borrow_bytes",
    "borrow_str",
    "new_object",
    "pack_scalar",
    "scalar_borrowers",
    "scalar_packers",
]

#: A packed value: exact bytes, or an OwnedValue if there is something to release.
Packed = Any
#: Packs a value for a call, given the list of objects that must outlive it; None for values that it does not
#: handle.
Writer = Callable[[Any, list[Any]], Packed]

#: The flag of a value that is a step of a recipe.
RECIPE = 2  # ANYFFI_RECIPE

MAX_BORROWED = (1 << 30) - 1
INLINE_BYTES = 11  # ANYFFI_INLINE_BYTES
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_value = VALUE.pack
_float_value = struct.Struct("=iId").pack
_inline_value = struct.Struct("=i11sB").pack

NONE = bytes(VALUE_SIZE)
_INT, _FLOAT, _STR, _BYTES = code.INT, code.FLOAT, code.STR, code.BYTES
_STR_VIEW, _BYTES_VIEW = code.STR_VIEW, code.BYTES_VIEW
_TRUE, _FALSE = _value(code.BOOL, 0, 1), _value(code.BOOL, 0, 0)
_ELLIPSIS = _value(code.ELLIPSIS, 0, 0)

_LITTLE = "le" if sys.byteorder == "little" else "be"
_ENCODINGS = ("ascii", "latin-1", f"utf-16-{_LITTLE}", f"utf-32-{_LITTLE}")
#: Text ends in a zero code point; bytes already end in a zero byte.
_ENDS = (b"", b"", b"\0", b"\0\0\0")
_address_of_bytes, _address_of_ascii, _view_text = (
    platform.lend_bytes,
    platform.lend_ascii,
    platform.lend_text,
)
#: Offsets of the content in ASCII text and in bytes; 0 if the content has no address.
_ASCII, _BYTES_AT = platform.ascii_offset, platform.bytes_offset


def _encode(x: str) -> tuple[bytes, int]:
    """Return the code points with the narrowest width, and the AnyffiTextEncoding."""
    if x.isascii():
        return x.encode(), 0
    highest = max(x)
    encoding = 1 if highest < "\u0100" else 2 if highest < "\U00010000" else 3
    return x.encode(_ENCODINGS[encoding], "surrogatepass" if encoding > 1 else "strict"), encoding


@functools.lru_cache(maxsize=1024)
def _pack_wide(x: str) -> bytes | None:
    """Return short text other than ASCII as an inline value; None if it does not fit."""
    data, encoding = _encode(x)
    spare = INLINE_BYTES - len(x)
    return _inline_value(_STR, data, encoding << 4 | spare) if len(data) <= INLINE_BYTES else None


def new_object(create: Callable[..., int], *args: Any) -> Packed:
    """Call a function of the C ABI that creates an object."""
    made = OwnedValue(VALUE_SIZE)
    try:
        status = create(*args, made)
    except ArgumentError as error:
        translated = translate_error(error)
    else:
        if status != 0:
            raise_taken()
        return made
    # Outside the handler, so that the ArgumentError does not become the context.
    try:
        raise translated
    finally:
        del translated


# ---- owned ----------------------------------------------------------------------------------------


def _pack_int(x: int) -> bytes | None:
    return _value(_INT, 0, x) if _INT64_MIN <= x <= _INT64_MAX else None


def _own_str(x: str) -> Packed:
    if len(x) <= INLINE_BYTES:
        packed = _inline_value(_STR, x.encode(), INLINE_BYTES - len(x)) if x.isascii() else _pack_wide(x)
        if packed is not None:
            return packed
    elif not x.isascii():
        found = _view_text(x)
        if found is not None:
            return new_object(library.str_create, found[1], len(x), found[0])
    data, encoding = _encode(x)
    return new_object(library.str_create, data, len(x), encoding)


def _own_bytes(x: bytes) -> Packed:
    if len(x) <= INLINE_BYTES:
        return _inline_value(_BYTES, x, INLINE_BYTES - len(x))
    return new_object(library.bytes_create, x, len(x))


#: Functions that pack a scalar as an owned value, or return None for an int that needs a BigInt. By the id of
#: the class, since hashing or comparing a class may run code of its metaclass.
scalar_packers: dict[int, Callable[[Any], Packed]] = {
    id(int): _pack_int,
    id(float): functools.partial(_float_value, code.FLOAT, 0),
    id(type(None)): lambda x: NONE,
    id(bool): lambda x: _TRUE if x else _FALSE,
    id(str): _own_str,
    id(bytes): _own_bytes,
    id(type(...)): lambda x: _ELLIPSIS,
}


def pack_scalar(x: Any) -> Packed:
    """Pack a scalar as an owned value; return None for other values."""
    packer = scalar_packers.get(id(type(x)))
    return None if packer is None else packer(x)


# ---- borrowed -------------------------------------------------------------------------------------


def borrow_str(x: str, keep: list[Any]) -> Packed:
    """Pack text that the caller keeps alive; `keep` holds whatever else must outlive the value."""
    size = len(x)
    if x.isascii():
        if size <= INLINE_BYTES:
            return _inline_value(_STR, x.encode(), INLINE_BYTES - size)
        if size <= MAX_BORROWED:
            return _value(_STR_VIEW, size << 2, id(x) + _ASCII if _ASCII else _address_of_ascii(x, keep))
    elif size <= INLINE_BYTES and (packed := _pack_wide(x)) is not None:
        return packed
    elif size <= MAX_BORROWED:
        found = _view_text(x)
        if found is not None:
            return _value(_STR_VIEW, size << 2 | found[0], found[1])
    data, encoding = _encode(x)
    if size > MAX_BORROWED:
        keep.append(new_object(library.str_create, data, size, encoding))
        return keep[-1]
    data += _ENDS[encoding]
    keep.append(data)
    return _value(_STR_VIEW, size << 2 | encoding, _address_of_bytes(data, keep))


def borrow_bytes(x: bytes, keep: list[Any]) -> Packed:
    """Pack bytes as `borrow_str` packs text."""
    size = len(x)
    if size <= INLINE_BYTES:
        return _inline_value(_BYTES, x, INLINE_BYTES - size)
    if size <= MAX_BORROWED:
        return _value(_BYTES_VIEW, size << 2, id(x) + _BYTES_AT if _BYTES_AT else _address_of_bytes(x, keep))
    keep.append(new_object(library.bytes_create, x, size))
    return keep[-1]


#: Functions that pack borrowed scalars, by the id of the class.
scalar_borrowers: dict[int, Writer] = {
    id(str): borrow_str,
    id(bytes): borrow_bytes,
    id(float): lambda x, keep: _float_value(_FLOAT, 0, x),
    id(bool): lambda x, keep: _TRUE if x else _FALSE,
    id(type(None)): lambda x, keep: NONE,
    id(type(...)): lambda x, keep: _ELLIPSIS,
}
