"""Converts containers of the runtime to Python's own, at all levels.

Other threads may run between any two lines, so a mutable container is copied in one call of the runtime, and
the cells of the copy are read.
"""

from __future__ import annotations

import struct
from ctypes import string_at
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules import containers as rules
from .._rules import values as _rules
from .._rules.arrays import make_array
from .._rules.codes import FIRST_DYNAMIC_TYPE, code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform, translates_errors
from .containers import read_numbers
from .pack import object_value
from .scalars import new_object
from .stepping import is_stepping
from .structs import Header, Mapping, Sequence, Slice
from .unpack import unpack
from .wrapper import codes_of, memory_of

__all__ = ["DESCRIBERS", "MAKERS", "Makers", "Parts", "convert_object", "read_parts", "to_parts", "to_plain"]

_make_plain = platform.reader(library.wrapper_make_plain)
_UNREAD = platform.UNREAD
_ALL = 0  # ANYFFI_PLAIN_ALL
_value_of = VALUE.unpack
_INT, _UNSET, _TENSOR = code.INT, code.UNSET, code.TENSOR
#: The type mask of values that are not objects.
_INLINE_TYPES = 0xFFFF
#: AnyffiEntry: key, value, hash.
_ENTRY = struct.Struct("=iIqiIqq")
#: The immutable counterparts of mutable containers.
_PARTNERS = {code.LIST: code.ARRAY, code.DICT: code.MAP, code.SET: code.FROZEN_SET}


#: Results by address, or `_OPEN` during the conversion; at 0 the list of copies, which keeps their addresses
#: in use.
_Memo = dict[int, Any]
_OPEN = object()
#: Functions that create a container from its parts, by type code.
Makers = dict[int, Callable[[Any], Any]]


class Parts(tuple[int, Any]):
    """Type code and parts of a container."""

    __slots__ = ()


@translates_errors
def to_plain(x: Any) -> Any:
    """Return Python's own container for one of the runtime's, at all levels; other values unchanged."""
    type_code = codes_of.get(id(type(x)))
    if type_code in MAKERS and not is_stepping():
        try:
            made = _make_plain(memory_of(x), type_code, _ALL)
        except (AttributeError, TypeError):
            made = _UNREAD
        if made is not _UNREAD:
            return made
    return _convert_part(x, {0: []}, MAKERS)


@translates_errors
def to_parts(x: Any) -> Any:
    """As `to_plain`, with `Parts` for each container, which does not hash; for check mode."""
    return _convert_part(x, {0: []}, DESCRIBERS)


def convert_object(address: int, makers: Makers) -> Any:
    """Convert an object that the caller keeps alive; tensors become NumPy arrays."""
    type_code = Header.from_address(address).type_code
    nesting = _nesting_code(type_code)
    if nesting:
        return _convert(address, nesting, {0: []}, {**makers, _TENSOR: make_array})
    x = unpack((type_code, 0, address))
    return make_array(x) if type_code == _TENSOR else x


def _convert_part(x: Any, memo: _Memo, makers: Makers) -> Any:
    if type(x) is slice:
        return slice(*[_convert_part(part, memo, makers) for part in (x.start, x.stop, x.step)])
    type_code = rules.container_code(type(x))
    if not type_code:
        return x
    address = x._anyffi_address
    if not address:
        raise _rules.empty_wrapper(x)
    found = Header.from_address(address).type_code
    if found != type_code and not library.type_is_a(found, type_code):
        raise rules.wrong_object(x)
    return _convert(address, type_code, memo, makers)


def _convert(address: int, type_code: int, memo: _Memo, makers: Makers) -> Any:
    """Convert a container that the caller, or the memo, keeps alive.

    A single function for all containers, so that a level of nesting costs one frame.
    """
    if address in memo:
        if memo[address] is _OPEN:
            raise _rules.plain_contains_itself()
        return memo[address]
    memo[address] = _OPEN
    partner = _PARTNERS.get(type_code)
    copy = None if partner is None else new_object(library.container_copy, object_value(address), partner)
    parts, cells, hashes = read_parts(type_code, address if copy is None else _value_of(copy)[2])
    if cells and copy is not None:
        # Keeps the elements alive, because their addresses are in the memo.
        memo[0].append(copy)
    pairs: Any = {} if hashes and makers[code.DICT] is _dict_of else None
    for cell in cells:
        element_code, _, payload = cell
        if element_code == _INT:
            parts.append(payload)
        elif element_code > 0 and (nested := _nesting_code(element_code)):
            parts.append(_convert(payload, nested, memo, makers))
        else:
            x = unpack(cell)
            parts.append(makers[_TENSOR](x) if element_code == _TENSOR and _TENSOR in makers else x)
        if pairs is not None and len(parts) == 2:
            # Each key is hashed before the next one is converted, since both may run users' code.
            pairs[parts[0]] = parts[1]
            parts.clear()
    made = makers[type_code](parts if pairs is None else pairs)
    memo[address] = made
    return made


def _nesting_code(type_code: int) -> int:
    """Return the code of the container or slice type that a type is or derives from; 0 for other types."""
    if type_code < FIRST_DYNAMIC_TYPE:
        return _NESTING.get(type_code, 0)
    found: int = next((base for base in MAKERS if library.type_is_a(type_code, base)), 0)
    return found


def read_parts(type_code: int, address: int) -> tuple[list[Any], Any, bool]:
    """Return the converted parts, or the cells to convert, and whether hashing keys may run users' code."""
    if type_code == code.SLICE:
        of_slice = Slice.from_address(address)
        fields = of_slice.start, of_slice.stop, of_slice.step
        return [], [(part.type_code, part.aux, part.payload) for part in fields], False
    if type_code == code.ARRAY or type_code == code.LIST:
        found = Sequence.from_address(address)
        cells = string_at(found.data, VALUE_SIZE * found.size) if found.size else b""
        numbers = None if is_stepping() else read_numbers(cells, found.type_mask)
        return ([], VALUE.iter_unpack(cells), False) if numbers is None else (numbers, (), False)
    mapping = Mapping.from_address(address)
    content = string_at(mapping.entries, _ENTRY.size * mapping.used) if mapping.used else b""
    entries = [entry for entry in _ENTRY.iter_unpack(content) if entry[0] != _UNSET]
    if type_code == code.SET or type_code == code.FROZEN_SET:
        return [], [entry[:3] for entry in entries], False
    pairs = [cell for entry in entries for cell in (entry[:3], entry[3:6])]
    return [], pairs, bool(mapping.key_type_mask & ~_INLINE_TYPES)


def _dict_of(parts: Any) -> dict[Any, Any]:
    return parts if type(parts) is dict else dict(zip(parts[::2], parts[1::2]))


MAKERS: Makers = {
    code.ARRAY: tuple,
    code.LIST: lambda parts: parts,
    code.MAP: lambda parts: MappingProxyType(_dict_of(parts)),
    code.DICT: _dict_of,
    code.FROZEN_SET: frozenset,
    code.SET: set,
    code.SLICE: lambda parts: slice(*parts),
}
_NESTING: dict[int, int] = {**{base: base for base in MAKERS}, code.SHAPE: code.ARRAY}


def _describer(type_code: int) -> Callable[[Any], Any]:
    return lambda parts: Parts((type_code, parts))


DESCRIBERS: Makers = {**{base: _describer(base) for base in MAKERS}, code.SLICE: MAKERS[code.SLICE]}
