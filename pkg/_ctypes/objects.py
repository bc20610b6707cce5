"""Packs object by object: values whose conversion runs users' code, or that a recipe cannot describe."""

from __future__ import annotations

from ctypes import c_char_p, c_int32, c_int64, c_void_p

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._rules.culprits import blame_made
from .._rules.decisions import lower_ndarray
from .._typing import Any, Callable, Optional
from .abi import VALUE, VALUE_SIZE, address_of, library, platform
from .ndarray import cache_layout, describe_ndarray, write_ndarray
from .owned import OwnedValue, release_all
from .recipe import read_container
from .scalars import Packed, new_object, pack_scalar, scalar_packers
from .show import Cell
from .structs import TensorData
from .unpack import raise_taken
from .wrapper import ObjectCore, unwrap
from .writers import add_writer, argument_writers, pack_lowered

__all__ = ["object_value", "pack_nested", "set_function_callback", "set_rules"]

_CPU = 1  # kDLCPU of DLPack

_value = VALUE.pack
_value_of = VALUE.unpack

#: By id: each container of one argument, kept alive so that its id is not reused, and the address of the
#: object made for it; None while it is being packed.
_Memo = dict[int, tuple[Any, Optional[int]]]


def object_value(address: int) -> bytes:
    """Return an object as a borrowed value."""
    return _value(c_int32.from_address(address).value, 0, address)


_current_rules: Any = _rules
_read_container: Callable[[Any], tuple[int, Any] | None] = read_container


def set_rules(rules: Any, read: Callable[[Any], tuple[int, Any] | None]) -> None:
    """Convert values with other rules, and read containers with another function; see hooks.py."""
    global _current_rules, _read_container
    _current_rules, _read_container = rules, read


def _retain(address: int) -> Packed:
    return new_object(library.value_own, object_value(address))


def pack_nested(x: Any, memo: _Memo, depth: int) -> tuple[Packed, bool]:
    """Pack a non-scalar as an owned value; also return whether it is new and cannot be reached elsewhere.

    A single function for all containers, so that a level of nesting costs one frame: 200 levels then fit at
    any depth of the stack.
    """
    if issubclass(type(x), ObjectCore):
        if _current_rules is _rules:
            _rules.lower(x)  # remembers the class: the next containers of its instances become recipes
        return _retain(unwrap(x)), False
    met = memo.get(id(x))
    if met is not None:
        if met[1] is None:
            raise _current_rules.contains_itself(x)
        return _retain(met[1]), False
    type_code, items = _read_parts(x)
    if type_code == code.UNSET:
        packed = pack_scalar(items)
        if packed is None:
            packed = pack_nested(items, memo, depth)[0]
        type_code, _, address = _value_of(packed)
        if type_code > 0:
            # Its `__anyffi_value__` is called only once, even if it occurs several times.
            memo[id(x)] = (x, address)
        # `items` may be released before the call, so the call must own a reference.
        return packed, True
    make = _containers.get(type_code)
    if make is None:
        try:
            return _pack_lowered(type_code, items)
        except Exception as exception:
            if type_code == code.TENSOR:
                blame_made(exception, (x,))
            raise
    if depth > _rules.MAX_DEPTH:
        raise _current_rules.nested_too_deep()
    if type_code != code.SLICE or not _all_scalars(items):
        # A slice of scalars is created at each occurrence: that is faster, and slices have no identity.
        memo[id(x)] = (x, None)
    parts: list[Packed] = []
    try:
        for item in items:
            packer = scalar_packers.get(id(type(item)))
            packed = None if packer is None else packer(item)
            parts.append(pack_nested(item, memo, depth + 1)[0] if packed is None else packed)
        made = make(type_code, parts, items)
        if id(x) in memo:
            memo[id(x)] = (x, _value_of(made)[2])
        return made, True
    except BaseException:
        # For debuggers: `item` is the one at `index`.
        index, packed_parts = len(parts), list(map(Cell, parts))  # noqa: F841
        raise
    finally:
        # The container holds copies of the parts.
        release_all(parts)


#: Replaces the type code of an array whose layout is cached.
_DESCRIBED: Any = object()


def _read_parts(x: Any) -> tuple[int, Any]:
    """Return type code and parts of a container; for other values the result of `rules.lower`."""
    opened = _read_container(x)
    if opened is not None:
        return opened
    if argument_writers.get(id(type(x))) is write_ndarray or (
        _current_rules is _rules and _rules.known_reader(type(x)) is lower_ndarray
    ):
        described = describe_ndarray(x)
        if described is not None:
            return _DESCRIBED, (x, *described)
    type_code, payload = _current_rules.lower(x)
    if _containers.get(type_code) is _new_mapping:
        return type_code, [part for pair in payload for part in pair]
    return type_code, payload


def _all_scalars(items: Any) -> bool:
    # Not a generator: CPython 3.12 leaks the references of one interrupted before its first line.
    for item in items:
        if id(type(item)) not in scalar_packers or (type(item) is int and pack_scalar(item) is None):
            return False
    return True


def _new_sequence(type_code: int, parts: list[Packed], items: Any) -> Packed:
    return new_object(library.sequence_create_from, type_code, b"".join(parts), len(parts))


def _new_mapping(type_code: int, parts: list[Packed], items: Any) -> Packed:
    first, second = c_int64(), c_int64()
    content, size = b"".join(parts), len(parts) // 2
    made = OwnedValue(VALUE_SIZE)
    places = address_of(first), address_of(second)
    if library.mapping_create_from(type_code, content, size, made, *places) != 0:
        raise_taken()
    if first.value >= 0:
        raise _current_rules.equal_keys(type_code, items[2 * first.value], items[2 * second.value])
    return made


def _new_slice(type_code: int, parts: list[Packed], items: Any) -> Packed:
    return new_object(library.slice_create, *parts)


#: Functions that create a container, by type code, from packed parts and their items.
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
    """Pack the result of `rules.lower`, unless it is a container; also return whether the object is new."""
    if type_code is _DESCRIBED:
        array, data, flags, _ = payload
        return _pack_handle(array, library.tensor_create_host, data, flags), True
    if type_code == code.OBJECT:
        address = payload._anyffi_address
        if not address:
            raise _current_rules.empty_wrapper(payload)
        return _retain(address), False
    if type_code in _handles:
        return _pack_handle(payload, *_handles[type_code]), True
    if type_code == code.TENSOR_VIEW:
        return _pack_memory(*payload), True
    if type_code == code.BIG_INT:
        magnitude, negative = payload
        return new_object(library.big_int_create, magnitude, len(magnitude) // 8, negative), True
    if type_code == code.COMPLEX:
        return new_object(library.complex_create, *payload), True
    # All other types are inline values, except text and bytes.
    is_text = type_code == code.STR or type_code == code.BYTES
    return pack_scalar(payload) if is_text else pack_lowered(type_code, payload, []), True


def _pack_handle(x: Any, create: Callable[..., int], *args: Any) -> Packed:
    """Pack a Python object as a handle. `create` steals the handle, also if it fails."""
    return new_object(platform.create_over, x, create, *args)


def _pack_memory(address: int, dtype: Any, ndim: int, extents: bytes, flags: int, owner: Any) -> Packed:
    """Pack memory that a Python object keeps alive as a Tensor."""
    if cache_layout(owner, address, dtype, ndim, extents, flags):
        add_writer(type(owner), write_ndarray)
    shape = c_char_p(extents)
    place = c_void_p.from_buffer(shape).value or 0
    data = TensorData(address, _CPU, 0, ndim, *dtype, place, place + len(extents) // 2)
    return _pack_handle(owner, library.tensor_create_host, address_of(data), flags)


#: Functions that create an object from a handle, with the arguments before the handle. callback.py adds the
#: one for functions.
_handles: dict[int, tuple[Any, ...]] = {
    code.ERROR: (library.error_create_host,),
    code.PY_OBJECT: (library.py_object_create,),
    code.TENSOR: (library.tensor_from_capsule,),
}


def set_function_callback(address: int) -> None:
    """Set the address of the C function that the runtime calls for a Python callable."""
    _handles[code.FUNCTION] = (library.function_create_host, address)
