"""Fast versions of the frequent methods of Array and List; see methods.py."""

from __future__ import annotations

import operator
from functools import partial

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import hashable
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, library, platform
from .construction import are_extents, construction
from .iterators import iterate_sequence
from .known import as_number, pack_compared
from .list_methods import list_changes, pack_slice
from .methods import (
    GIVEN,
    MOST,
    Maker,
    Method,
    call_shared,
    changing,
    comparison,
    invoke,
    is_exactly,
    iterating,
    make_methods,
    runtime_function,
    size_of,
)
from .owned import OwnedValue, cells
from .recipe import create_reference, write_container, write_plain
from .sequences import ArrayCore, ListCore, read_immutable
from .unpack import need_stack, raise_taken, take
from .wrapper import memory_of, unwrap, wrap_owned

__all__ = ["array_methods", "list_methods", "shape_methods"]

_INT, _UNSET = code.INT, code.UNSET
_ARRAY, _LIST, _SHAPE = code.ARRAY, code.LIST, code.SHAPE
_value = VALUE.pack
_value_of = VALUE.unpack
_pop_cell, _push_cell = cells.pop, cells.append
_read_element = platform.reader(library.wrapper_read_element)
_UNREAD = platform.UNREAD
_find_element = platform.plain(library.wrapper_find_element)
_count_elements = platform.plain(library.wrapper_count_elements)
_compare = platform.plain(library.wrapper_compare)
_compare_values = platform.plain(library.wrapper_compare_values)
_concat = platform.plain(library.wrapper_concat)
_flatten = platform.plain(library.wrapper_flatten)
_concat_values = platform.plain(library.wrapper_concat_values)

#: The types whose wrappers have the methods of a type.
_LIKE = {_ARRAY: (_ARRAY, _SHAPE), _LIST: (_LIST,)}


# ---- elements ---------------------------------------------------------------------------------------


def _item_of(type_code: int) -> Maker:
    slice_sequence = runtime_function("Sequence.slice")
    # A slice of all elements of an Array is the Array itself.
    take_slice = wrap_owned if type_code == _LIST else take

    def make(shared: Method) -> Method:
        def get_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            index = key if type(key) is int or type(key) is slice else as_number(key)
            if type(index) is int and -MOST <= index <= MOST and not rest and not named:
                try:
                    element = _pop_cell() if cells else OwnedValue(VALUE_SIZE)
                    found = _read_element(memory_of(self), type_code, index, element)
                except (AttributeError, TypeError, IndexError):
                    # It is no wrapper, or another thread took the last cell. The shared method is called
                    # below, where this exception is not the context of its own.
                    found = element = None
                if element is not None:
                    if found is not _UNREAD:
                        _push_cell(element)
                        return found
                    value = _value_of(element)
                    if value[0] != _UNSET:
                        return take(value, element)
            elif type(key) is slice and not rest and not named:
                bounds = pack_slice(key)
                if bounds is not None and is_exactly(self, *_LIKE[type_code]):
                    return invoke(slice_sequence, memory_of(self), None, bounds, take_slice)
            return call_shared(shared, self, key, *rest, **named)

        return get_item

    return make


def _contains(type_code: int) -> Maker:
    def make(shared: Method) -> Method:
        def contains(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            keep: list[Any] = []
            packed = pack_compared(value, keep)
            found = -2
            if rest or named:
                return call_shared(shared, self, value, *rest, **named)
            if packed is not None:
                size = len(packed) // VALUE_SIZE
                try:
                    found = _find_element(memory_of(self), type_code, packed, size, 0, -1)
                except (AttributeError, TypeError):
                    found = -2
                if found == -3:
                    raise_taken()
            elif value is not GIVEN and is_exactly(self, *_LIKE[type_code]):
                return _search(memory_of(self), type_code, value)
            return call_shared(shared, self, value) if found < -1 else found >= 0

        return contains

    return make


def _search(memory: Any, type_code: int, value: Any) -> bool:
    """Compare the elements with a value one by one, as `find_value` does."""
    need_stack()
    for position in range(MOST):
        element = OwnedValue(VALUE_SIZE)
        item = _read_element(memory, type_code, position, element)
        if item is _UNREAD:
            found = _value_of(element)
            if found[0] == _UNSET:
                return False
            item = take(found, element)
        if item is value or item == value:
            return True
    return False


def _index(type_code: int) -> Maker:
    def make(shared: Method) -> Method:
        def index(self: Any = GIVEN, value: Any = GIVEN, /, *bounds: Any, **named: Any) -> Any:
            keep: list[Any] = []
            packed = pack_compared(value, keep)
            found = -1
            if packed is not None and len(bounds) <= 2 and not named:
                start, stop = bounds + (0, MOST)[len(bounds) :]
                if type(start) is int and type(stop) is int and 0 <= start <= MOST and 0 <= stop <= MOST:
                    size = len(packed) // VALUE_SIZE
                    try:
                        found = _find_element(memory_of(self), type_code, packed, size, start, stop)
                    except (AttributeError, TypeError):
                        found = -1
                    if found == -3:
                        raise_taken()
            # For an absent value, the shared method raises the interpreter's own message.
            return call_shared(shared, self, value, *bounds, **named) if found < 0 else found

        return index

    return make


def _count(type_code: int) -> Maker:
    def make(shared: Method) -> Method:
        def count(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_compared(value, keep)
            found = -1
            if packed is not None and not rest:
                size = len(packed) // VALUE_SIZE
                try:
                    found = _count_elements(memory_of(self), type_code, packed, size)
                except (AttributeError, TypeError):
                    found = -1
                if found == -2:
                    raise_taken()
            return call_shared(shared, self, value, *rest) if found < 0 else found

        return count

    return make


# ---- operators --------------------------------------------------------------------------------------


def _comparisons(type_code: int) -> dict[str, Maker]:
    def decide(operation: Method, self: Any, other: Any, position: int) -> int:
        is_known = type(other) is plain_class or is_exactly(other, type_code, _SHAPE)
        if not is_known or not is_exactly(self, type_code, _SHAPE):
            return -1
        need_stack()
        return bool(operation(self[position], other[position]))

    plain_class = list if type_code == _LIST else tuple

    def compare_plain(self: Any, other: Any, operation: int) -> int:
        if type(other) is not plain_class:
            return -1
        keep: list[Any] = []
        # A copy of the list, since another thread may change it.
        values = write_plain(other, keep)
        created = create_reference(other, keep) if values is None else None
        try:
            if created is not None:
                return _compare(memory_of(self), created, type_code, operation)  # type: ignore[no-any-return]
            if values is None:
                return -1
            return _compare_values(memory_of(self), values, len(values) // VALUE_SIZE, type_code, operation)  # type: ignore[no-any-return]
        except (AttributeError, TypeError):
            return -1

    operations = ("lt", "le", "eq", "ne", "gt", "ge")
    return {
        f"__{name}__": comparison(
            type_code, f"__{name}__", partial(decide, getattr(operator, name)), compare_plain
        )
        for name in operations
    }


def _concatenation(type_code: int, *, is_reflected: bool = False) -> Maker:
    """Return a factory of `+` with a sequence of the same type, or with Python's own."""
    plain_class, like = list if type_code == _LIST else tuple, _LIKE[type_code]

    def concat(self: Any, other: Any, made_code: int, made: Any) -> int:
        if type(other) is not plain_class:
            both = (other, self) if is_reflected else (self, other)
            return _concat(*map(memory_of, both), made_code, made)  # type: ignore[no-any-return]
        keep: list[Any] = []
        if made_code == _SHAPE and not are_extents(other):
            return 0
        recipe = write_container(other, keep, whole=False)
        if recipe is None:
            return 0
        size = len(recipe) // VALUE_SIZE - 1  # without the step of the list or tuple itself
        return _concat_values(memory_of(self), recipe, size, made_code, is_reflected, made)  # type: ignore[no-any-return]

    def make(shared: Method) -> Method:
        def add(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            # Not a generator: if there is no memory to close one, CPython leaks its references.
            made_code = None
            for each in like:
                if is_exactly(self, each):
                    made_code = each
                    break
            is_known = type(other) is plain_class or (made_code is not None and is_exactly(other, made_code))
            if made_code is not None and is_known and not rest and not named:
                made = OwnedValue(VALUE_SIZE)
                status = concat(self, other, made_code, made)
                if status == 1:
                    return wrap_owned(_value_of(made), made)
                if status == -1:
                    raise_taken()
            return call_shared(shared, self, other, *rest, **named)

        return add

    return make


def _repetition(type_code: int) -> Maker:
    function = runtime_function("Sequence.repeat")

    def make(shared: Method) -> Method:
        def repeat(self: Any = GIVEN, times: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            is_count = type(times) is int and -MOST <= times <= MOST
            if not is_count or rest or named or not is_exactly(self, *_LIKE[type_code]):
                return call_shared(shared, self, times, *rest, **named)
            return invoke(function, memory_of(self), None, _value(_INT, 0, times))

        return repeat

    return make


# ---- hashes -----------------------------------------------------------------------------------------


def _hash(shared: Method) -> Method:
    def hash_(self: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
        items = _read_scalars(self) if is_exactly(self, _ARRAY, _SHAPE) and not rest and not named else None
        return call_shared(shared, self, *rest, **named) if items is None else hash(items)

    return hash_


def _read_scalars(array: Any) -> tuple[Any, ...] | None:
    """Return the elements of an Array, and of Arrays in it, if hashing them runs no users' code."""
    items = read_immutable(unwrap(array))
    if items is not None:
        return tuple(map(hashable, items))
    flat = OwnedValue(VALUE_SIZE)
    width = _flatten(memory_of(array), _ARRAY, flat)
    if width < 0:
        raise_taken()
    cells = read_immutable(_value_of(flat)[2]) if width else None
    return None if cells is None else tuple(zip(*[iter(map(hashable, cells))] * width))


# ---- by class ---------------------------------------------------------------------------------------


def _methods(type_code: int) -> dict[str, Maker]:
    return {
        **construction(type_code),
        "__iter__": iterating(_LIKE[type_code], iterate_sequence),
        "__len__": size_of(type_code),
        "__getitem__": _item_of(type_code),
        "__contains__": _contains(type_code),
        "__add__": _concatenation(type_code),
        "__radd__": _concatenation(type_code, is_reflected=True),
        "__mul__": _repetition(type_code),
        "__rmul__": _repetition(type_code),
        "index": _index(type_code),
        "count": _count(type_code),
        **_comparisons(type_code),
    }


#: The class with the shared methods of Array, which those of Shape call.
_of_array: list[type] = []


def array_methods(methods: type) -> dict[str, Method]:
    _of_array[:] = [*methods.__mro__, ArrayCore]
    makers = {**_methods(_ARRAY), "__hash__": _hash, "thaw": changing("container.thaw", _ARRAY, _SHAPE)}
    return make_methods(makers, *methods.__mro__, ArrayCore)


def shape_methods(methods: type) -> dict[str, Method]:
    """Return the methods that differ from those of Array, from which Shape derives."""
    made = make_methods(construction(_SHAPE), *_of_array)
    made["__init__"].__qualname__ = "Shape.__init__"  # as pickles name it
    del made["__hash__"]
    return made


def list_methods(methods: type) -> dict[str, Method]:
    return make_methods({**_methods(_LIST), **list_changes()}, *methods.__mro__, ListCore)
