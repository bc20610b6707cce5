"""Wrappers of sequences: Array and List."""

from __future__ import annotations

import sys
from ctypes import c_int32, string_at

from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import checks_self
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, Header, Sequence, address_of, library, platform, translates_errors
from .containers import unwrap_as
from .owned import OwnedValue, release
from .pack import pack_borrowed
from .stepping import is_stepping
from .unpack import raise_taken, take, unpack
from .wrapper import ObjectCore, refer, unwrap

__all__ = ["ArrayCore", "ListCore", "SequenceIterator", "find_value", "get_item", "list_items"]

_value_of = VALUE.unpack
_sequence_get = library.sequence_get
_get_element = platform.plain(library.wrapper_get_element)
_UNSET, _INT = code.UNSET, code.INT
#: The highest index: elements take 16 bytes each, so that no List in memory has more.
_MOST = 2**31 - 1


def _size_of(address: int) -> int:
    return int(Sequence.from_address(address).size)


def get_item(self: Any, type_code: int, key: Any) -> Any:
    if type(key) is slice:
        return self._slice(key)
    index = key if type(key) is int and -sys.maxsize <= key <= sys.maxsize else rules.as_index(self, key)
    address = unwrap_as(self, type_code)
    if index < 0:
        index += _size_of(address)
    element = OwnedValue(VALUE_SIZE)
    value = None
    try:
        _sequence_get(address, index, element)
        value = _value_of(element)
        if value[0] == _UNSET:
            raise rules.index_out_of_range(self)
        return unpack(value)
    finally:
        # Inline values need no release, which takes as long as reading one.
        if value is None or value[0] > 0:
            release(element)


def list_items(address: int) -> list[Any]:
    """Return all elements of a sequence.

    Where reading them runs no other code, from a copy: a call for each would take five times as long.
    """
    if is_stepping() or not rules.holds_scalars(Sequence.from_address(address).type_mask):
        return _list_one_by_one(address)
    copy = OwnedValue(VALUE_SIZE)
    try:
        if library.sequence_slice(address, code.ARRAY, 0, 1, sys.maxsize, copy) != 0:
            raise_taken()
        array = Sequence.from_address(_value_of(copy)[2])
        cells = VALUE.iter_unpack(string_at(array.data, VALUE_SIZE * array.size))
        # Ints are the most frequent.
        return [value[2] if value[0] == _INT else unpack(value) for value in cells]
    finally:
        release(copy)


def _list_one_by_one(address: int) -> list[Any]:
    items: list[Any] = []
    element = OwnedValue(VALUE_SIZE)
    while True:
        try:
            _sequence_get(address, len(items), element)
            value = _value_of(element)
            if value[0] == _UNSET:
                return items
            items.append(unpack(value))
        finally:
            release(element)


#: Types whose values compare with numbers and text in the runtime.
_COMPARED = (int, str, float, bytes, bool, type(None))


def find_value(self: Any, type_code: int, value: Any, start: int, stop: int) -> int:
    """Find a value among the elements from `start` to below `stop`; -1 if it is absent."""
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(value, keep) if type(value) in _COMPARED else None
    is_equal = c_int32()
    position = start
    element = OwnedValue(VALUE_SIZE)
    try:
        while True:
            if packed is not None:
                position = library.sequence_find(address, packed, position, stop, address_of(is_equal))
                if position < 0 or is_equal.value == 1:
                    return int(position)
            elif position >= stop:
                return -1
            library.sequence_get(address, position, element)
            found = _value_of(element)
            if found[0] == code.UNSET:
                return -1
            item = unpack(found)
            release(element)
            if item is value or item == value:
                return position
            position += 1
    finally:
        release(element)
        if packed is not None and type(packed) is not bytes:
            release(packed)


@checks_self("anyffi.Array", slots=True)
class ArrayCore(ObjectCore):
    """The wrapper of an Array."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _size_of(unwrap_as(self, code.ARRAY))

    @translates_errors
    def __getitem__(self, key: Any) -> Any:
        return get_item(self, code.ARRAY, key)

    @translates_errors
    def __iter__(self) -> SequenceIterator:
        return SequenceIterator(self, unwrap_as(self, code.ARRAY), False)

    @translates_errors
    def _iterate(self, backwards: bool) -> SequenceIterator:
        return SequenceIterator(self, unwrap_as(self, code.ARRAY), backwards)

    @translates_errors
    def _items(self) -> list[Any]:
        return list_items(unwrap_as(self, code.ARRAY))

    @translates_errors
    def _find(self, value: Any, start: int, stop: int) -> int:
        return find_value(self, code.ARRAY, value, start, stop)

    def _type_mask(self) -> int:
        return int(Sequence.from_address(unwrap_as(self, code.ARRAY)).type_mask)


@checks_self("anyffi.List", slots=True)
class ListCore(ObjectCore):
    """The wrapper of a List."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _size_of(unwrap_as(self, code.LIST))

    @translates_errors
    def __getitem__(self, key: Any) -> Any:
        return get_item(self, code.LIST, key)

    @translates_errors
    def __setitem__(self, key: Any, item: Any) -> None:
        if type(key) is slice:
            self._set_slice(key, item)  # type: ignore[attr-defined]
            return
        index = self._find_position(key)
        keep: list[Any] = []
        packed = pack_borrowed(item, keep)
        try:
            # Packing may have run code that changed the list.
            self._check_position(index)
            if library.sequence_set(unwrap(self), index, packed) != 0:
                raise_taken()
        finally:
            if type(packed) is not bytes:
                release(packed)

    @translates_errors
    def __delitem__(self, key: Any) -> None:
        if type(key) is slice:
            self._delete_slice(key)  # type: ignore[attr-defined]
        elif library.sequence_erase(unwrap(self), self._find_position(key), 1) != 0:
            raise_taken()

    @translates_errors
    def __iter__(self) -> SequenceIterator:
        return SequenceIterator(self, unwrap_as(self, code.LIST), False)

    @translates_errors
    def _iterate(self, backwards: bool) -> SequenceIterator:
        return SequenceIterator(self, unwrap_as(self, code.LIST), backwards)

    @translates_errors
    def _items(self) -> list[Any]:
        return list_items(unwrap_as(self, code.LIST))

    @translates_errors
    def _find(self, value: Any, start: int, stop: int) -> int:
        return find_value(self, code.LIST, value, start, stop)

    def _type_mask(self) -> int:
        return int(Sequence.from_address(unwrap_as(self, code.LIST)).type_mask)

    def _find_position(self, key: Any) -> int:
        """Return the non-negative position for an index."""
        index = rules.as_index(self, key)
        if index < 0:
            index += _size_of(unwrap_as(self, code.LIST))
        self._check_position(index)
        return index

    def _check_position(self, index: int) -> None:
        if not 0 <= index < _size_of(unwrap_as(self, code.LIST)):
            raise rules.assignment_out_of_range(self)


class SequenceIterator:
    """Iterates by index, as the iterator of `list` does, and so sees changes."""

    __slots__ = ("_address", "_index", "_reference", "_sequence", "_step", "_type_code")
    __module__ = "anyffi"

    def __init__(self, sequence: ObjectCore, address: int, backwards: bool) -> None:
        self._sequence: ObjectCore | None = sequence
        self._address = address
        self._reference = refer(address)
        self._type_code = Header.from_address(address).type_code
        self._step = -1 if backwards else 1
        self._index = _size_of(address) - 1 if backwards else 0

    def __iter__(self) -> SequenceIterator:
        return self

    def __next__(self) -> Any:
        if self._sequence is None:
            raise StopIteration
        index = self._index
        element = OwnedValue(VALUE_SIZE)
        if not 0 <= index <= _MOST or not _get_element(self._reference, self._type_code, index, element):
            # An exhausted iterator stays exhausted.
            self._sequence = None
            raise StopIteration
        self._index = index + self._step
        value = _value_of(element)
        return value[2] if value[0] == _INT else take(value, element)

    def __length_hint__(self) -> int:
        if self._sequence is None:
            return 0
        size = _size_of(self._address)
        if self._step > 0:
            return max(size - self._index, 0)
        return self._index + 1 if self._index < size else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return rules.reduce_iterator(self._sequence, self._index, self._step)

    def __setstate__(self, index: int) -> None:
        size = 0 if self._sequence is None else _size_of(self._address)
        self._index = rules.clip_index(index, size, self._step)
