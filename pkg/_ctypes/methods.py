"""Building blocks of the containers' fast methods, each of which makes one call of the runtime.

They handle the cases that run no Python code. The methods of `_objects`, called in all other cases, define
what a method means, its signature and its errors.
"""

from __future__ import annotations

import functools
import struct
import sys
from itertools import repeat
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules.codes import FIRST_DYNAMIC_TYPE, code
from .._rules.slots import document_slot
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .mappings import ABSENT
from .owned import OwnedValue, release
from .pack import pack_borrowed
from .recipe import create_reference, dict_below, read_plain, write_container
from .unpack import discard_error, need_stack, raise_taken, take
from .wrapper import REF_SIZE, ObjectCore, classes, memory_of, wrap_owned

__all__ = [
    "GIVEN",
    "MOST",
    "REFUSED",
    "Maker",
    "Method",
    "call_shared",
    "changing",
    "compare_plain",
    "comparison",
    "contains_key",
    "invoke",
    "is_exactly",
    "iterating",
    "make_methods",
    "pop_from",
    "runtime_function",
    "size_of",
]


class _Given:
    """Has its own class, which no writer packs."""

    __slots__ = ()


#: The default of a parameter, if no argument is given.
GIVEN: Any = _Given()
#: The largest int argument of these calls: ctypes passes 32 bits.
MOST = 2**31 - 1

_value_of = VALUE.unpack
_call_wrapped = platform.plain(library.function_call_wrapped)
_compare = platform.plain(library.wrapper_compare)
_compare_pairs = platform.plain(library.wrapper_compare_pairs)
_has_key = platform.plain(library.wrapper_has_key)
_get_size = platform.plain(library.wrapper_get_size)
_pop = platform.reader(library.wrapper_pop)
_read_element = platform.reader(library.wrapper_read_element)

#: An AnyffiWrapperRef of an object.
_reference = struct.Struct("=qq").pack

#: A method of a class of containers.
Method = Callable[..., Any]
#: Makes a fast method from the method of `_objects`.
Maker = Callable[[Method], Method]


def call_shared(shared: Method, /, *args: Any, **named: Any) -> Any:
    """Call a method of `_objects` with the arguments that were given."""
    need_stack()
    return shared(*[x for x in args if x is not GIVEN], **named)


def make_methods(makers: dict[str, Maker], *classes: type) -> dict[str, Method]:
    """Make fast methods from the methods with the same names in the first class that has them."""
    made = {}
    for name, make in makers.items():
        shared = next(vars(cls)[name] for cls in classes if name in vars(cls))
        method: Any = functools.update_wrapper(make(shared), shared)
        method.__module__ = "anyffi"  # as pickles name it
        if sys.version_info < (3, 10):
            # Errors about a wrong number of arguments use the code's name.
            method.__code__ = method.__code__.replace(co_name=name)
        if name != "__init__":
            document_slot(method, name)
        made[name] = method
    # Python makes a class with `__eq__` but no `__hash__` unhashable.
    if "__hash__" not in made:
        made["__hash__"] = next(vars(cls)["__hash__"] for cls in classes if "__hash__" in vars(cls))
    return made


_kept: list[Any] = []


def runtime_function(name: str) -> Any:
    """Return one of the runtime's functions, as an argument of `invoke`."""
    full = f"anyffi.{name}"
    # Keeps the memory alive that the packed name borrows.
    keep: list[Any] = [full]
    found = OwnedValue(VALUE_SIZE)
    if library.registry_find(pack_borrowed(full, keep), found) != 0:
        raise_taken()
    _kept.append(found)
    return platform.context_of(_value_of(found)[2])


def invoke(
    function: Any, memory: Any, other: Any = None, recipe: Any = None, take: Callable[..., Any] = take
) -> Any:
    """Call a function with the objects of one or two wrappers, and packed arguments.

    `take` unpacks the result: `wrap_owned` if the function returns a new object.
    """
    size = len(recipe) // VALUE_SIZE if recipe else 0
    result = OwnedValue(VALUE_SIZE)
    try:
        status = _call_wrapped(function, memory, other, recipe, size, result)
    except BaseException:
        # A signal handler raised during the call; that exception replaces the function's error.
        discard_error()
        raise
    if status != 0:
        raise_taken()
    value = _value_of(result)
    return None if value[0] == _NONE else take(value, result)


_NONE, _UNSET, _ARRAY = code.NONE, code.UNSET, code.ARRAY


def pop_from(memory: Any, type_code: int, recipe: bytes | None, first: int, count: int = 1) -> Any:
    """Remove what a key names, or without a key the last entry, as `anyffi_wrapper_pop` does.

    Nothing is created once it is removed: without memory, nothing has changed.

    Parameters
    ----------
    first, count : int
        Which values are unpacked here if the runtime cannot do it.

    Returns
    -------
    object
        What was removed; `ABSENT` if there is nothing to remove, `REFUSED` if the slow path is needed.
    """
    out = OwnedValue(VALUE_SIZE)
    found = _pop(memory, type_code, recipe, len(recipe) // VALUE_SIZE if recipe else 0, out)
    if found is not platform.UNREAD:
        return found
    kind, _, payload = _value_of(out)
    if kind == _UNSET:
        if payload == -1:
            raise_taken()
        return ABSENT if payload == 0 else REFUSED
    try:
        array = _reference(payload, 0)
        parts = (*map(_read_part, repeat(array, count), range(first, first + count)),)
        erased = OwnedValue(VALUE_SIZE)
        if _call_wrapped(_erase_peeked, memory, None, bytes(out), 1, erased) != 0:
            raise_taken()
    except BaseException:
        release(out)
        raise
    if not _value_of(erased)[2]:
        return REFUSED
    return parts if count > 1 else parts[0]


def _read_part(array: bytes, index: int) -> Any:
    owner = OwnedValue(VALUE_SIZE)
    found = _read_element(array, _ARRAY, index, owner)
    return found if found is not platform.UNREAD else take(_value_of(owner), owner)


#: The slow path is needed.
REFUSED = object()
_erase_peeked = runtime_function("container.erase_peeked")


def is_exactly(x: Any, *type_codes: int) -> bool:
    """Return whether `x` is of a type's public class, not of a subclass, and holds an object of that type."""
    cls = type(x)
    for type_code in type_codes:
        if cls is _class_of(type_code):
            try:
                return memory_of(x)[REF_SIZE:_CODE_END] == _code_bytes[type_code]  # type: ignore[no-any-return]
            except AttributeError:
                return False
    return False


_class_of = classes.get
_CODE_END = REF_SIZE + 4
#: Type codes as stored in the memory of wrappers.
_code_bytes = {type_code: type_code.to_bytes(4, sys.byteorder) for type_code in range(FIRST_DYNAMIC_TYPE)}


def compare_plain(self: Any, other: Any, type_code: int, operation: int) -> int:
    """Compare a mapping with a dict, or a proxy of one, as `anyffi_wrapper_compare` does.

    Returns -1 if that needs Python code.
    """
    keep: list[Any] = []
    if type(other) is MappingProxyType:
        other = dict_below(other)
    if type(other) is not dict:
        return -1
    created = create_reference(other, keep)
    if created is not None:
        try:
            return _compare(memory_of(self), created, type_code, operation)  # type: ignore[no-any-return]
        except (AttributeError, TypeError):
            return -1
    other = dict(other)  # a copy, since another thread may change it
    items = tuple(other.values())
    if read_plain(items, set(map(id, map(type, items)))) is None:
        return -1
    pairs = write_container(other, keep, whole=False)
    if pairs is None:
        return -1
    # Without the step of the dict itself, which contains the number of keys and values.
    *_, parts = _value_of(pairs[-VALUE_SIZE:])
    size = len(pairs) // VALUE_SIZE - 1
    try:
        found = _compare_pairs(memory_of(self), pairs, size, parts // 2, type_code, operation)
    except (AttributeError, TypeError):
        return -1
    if found == -2:
        raise_taken()
    return found  # type: ignore[no-any-return]


def changing(name: str, *type_codes: int) -> Maker:
    """Return a factory of methods without arguments that call a function returning None or a new object."""
    function = runtime_function(name)

    def make(shared: Method) -> Method:
        def change(self: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if rest or named or not is_exactly(self, *type_codes):
                return call_shared(shared, self, *rest, **named)
            return invoke(function, memory_of(self), take=wrap_owned)

        return change

    return make


def iterating(type_codes: tuple[int, ...], iterate: Callable[..., Any], *args: Any) -> Maker:
    """Return a factory of `__iter__`; `iterate` gets a wrapper and `args`."""

    def make(shared: Method) -> Method:
        def iter_(self: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if rest or named or not is_exactly(self, *type_codes):
                return call_shared(shared, self, *rest, **named)
            return iterate(self, *args)

        return iter_

    return make


def size_of(type_code: int) -> Maker:
    def make(shared: Method) -> Method:
        def size(self: Any = GIVEN, /, *rest: Any, **named: Any) -> int:
            try:
                found = _get_size(memory_of(self), type_code)
            except (AttributeError, TypeError):
                found = -1
            if found < 0 or rest or named:
                return call_shared(shared, self, *rest, **named)  # type: ignore[no-any-return]
            return found  # type: ignore[no-any-return]

        return size

    return make


#: The comparison operators, numbered as for `anyffi_wrapper_compare`.
_OPERATORS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
_DIFFERS = 2  # ANYFFI_DIFFERS


def comparison(type_code: int, name: str, decide: Method, plain: Method | None = None) -> Maker:
    """Return a factory of comparisons.

    Parameters
    ----------
    type_code : int
        The type of the left operand.
    name : str
        The name of the operator.
    decide : callable
        Compares two sequences, given both and the first position at which they differ.
    plain : callable, optional
        As `anyffi_wrapper_compare`, for an operand that is not a wrapper.
    """
    operation = _OPERATORS.index(name)

    def make(shared: Method) -> Method:
        def compare(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            found: Any = -1
            if issubclass(type(other), ObjectCore):
                try:
                    found = _compare(memory_of(self), memory_of(other), type_code, operation)
                except (AttributeError, TypeError):
                    found = -1
            elif plain is not None and not rest and not named:
                found = plain(self, other, operation)
            if found > 1:
                found = decide(self, other, found - _DIFFERS)
            if found < 0 or rest or named:
                return call_shared(shared, self, other, *rest, **named)
            return found == 1

        return compare

    return make


def contains_key(type_code: int, pack: Callable[[Any, list[Any]], Any]) -> Maker:
    """Make `__contains__` of a mapping or a set; `pack` returns None for values that need Python code."""

    def make(shared: Method) -> Method:
        def contains(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            keep: list[Any] = []
            packed = pack(key, keep)
            found = -2
            if packed is not None and not rest and not named:
                try:
                    found = _has_key(memory_of(self), type_code, packed, len(packed) // VALUE_SIZE)
                except (AttributeError, TypeError):
                    found = -2
                if found == -1:
                    raise_taken()
            return found == 1 if found >= 0 else call_shared(shared, self, key, *rest, **named)

        return contains

    return make
