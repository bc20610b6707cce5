"""Wrappers of containers: length, elements, lookup and iteration."""

from __future__ import annotations

import struct
from ctypes import ArgumentError, c_int64
from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, Mapping, Sequence, address_of, library, platform, unhide, unhiding
from .pack import pack, release_made
from .unpack import raise_taken, unpack, unpack_owned
from .wrapper import ObjectCore, unwrap

__all__ = ["MappingCore", "SequenceCore", "SetCore"]

#: More elements than any container has; an index within needs no look at its range.
_MANY = 2**60
_code_at = struct.Struct("=i").unpack_from
_value_of = VALUE.unpack

# Other threads run between any two steps of Python, and may change a container: the library copies an element
# and takes a reference to it in one call.


def _unwrap_sequence(wrapper: ObjectCore) -> Sequence:
    found = Sequence.from_address(unwrap(wrapper))
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found.header.type_code not in (code.LIST, code.ARRAY, code.SHAPE):
        raise TypeError(f"this {type(wrapper).__name__} is no sequence")
    return found


#: What `_read` gives beyond the last element.
_ABSENT = object()


def _read(sequence: Sequence, index: int) -> Any:
    """The Python value of an element."""
    out = platform.buffer(VALUE_SIZE)
    try:
        library.sequence_get(address_of(sequence), index, out)
        element = _value_of(out)
        return _ABSENT if element[0] == code.UNSET else unpack_owned(element)
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
        element = _read(sequence, index if index >= 0 else index + sequence.size)
        if element is _ABSENT:
            raise _rules.index_out_of_range(self)
        return element

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
        element = _read(_unwrap_sequence(self._sequence), self._index)
        if element is _ABSENT:
            # Once exhausted it stays so, as list's does.
            self._sequence = None
            raise StopIteration
        self._index += 1
        return element


def _unwrap_mapping(wrapper: ObjectCore) -> Mapping:
    found = Mapping.from_address(unwrap(wrapper))
    if found.header.type_code not in (code.DICT, code.MAP):
        raise TypeError(f"this {type(wrapper).__name__} is no mapping")
    return found


def _has(mapping: Mapping, packed: bytes) -> bool:
    entry = c_int64(-1)
    if library.mapping_find(address_of(mapping), packed, address_of(entry)) != 0:
        raise_taken()
    return entry.value >= 0


def _walk(mapping: Mapping, position: int) -> tuple[int, Any, Any]:
    """The first live entry from a position on, as `(next position, key, value)`; -1 if there is none."""
    key, value = platform.buffer(VALUE_SIZE), platform.buffer(VALUE_SIZE)
    position = library.mapping_walk(address_of(mapping), position, key, value)
    if position < 0:
        return position, None, None
    owned = _value_of(value)
    try:
        return position, unpack_owned(_value_of(key)), unpack(owned)
    finally:
        if owned[0] > 0:
            library.object_release(owned[2])


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
            out = platform.buffer(VALUE_SIZE)
            if library.mapping_get(address_of(_unwrap_mapping(self)), packed, out) != 0:
                raise_taken()
            value = _value_of(out)
            if value[0] != code.UNSET:
                return unpack_owned(value)
        finally:
            release_made(packed, keep)
        raise KeyError(key)

    @unhiding
    def __contains__(self, key: Any) -> bool:
        keep: list[Any] = []
        packed = pack(key, keep)
        try:
            return _has(_unwrap_mapping(self), packed)
        finally:
            release_made(packed, keep)

    @unhiding
    def _entry(self, position: int) -> tuple[int, Any, Any] | None:
        """The first live entry from `position` on, as `(next position, key, value)`, or None."""
        found = _walk(_unwrap_mapping(self), position)
        return found if found[0] >= 0 else None


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
            return _has(_unwrap_set(self), packed)
        finally:
            release_made(packed, keep)

    @unhiding
    def _entry(self, position: int) -> tuple[int, Any] | None:
        """The first element from `position` on, as `(next position, element)`, or None."""
        position, element, _ = _walk(_unwrap_set(self), position)
        return (position, element) if position >= 0 else None
