"""Wrappers of containers: length, elements, lookup and iteration, straight from the runtime's memory."""

from __future__ import annotations

import struct
from ctypes import ArgumentError, c_char, c_int32, c_int64
from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, Entry, Mapping, Sequence, address_of, library, unhide, unhiding
from .pack import pack, release_made
from .unpack import raise_taken, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["MappingCore", "SequenceCore", "SetCore"]

_ENTRY_SIZE = 2 * VALUE_SIZE + 8
#: More elements than any container has; an index within needs no look at its range.
_MANY = 2**60
_VALUE_IN_ENTRY = Entry.value.offset
_Place = c_char * VALUE_SIZE
_EntryPlace = c_char * _ENTRY_SIZE
_code_at = struct.Struct("=i").unpack_from
_value_at = VALUE.unpack_from


def _unwrap_sequence(wrapper: ObjectCore) -> Sequence:
    found = Sequence.from_address(unwrap(wrapper))
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found.header.type_code not in (code.LIST, code.ARRAY, code.SHAPE):
        raise TypeError(f"this {type(wrapper).__name__} is no sequence")
    return found


def _read(address: int) -> Any:
    """The Python value of a borrowed value at an address."""
    try:
        return unpack_copy(_value_at(_Place.from_address(address)))
    except ArgumentError as error:
        raise unhide(error) from None


class SequenceCore(ObjectCore):
    """An Array, List or Shape."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_sequence(self).size)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._slice(key)  # type: ignore[attr-defined]
        index = key if type(key) is int and abs(key) < _MANY else _rules.as_index(self, key)
        sequence = _unwrap_sequence(self)
        if index < 0:
            index += sequence.size
        if not 0 <= index < sequence.size:
            raise _rules.index_out_of_range(self)
        return _read(sequence.data + VALUE_SIZE * index)

    def __iter__(self) -> SequenceIterator:
        _unwrap_sequence(self)
        return SequenceIterator(self)


class SequenceIterator:
    """Walks by index, as a list's iterator does, and so sees changes."""

    __slots__ = ("_index", "_sequence")

    def __init__(self, sequence: SequenceCore) -> None:
        self._sequence: SequenceCore | None = sequence
        self._index = 0

    def __iter__(self) -> SequenceIterator:
        return self

    def __next__(self) -> Any:
        if self._sequence is None:
            raise StopIteration
        sequence = _unwrap_sequence(self._sequence)
        if self._index >= sequence.size:
            # Once exhausted it stays so, as list's does.
            self._sequence = None
            raise StopIteration
        self._index += 1
        return _read(sequence.data + VALUE_SIZE * (self._index - 1))


def _unwrap_mapping(wrapper: ObjectCore) -> Mapping:
    found = Mapping.from_address(unwrap(wrapper))
    if found.header.type_code not in (code.DICT, code.MAP):
        raise TypeError(f"this {type(wrapper).__name__} is no mapping")
    return found


def _find(mapping: Mapping, packed: bytes) -> int:
    """Where the entry of a key lies, or 0."""
    entry = c_int64(-1)
    if library.mapping_find(address_of(mapping), packed, address_of(entry)) != 0:
        raise_taken()
    return mapping.entries + _ENTRY_SIZE * entry.value if entry.value >= 0 else 0


def _next_entry(mapping: Mapping, position: int) -> tuple[int, int]:
    """The first live entry from a position on: where it lies, or 0, and the position behind it."""
    while 0 <= position < mapping.used:
        place: int = mapping.entries + _ENTRY_SIZE * position
        position += 1
        if c_int32.from_address(place).value != code.UNSET:
            return place, position
    return 0, position


class MappingCore(ObjectCore):
    """A Map or Dict."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_mapping(self).size)

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        keep: list[Any] = []
        packed = pack(key, keep)
        try:
            place = _find(_unwrap_mapping(self), packed)
            if place:
                # Before the key goes, which may run code that changes the mapping.
                return _read(place + _VALUE_IN_ENTRY)
        finally:
            release_made(packed, keep)
        raise KeyError(key)

    @unhiding
    def __contains__(self, key: Any) -> bool:
        keep: list[Any] = []
        packed = pack(key, keep)
        try:
            return _find(_unwrap_mapping(self), packed) != 0
        finally:
            release_made(packed, keep)

    @unhiding
    def _entry(self, position: int) -> tuple[int, Any, Any] | None:
        """The first live entry from `position` on, as `(next position, key, value)`, or None."""
        place, position = _next_entry(_unwrap_mapping(self), position)
        if not place:
            return None
        entry = _EntryPlace.from_address(place)
        key, value = _value_at(entry), _value_at(entry, _VALUE_IN_ENTRY)
        # Both are held before either is unpacked, which may run code that changes the mapping.
        if value[0] > 0:
            library.object_retain(value[2])
        try:
            return position, unpack_copy(key), unpack(value)
        finally:
            if value[0] > 0:
                library.object_release(value[2])


def _unwrap_set(wrapper: ObjectCore) -> Mapping:
    found = Mapping.from_address(unwrap(wrapper))
    if found.header.type_code not in (code.SET, code.FROZEN_SET):
        raise TypeError(f"this {type(wrapper).__name__} is no set")
    return found


class SetCore(ObjectCore):
    """A FrozenSet or Set."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_set(self).size)

    @unhiding
    def __contains__(self, element: Any) -> bool:
        keep: list[Any] = []
        packed = pack(element, keep)
        try:
            if _code_at(packed)[0] == code.SET:
                found: bool = self._contains_set(element)  # type: ignore[attr-defined]
                return found
            return _find(_unwrap_set(self), packed) != 0
        finally:
            release_made(packed, keep)

    @unhiding
    def _entry(self, position: int) -> tuple[int, Any] | None:
        """The first element from `position` on, as `(next position, element)`, or None."""
        place, position = _next_entry(_unwrap_set(self), position)
        return (position, _read(place)) if place else None
