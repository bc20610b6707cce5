"""Wrappers of containers: length, elements, lookup and iteration, straight from the runtime's memory."""

from __future__ import annotations

from ctypes import ArgumentError, c_char, c_int64
from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, Entry, Mapping, Sequence, address_of, library, unhide, unhiding
from .pack import pack, release_made
from .unpack import raise_taken, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["MappingCore", "SequenceCore"]

_ENTRY_SIZE = 2 * VALUE_SIZE + 8
#: More elements than any container has; an index within needs no look at its range.
_MANY = 2**60
_VALUE_IN_ENTRY = Entry.value.offset
_Place = c_char * VALUE_SIZE
_value_at = VALUE.unpack_from


def _unwrap_sequence(wrapper: ObjectCore) -> Sequence:
    found = Sequence.from_address(unwrap(wrapper))
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found.header.type_code not in (code.LIST, code.ARRAY):
        raise TypeError(f"this {type(wrapper).__name__} is no sequence")
    return found


def _read(address: int) -> Any:
    """The Python value of a borrowed value at an address."""
    try:
        return unpack_copy(_value_at(_Place.from_address(address)))
    except ArgumentError as error:
        raise unhide(error) from None


class SequenceCore(ObjectCore):
    """An Array or List."""

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


def _unwrap_mapping(wrapper: ObjectCore) -> tuple[int, Mapping]:
    address = unwrap(wrapper)
    found = Mapping.from_address(address)
    if found.header.type_code not in (code.DICT, code.MAP):
        raise TypeError(f"this {type(wrapper).__name__} is no mapping")
    return address, found


def _find(wrapper: ObjectCore, packed: bytes) -> int:
    """Where the value of a key lies, or 0."""
    address, mapping = _unwrap_mapping(wrapper)
    entry = c_int64(-1)
    if library.mapping_find(address, packed, address_of(entry)) != 0:
        raise_taken()
    return mapping.entries + _ENTRY_SIZE * entry.value + _VALUE_IN_ENTRY if entry.value >= 0 else 0


class MappingCore(ObjectCore):
    """A Map or Dict."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_mapping(self)[1].size)

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        keep: list[Any] = []
        packed = pack(key, keep)
        try:
            place = _find(self, packed)
            if place:
                # Before the key goes, which may run code that changes the mapping.
                return _read(place)
        finally:
            release_made(packed, keep)
        raise KeyError(key)

    @unhiding
    def __contains__(self, key: Any) -> bool:
        keep: list[Any] = []
        packed = pack(key, keep)
        try:
            return _find(self, packed) != 0
        finally:
            release_made(packed, keep)

    @unhiding
    def _entry(self, position: int) -> tuple[int, Any, Any] | None:
        """The first live entry from `position` on, as `(next position, key, value)`, or None."""
        mapping = _unwrap_mapping(self)[1]
        while 0 <= position < mapping.used:
            place = (c_char * _ENTRY_SIZE).from_address(mapping.entries + _ENTRY_SIZE * position)
            position += 1
            key, value = _value_at(place), _value_at(place, _VALUE_IN_ENTRY)
            if key[0] == code.UNSET:
                continue
            # Both are held before either is unpacked, which may run code that changes the mapping.
            if value[0] > 0:
                library.object_retain(value[2])
            try:
                return position, unpack_copy(key), unpack(value)
            finally:
                if value[0] > 0:
                    library.object_release(value[2])
        return None
