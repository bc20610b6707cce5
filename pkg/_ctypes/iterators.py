"""Iterators over containers, each step of which is a call of the runtime, and over objects of C++ classes."""

from __future__ import annotations

import struct

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import ITEMS, KEYS
from .._rules.internal import MISSING
from .._rules.slots import document_slot
from .._typing import TYPE_CHECKING, Any, NoReturn
from .abi import VALUE, VALUE_SIZE, library, platform
from .containers import unwrap_as
from .owned import OwnedValue, cells
from .structs import Mapping, Sequence
from .unpack import take
from .wrapper import ObjectCore, memory_of, refer, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ElementIterator",
    "EntryIterator",
    "SequenceIterator",
    "copy_iterator",
    "iterate_elements",
    "iterate_entries",
    "iterate_sequence",
]

_value_of = VALUE.unpack
_UNSET = code.UNSET
_pop_cell, _push_cell = cells.pop, cells.append
#: Whether the runtime can read wrappers.
_can_read_wrappers = bool(platform.retain)
_open = platform.plain(library.cursor_open)
_read_element = platform.reader(library.cursor_read_element)
_read_entry = platform.reader(library.cursor_read_entry)
_UNREAD = platform.UNREAD
#: An AnyffiCursor: object, wrapper, index, number of entries, entries left, type code, step.
_CURSOR = struct.Struct("=QQqqqii")
_CURSOR_SIZE = _CURSOR.size
#: The status of `anyffi_cursor_next_entry` if the size of the mapping changed, and if keys were exchanged.
_OTHER_SIZE, _OTHER_KEYS = -2, -3


def _point(container: Any, address: int | None, step: int) -> Any:
    """Return a cursor, to which C code writes, at the beginning of a container, whose address may be given.

    It refers to the wrapper, if the runtime can read wrappers, because the garbage collector may clear that
    first.
    """
    cursor = platform.memory(_CURSOR_SIZE)
    if address is None and _can_read_wrappers:
        _open(cursor, memory_of(container), step)
        return cursor
    is_readable = _can_read_wrappers and issubclass(type(container), ObjectCore)
    address = unwrap(container) if address is None else address
    _open(cursor, refer(address, id(container) if is_readable else 0), step)
    return cursor


def _moved(cursor: Any, *, index: int | None = None, size: int | None = None) -> Any:
    """Return a copy of a cursor with another position or another number of entries."""
    address, wrapper, at, entries, left, type_code, step = _CURSOR.unpack(cursor)
    index, size = at if index is None else index, entries if size is None else size
    return platform.memory(_CURSOR.pack(address, wrapper, index, size, left, type_code, step))


def copy_iterator(iterator: Any) -> Any:
    """Copy an iterator over a container, at its position."""
    cls: Any = type(iterator)
    made = cls.__new__(cls)
    for name in cls.__slots__:
        setattr(made, name, getattr(iterator, name))
    made._cursor = _moved(iterator._cursor)
    return made


#: Methods that are not slots of a C class.
_METHODS = ("__length_hint__", "__reduce__", "__setstate__")


def _refusal(cls: type, name: str, self: Any, rest: tuple[Any, ...]) -> TypeError:
    """Return the error of a special method for wrong positional arguments."""
    args = () if self is MISSING else (self, *rest)
    return rules.slot_refusal(cls, f"anyffi.{cls.__name__}", name, 0, args, {})


@platform.final
@rules.checks_self("anyffi.SequenceIterator", slots=True, only=("__iter__", *_METHODS), methods_in_c=_METHODS)
class SequenceIterator:
    """Iterates by index, as the iterator of `list` does, and so sees changes."""

    __slots__ = ("_cursor", "_sequence", "_step")
    __module__ = "anyffi"

    if TYPE_CHECKING:
        _sequence: ObjectCore | None
        _step: int
        _cursor: Any

    def __new__(*args: Any, **kwargs: Any) -> Any:
        made = object.__new__(args[0])
        made._sequence, made._step, made._cursor = None, 1, platform.memory(_CURSOR_SIZE)
        return made

    def __init__(self: Any = MISSING, /, *args: object, **kwargs: object) -> None:
        if type(self) is not SequenceIterator:
            raise _refusal(SequenceIterator, "__init__", self, ())
        rules.refuse_iterator("SequenceIterator")

    def _size(self) -> int:
        sequence = self._sequence  # held, since another thread may end the iteration meanwhile
        if sequence is None:
            return 0
        type_code = _CURSOR.unpack(self._cursor)[5]
        return int(Sequence.from_address(unwrap_as(sequence, type_code)).size)

    def _index(self) -> int:
        index: int = _CURSOR.unpack(self._cursor)[2]
        return index

    def __iter__(self) -> SequenceIterator:
        return self

    def __next__(self: Any = MISSING, /, *rest: Any) -> Any:
        # Not with `checks_self`, which would cost another call.
        try:
            sequence = self._sequence  # another thread may end the iteration meanwhile
        except AttributeError:
            raise _refusal(SequenceIterator, "__next__", self, rest) from None
        if rest:
            raise _refusal(SequenceIterator, "__next__", self, rest)
        if sequence is None:
            raise StopIteration
        try:
            element = _pop_cell() if cells else OwnedValue(VALUE_SIZE)
        except IndexError:
            element = OwnedValue(VALUE_SIZE)  # another thread took the last one
        found = _read_element(self._cursor, element)
        if found is not _UNREAD:
            _push_cell(element)
            return found
        value = _value_of(element)
        if value[0] == _UNSET:
            # An exhausted iterator stays exhausted.
            self._sequence = None
            raise StopIteration
        return take(value, element)

    def __length_hint__(self, /) -> int:
        index, size = self._index(), self._size()
        if self._step > 0:
            return max(size - index, 0)
        return index + 1 if index < size else 0

    def __reduce__(self, /) -> tuple[Any, ...]:
        return rules.reduce_iterator(self._sequence, self._index(), self._step)

    def __setstate__(self, index: int, /) -> None:
        self._cursor = _moved(self._cursor, index=rules.clip_index(index, self._size(), self._step))


_new = object.__new__


def iterate_sequence(
    sequence: ObjectCore, address: int | None = None, backwards: bool = False
) -> SequenceIterator:
    """Return an iterator over an Array or a List, whose address may be given."""
    made = _new(SequenceIterator)
    made._sequence = sequence
    made._step = step = -1 if backwards else 1
    made._cursor = _point(sequence, address, step)
    return made


@platform.final
@rules.checks_self("anyffi.EntryIterator", slots=True, only=("__iter__", *_METHODS), methods_in_c=_METHODS)
class EntryIterator:
    """Iterates over entries in either direction; detects the same changes as Python's iterators."""

    __slots__ = ("_container", "_cursor", "_what")
    __module__ = "anyffi"

    if TYPE_CHECKING:
        _container: ObjectCore | None
        _what: int
        _cursor: Any

    def __new__(*args: Any, **kwargs: Any) -> Any:
        made = object.__new__(args[0])
        made._container, made._what, made._cursor = None, KEYS, platform.memory(_CURSOR_SIZE)
        return made

    def __init__(self: Any = MISSING, /, *args: object, **kwargs: object) -> None:
        if type(self) is not EntryIterator:
            raise _refusal(EntryIterator, "__init__", self, ())
        rules.refuse_iterator("EntryIterator")

    def __iter__(self) -> EntryIterator:
        return self

    def __next__(self: Any = MISSING, /, *rest: Any) -> Any:
        try:
            container = self._container
        except AttributeError:
            raise _refusal(EntryIterator, "__next__", self, rest) from None
        if rest:
            raise _refusal(EntryIterator, "__next__", self, rest)
        if container is None:
            raise StopIteration
        what = self._what
        try:
            part = _pop_cell() if cells else OwnedValue(VALUE_SIZE)
        except IndexError:
            part = OwnedValue(VALUE_SIZE)  # another thread took the last one
        item = OwnedValue(VALUE_SIZE) if what == ITEMS else None
        found = _read_entry(self._cursor, what, part, item)
        if found is not _UNREAD:
            if item is None or (found[0] is not _UNREAD and found[1] is not _UNREAD):
                _push_cell(part)
                return found
            key, content = found
            return (
                take(_value_of(part), part) if key is _UNREAD else key,
                take(_value_of(item), item) if content is _UNREAD else content,
            )
        value = _value_of(part)
        if value[0] == _UNSET:
            self._stop(value[2])
        key = take(value, part)
        return key if item is None else (key, take(_value_of(item), item))

    def _stop(self, found: int) -> NoReturn:
        """Raise the exception that ends the iteration."""
        if found == _OTHER_SIZE:
            # The error is raised again at every further step.
            self._cursor = _moved(self._cursor, size=_OTHER_SIZE)
            raise rules.changed_size(self._what)
        self._container = None
        if found == _OTHER_KEYS:
            raise rules.changed_keys()
        raise StopIteration

    def __length_hint__(self, /) -> int:
        container = self._container
        _, _, _, size, left, type_code, _ = _CURSOR.unpack(self._cursor)
        if container is None or Mapping.from_address(unwrap_as(container, type_code)).size != size:
            return 0
        return max(int(left), 0)

    def __reduce__(self, /) -> tuple[Any, ...]:
        return iter, (list(copy_iterator(self)),)


def iterate_entries(
    container: ObjectCore, address: int | None, what: int, backwards: bool = False
) -> EntryIterator:
    """Return an iterator over a mapping or a set, whose address may be given."""
    made = _new(EntryIterator)
    made._container = container
    made._what = what
    made._cursor = _point(container, address, -1 if backwards else 1)
    return made


@platform.final
@rules.checks_self(
    "anyffi.ElementIterator", slots=True, only=("__iter__", "__reduce__"), methods_in_c=("__reduce__",)
)
class ElementIterator:
    """Iterates over an object of a C++ class, using a function that returns one element per call."""

    __slots__ = ("_get_next",)
    __module__ = "anyffi"

    if TYPE_CHECKING:
        _get_next: Callable[[], Any] | None

    def __new__(*args: Any, **kwargs: Any) -> Any:
        made = object.__new__(args[0])
        made._get_next = None
        return made

    def __init__(self: Any = MISSING, /, *args: object, **kwargs: object) -> None:
        if type(self) is not ElementIterator:
            raise _refusal(ElementIterator, "__init__", self, ())
        rules.refuse_iterator("ElementIterator")

    def __iter__(self) -> ElementIterator:
        return self

    def __next__(self: Any = MISSING, /, *rest: Any) -> Any:
        try:
            get_next = self._get_next
        except AttributeError:
            raise _refusal(ElementIterator, "__next__", self, rest) from None
        if rest:
            raise _refusal(ElementIterator, "__next__", self, rest)
        if get_next is None:
            raise StopIteration
        element = get_next()
        if element is MISSING:
            self._get_next = None
            raise StopIteration
        return element

    def __reduce__(self, /) -> NoReturn:
        raise rules.no_pickle("ElementIterator")


# Methods that `checks_self` does not cover.
for _cls in (SequenceIterator, EntryIterator, ElementIterator):
    for _name in ("__init__", "__next__"):
        document_slot(getattr(_cls, _name), _name)
    _make: Any = _cls.__new__
    # With the parameters of `object.__new__`, which `inspect` shows.
    _make.__annotations__, _make.__doc__ = {}, object.__new__.__doc__


def iterate_elements(get_next: Callable[[], Any]) -> ElementIterator:
    """Return an iterator over the results of a function, until it returns MISSING."""
    made = _new(ElementIterator)
    made._get_next = get_next
    return made
