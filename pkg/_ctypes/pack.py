"""Python values to 16 bytes: exact builtins here, `rules.lower` for the rest.

`pack` serves arguments and borrows what it can; `pack_owned` serves elements and results.
"""

from __future__ import annotations

import struct
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from types import FunctionType

from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable, Optional
from . import recipe
from .abi import VALUE, VALUE_SIZE, TensorData, address_of, library, platform
from .cell import Cell, empty
from .leaves import FALSE, NONE, TRUE, Packed, leaves, lend_bytes, lend_str, new_object, pack_leaf
from .ndarray import learn, write_ndarray
from .recipe import RECIPE, write_container, write_slice
from .unpack import raise_taken
from .wrapper import ObjectCore, unwrap

__all__ = ["NONE", "lend", "pack", "pack_owned", "set_callback"]

_CPU = 1  # kDLCPU of DLPack

_value = VALUE.pack
_value_of = VALUE.unpack
_pointer_value = struct.Struct("=iIQ").pack
_data_type_value = struct.Struct("=iIBBHi").pack
_device_value = struct.Struct("=iIii").pack

#: AnyffiFunctionRecipe: what is called, handle, what counts it.
_function_recipe = struct.Struct("=QQQ").pack
_float_value = struct.Struct("=iId").pack

_FLOAT, _OBJECT = code.FLOAT, code.OBJECT
_MISSING = _value(code.MISSING, 0, 0)

#: The containers of one argument by identity, with what they became; None while they are being packed.
#: Holding them keeps their identities from being used again.
_Memo = dict[int, tuple[Any, Optional[int]]]


def object_value(address: int) -> bytes:
    """An object as a value; the reference is the caller's matter."""
    return _value(c_int32.from_address(address).value, 0, address)


# ---- arguments ------------------------------------------------------------------------------------


def pack(x: Any, keep: list[Any]) -> bytes:
    """Packs an argument of a call: a value, or a recipe for one.

    `keep` gets what beside the argument must outlive the call: of a recipe at least one object, and the cell
    of what was made already.
    """
    write = _writers.get(id(type(x)))
    packed = None if write is None else write(x, keep)
    if packed is None:
        packed = lend(x, keep)
    return packed if type(packed) is bytes else _value(_OBJECT, RECIPE, platform.address_of_memory(packed))


#: What packs arguments of a class, by its identity, or gives None.
_writers: dict[int, Callable[[Any, list[Any]], Packed]] = {
    id(str): lend_str,
    id(bytes): lend_bytes,
    id(float): lambda x, keep: _float_value(_FLOAT, 0, x),
    id(bool): lambda x, keep: TRUE if x else FALSE,
    id(type(None)): lambda x, keep: NONE,
    **dict.fromkeys(map(id, (tuple, list, dict)), write_container),
    id(slice): write_slice,
}


def lend(x: Any, keep: list[Any]) -> Packed:
    """Packs a value for a function of the C ABI, which borrows it. `keep` gets what must outlive that."""
    cls = type(x)
    if cls is str:
        return lend_str(x, keep)
    if cls is bytes:
        return lend_bytes(x, keep)
    packed = pack_leaf(x)
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


# ---- owned values ---------------------------------------------------------------------------------


def pack_owned(x: Any) -> Packed:
    """Packs a value that stands alone; nothing is borrowed."""
    packed = pack_leaf(x)
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
        packed = pack_leaf(items)
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
            leaf = leaves.get(id(type(item)))
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
    opened = recipe.open_builtin(x)
    if opened is not None:
        return opened
    type_code, payload = _rules.lower(x)
    if _containers.get(type_code) is _new_mapping:
        return type_code, [part for pair in payload for part in pair]
    return type_code, payload


def _all_leaves(items: Any) -> bool:
    # No generator: CPython 3.12 loses what one holds that is interrupted before its first line.
    for item in items:
        if id(type(item)) not in leaves or (type(item) is int and pack_leaf(item) is None):
            return False
    return True


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
    packed = pack_leaf(payload)
    assert packed is not None
    return packed, True


def _pack_handle(x: Any, create: Callable[..., int], *args: Any) -> Packed:
    """Packs an object of Python by a handle, which the runtime takes over, also where it fails."""
    return new_object(platform.create_over, x, create, *args)


def _pack_memory(address: int, dtype: Any, ndim: int, extents: bytes, flags: int, owner: Any) -> Packed:
    """Packs memory that an object of Python keeps alive as a Tensor."""
    if learn(owner, address, dtype, ndim, extents, flags):
        _writers[id(type(owner))] = write_ndarray
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
    if platform.retain:
        _writers[id(FunctionType)] = lambda x, keep: _write_function(x, address, keep)


def _write_function(x: Any, callback: int, keep: list[Any]) -> bytes:
    """The recipe of a function: a quarter of the time that a call of its own takes."""
    what = _function_recipe(callback, id(x), platform.retain)
    keep.append(what)
    return _value(code.FUNCTION, RECIPE, platform.lend_bytes(what, keep))
