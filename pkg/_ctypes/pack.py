"""Packing: converts Python values to AnyffiValues. `rules.lower` converts values that are not exact builtins.

`pack` is for arguments, and borrows what it can; `pack_owned` is for elements and results.
"""

from __future__ import annotations

from abc import get_cache_token
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable
from . import objects, wrapper, writers
from .abi import VALUE, VALUE_SIZE, library, platform, type_code_in
from .objects import object_value, pack_nested
from .owned import OwnedValue, move_into, release
from .recipe import write_container, write_slice
from .scalars import NONE, RECIPE, Packed, Writer, borrow_bytes, borrow_str, pack_scalar, scalar_packers
from .show import Created
from .unpack import raise_taken
from .wrapper import ObjectCore, unwrap, write_wrapper
from .writers import add_writer, argument_writers, find_writer

__all__ = [
    "NONE",
    "argument_writers",
    "find_argument_writer",
    "object_value",
    "pack",
    "pack_borrowed",
    "pack_into",
    "pack_now",
    "pack_owned",
    "set_callback",
    "set_class",
    "set_rules",
]

_value = VALUE.pack
_INT, _OBJECT = code.INT, code.OBJECT
_has_own_rules = True


def set_rules(rules: Any, read: Callable[[Any], tuple[int, Any] | None]) -> None:
    """Convert values by other rules, and read containers by another function; see hooks.py."""
    global _has_own_rules
    _has_own_rules = rules is _rules
    objects.set_rules(rules, read)


# ---- arguments ------------------------------------------------------------------------------------


def pack(x: Any, keep: list[Any]) -> bytes:
    """Pack an argument of a call as a value or a recipe.

    `keep` holds whatever else must outlive the call; for a recipe at least one object.
    """
    cls = type(x)
    write = argument_writers.get(id(cls))
    if write is None and _has_own_rules:
        write = find_argument_writer(cls)
    packed = None if write is None else write(x, keep)
    if packed is None:
        packed = pack_borrowed(x, keep)
    return packed if type(packed) is bytes else _as_created(packed)


def pack_now(x: Any, keep: list[Any]) -> bytes:
    """Pack an argument of a call as an object of its own, which borrows nothing."""
    packed = pack_owned(x)
    if type(packed) is bytes:
        return packed
    keep.append(packed)
    return _as_created(packed)


def _as_created(packed: Any) -> Created:
    created = Created(_value(_OBJECT, RECIPE, platform.address_of_memory(packed)))
    created.was = bytes(packed)
    return created


def find_argument_writer(cls: type) -> Writer | None:
    """Return the writer for a mutable class, if the decision about it is still valid; else None."""
    found = _changing.get(id(cls))
    if (
        found is not None
        and found[0].value == found[1]
        and (found[2] is None or found[2] == get_cache_token())
    ):
        return found[3]
    write = write_container if _rules.find_opener(cls) else find_writer(cls)
    version = _rules.known_version(cls) if write is not None else None
    if version is not None:
        _changing[id(cls)] = (*version, write)
    return write


#: By id of the class: what the decision depends on, as `known_version` returns it, and the writer. Another
#: class at the same address has another version.
_changing: dict[int, tuple[Any, int, Any, Writer | None]] = {}

_opened = frozenset(map(id, (tuple, list, dict, set, frozenset)))
argument_writers.update(dict.fromkeys(_opened, write_container))
argument_writers[id(slice)] = write_slice
if platform.retain:
    # On systems where the underlying dict can be read.
    argument_writers[id(MappingProxyType)] = write_container


def set_class(type_code: int, cls: type, base: type = ObjectCore) -> None:
    """Make `cls` the class of wrappers for a type, as `wrapper.set_class` does."""
    wrapper.set_class(type_code, cls, base)
    if cls.__module__ == "anyffi":
        add_writer(cls, write_wrapper)


def pack_borrowed(x: Any, keep: list[Any]) -> Packed:
    """Pack a value that a function of the C ABI borrows; `keep` holds what must outlive that call."""
    cls = type(x)
    if cls is str:
        return borrow_str(x, keep)
    if cls is bytes:
        return borrow_bytes(x, keep)
    packed = pack_scalar(x)
    if packed is not None:
        return packed
    if issubclass(cls, ObjectCore):
        if _has_own_rules:
            _rules.lower(x)  # remembers the class
        return object_value(unwrap(x))
    convert = _rules.find_converter(cls)
    packed, made = None if convert is None else pack_scalar(convert(x)), True
    if packed is None:
        packed, made = pack_nested(x, {}, 1)
    if type(packed) is bytes:
        return packed
    if made:
        keep.append(packed)
        return packed
    # The object of another backend's wrapper: borrowed from `x`, like those of our own wrappers.
    borrowed = bytes(packed)
    release(packed)
    return borrowed


# ---- owned values ---------------------------------------------------------------------------------


def pack_owned(x: Any) -> Packed:
    """Pack a value that borrows nothing."""
    packer = scalar_packers.get(id(type(x)))
    packed = None if packer is None else packer(x)
    if packed is not None:
        return packed
    keep: list[Any] = []
    recipe = _write_known(x, keep)
    if recipe is None:
        return pack_nested(x, {}, 1)[0]
    if not keep and len(recipe) == VALUE_SIZE and type_code_in(recipe)[0] in _INLINE:
        return recipe
    made = OwnedValue(VALUE_SIZE)
    if _create(recipe, len(recipe) // VALUE_SIZE, made) != 0:
        raise_taken()
    return made


def pack_into(x: Any, place: int) -> None:
    """Pack a value that borrows nothing into memory of the runtime, as the last step."""
    packer = scalar_packers.get(id(type(x)))
    packed = None if packer is None else packer(x)
    if packed is None:
        keep: list[Any] = []
        recipe = _write_known(x, keep)
        if recipe is not None:
            if library.recipe_create(recipe, len(recipe) // VALUE_SIZE, place) != 0:
                raise_taken()
            return
        packed = pack_nested(x, {}, 1)[0]
    try:
        move_into(packed, place)
    finally:
        if type(packed) is not bytes:
            release(packed)


_create = platform.plain(library.recipe_create)


def _write_known(x: Any, keep: list[Any]) -> bytes | None:
    """Return the recipe of a value; None if it cannot be written directly."""
    cls = type(x)
    if not _has_own_rules and id(cls) not in _opened:
        return None
    write = argument_writers.get(id(cls))
    if write is None:
        write = find_argument_writer(cls)
    recipe = None if write is None else write(x, keep)
    return recipe if type(recipe) is bytes else None


#: The codes of types whose values own nothing.
_INLINE = frozenset((code.NONE, _INT, code.FLOAT, code.BOOL, code.DATA_TYPE, code.DEVICE, code.POINTER))


def set_callback(address: int) -> None:
    """Set the address of the C function that the runtime calls for a Python callable."""
    objects.set_function_callback(address)
    writers.set_callback(address)
