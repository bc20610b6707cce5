"""Wrappers of containers: length, elements, lookup and iteration.

Other threads may run between any two lines here, so whatever is read comes out of the runtime by one call,
and is owned by then.
"""

from __future__ import annotations

import sys
from ctypes import c_int32, c_int64

from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import ELEMENTS, ITEMS, KEYS, VALUES, checks_self
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, Header, Mapping, Sequence, address_of, library, unhiding
from .cell import Cell, empty
from .pack import lend, pack_owned
from .unpack import raise_taken, unpack
from .wrapper import ObjectCore, unwrap

__all__ = ["ArrayCore", "DictCore", "FrozenSetCore", "ListCore", "MapCore", "SetCore"]

_value_of = VALUE.unpack


def _unwrap_as(wrapper: ObjectCore, type_code: int) -> int:
    """The address of a wrapper's object, borrowed, which must be of a type."""
    address = unwrap(wrapper)
    found = Header.from_address(address).type_code
    # `x.__class__ = ...` can put a wrapper into any class of the same layout.
    if found != type_code and not library.type_is_a(found, type_code):
        raise rules.wrong_object(wrapper)
    return address


# ---- sequences ----------------------------------------------------------------------------------------


def _size_of(address: int) -> int:
    return int(Sequence.from_address(address).size)


def _get_item(self: Any, type_code: int, key: Any) -> Any:
    if type(key) is slice:
        return self._slice(key)
    index = key if type(key) is int and -sys.maxsize <= key <= sys.maxsize else rules.as_index(self, key)
    address = _unwrap_as(self, type_code)
    if index < 0:
        index += _size_of(address)
    cell = Cell(VALUE_SIZE)
    try:
        library.sequence_get(address, index, cell)
        value = _value_of(cell)
        if value[0] == code.UNSET:
            raise rules.index_out_of_range(self)
        return unpack(value)
    finally:
        empty(cell)


def _list_items(address: int) -> list[Any]:
    """All elements."""
    items: list[Any] = []
    cell = Cell(VALUE_SIZE)
    while True:
        try:
            library.sequence_get(address, len(items), cell)
            value = _value_of(cell)
            if value[0] == code.UNSET:
                return items
            items.append(unpack(value))
        finally:
            empty(cell)


@checks_self("anyffi.Array", slots=True)
class ArrayCore(ObjectCore):
    """An Array."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _size_of(_unwrap_as(self, code.ARRAY))

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        return _get_item(self, code.ARRAY, key)

    @unhiding
    def __iter__(self) -> SequenceIterator:
        return SequenceIterator(self, _unwrap_as(self, code.ARRAY), False)

    @unhiding
    def _iterate(self, backwards: bool) -> SequenceIterator:
        return SequenceIterator(self, _unwrap_as(self, code.ARRAY), backwards)

    @unhiding
    def _items(self) -> list[Any]:
        return _list_items(_unwrap_as(self, code.ARRAY))

    def _type_mask(self) -> int:
        return int(Sequence.from_address(_unwrap_as(self, code.ARRAY)).type_mask)


@checks_self("anyffi.List", slots=True)
class ListCore(ObjectCore):
    """A List."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _size_of(_unwrap_as(self, code.LIST))

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        return _get_item(self, code.LIST, key)

    @unhiding
    def __setitem__(self, key: Any, item: Any) -> None:
        if type(key) is slice:
            self._set_slice(key, item)  # type: ignore[attr-defined]
            return
        index = self._find_position(key)
        keep: list[Any] = []
        packed = lend(item, keep)
        try:
            # Packing may have run code that changed the list.
            self._check_position(index)
            if library.sequence_set(unwrap(self), index, packed) != 0:
                raise_taken()
        finally:
            if type(packed) is not bytes:
                empty(packed)

    @unhiding
    def __delitem__(self, key: Any) -> None:
        if type(key) is slice:
            self._delete_slice(key)  # type: ignore[attr-defined]
        elif library.sequence_erase(unwrap(self), self._find_position(key), 1) != 0:
            raise_taken()

    @unhiding
    def __iter__(self) -> SequenceIterator:
        return SequenceIterator(self, _unwrap_as(self, code.LIST), False)

    @unhiding
    def _iterate(self, backwards: bool) -> SequenceIterator:
        return SequenceIterator(self, _unwrap_as(self, code.LIST), backwards)

    @unhiding
    def _items(self) -> list[Any]:
        return _list_items(_unwrap_as(self, code.LIST))

    def _type_mask(self) -> int:
        return int(Sequence.from_address(_unwrap_as(self, code.LIST)).type_mask)

    def _find_position(self, key: Any) -> int:
        """The position that a key means, which is not a slice."""
        index = rules.as_index(self, key)
        if index < 0:
            index += _size_of(_unwrap_as(self, code.LIST))
        self._check_position(index)
        return index

    def _check_position(self, index: int) -> None:
        if not 0 <= index < _size_of(_unwrap_as(self, code.LIST)):
            raise rules.assignment_out_of_range(self)


class SequenceIterator:
    """Walks by index, as a list's iterator does, and so sees changes."""

    __slots__ = ("_address", "_index", "_sequence", "_step")
    __module__ = "anyffi"

    def __init__(self, sequence: ObjectCore, address: int, backwards: bool) -> None:
        self._sequence: ObjectCore | None = sequence
        self._address = address
        self._step = -1 if backwards else 1
        self._index = _size_of(address) - 1 if backwards else 0

    def __iter__(self) -> SequenceIterator:
        return self

    @unhiding
    def __next__(self) -> Any:
        if self._sequence is None:
            raise StopIteration
        cell = Cell(VALUE_SIZE)
        try:
            library.sequence_get(self._address, self._index, cell)
            value = _value_of(cell)
            if value[0] == code.UNSET:
                # Once exhausted it stays so.
                self._sequence = None
                raise StopIteration
            self._index += self._step
            return unpack(value)
        finally:
            empty(cell)

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


# ---- mappings -----------------------------------------------------------------------------------------


def _number_of_entries(address: int) -> int:
    return int(Mapping.from_address(address).size)


#: What `_find_item` gives where there is nothing.
_ABSENT = object()


def _find_item(self: Any, type_code: int, key: Any) -> Any:
    """The value of a key, or `_ABSENT`."""
    address = _unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = lend(key, keep)
    cell = Cell(VALUE_SIZE)
    try:
        if library.mapping_get(address, packed, cell) != 0:
            raise_taken()
        value = _value_of(cell)
        return _ABSENT if value[0] == code.UNSET else unpack(value)
    finally:
        empty(cell)
        if type(packed) is not bytes:
            empty(packed)


@checks_self("anyffi.Map", slots=True)
class MapCore(ObjectCore):
    """A Map."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _number_of_entries(_unwrap_as(self, code.MAP))

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        found = _find_item(self, code.MAP, key)
        if found is _ABSENT:
            raise KeyError(key)
        return found

    @unhiding
    def __contains__(self, key: Any) -> bool:
        return _find_item(self, code.MAP, key) is not _ABSENT

    @unhiding
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.MAP), KEYS, False)

    @unhiding
    def _get(self, key: Any, default: Any) -> Any:
        found = _find_item(self, code.MAP, key)
        return default if found is _ABSENT else found

    @unhiding
    def _iterate(self, what: int, backwards: bool) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.MAP), what, backwards)


@checks_self("anyffi.Dict", slots=True)
class DictCore(ObjectCore):
    """A Dict."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _number_of_entries(_unwrap_as(self, code.DICT))

    @unhiding
    def __getitem__(self, key: Any) -> Any:
        found = _find_item(self, code.DICT, key)
        return rules.missing_item(self, key) if found is _ABSENT else found

    @unhiding
    def __setitem__(self, key: Any, item: Any) -> None:
        address = _unwrap_as(self, code.DICT)
        # The mapping takes both over, and leaves None, also where it fails.
        cells: list[Any] = []
        try:
            for part in (key, item):
                packed = pack_owned(part)
                cells.append(Cell(packed) if type(packed) is bytes else packed)
            existed = c_int32()
            if library.mapping_set(address, *cells, address_of(existed)) != 0:
                raise_taken()
        finally:
            for cell in cells:
                empty(cell)

    def __delitem__(self, key: Any) -> None:
        self._delete(key)  # type: ignore[attr-defined]

    @unhiding
    def __contains__(self, key: Any) -> bool:
        return _find_item(self, code.DICT, key) is not _ABSENT

    @unhiding
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.DICT), KEYS, False)

    @unhiding
    def _get(self, key: Any, default: Any) -> Any:
        found = _find_item(self, code.DICT, key)
        return default if found is _ABSENT else found

    @unhiding
    def _iterate(self, what: int, backwards: bool) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.DICT), what, backwards)


def _has_element(self: Any, type_code: int, element: Any) -> bool:
    address = _unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = lend(element, keep)
    try:
        if _value_of(packed)[0] == code.SET:
            found: bool = self._contains_set(element)
            return found
        entry = c_int64(-1)
        if library.mapping_find(address, packed, address_of(entry)) != 0:
            raise_taken()
        return entry.value >= 0
    finally:
        if type(packed) is not bytes:
            empty(packed)


@checks_self("anyffi.FrozenSet", slots=True)
class FrozenSetCore(ObjectCore):
    """A FrozenSet."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _number_of_entries(_unwrap_as(self, code.FROZEN_SET))

    @unhiding
    def __contains__(self, element: Any) -> bool:
        return _has_element(self, code.FROZEN_SET, element)

    @unhiding
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)

    @unhiding
    def _iterate(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)


@checks_self("anyffi.Set", slots=True)
class SetCore(ObjectCore):
    """A Set."""

    __slots__ = ()

    @unhiding
    def __len__(self) -> int:
        return _number_of_entries(_unwrap_as(self, code.SET))

    @unhiding
    def __contains__(self, element: Any) -> bool:
        return _has_element(self, code.SET, element)

    @unhiding
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.SET), ELEMENTS, False)

    @unhiding
    def _iterate(self) -> EntryIterator:
        return EntryIterator(self, _unwrap_as(self, code.SET), ELEMENTS, False)


class EntryIterator:
    """Walks the entries in or against their order, and notices what the iterators of dict and set notice."""

    __slots__ = ("_address", "_container", "_left", "_position", "_size", "_step", "_what")
    __module__ = "anyffi"

    def __init__(self, container: ObjectCore, address: int, what: int, backwards: bool) -> None:
        self._container: ObjectCore | None = container
        self._address = address
        self._what = what
        self._step = -1 if backwards else 1
        self._size = self._left = _number_of_entries(address)
        self._position = int(Mapping.from_address(address).used) - 1 if backwards else 0

    def __iter__(self) -> EntryIterator:
        return self

    @unhiding
    def __next__(self) -> Any:
        if self._container is None:
            raise StopIteration
        if _number_of_entries(self._address) != self._size:
            # From now on always.
            self._size = -1
            raise rules.changed_size(self._what)
        key_cell, item_cell = Cell(VALUE_SIZE), Cell(VALUE_SIZE)
        try:
            number = library.mapping_next(self._address, self._position, self._step, key_cell, item_cell)
            key, item = _value_of(key_cell), _value_of(item_cell)
            if number < 0:
                self._container = None
                raise StopIteration
            if self._left == 0 and self._step > 0 and self._what != ELEMENTS:
                self._container = None
                raise rules.changed_keys()
            self._position = number + self._step
            self._left -= 1
            if self._what == VALUES:
                return unpack(item)
            return (unpack(key), unpack(item)) if self._what == ITEMS else unpack(key)
        finally:
            empty(key_cell)
            empty(item_cell)

    def __length_hint__(self) -> int:
        if self._container is None or _number_of_entries(self._address) != self._size:
            return 0
        return max(self._left, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        rest = EntryIterator.__new__(EntryIterator)
        for name in EntryIterator.__slots__:
            setattr(rest, name, getattr(self, name))
        return iter, (list(rest),)
