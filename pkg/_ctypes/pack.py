"""Python values to 16 bytes: exact builtins here, `rules.lower` for the rest.

`pack` serves arguments and borrows what it can; `pack_owned` serves elements and results.
"""

from __future__ import annotations

import struct
import sys
from ctypes import c_char_p, c_int32, c_int64, c_void_p, memmove
from itertools import repeat
from typing import Any, Callable, Optional

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, Mapping, Sequence, TensorData, address_of, library, platform
from .unpack import raise_taken
from .wrapper import ObjectCore, unwrap

__all__ = ["MOVABLE", "NONE", "pack", "pack_owned", "release_made", "set_callback"]

#: The flag, in the word beside the code, of an object that was made for one call alone.
MOVABLE = 1
_MAX_BORROWED = (1 << 30) - 1
_IN_PLACE_BYTES = 11  # ANYFFI_IN_PLACE_BYTES
_CPU = 1  # kDLCPU of DLPack
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_value = VALUE.pack
_value_of = VALUE.unpack
_pointer_value = struct.Struct("=iIQ").pack
_int_value = VALUE.pack
_float_value = struct.Struct("=iId").pack
_data_type_value = struct.Struct("=iIBBHi").pack
_device_value = struct.Struct("=iIii").pack
_in_place_value = struct.Struct("=i11sB").pack

NONE = bytes(VALUE_SIZE)
_TRUE, _FALSE = _value(code.BOOL, 0, 1), _value(code.BOOL, 0, 0)
_ELLIPSIS = _value(code.ELLIPSIS, 0, 0)
_MISSING = _value(code.MISSING, 0, 0)

_LITTLE = "le" if sys.byteorder == "little" else "be"
_ENCODINGS = ("ascii", "latin-1", f"utf-16-{_LITTLE}", f"utf-32-{_LITTLE}")
#: A zero code point stands behind text; bytes bring one zero of their own.
_ENDS = (b"", b"", b"\0", b"\0\0\0")


def _encode(x: str) -> tuple[bytes, int]:
    """The code points at their narrowest width, and AnyffiTextKind."""
    if x.isascii():
        return x.encode(), 0
    highest = max(x)
    kind = 1 if highest < "\u0100" else 2 if highest < "\U00010000" else 3
    return x.encode(_ENCODINGS[kind], "surrogatepass" if kind > 1 else "strict"), kind


def _kind_bit(type_code: int) -> int:
    """`anyffi_kind_bit`: what a kind of element is in a container's summary."""
    if type_code <= 0:
        return 1 << -type_code
    return 1 << (15 + type_code) if type_code < 47 else 1 << 63


#: The containers of one argument by identity, with what they became; None while they are being packed.
#: Holding them keeps their identities from being used again.
_Memo = dict[int, tuple[Any, Optional[int]]]


# What owns a reference stays in the frame that took it until it is handed over or given back, by C functions
# alone: where the recursion limit let one pass, it lets the next.


def new_object(create: Callable[..., int], *args: Any) -> bytes:
    """Calls a creating function of the C ABI; what it made, as an owned value."""
    out = platform.buffer(VALUE_SIZE)
    if create(*args, out) != 0:
        raise_taken()
    return bytes(out)


def object_value(address: int) -> bytes:
    """An object as a value; the reference is the caller's matter."""
    return _value(c_int32.from_address(address).value, 0, address)


# ---- leaves: what holds no other value; none of this runs Python code ---------------------------


def _pack_int(x: int) -> bytes | None:
    return _int_value(code.INT, 0, x) if _INT64_MIN <= x <= _INT64_MAX else None


def _own_str(x: str) -> bytes:
    data, kind = _encode(x)
    if len(data) <= _IN_PLACE_BYTES:
        return _in_place_value(code.STR, data, kind << 4 | (_IN_PLACE_BYTES - len(x)))
    return new_object(library.str_create, data, len(x), kind)


def _own_bytes(x: bytes) -> bytes:
    if len(x) <= _IN_PLACE_BYTES:
        return _in_place_value(code.BYTES, x, _IN_PLACE_BYTES - len(x))
    return new_object(library.bytes_create, x, len(x))


#: Packs an exact builtin that holds no others as an owned value; None if it is none after all. By the
#: identity of the class, because a metaclass may do anything when one of its classes is hashed or compared.
_leaves: dict[int, Callable[[Any], bytes | None]] = {
    id(int): _pack_int,
    id(float): lambda x: _float_value(code.FLOAT, 0, x),
    id(type(None)): lambda x: NONE,
    id(bool): lambda x: _TRUE if x else _FALSE,
    id(str): _own_str,
    id(bytes): _own_bytes,
    id(type(...)): lambda x: _ELLIPSIS,
}


def _pack_leaf(x: Any) -> bytes | None:
    leaf = _leaves.get(id(type(x)))
    return None if leaf is None else leaf(x)


# ---- arguments ------------------------------------------------------------------------------------


def pack(x: Any, keep: list[Any]) -> bytes:
    """Packs an argument; what is owned is marked movable.

    `keep` gets what must outlive the call, and an entry for every value that is owned: while it is empty
    there is nothing to give back.
    """
    cls = type(x)
    if cls is str:
        return _borrow_str(x, keep)
    if cls is bytes:
        return _borrow_bytes(x, keep)
    leaf = _leaves.get(id(cls))
    packed = None if leaf is None else leaf(x)
    if packed is not None:
        return packed
    if issubclass(cls, ObjectCore):
        return object_value(unwrap(x))
    value, made = _pack_nested(x, {}, 1)
    type_code, _, payload = _value_of(value)
    if type_code <= 0:
        return value
    if made:
        keep.append(MOVABLE)
        return _value(type_code, MOVABLE, payload)
    # An object of another backend's wrapper, which `x` keeps alive: borrowed like those of our own.
    library.object_release(payload)
    return value


def release_made(packed: bytes, keep: list[Any]) -> None:
    """Gives back what `pack` made of an argument that nobody could take."""
    type_code, flags, payload = _value_of(packed)
    if keep and type_code > 0 and flags:
        library.object_release(payload)


def _movable(value: bytes) -> bytes:
    type_code, _, payload = _value_of(value)
    return _value(type_code, MOVABLE, payload)


def _borrow_str(x: str, keep: list[Any]) -> bytes:
    data, kind = _encode(x)
    if len(data) <= _IN_PLACE_BYTES:
        return _in_place_value(code.STR, data, kind << 4 | (_IN_PLACE_BYTES - len(x)))
    if len(x) > _MAX_BORROWED:
        keep.append(MOVABLE)
        return _movable(new_object(library.str_create, data, len(x), kind))
    return _value(code.STR_VIEW, len(x) << 2 | kind, _borrow(data + _ENDS[kind], keep))


def _borrow_bytes(x: bytes, keep: list[Any]) -> bytes:
    if len(x) <= _IN_PLACE_BYTES:
        return _in_place_value(code.BYTES, x, _IN_PLACE_BYTES - len(x))
    if len(x) > _MAX_BORROWED:
        keep.append(MOVABLE)
        return _movable(new_object(library.bytes_create, x, len(x)))
    return _value(code.BYTES_VIEW, len(x) << 2, _borrow(x, keep))


def _borrow(data: bytes, keep: list[Any]) -> int:
    pointer = c_char_p(data)
    keep.append(pointer)
    return c_void_p.from_buffer(pointer).value or 0


# ---- owned values ---------------------------------------------------------------------------------


def pack_owned(x: Any) -> bytes:
    """Packs a value that stands alone; nothing is borrowed."""
    packed = _pack_leaf(x)
    return _pack_nested(x, {}, 1)[0] if packed is None else packed


def _share(address: int) -> bytes:
    library.object_retain(address)
    return object_value(address)


def _pack_nested(x: Any, memo: _Memo, depth: int) -> tuple[bytes, bool]:
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
    cells: list[bytes] = []
    made = NONE
    complete = False
    try:
        # Made before its items, so that nothing can fail once there are any; a slice is not.
        made = make(type_code, len(items))
        address = _value_of(made)[2]
        for item in items:
            leaf = _leaves.get(id(type(item)))
            packed = None if leaf is None else leaf(item)
            cells.append(_pack_nested(item, memo, depth + 1)[0] if packed is None else packed)
        if make is _new_sequence:
            _fill(address, cells)
        elif make is _new_mapping:
            _fill_mapping(address, cells, items)
        elif make is _new_slice:
            made = new_object(library.slice_create, *cells)
            address = _value_of(made)[2]
        if id(x) in memo:
            memo[id(x)] = (x, address)
        complete = True
        return made, True
    finally:
        # A sequence and a mapping took their cells over, and a slice copied them.
        for cell in cells:
            type_code, _, payload = _value_of(cell)
            if type_code > 0:
                library.object_release(payload)
        if not complete and made is not NONE:
            library.object_release(_value_of(made)[2])


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


def _new_sequence(type_code: int, size: int) -> bytes:
    return new_object(library.sequence_create, type_code, size)


def _new_mapping(type_code: int, size: int) -> bytes:
    return new_object(library.mapping_create, type_code, size // 2)


def _new_slice(type_code: int, size: int) -> bytes:
    return NONE


#: What makes an empty container of a type code for a number of parts.
_containers: dict[int, Callable[[int, int], bytes]] = {
    code.ARRAY: _new_sequence,
    code.LIST: _new_sequence,
    code.DICT: _new_mapping,
    code.MAP: _new_mapping,
    code.SET: _new_mapping,
    code.FROZEN_SET: _new_mapping,
    code.SLICE: _new_slice,
}

_code_at = struct.Struct("=i").unpack_from
#: Behind key and value in an entry; the runtime computes it.
_NO_HASH = bytes(8)


def _kinds_of(cells: list[bytes]) -> int:
    """The summary of what a container holds."""
    kinds = 0
    for cell_code in {_code_at(cell)[0] for cell in cells}:
        kinds |= _kind_bit(cell_code)
    return kinds


def _fill(address: int, cells: list[bytes]) -> None:
    """Moves owned cells into an empty sequence that has room for them."""
    sequence = Sequence.from_address(address)
    sequence.kinds = _kinds_of(cells)
    content = b"".join(cells)
    memmove(sequence.data, content, len(content))
    size = len(cells)
    cells.clear()
    sequence.size = size


def _fill_mapping(address: int, cells: list[bytes], items: Any) -> None:
    """The same for a mapping, from keys and values in turn. `items` are what all were packed from."""
    mapping = Mapping.from_address(address)
    mapping.key_kinds = _kinds_of(cells[::2])
    mapping.value_kinds = _kinds_of(cells[1::2])
    content = b"".join(map(b"".join, zip(cells[::2], cells[1::2], repeat(_NO_HASH))))
    memmove(mapping.entries, content, len(content))
    used = len(cells) // 2
    cells.clear()
    mapping.used = used
    first, second = c_int64(), c_int64()
    if library.mapping_finish(address, address_of(first), address_of(second)) != 0:
        raise_taken()
    if first.value >= 0:
        type_code = c_int32.from_address(address).value
        raise _rules.equal_keys(type_code, items[2 * first.value], items[2 * second.value])


def _pack_lowered(type_code: int, payload: Any) -> tuple[bytes, bool]:
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


def _pack_handle(x: Any, create: Callable[..., int], *args: Any) -> bytes:
    """Packs an object of Python by a handle, which the runtime takes over, also where it fails."""
    out = platform.buffer(VALUE_SIZE)
    if create(*args, platform.new_handle(x), out) != 0:
        raise_taken()
    return bytes(out)


def _pack_memory(address: int, dtype: Any, ndim: int, extents: bytes, flags: int, owner: Any) -> bytes:
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
