"""Wrappers of mappings: Map and Dict, and FrozenSet and Set, whose elements are keys."""

from __future__ import annotations

import struct
from ctypes import c_int32, c_int64, string_at

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._rules.codes import code
from .._rules.containers import ELEMENTS, KEYS, checks_self
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, address_of, library, translates_errors
from .containers import unwrap_as
from .iterators import EntryIterator, iterate_entries
from .owned import OwnedValue, release
from .pack import object_value, pack_borrowed, pack_owned
from .structs import Mapping
from .unpack import raise_taken, unpack
from .wrapper import ObjectCore

__all__ = [
    "ABSENT",
    "DictCore",
    "FrozenSetCore",
    "MapCore",
    "SetCore",
    "find_item",
    "has_element",
]

_value_of = VALUE.unpack
_mapping_get = library.mapping_get
_UNSET, _INT = code.UNSET, code.INT
#: An AnyffiEntry: the parts of key and value, and the hash.
_ENTRY = struct.Struct("=iIqiIqq")


def _number_of_entries(address: int) -> int:
    return int(Mapping.from_address(address).size)


def _type_mask(address: int) -> int:
    mapping = Mapping.from_address(address)
    return int(mapping.key_type_mask | mapping.value_type_mask)


#: The result of `find_item` for an absent key.
ABSENT = object()


def find_item(self: Any, type_code: int, key: Any) -> Any:
    """Look up the value of a key; return `ABSENT` if the key is absent."""
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(key, keep)
    found = OwnedValue(VALUE_SIZE)
    value = None
    try:
        if _mapping_get(address, packed, found) != 0:
            raise_taken()
        value = _value_of(found)
        return ABSENT if value[0] == _UNSET else unpack(value)
    finally:
        # Inline values need no release, which takes as long as the lookup.
        if value is None or value[0] > 0:
            release(found)
        if type(packed) is not bytes:
            release(packed)


def list_pairs(self: Any, type_code: int) -> list[tuple[Any, Any]]:
    """Return all keys and values, from a copy: code that runs meanwhile may change the original."""
    copy = OwnedValue(VALUE_SIZE)
    try:
        if library.container_copy(object_value(unwrap_as(self, type_code)), type_code, copy) != 0:
            raise_taken()
        mapping = Mapping.from_address(_value_of(copy)[2])
        entries = _ENTRY.iter_unpack(string_at(mapping.entries, _ENTRY.size * mapping.used))
        return [(unpack(entry[:3]), unpack(entry[3:6])) for entry in entries]
    finally:
        release(copy)


def list_elements(self: Any, type_code: int) -> list[Any]:
    return [pair[0] for pair in list_pairs(self, type_code)]


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
        return iterate_entries(self, unwrap_as(self, code.MAP), KEYS, False)

    @translates_errors
    def _anyffi_get(self, key: Any, default: Any) -> Any:
        found = find_item(self, code.MAP, key)
        return default if found is ABSENT else found

    @translates_errors
    def _anyffi_iterate(self, what: int, backwards: bool) -> EntryIterator:
        return iterate_entries(self, unwrap_as(self, code.MAP), what, backwards)

    @translates_errors
    def _anyffi_pairs(self) -> list[tuple[Any, Any]]:
        return list_pairs(self, code.MAP)

    @translates_errors
    def _anyffi_type_mask(self) -> int:
        return _type_mask(unwrap_as(self, code.MAP))


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
        # `mapping_set` steals both, also if it fails.
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
        if not self._anyffi_runtime.dict_erase(self, key):  # type: ignore[attr-defined]
            raise KeyError(key)

    @translates_errors
    def __contains__(self, key: Any) -> bool:
        return find_item(self, code.DICT, key) is not ABSENT

    @translates_errors
    def __iter__(self) -> EntryIterator:
        return iterate_entries(self, unwrap_as(self, code.DICT), KEYS, False)

    @translates_errors
    def _anyffi_get(self, key: Any, default: Any) -> Any:
        found = find_item(self, code.DICT, key)
        return default if found is ABSENT else found

    @translates_errors
    def _anyffi_iterate(self, what: int, backwards: bool) -> EntryIterator:
        return iterate_entries(self, unwrap_as(self, code.DICT), what, backwards)

    @translates_errors
    def _anyffi_pairs(self) -> list[tuple[Any, Any]]:
        return list_pairs(self, code.DICT)

    @translates_errors
    def _anyffi_type_mask(self) -> int:
        return _type_mask(unwrap_as(self, code.DICT))


def has_element(self: Any, type_code: int, element: Any) -> bool:
    address = unwrap_as(self, type_code)
    keep: list[Any] = []
    packed = pack_borrowed(element, keep)
    try:
        if _value_of(packed)[0] == code.SET:
            found: bool = self._anyffi_contains_set(element)
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
        return iterate_entries(self, unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)

    @translates_errors
    def _anyffi_iterate(self) -> EntryIterator:
        return iterate_entries(self, unwrap_as(self, code.FROZEN_SET), ELEMENTS, False)

    @translates_errors
    def _anyffi_elements(self) -> list[Any]:
        return list_elements(self, code.FROZEN_SET)

    @translates_errors
    def _anyffi_type_mask(self) -> int:
        return _type_mask(unwrap_as(self, code.FROZEN_SET))

    def _anyffi_hash(self, computed: int = 0) -> int:
        """Return the hash computed earlier, or 0; or store a new one."""
        mapping = Mapping.from_address(unwrap_as(self, code.FROZEN_SET))
        if computed:
            mapping.host_hash = computed
        return computed or int(mapping.host_hash)


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
        return iterate_entries(self, unwrap_as(self, code.SET), ELEMENTS, False)

    @translates_errors
    def _anyffi_iterate(self) -> EntryIterator:
        return iterate_entries(self, unwrap_as(self, code.SET), ELEMENTS, False)

    @translates_errors
    def _anyffi_elements(self) -> list[Any]:
        return list_elements(self, code.SET)

    @translates_errors
    def _anyffi_type_mask(self) -> int:
        return _type_mask(unwrap_as(self, code.SET))
