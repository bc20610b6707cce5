"""Containers of the runtime to Python's own, at all levels.

Other threads may run between any two lines, so a mutable container is copied, in one call of the runtime, and
the cells of the copy are read.
"""

from __future__ import annotations

import struct
from array import array
from ctypes import string_at
from types import MappingProxyType

from .._rules import containers as rules
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable, Optional
from .abi import VALUE, VALUE_SIZE, Header, Mapping, Sequence, Slice, library, translates_errors
from .pack import object_value
from .scalars import new_object
from .unpack import unpack

__all__ = ["to_parts", "to_plain"]

_INT, _NONE, _UNSET = code.INT, code.NONE, code.UNSET
_ONLY_INTS, _ONLY_FLOATS = 1 << -code.INT, 1 << -code.FLOAT
#: AnyffiEntry: key, value, hash.
_ENTRY = struct.Struct("=iIqiIqq")
#: The immutable partners of mutable containers.
_PARTNERS = {code.LIST: code.ARRAY, code.DICT: code.MAP, code.SET: code.FROZEN_SET}
_FIRST_DYNAMIC_TYPE = 128  # ANYFFI_FIRST_DYNAMIC_TYPE


class _Memo(dict[int, Optional[tuple[Any, Any]]]):
    """Results by address, with what keeps the address in use; None while one is being converted."""

    __slots__ = ("makers",)

    def __init__(self, makers: dict[int, Callable[[int, _Memo], Any]]) -> None:
        #: Functions that convert the objects of a code.
        self.makers = makers


@translates_errors
def to_plain(x: Any) -> Any:
    """Return Python's own container for one of the runtime, at all levels; what is no container as it is."""
    return _convert_part(x, _Memo(_makers))


@translates_errors
def to_parts(x: Any) -> Any:
    """As `to_plain`, with `(type code, parts)` for each container, which hashes nothing; for check mode."""
    return _convert_part(x, _Memo(_part_makers))


def _convert_part(x: Any, memo: _Memo) -> Any:
    if type(x) is slice:
        return slice(*[_convert_part(part, memo) for part in (x.start, x.stop, x.step)])
    type_code = rules.container_code(type(x))
    if not type_code:
        return x
    address = x._address
    if not address:
        raise _rules.empty_wrapper(x)
    found = Header.from_address(address).type_code
    if found != type_code and not library.type_is_a(found, type_code):
        raise rules.wrong_object(x)
    return _convert(address, type_code, memo)


def _convert(address: int, type_code: int, memo: _Memo) -> Any:
    """Convert a container that the caller, or the memo, keeps alive."""
    if type_code == code.SLICE:
        found = Slice.from_address(address)
        cells = [(part.type_code, part.aux, part.payload) for part in (found.start, found.stop, found.step)]
        return slice(*_convert_cells(cells, memo))
    if address in memo:
        met = memo[address]
        if met is None:
            raise _rules.plain_contains_itself()
        return met[0]
    memo[address] = None
    partner = _PARTNERS.get(type_code)
    # The copy keeps the elements alive: their addresses are in the memo.
    copy = None if partner is None else new_object(library.container_copy, object_value(address), partner)
    made = memo.makers[type_code](address if copy is None else VALUE.unpack(copy)[2], memo)
    memo[address] = made, copy
    return made


def _convert_cells(cells: Any, memo: _Memo) -> list[Any]:
    """Convert values, each of which is type code, aux and payload."""
    made: list[Any] = []
    add = made.append
    for cell in cells:
        type_code, _, payload = cell
        if type_code == _INT:
            add(payload)
        elif type_code == _NONE:
            add(None)
        elif type_code > 0 and (nested := _nesting_code(type_code)):
            add(_convert(payload, nested, memo))
        else:
            add(unpack(cell))
    return made


def _nesting_code(type_code: int) -> int:
    """Return the code of the container or slice that a type is, or derives from; 0 for other types."""
    if type_code < _FIRST_DYNAMIC_TYPE:
        return _NESTING.get(type_code, 0)
    return next((base for base in _makers if library.type_is_a(type_code, base)), 0)


def _read_sequence(address: int, memo: _Memo) -> list[Any]:
    found = Sequence.from_address(address)
    cells = string_at(found.data, VALUE_SIZE * found.size) if found.size else b""
    # Those of one kind are read together, in a tenth of the time.
    if found.type_mask == _ONLY_INTS:
        return array("q", cells)[1::2].tolist()
    if found.type_mask == _ONLY_FLOATS:
        return array("d", cells)[1::2].tolist()
    return _convert_cells(VALUE.iter_unpack(cells), memo)


def _read_entries(address: int) -> list[Any]:
    """Return key and value of each entry, as cells in turn."""
    found = Mapping.from_address(address)
    entries = string_at(found.entries, _ENTRY.size * found.used) if found.used else b""
    cells: list[Any] = []
    for entry in _ENTRY.iter_unpack(entries):
        if entry[0] != _UNSET:
            cells += entry[:3], entry[3:6]
    return cells


def _read_dict(address: int, memo: _Memo) -> dict[Any, Any]:
    cells = _read_entries(address)
    made: dict[Any, Any] = {}
    if Mapping.from_address(address).key_type_mask & ~_SCALARS:
        # Each key is hashed before the next one is converted: both may run users' code.
        for pair in zip(cells[::2], cells[1::2]):
            key, made_item = _convert_cells(pair, memo)
            made[key] = made_item
        return made
    parts = iter(_convert_cells(cells, memo))
    made.update(zip(parts, parts))
    return made


def _read_elements(address: int, memo: _Memo) -> list[Any]:
    return _convert_cells(_read_entries(address)[::2], memo)


#: The type mask of keys that are no objects.
_SCALARS = 0xFFFF
_makers: dict[int, Callable[[int, _Memo], Any]] = {
    code.ARRAY: lambda address, memo: tuple(_read_sequence(address, memo)),
    code.LIST: _read_sequence,
    code.MAP: lambda address, memo: MappingProxyType(_read_dict(address, memo)),
    code.DICT: _read_dict,
    code.FROZEN_SET: lambda address, memo: frozenset(_read_elements(address, memo)),
    code.SET: lambda address, memo: set(_read_elements(address, memo)),
}
_part_makers: dict[int, Callable[[int, _Memo], Any]] = {
    code.ARRAY: lambda address, memo: (code.ARRAY, _read_sequence(address, memo)),
    code.LIST: lambda address, memo: (code.LIST, _read_sequence(address, memo)),
    code.MAP: lambda address, memo: (code.MAP, _convert_cells(_read_entries(address), memo)),
    code.DICT: lambda address, memo: (code.DICT, _convert_cells(_read_entries(address), memo)),
    code.FROZEN_SET: lambda address, memo: (code.FROZEN_SET, _read_elements(address, memo)),
    code.SET: lambda address, memo: (code.SET, _read_elements(address, memo)),
}
_NESTING = {**{base: base for base in _makers}, code.SHAPE: code.ARRAY, code.SLICE: code.SLICE}
