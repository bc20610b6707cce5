"""The views that `keys`, `values` and `items` of a mapping return."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import ITEMS, KEYS, PLAIN_ITERABLES, VALUES, checks_self, has_pair
from .._typing import Any, Callable
from .abi import library, platform
from .methods import is_exactly
from .wrapper import memory_of

__all__ = ["ItemsCore", "KeysCore", "ValuesCore"]


_EQUAL = 2  # as `anyffi_wrapper_compare` numbers it
_compare = platform.plain(library.wrapper_compare)
_compare_keys = platform.plain(library.wrapper_compare_keys)


def _compare_items(mine: Any, theirs: Any) -> Any:
    if mine is theirs:
        return -1  # the runtime would not look at the items, which have methods of their own
    found = -1
    for type_code in (code.DICT, code.MAP):
        if found < 0:
            found = _compare(mine, theirs, type_code, _EQUAL)
    return found


def _equal(self: Any, other: object, compare: Callable[[Any, Any], Any]) -> Any:
    """Compare two views of one class, if that needs no Python code; otherwise compare as sets."""
    if type(other) is type(self):
        try:
            mine, theirs = self._mapping, other._mapping  # type: ignore[attr-defined]
            are_known = is_exactly(mine, code.DICT, code.MAP) and is_exactly(theirs, code.DICT, code.MAP)
            found = compare(memory_of(mine), memory_of(theirs)) if are_known else -1
        except TypeError:
            found = -1  # wrappers of another backend, in check mode
        if found >= 0:
            return found == 1
    return AbstractSet.__eq__(self, other)


def _compares(name: str) -> Callable[..., Any]:
    """Return a comparison with the semantics of sets."""
    compare = vars(AbstractSet)[name]

    def compare_sets(self: Any, other: object) -> Any:
        return compare(self, other)

    compare_sets.__name__ = name
    return compare_sets


class _SetCore:
    """Set operators for views, with the semantics of `collections.abc.Set`."""

    __slots__ = ()

    __lt__, __le__, __gt__, __ge__ = map(_compares, ("__lt__", "__le__", "__gt__", "__ge__"))

    def __ne__(self, other: object) -> Any:
        found = self.__eq__(other)
        return found if found is NotImplemented else not found


class _ViewCore:
    __slots__ = ("_mapping",)

    _mapping: Any
    _what: int

    def __new__(cls, *args: Any) -> Any:
        made = super().__new__(cls)
        made._mapping = None
        return made

    __new__.__doc__, __new__.__wrapped__ = object.__new__.__doc__, object.__new__  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._mapping)

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._mapping._anyffi_iterate(self._what, False)
        return iterator


@checks_self("anyffi.dict_keys", slots=True)
class KeysCore(_SetCore, _ViewCore):
    """A view of keys."""

    __slots__ = ()
    _what = KEYS

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, key: object) -> bool:
        return key in self._mapping

    def __eq__(self, other: object) -> Any:
        return _equal(self, other, _compare_keys)

    def __and__(self, other: object) -> Any:
        if id(type(other)) in PLAIN_ITERABLES:
            # No generator, which would make another error of a StopIteration that a key raises.
            return {key for key in other if key in self}  # type: ignore[attr-defined]
        return AbstractSet.__and__(self, other)  # type: ignore[operator]

    def __rand__(self, other: object) -> Any:
        return AbstractSet.__rand__(self, other)  # type: ignore[attr-defined]


@checks_self("anyffi.dict_values", slots=True)
class ValuesCore(_ViewCore):
    """A view of values."""

    __slots__ = ()
    _what = VALUES

    def __contains__(self, value: object) -> bool:
        return value in iter(self)


@checks_self("anyffi.dict_items", slots=True)
class ItemsCore(_SetCore, _ViewCore):
    """A view of pairs."""

    __slots__ = ()
    _what = ITEMS

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return _equal(self, other, _compare_items)

    def __contains__(self, pair: object) -> bool:
        return has_pair(self._mapping, pair)
