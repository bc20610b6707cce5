"""Fast versions of the methods that change a List; see methods.py."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, library, platform
from .known import as_number, pack_compared, pack_known
from .mappings import ABSENT
from .methods import (
    GIVEN,
    MOST,
    REFUSED,
    Maker,
    Method,
    call_shared,
    changing,
    invoke,
    is_exactly,
    pop_from,
    runtime_function,
)
from .owned import release
from .scalars import NONE
from .unpack import raise_taken
from .wrapper import memory_of

__all__ = ["list_changes", "pack_slice"]

_INT, _LIST, _ARRAY, _SHAPE = code.INT, code.LIST, code.ARRAY, code.SHAPE
_INT64_MAX = 2**63 - 1
_value = VALUE.pack
_set_element = platform.plain(library.wrapper_set_element)
_erase_element = platform.plain(library.wrapper_erase_element)
_find_element = platform.plain(library.wrapper_find_element)


def pack_slice(which: slice) -> bytes | None:
    """Pack the parts of a slice of ints and None; None for others, and for a step of zero."""
    start, stop, step = which.start, which.stop, which.step
    if type(step) is int and step == 0:
        return None
    packed = NONE
    for part in (start, stop, step) if step is not None else (start, stop):
        if part is None:
            packed += NONE
        elif type(part) is int and -_INT64_MAX <= part <= _INT64_MAX:
            packed += _value(_INT, 0, part)
        else:
            return None
    return packed[VALUE_SIZE:] if step is not None else packed[VALUE_SIZE:] + NONE


def _is_index(x: Any) -> bool:
    return type(x) is int and -MOST <= x <= MOST


def _pack_elements(x: Any, keep: list[Any]) -> bytes | None:
    """Pack a list, tuple or sequence of the runtime for `extend`; None for other arguments."""
    cls = type(x)
    is_known = cls is list or cls is tuple or is_exactly(x, _LIST, _ARRAY, _SHAPE)
    return pack_known(x, keep) if is_known else None


def _set_item(shared: Method) -> Method:
    set_slice = runtime_function("List.set_slice")

    def set_item(self: Any = GIVEN, key: Any = GIVEN, item: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        keep: list[Any] = []
        index = key if type(key) is int or type(key) is slice else as_number(key)
        if type(index) is int and -MOST <= index <= MOST and not rest and not named:
            packed = pack_known(item, keep)
            if packed is not None:
                try:
                    found = _set_element(memory_of(self), index, packed, len(packed) // VALUE_SIZE)
                except (AttributeError, TypeError):
                    found = 0
                if found == 1:
                    return
                if found < 0:
                    raise_taken()
        elif type(key) is slice and not rest and not named and is_exactly(self, _LIST):
            packed, bounds = _pack_elements(item, keep), pack_slice(key)
            if packed is not None and bounds is not None:
                invoke(set_slice, memory_of(self), None, packed + bounds)
                return
        call_shared(shared, self, key, item, *rest, **named)

    return set_item


def _delete_item(shared: Method) -> Method:
    erase_slice = runtime_function("List.erase_slice")

    def delete_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        index = as_number(key)
        if _is_index(index) and not rest and not named:
            try:
                found = _erase_element(memory_of(self), index)
            except (AttributeError, TypeError):
                found = 0
            if found == 1:
                return
            if found < 0:
                raise_taken()
        elif type(key) is slice and not rest and not named and is_exactly(self, _LIST):
            bounds = pack_slice(key)
            if bounds is not None:
                invoke(erase_slice, memory_of(self), None, bounds)
                return
        call_shared(shared, self, key, *rest, **named)

    return delete_item


def _append(shared: Method) -> Method:
    function = runtime_function("List.append")

    def append(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> None:
        keep: list[Any] = []
        packed = pack_known(value, keep) if is_exactly(self, _LIST) and not rest else None
        if packed is None:
            return call_shared(shared, self, value, *rest)  # type: ignore[no-any-return]
        return invoke(function, memory_of(self), None, packed)  # type: ignore[no-any-return]

    return append


def _insert(shared: Method) -> Method:
    function = runtime_function("List.insert")

    def insert(self: Any = GIVEN, index: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> None:
        keep: list[Any] = []
        is_frequent = _is_index(index) and not rest and is_exactly(self, _LIST)
        packed = pack_known(value, keep) if is_frequent else None
        if packed is None:
            return call_shared(shared, self, index, value, *rest)  # type: ignore[no-any-return]
        return invoke(function, memory_of(self), None, _value(_INT, 0, index) + packed)  # type: ignore[no-any-return]

    return insert


_LAST = _value(_INT, 0, -1)


def _pop(shared: Method) -> Method:
    def pop(self: Any = GIVEN, index: Any = GIVEN, /, *rest: Any) -> Any:
        if index is GIVEN and self is not GIVEN:
            index = -1
        if _is_index(index) and not rest and is_exactly(self, _LIST):
            popped = pop_from(memory_of(self), _LIST, _LAST if index == -1 else _value(_INT, 0, index), 1)
            if popped is not ABSENT and popped is not REFUSED:
                return popped
        return call_shared(shared, self, index, *rest)

    return pop


def _extend(shared: Method) -> Method:
    """Return a factory of `extend`, or of `+=`, which returns the list."""
    function = runtime_function("List.extend")
    is_operator = shared.__name__ == "__iadd__"

    def extend(self: Any = GIVEN, iterable: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
        keep: list[Any] = []
        is_frequent = is_exactly(self, _LIST) and not rest and not named
        packed = _pack_elements(iterable, keep) if is_frequent else None
        if packed is None:
            return call_shared(shared, self, iterable, *rest, **named)
        invoke(function, memory_of(self), None, packed)
        return self if is_operator else None

    return extend


def _keep(value: tuple[int, int, int], owner: Any) -> Any:
    return owner


def _repeat(shared: Method) -> Method:
    repeat_sequence, function = runtime_function("Sequence.repeat"), runtime_function("List.extend")

    def repeat(self: Any = GIVEN, times: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
        if not _is_index(times) or times < 1 or rest or named or not is_exactly(self, _LIST):
            return call_shared(shared, self, times, *rest, **named)
        memory = memory_of(self)
        more = invoke(repeat_sequence, memory, None, _value(_INT, 0, times - 1), _keep)
        try:
            invoke(function, memory, None, bytes(more))
        finally:
            release(more)
        return self

    return repeat


def _remove(shared: Method) -> Method:
    def remove(self: Any = GIVEN, value: Any = GIVEN, /, *rest: Any) -> None:
        keep: list[Any] = []
        packed = pack_compared(value, keep) if is_exactly(self, _LIST) and not rest else None
        if packed is not None:
            memory = memory_of(self)
            found = _find_element(memory, _LIST, packed, len(packed) // VALUE_SIZE, 0, MOST)
            if found == -3:
                raise_taken()
            if found >= 0 and _erase_element(memory, found) == 1:
                return
        call_shared(shared, self, value, *rest)

    return remove


def list_changes() -> dict[str, Maker]:
    """Return the factories of the methods, by name."""
    return {
        "__delitem__": _delete_item,
        "__iadd__": _extend,
        "__imul__": _repeat,
        "__setitem__": _set_item,
        "append": _append,
        "clear": changing("List.clear", _LIST),
        "copy": changing("container.copy", _LIST),
        "extend": _extend,
        "freeze": changing("container.freeze", _LIST),
        "insert": _insert,
        "pop": _pop,
        "remove": _remove,
        "reverse": changing("List.reverse", _LIST),
    }
