"""Wrappers of sequences: Array and List."""

from __future__ import annotations

import struct
import sys
from ctypes import c_int32, string_at

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import checks_self
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, address_of, library, translates_errors
from .containers import read_numbers, unwrap_as
from .iterators import SequenceIterator, iterate_sequence
from .owned import OwnedValue, release
from .pack import pack_borrowed
from .stepping import is_stepping
from .structs import Sequence
from .unpack import raise_taken, unpack
from .wrapper import ObjectCore, unwrap

__all__ = ["ArrayCore", "ListCore", "find_value", "get_item", "list_items", "read_immutable"]

_value_of = VALUE.unpack
_sequence_get = library.sequence_get
_UNSET, _INT = code.UNSET, code.INT


def _size_of(address: int) -> int:
    return int(Sequence.from_address(address).size)


def get_item(self: Any, type_code: int, key: Any) -> Any:
    if type(key) is slice:
        return self._anyffi_slice(key)
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


_fields_of = struct.Struct("=QqqQ").unpack
_DATA = Sequence.data.offset


@translates_errors
def read_immutable(address: int) -> list[Any] | None:
    """Return the elements of an Array that the caller keeps alive; None if some are not scalars."""
    data, size, _, type_mask = _fields_of(string_at(address + _DATA, 32))
    if not rules.holds_scalars(type_mask):
        return None
    return _read_scalars(data, size, type_mask)


def _read_scalars(data: int, size: int, type_mask: int) -> list[Any]:
    cells = string_at(data, VALUE_SIZE * size) if size else b""
    numbers = read_numbers(cells, type_mask)
    if numbers is not None:
        return numbers
    # Fast path for ints, the most frequent elements.
    return [value[2] if value[0] == _INT else unpack(value) for value in VALUE.iter_unpack(cells)]


def list_items(address: int) -> list[Any]:
    """Return all elements of a sequence.

    If reading them runs no other code, reads from a copy: a call for each element would take five times as
    long.
    """
    if is_stepping() or not rules.holds_scalars(Sequence.from_address(address).type_mask):
        return _list_one_by_one(address)
    copy = OwnedValue(VALUE_SIZE)
    try:
        if library.sequence_slice(address, code.ARRAY, 0, 1, sys.maxsize, copy) != 0:
            raise_taken()
        data, size, _, type_mask = _fields_of(string_at(_value_of(copy)[2] + _DATA, 32))
        return _read_scalars(data, size, type_mask)
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


#: Types whose values the runtime compares with numbers and text, by id.
_COMPARED = frozenset(map(id, (int, str, float, bytes, bool, type(None))))


def find_value(self: Any, type_code: int, value: Any, start: int, stop: int) -> int:
    """Find a value among the elements from `start` to below `stop`; return -1 if it is absent."""
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(value, keep) if id(type(value)) in _COMPARED else None
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
        return iterate_sequence(self, unwrap_as(self, code.ARRAY), False)

    @translates_errors
    def _anyffi_iterate(self, backwards: bool) -> SequenceIterator:
        return iterate_sequence(self, unwrap_as(self, code.ARRAY), backwards)

    @translates_errors
    def _anyffi_items(self) -> list[Any]:
        return list_items(unwrap_as(self, code.ARRAY))

    @translates_errors
    def _anyffi_find(self, value: Any, start: int, stop: int) -> int:
        return find_value(self, code.ARRAY, value, start, stop)

    def _anyffi_type_mask(self) -> int:
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
            self._anyffi_set_slice(key, item)  # type: ignore[attr-defined]
            return
        index = self._anyffi_find_position(key)
        keep: list[Any] = []
        packed = pack_borrowed(item, keep)
        try:
            # Checked again: packing may have run code that changed the list.
            self._anyffi_check_position(index)
            if library.sequence_set(unwrap(self), index, packed) != 0:
                raise_taken()
        finally:
            if type(packed) is not bytes:
                release(packed)

    @translates_errors
    def __delitem__(self, key: Any) -> None:
        if type(key) is slice:
            self._anyffi_delete_slice(key)  # type: ignore[attr-defined]
            return
        index = self._anyffi_find_position(key)
        if library.sequence_erase(unwrap(self), index, 1) != 0:
            raise_taken()

    @translates_errors
    def __iter__(self) -> SequenceIterator:
        return iterate_sequence(self, unwrap_as(self, code.LIST), False)

    @translates_errors
    def _anyffi_iterate(self, backwards: bool) -> SequenceIterator:
        return iterate_sequence(self, unwrap_as(self, code.LIST), backwards)

    @translates_errors
    def _anyffi_items(self) -> list[Any]:
        return list_items(unwrap_as(self, code.LIST))

    @translates_errors
    def _anyffi_find(self, value: Any, start: int, stop: int) -> int:
        return find_value(self, code.LIST, value, start, stop)

    def _anyffi_type_mask(self) -> int:
        return int(Sequence.from_address(unwrap_as(self, code.LIST)).type_mask)

    def _anyffi_find_position(self, key: Any) -> int:
        """Return the non-negative position for an index."""
        index = rules.as_index(self, key)
        if index < 0:
            index += _size_of(unwrap_as(self, code.LIST))
        self._anyffi_check_position(index)
        return index

    def _anyffi_check_position(self, index: int) -> None:
        if not 0 <= index < _size_of(unwrap_as(self, code.LIST)):
            raise rules.assignment_out_of_range(self)
