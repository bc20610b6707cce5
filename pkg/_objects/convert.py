"""Turning the runtime's containers into Python's own."""

from __future__ import annotations

import functools
from types import MappingProxyType

from .._rules.codes import code
from .._rules.containers import ITEMS
from .._typing import Any, Optional
from .mappings import DictMethods, MapMethods
from .sequences import ArrayMethods, ListMethods
from .sets import FrozenSetMethods, SetMethods

__all__ = ["to_python"]

#: What was converted, by address, and the wrapper that keeps the address taken; None while it is at work.
_Memo = dict[int, Optional[tuple[Any, Any]]]

_CONTAINERS = (ArrayMethods, ListMethods, MapMethods, DictMethods, FrozenSetMethods, SetMethods)


def to_python(value: Any) -> Any:
    """Turn the runtime's containers into Python's own, deeply.

    Parameters
    ----------
    value : object
        An `Array`, `List`, `Map`, `Dict`, `FrozenSet` or `Set` becomes an exact `tuple`, `list`,
        `mappingproxy`, `dict`, `frozenset` or `set`, the parts of a slice are converted; everything else is
        returned as it is.

    Raises
    ------
    RecursionError
        A container holds itself, or the nesting is too deep for Python.

    Examples
    --------
    >>> anyffi.to_python(anyffi.List([1, (2, 3)]))
    [1, (2, 3)]
    """
    return _convert(value, {})


@functools.cache
def _nesting_kinds() -> int:
    """The kinds of values that hold others, as each sequence notes what it holds (`anyffi_type_bit`)."""
    nesting = (code.ARRAY, code.LIST, code.MAP, code.DICT, code.FROZEN_SET, code.SET, code.SLICE)
    return 1 << 63 | sum(1 << (15 + int(type_code)) for type_code in nesting)


def _convert(value: Any, memo: _Memo) -> Any:
    cls = type(value)
    if cls is slice:
        return slice(_convert(value.start, memo), _convert(value.stop, memo), _convert(value.step, memo))
    if not issubclass(cls, _CONTAINERS):
        return value
    address = value._address
    if address in memo:
        found = memo[address]
        if found is None:
            raise RecursionError("a container that holds itself has no Python form")
        return found[0]
    memo[address] = None
    made = _convert_container(cls, value, memo)
    memo[address] = made, value
    return made


def _convert_container(cls: type, value: Any, memo: _Memo) -> Any:
    if issubclass(cls, (ListMethods, ArrayMethods)):
        # Asked before and after: reading may run code that changes the sequence.
        kinds = value._type_mask()
        items = value._items()
        if (kinds | value._type_mask()) & _nesting_kinds():
            items = [_convert(item, memo) for item in items]
        return items if issubclass(cls, ListMethods) else tuple(items)
    if issubclass(cls, (FrozenSetMethods, SetMethods)):
        return value._plain([_convert(element, memo) for element in value])
    made = {_convert(key, memo): _convert(item, memo) for key, item in value._iterate(ITEMS, False)}
    return made if issubclass(cls, DictMethods) else MappingProxyType(made)
