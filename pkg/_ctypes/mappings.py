"""Wrappers of mappings: Map and Dict, and FrozenSet and Set, whose elements are keys."""

from __future__ import annotations

from ctypes import c_int32, c_int64

from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import ELEMENTS, ITEMS, KEYS, VALUES, checks_self
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, Mapping, address_of, library, translates_errors
from .containers import copy_iterator, unwrap_as
from .owned import OwnedValue, release
from .pack import pack_borrowed, pack_owned
from .unpack import raise_taken, unpack
from .wrapper import ObjectCore

__all__ = [
    "ABSENT",
    "DictCore",
    "EntryIterator",
    "FrozenSetCore",
    "MapCore",
    "SetCore",
    "find_item",
    "has_element",
]

_value_of = VALUE.unpack


def _number_of_entries(address: int) -> int:
    return int(Mapping.from_address(address).size)


#: The result of `find_item` for an absent key.
ABSENT = object()


def find_item(self: Any, type_code: int, key: Any) -> Any:
    """Look up the value of a key; `ABSENT` if the key is absent."""
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(key, keep)
    found = OwnedValue(VALUE_SIZE)
    try:
        if library.mapping_get(address, packed, found) != 0:
            raise_taken()
        value = _value_of(found)
        return ABSENT if value[0] == code.UNSET else unpack(value)
    finally:
        release(found)
        if type(packed) is not bytes:
            release(packed)


@checks_self("anyffi.Map", slots=True)
class MapCore(ObjectCore):
    """The wrapper of a Map."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _number_of_entries(unwrap_as(self, code.MAP))

    @translates_errors
    def __getitem__(self, key: Any) -> Any:
        found = find_item(self, code.MAP, key)
        if found is ABSENT:
            raise KeyError(key)
        return found

    @translates_errors
    def __contains__(self, key: Any) -> bool:
        return find_item(self, code.MAP, key) is not ABSENT

    @translates_errors
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.MAP), KEYS, False)

    @translates_errors
    def _get(self, key: Any, default: Any) -> Any:
        found = find_item(self, code.MAP, key)
        return default if found is ABSENT else found

    @translates_errors
    def _iterate(self, what: int, backwards: bool) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.MAP), what, backwards)


@checks_self("anyffi.Dict", slots=True)
class DictCore(ObjectCore):
    """The wrapper of a Dict."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _number_of_entries(unwrap_as(self, code.DICT))

    @translates_errors
    def __getitem__(self, key: Any) -> Any:
        found = find_item(self, code.DICT, key)
        return rules.missing_item(self, key) if found is ABSENT else found

    @translates_errors
    def __setitem__(self, key: Any, item: Any) -> None:
        address = unwrap_as(self, code.DICT)
        # `mapping_set` steals both, also where it fails.
        owned: list[Any] = []
        try:
            for part in (key, item):
                packed = pack_owned(part)
                owned.append(OwnedValue(packed) if type(packed) is bytes else packed)
            existed = c_int32()
            if library.mapping_set(address, *owned, address_of(existed)) != 0:
                raise_taken()
        finally:
            for value in owned:
                release(value)

    def __delitem__(self, key: Any) -> None:
        self._delete(key)  # type: ignore[attr-defined]

    @translates_errors
    def __contains__(self, key: Any) -> bool:
        return find_item(self, code.DICT, key) is not ABSENT

    @translates_errors
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.DICT), KEYS, False)

    @translates_errors
    def _get(self, key: Any, default: Any) -> Any:
        found = find_item(self, code.DICT, key)
        return default if found is ABSENT else found

    @translates_errors
    def _iterate(self, what: int, backwards: bool) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.DICT), what, backwards)


def has_element(self: Any, type_code: int, element: Any) -> bool:
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(element, keep)
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
            release(packed)


@checks_self("anyffi.FrozenSet", slots=True)
class FrozenSetCore(ObjectCore):
    """The wrapper of a FrozenSet."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _number_of_entries(unwrap_as(self, code.FROZEN_SET))

    @translates_errors
    def __contains__(self, element: Any) -> bool:
        return has_element(self, code.FROZEN_SET, element)

    @translates_errors
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)

    @translates_errors
    def _iterate(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)


@checks_self("anyffi.Set", slots=True)
class SetCore(ObjectCore):
    """The wrapper of a Set."""

    __slots__ = ()

    @translates_errors
    def __len__(self) -> int:
        return _number_of_entries(unwrap_as(self, code.SET))

    @translates_errors
    def __contains__(self, element: Any) -> bool:
        return has_element(self, code.SET, element)

    @translates_errors
    def __iter__(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.SET), ELEMENTS, False)

    @translates_errors
    def _iterate(self) -> EntryIterator:
        return EntryIterator(self, unwrap_as(self, code.SET), ELEMENTS, False)


class EntryIterator:
    """Iterates over entries in either direction; detects the changes that those of dict and set detect."""

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

    @translates_errors
    def __next__(self) -> Any:
        if self._container is None:
            raise StopIteration
        if _number_of_entries(self._address) != self._size:
            # Raised again at every further step.
            self._size = -1
            raise rules.changed_size(self._what)
        owned_key, owned_item = OwnedValue(VALUE_SIZE), OwnedValue(VALUE_SIZE)
        try:
            number = library.mapping_next(self._address, self._position, self._step, owned_key, owned_item)
            key, item = _value_of(owned_key), _value_of(owned_item)
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
            release(owned_key)
            release(owned_item)

    def __length_hint__(self) -> int:
        if self._container is None or _number_of_entries(self._address) != self._size:
            return 0
        return max(self._left, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return iter, (list(copy_iterator(self)),)
