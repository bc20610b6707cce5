"""Python values to 16 bytes: exact builtins here, `rules.lower` for the rest.

`pack` serves arguments and borrows what it can; `pack_owned` serves elements and results.
"""

from __future__ import annotations

import struct
import sys
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from functools import partial
from typing import Any, Callable, Optional

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, TensorData, address_of, library, platform
from .cell import Cell, empty
from .unpack import raise_taken
from .wrapper import ObjectCore, unwrap

__all__ = ["NONE", "pack", "pack_owned", "set_callback"]

_MAX_BORROWED = (1 << 30) - 1
_IN_PLACE_BYTES = 11  # ANYFFI_IN_PLACE_BYTES
_CPU = 1  # kDLCPU of DLPack
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_value = VALUE.pack
_value_of = VALUE.unpack
_pointer_value = struct.Struct("=iIQ").pack
_float_value = struct.Struct("=iId").pack
_data_type_value = struct.Struct("=iIBBHi").pack
_device_value = struct.Struct("=iIii").pack
_in_place_value = struct.Struct("=i11sB").pack

NONE = bytes(VALUE_SIZE)
_INT, _STR, _BYTES = code.INT, code.STR, code.BYTES
_STR_VIEW, _BYTES_VIEW = code.STR_VIEW, code.BYTES_VIEW
_TRUE, _FALSE = _value(code.BOOL, 0, 1), _value(code.BOOL, 0, 0)
_ELLIPSIS = _value(code.ELLIPSIS, 0, 0)
_MISSING = _value(code.MISSING, 0, 0)

_LITTLE = "le" if sys.byteorder == "little" else "be"
_ENCODINGS = ("ascii", "latin-1", f"utf-16-{_LITTLE}", f"utf-32-{_LITTLE}")
#: A zero code point stands behind text; bytes bring one zero of their own.
_ENDS = (b"", b"", b"\0", b"\0\0\0")
_lend_bytes, _lend_ascii = platform.lend_bytes, platform.lend_ascii


def _encode(x: str) -> tuple[bytes, int]:
    """The code points at their narrowest width, and AnyffiTextKind."""
    if x.isascii():
        return x.encode(), 0
    highest = max(x)
    kind = 1 if highest < "\u0100" else 2 if highest < "\U00010000" else 3
    return x.encode(_ENCODINGS[kind], "surrogatepass" if kind > 1 else "strict"), kind


#: A value: exact bytes, or a cell where there is something to give back.
Packed = Any

#: The containers of one argument by identity, with what they became; None while they are being packed.
#: Holding them keeps their identities from being used again.
_Memo = dict[int, tuple[Any, Optional[int]]]


def new_object(create: Callable[..., int], *args: Any) -> Packed:
    """Calls a creating function of the C ABI; what it made, in a cell."""
    cell = Cell(VALUE_SIZE)
    if create(*args, cell) != 0:
        raise_taken()
    return cell


def object_value(address: int) -> bytes:
    """An object as a value; the reference is the caller's matter."""
    return _value(c_int32.from_address(address).value, 0, address)


# ---- leaves: what holds no other value; none of this runs Python code ---------------------------


def _pack_int(x: int) -> bytes | None:
    return _value(_INT, 0, x) if _INT64_MIN <= x <= _INT64_MAX else None


def _own_str(x: str) -> Packed:
    data, kind = _encode(x)
    if len(data) <= _IN_PLACE_BYTES:
        return _in_place_value(_STR, data, kind << 4 | (_IN_PLACE_BYTES - len(x)))
    return new_object(library.str_create, data, len(x), kind)


def _own_bytes(x: bytes) -> Packed:
    if len(x) <= _IN_PLACE_BYTES:
        return _in_place_value(_BYTES, x, _IN_PLACE_BYTES - len(x))
    return new_object(library.bytes_create, x, len(x))


#: Packs an exact builtin that holds no others as an owned value; None if it is none after all. By the
#: identity of the class, because a metaclass may do anything when one of its classes is hashed or compared.
_leaves: dict[int, Callable[[Any], Packed]] = {
    id(int): _pack_int,
    id(float): partial(_float_value, code.FLOAT, 0),
    id(type(None)): lambda x: NONE,
    id(bool): lambda x: _TRUE if x else _FALSE,
    id(str): _own_str,
    id(bytes): _own_bytes,
    id(type(...)): lambda x: _ELLIPSIS,
}


def _pack_leaf(x: Any) -> Packed:
    leaf = _leaves.get(id(type(x)))
    return None if leaf is None else leaf(x)


# ---- arguments ------------------------------------------------------------------------------------


def pack(x: Any, keep: list[Any]) -> Packed:
    """Packs an argument. `keep` gets what beside it must outlive the call, cells among it."""
    cls = type(x)
    if cls is str:
        if x.isascii():
            size = len(x)
            if size <= _IN_PLACE_BYTES:
                return _in_place_value(_STR, x.encode(), _IN_PLACE_BYTES - size)
            if size <= _MAX_BORROWED:
                return _value(_STR_VIEW, size << 2, _lend_ascii(x, keep))
        return _borrow_str(x, keep)
    if cls is bytes:
        return _borrow_bytes(x, keep)
    leaf = _leaves.get(id(cls))
    packed = None if leaf is None else leaf(x)
    if packed is not None:
        return packed
    if issubclass(cls, ObjectCore):
        return object_value(unwrap(x))
    packed, made = _pack_nested(x, {}, 1)
    if type(packed) is bytes:
        return packed
    if made:
        keep.append(packed)
        return packed
    # What another backend's wrapper holds, which `x` keeps alive: borrowed like what our own hold.
    borrowed = bytes(packed)
    empty(packed)
    return borrowed


def _borrow_str(x: str, keep: list[Any]) -> Packed:
    data, kind = _encode(x)
    if len(data) <= _IN_PLACE_BYTES:
        return _in_place_value(_STR, data, kind << 4 | (_IN_PLACE_BYTES - len(x)))
    if len(x) > _MAX_BORROWED:
        keep.append(new_object(library.str_create, data, len(x), kind))
        return keep[-1]
    data += _ENDS[kind]
    keep.append(data)
    return _value(_STR_VIEW, len(x) << 2 | kind, _lend_bytes(data, keep))


def _borrow_bytes(x: bytes, keep: list[Any]) -> Packed:
    size = len(x)
    if size <= _IN_PLACE_BYTES:
        return _in_place_value(_BYTES, x, _IN_PLACE_BYTES - size)
    if size <= _MAX_BORROWED:
        return _value(_BYTES_VIEW, size << 2, _lend_bytes(x, keep))
    keep.append(new_object(library.bytes_create, x, size))
    return keep[-1]


# ---- owned values ---------------------------------------------------------------------------------


def pack_owned(x: Any) -> Packed:
    """Packs a value that stands alone; nothing is borrowed."""
    packed = _pack_leaf(x)
    return _pack_nested(x, {}, 1)[0] if packed is None else packed


def _share(address: int) -> Packed:
    return new_object(library.value_own, object_value(address))


def _pack_nested(x: Any, memo: _Memo, depth: int) -> tuple[Packed, bool]:
    """Packs what is no leaf as an owned value; True if it was made here and nobody else can reach it.

    One function for all containers, so that a level of nesting costs one frame: 200 levels fit wherever the
    caller stands.
    """
    if issubclass(type(x), ObjectCore):
        return _share(unwrap(x)), False
    met = memo.get(id(x))
    if met is not None:
        if met[1] is None:
            raise _rules.contains_itself(x)
        return _share(met[1]), False
    type_code, items = _open(x)
    if type_code == code.UNSET:
        packed = _pack_leaf(items)
        if packed is None:
            packed = _pack_nested(items, memo, depth)[0]
        type_code, _, address = _value_of(packed)
        if type_code > 0:
            # Asked once: an object that is met twice is one object, as containers are.
            memo[id(x)] = (x, address)
        # That may die with the object that gave it, so that the call has a reference of its own.
        return packed, True
    make = _containers.get(type_code)
    if make is None:
        return _pack_lowered(type_code, items)
    if depth > _rules.MAX_DEPTH:
        raise _rules.nested_too_deep()
    if type_code != code.SLICE or not _all_leaves(items):
        # A slice of leaves is made anew each time that it is met: nobody can tell, and it is faster.
        memo[id(x)] = (x, None)
    parts: list[Packed] = []
    try:
        for item in items:
            leaf = _leaves.get(id(type(item)))
            packed = None if leaf is None else leaf(item)
            parts.append(_pack_nested(item, memo, depth + 1)[0] if packed is None else packed)
        made = make(type_code, parts, items)
        if id(x) in memo:
            memo[id(x)] = (x, _value_of(made)[2])
        return made, True
    finally:
        # What was made of them holds copies.
        for part in parts:
            if type(part) is not bytes:
                empty(part)


def _open(x: Any) -> tuple[int, Any]:
    """Type code and parts of a container: its items, or keys and values in turn; else what the rules say."""
    cls = type(x)
    if cls is tuple:
        return code.ARRAY, x
    if cls is list:
        return code.LIST, tuple(x)
    if cls is dict:
        return code.DICT, [part for pair in list(x.items()) for part in pair]
    if cls is slice:
        return code.SLICE, (x.start, x.stop, x.step)
    type_code, payload = _rules.lower(x)
    if _containers.get(type_code) is _new_mapping:
        return type_code, [part for pair in payload for part in pair]
    return type_code, payload


def _all_leaves(items: Any) -> bool:
    return all(id(type(item)) in _leaves and (type(item) is not int or _pack_int(item)) for item in items)


def _new_sequence(type_code: int, parts: list[Packed], items: Any) -> Packed:
    return new_object(library.sequence_create_from, type_code, b"".join(parts), len(parts))


def _new_mapping(type_code: int, parts: list[Packed], items: Any) -> Packed:
    first, second = c_int64(), c_int64()
    content, size = b"".join(parts), len(parts) // 2
    made = Cell(VALUE_SIZE)
    if (
        library.mapping_create_from(type_code, content, size, made, address_of(first), address_of(second))
        != 0
    ):
        raise_taken()
    if first.value >= 0:
        raise _rules.equal_keys(type_code, items[2 * first.value], items[2 * second.value])
    return made


def _new_slice(type_code: int, parts: list[Packed], items: Any) -> Packed:
    return new_object(library.slice_create, *parts)


#: What makes a container of a type code, from its parts and the items that they were packed from.
_containers: dict[int, Callable[[int, list[Packed], Any], Packed]] = {
    code.ARRAY: _new_sequence,
    code.LIST: _new_sequence,
    code.DICT: _new_mapping,
    code.MAP: _new_mapping,
    code.SET: _new_mapping,
    code.FROZEN_SET: _new_mapping,
    code.SLICE: _new_slice,
}


def _pack_lowered(type_code: int, payload: Any) -> tuple[Packed, bool]:
    """Packs an uncommon value that is no container, as the rules say; True if it was made here."""
    if type_code == code.OBJECT:
        address = payload._address
        if not address:
            raise _rules.empty_wrapper(payload)
        return _share(address), False
    if type_code in _handles:
        return _pack_handle(payload, *_handles[type_code]), True
    if type_code == code.BIG_INT:
        magnitude, negative = payload
        return new_object(library.big_int_create, magnitude, len(magnitude) // 8, negative), True
    if type_code == code.COMPLEX:
        return new_object(library.complex_create, *payload), True
    if type_code == code.TENSOR_VIEW:
        return _pack_memory(*payload), True
    if type_code == code.POINTER:
        return _pointer_value(type_code, 0, payload), True
    if type_code == code.MISSING:
        return _MISSING, True
    if type_code == code.DATA_TYPE:
        return _data_type_value(type_code, 0, *payload, 0), True
    if type_code == code.DEVICE:
        return _device_value(type_code, 0, *payload), True
    packed = _pack_leaf(payload)
    assert packed is not None
    return packed, True


def _pack_handle(x: Any, create: Callable[..., int], *args: Any) -> Packed:
    """Packs an object of Python by a handle, which the runtime takes over, also where it fails."""
    return new_object(platform.create_over, x, create, *args)


def _pack_memory(address: int, dtype: Any, ndim: int, extents: bytes, flags: int, owner: Any) -> Packed:
    """Packs memory that an object of Python keeps alive as a Tensor."""
    shape = c_char_p(extents)
    place = c_void_p.from_buffer(shape).value or 0
    data = TensorData(address, _CPU, 0, ndim, *dtype, place, place + len(extents) // 2)
    return _pack_handle(owner, library.tensor_create_host, address_of(data), flags)


#: What makes a value over a handle, and what comes before the handle. callback.py adds functions.
_handles: dict[int, tuple[Any, ...]] = {
    code.ERROR: (library.error_create_host,),
    code.PY_OBJECT: (library.py_object_create,),
    code.TENSOR: (library.tensor_from_capsule,),
}


def set_callback(address: int) -> None:
    """Tells what the runtime is to call for a function over a Python callable."""
    _handles[code.FUNCTION] = (library.function_create_host, address)
