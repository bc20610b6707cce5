"""Conversion of the runtime's containers to Python's own."""

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

#: Results by address, with the wrapper that keeps the address in use; None while one is being converted.
_Memo = dict[int, Optional[tuple[Any, Any]]]

_CONTAINERS = (ArrayMethods, ListMethods, MapMethods, DictMethods, FrozenSetMethods, SetMethods)


def to_python(value: Any) -> Any:
    """Convert the runtime's containers to Python's own, at all levels.

    Parameters
    ----------
    value : object
        An `Array`, `List`, `Map`, `Dict`, `FrozenSet` or `Set` becomes an exact `tuple`, `list`,
        `mappingproxy`, `dict`, `frozenset` or `set`, the parts of a slice are converted; everything else is
        returned as it is.

    Raises
    ------
    RecursionError
        A container contains itself, or is nested too deeply for Python.

    Examples
    --------
    >>> anyffi.to_python(anyffi.List([1, (2, 3)]))
    [1, (2, 3)]
    """
    return _convert(value, {})


@functools.cache
def _nesting_types() -> int:
    """Return the type mask of values that contain others (`anyffi_type_bit`)."""
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
            raise RecursionError("a container that contains itself has no Python form")
        return found[0]
    memo[address] = None
    made = _convert_container(cls, value, memo)
    memo[address] = made, value
    return made


def _convert_container(cls: type, value: Any, memo: _Memo) -> Any:
    if issubclass(cls, (ListMethods, ArrayMethods)):
        # Read before and after: reading elements may run code that changes the sequence.
        mask = value._type_mask()
        items = value._items()
        if (mask | value._type_mask()) & _nesting_types():
            items = [_convert(item, memo) for item in items]
        return items if issubclass(cls, ListMethods) else tuple(items)
    if issubclass(cls, (FrozenSetMethods, SetMethods)):
        return value._plain([_convert(element, memo) for element in value])
    made = {_convert(key, memo): _convert(item, memo) for key, item in value._iterate(ITEMS, False)}
    return made if issubclass(cls, DictMethods) else MappingProxyType(made)
