"""The frequent methods of Array and List, as methods.py describes them."""

from __future__ import annotations

import operator
from functools import partial

from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .methods import (
    GIVEN,
    MOST,
    call_shared,
    comparison,
    invoke,
    is_exactly,
    make_methods,
    pack_plain,
    runtime_function,
    size_of,
)
from .owned import OwnedValue
from .recipe import write_exact
from .sequences import ArrayCore, ListCore
from .unpack import raise_taken, take
from .wrapper import memory_of

__all__ = ["array_methods", "list_methods"]

_INT, _ARRAY, _LIST, _SHAPE = code.INT, code.ARRAY, code.LIST, code.SHAPE
_value = VALUE.pack
_value_of = VALUE.unpack
_get_element = platform.plain(library.wrapper_get_element)
_set_element = platform.plain(library.wrapper_set_element)
_find_element = platform.plain(library.wrapper_find_element)
_count_elements = platform.plain(library.wrapper_count_elements)
_compare_values = platform.plain(library.wrapper_compare_values)
_INT64_MAX = 2**63 - 1

_Method = Callable[..., Any]
_Maker = Callable[[_Method], _Method]


def _item_of(type_code: int) -> _Maker:
    slice_sequence = runtime_function("Sequence.slice")

    def make(shared: _Method) -> _Method:
        def get_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if type(key) is int and -MOST <= key <= MOST:
                element = OwnedValue(VALUE_SIZE)
                try:
                    found = _get_element(memory_of(self), type_code, key, element)
                except (AttributeError, TypeError):
                    found = 0
                if found == 1 and not rest and not named:
                    value = _value_of(element)
                    return value[2] if value[0] == _INT else take(value, element)
            elif type(key) is slice and not rest and not named:
                bounds = _pack_slice(key)
                if bounds is not None and is_exactly(self, type_code):
                    return invoke(slice_sequence, memory_of(self), None, bounds, 3)
            return call_shared(shared, self, key, *rest, **named)

        return get_item

    return make


def _pack_slice(which: slice) -> bytes | None:
    """Pack the parts of a slice of ints and None; None for others."""
    parts = []
    for part in (which.start, which.stop, which.step):
        if part is not None and (type(part) is not int or not -_INT64_MAX <= part <= _INT64_MAX):
            return None
        parts.append(_value(_INT, 0, part) if part is not None else bytes(VALUE_SIZE))
    return b"".join(parts)


def _set_item(shared: _Method) -> _Method:
    def set_item(self: Any = GIVEN, key: Any = GIVEN, item: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        if type(key) is int and -MOST <= key <= MOST and not rest and not named:
            keep: list[Any] = []
            packed = pack_plain(item, keep)
            if packed is not None:
                try:
                    found = _set_element(memory_of(self), key, packed)
                except (AttributeError, TypeError):
                    found = 0
                if found == 1:
                    return
                if found < 0:
                    raise_taken()
        call_shared(shared, self, key, item, *rest, **named)

    return set_item


def _contains(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def contains(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(value, keep)
            found = -2
            if packed is not None and not rest:
                try:
                    found = _find_element(memory_of(self), type_code, packed, 0, -1)
                except (AttributeError, TypeError):
                    found = -2
            return call_shared(shared, self, value, *rest) if found < -1 else found >= 0

        return contains

    return make


def _index(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def index(self: Any = GIVEN, value: Any = GIVEN, /, *bounds: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(value, keep)
            found = -1
            if packed is not None and len(bounds) <= 2:
                start, stop = bounds + (0, MOST)[len(bounds) :]
                if type(start) is int and type(stop) is int and 0 <= start <= MOST and 0 <= stop <= MOST:
                    try:
                        found = _find_element(memory_of(self), type_code, packed, start, stop)
                    except (AttributeError, TypeError):
                        found = -1
            # An absent value takes the interpreter's own message.
            return call_shared(shared, self, value, *bounds) if found < 0 else found

        return index

    return make


def _count(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def count(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(value, keep)
            found = -1
            if packed is not None and not rest:
                try:
                    found = _count_elements(memory_of(self), type_code, packed)
                except (AttributeError, TypeError):
                    found = -1
            return call_shared(shared, self, value, *rest) if found < 0 else found

        return count

    return make


def _comparisons(type_code: int) -> dict[str, _Maker]:
    def decide(operation: _Method, self: Any, other: Any, position: int) -> int:
        is_known = type(other) is plain_class or is_exactly(other, type_code)
        if not is_known or not is_exactly(self, type_code):
            return -1
        return bool(operation(self[position], other[position]))

    plain_class = list if type_code == _LIST else tuple

    def compare_plain(self: Any, other: Any, operation: int) -> int:
        keep: list[Any] = []
        # The copy too: another thread may change the list.
        values = write_exact(other, keep) if type(other) is plain_class else None
        if values is None:
            return -1
        try:
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


def _methods(type_code: int) -> dict[str, _Maker]:
    return {
        "__len__": size_of(type_code),
        "__getitem__": _item_of(type_code),
        "__contains__": _contains(type_code),
        "index": _index(type_code),
        "count": _count(type_code),
        **_comparisons(type_code),
    }


# ---- changes of a List ------------------------------------------------------------------------------


def _append(shared: _Method) -> _Method:
    function = runtime_function("List.append")

    def append(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> None:
        keep: list[Any] = []
        packed = pack_plain(value, keep)
        if packed is None or rest or not is_exactly(self, _LIST):
            return call_shared(shared, self, value, *rest)  # type: ignore[no-any-return]
        return invoke(function, memory_of(self), None, packed, 1)  # type: ignore[no-any-return]

    return append


def _insert(shared: _Method) -> _Method:
    function = runtime_function("List.insert")

    def insert(self: Any = GIVEN, index: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> None:
        keep: list[Any] = []
        packed = pack_plain(value, keep)
        is_frequent = type(index) is int and -MOST <= index <= MOST and not rest
        if packed is None or not is_frequent or not is_exactly(self, _LIST):
            return call_shared(shared, self, index, value, *rest)  # type: ignore[no-any-return]
        return invoke(function, memory_of(self), None, _value(_INT, 0, index) + packed, 2)  # type: ignore[no-any-return]

    return insert


_LAST = _value(_INT, 0, -1)


def _pop(shared: _Method) -> _Method:
    function = runtime_function("List.pop")

    def pop(self: Any = GIVEN, index: Any = GIVEN, /, *rest: Any) -> Any:
        if index is GIVEN and self is not GIVEN:
            index = -1
        if type(index) is not int or not -MOST <= index <= MOST or rest or not is_exactly(self, _LIST):
            return call_shared(shared, self, index, *rest)
        return invoke(function, memory_of(self), None, _LAST if index == -1 else _value(_INT, 0, index), 1)

    return pop


def _extend(shared: _Method) -> _Method:
    function = runtime_function("List.extend")

    def extend(self: Any = GIVEN, iterable: Any = GIVEN, /, *rest: Any) -> Any:
        if rest or not is_exactly(self, _LIST) or not is_exactly(iterable, _LIST, _ARRAY, _SHAPE):
            return call_shared(shared, self, iterable, *rest)
        return invoke(function, memory_of(self), memory_of(iterable))

    return extend


def array_methods(methods: type) -> dict[str, _Method]:
    return make_methods(_methods(_ARRAY), *methods.__mro__, ArrayCore)


def list_methods(methods: type) -> dict[str, _Method]:
    makers = {
        **_methods(_LIST),
        "__setitem__": _set_item,
        "append": _append,
        "extend": _extend,
        "insert": _insert,
        "pop": _pop,
    }
    return make_methods(makers, *methods.__mro__, ListCore)
