"""Wrappers of containers: length, elements, lookup and iteration, straight from the runtime's memory."""

from __future__ import annotations

from ctypes import c_char, c_int64
from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE_SIZE, Entry, Mapping, Sequence, address_of, library
from .pack import pack
from .unpack import raise_taken, read_value, unpack, unpack_copy
from .wrapper import ObjectCore, unwrap

__all__ = ["MappingCore", "SequenceCore"]

_ENTRY_SIZE = 2 * VALUE_SIZE + 8
_VALUE_IN_ENTRY = Entry.value.offset


def _unwrap_sequence(wrapper: ObjectCore) -> Sequence:
    found = Sequence.from_address(unwrap(wrapper))
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found.header.type_code not in (code.LIST, code.ARRAY):
        raise TypeError(f"this {type(wrapper).__name__} is no sequence")
    return found


def _read(address: int) -> Any:
    """The Python value of a borrowed value at an address."""
    return unpack_copy(read_value((c_char * VALUE_SIZE).from_address(address)))


class SequenceCore(ObjectCore):
    """An Array or List."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_sequence(self).size)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._slice(key)  # type: ignore[attr-defined]
        index = key if type(key) is int else _rules.as_index(self, key)
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


class MappingCore(ObjectCore):
    """A Map or Dict."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(_unwrap_mapping(self)[1].size)

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return unpack(found)

    def __contains__(self, key: Any) -> bool:
        found = self._find(key)
        if found is None:
            return False
        if found[0] > 0:
            library.object_release(found[2])
        return True

    def _find(self, key: Any) -> tuple[int, int, int] | None:
        """The value of a key, owned, or None."""
        address, mapping = _unwrap_mapping(self)
        keep: list[Any] = []
        packed = pack(key, keep)
        entry = c_int64(-1)
        try:
            if library.mapping_find(address, packed, address_of(entry)) != 0:
                raise_taken()
            if entry.value < 0:
                return None
            place = mapping.entries + _ENTRY_SIZE * entry.value + _VALUE_IN_ENTRY
            value = read_value((c_char * VALUE_SIZE).from_address(place))
            # Held before the key goes, which may run code that changes the mapping.
            if value[0] > 0:
                library.object_retain(value[2])
            return value
        finally:
            _, flags, payload = read_value(packed)
            if keep and flags and read_value(packed)[0] > 0:
                library.object_release(payload)

    def _entry(self, position: int) -> tuple[int, Any, Any] | None:
        """The first live entry from `position` on, as `(next position, key, value)`, or None."""
        mapping = _unwrap_mapping(self)[1]
        while 0 <= position < mapping.used:
            place = (c_char * _ENTRY_SIZE).from_address(mapping.entries + _ENTRY_SIZE * position)
            position += 1
            key, value = read_value(place), read_value(place, _VALUE_IN_ENTRY)
            if key[0] != code.UNSET:
                # Both are held before either is unpacked, which may run code that changes the mapping.
                for part in (key, value):
                    if part[0] > 0:
                        library.object_retain(part[2])
                try:
                    unpacked = unpack(key)
                except BaseException:
                    if value[0] > 0:
                        library.object_release(value[2])
                    raise
                return position, unpacked, unpack(value)
        return None
