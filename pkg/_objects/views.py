"""The views that `keys`, `values` and `items` of a mapping return."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from reprlib import recursive_repr
from types import MappingProxyType

from .._rules.containers import ITEMS, KEYS, VALUES
from .._typing import Any

__all__ = ["dict_items", "dict_keys", "dict_values"]


class _View:
    """The base class of views, which see changes of their mapping."""

    __slots__ = ()

    _mapping: Any
    _what: int

    @property
    def mapping(self) -> Any:
        """A read-only view of the mapping."""
        return MappingProxyType(self._mapping)

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._mapping._iterate(self._what, False)
        return iterator

    def __reversed__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._mapping._iterate(self._what, True)
        return iterator

    @recursive_repr()
    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle {type(self).__name__!r} object")


class dict_keys(_View, KeysView):  # type: ignore[type-arg]
    """The keys, as a set."""

    __slots__ = ()
    __module__ = "anyffi"
    _what = KEYS


class dict_values(_View, ValuesView):  # type: ignore[type-arg]
    """The values."""

    __slots__ = ()
    __module__ = "anyffi"
    _what = VALUES

    def __contains__(self, value: object) -> bool:
        return value in iter(self)


_ABSENT = object()


class dict_items(_View, ItemsView):  # type: ignore[type-arg]
    """Keys and values in pairs, as a set."""

    __slots__ = ()
    __module__ = "anyffi"
    _what = ITEMS

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple) or tuple.__len__(pair) != 2:
            return False
        key, value = tuple.__iter__(pair)
        found = self._mapping._get(key, _ABSENT)
        return found is not _ABSENT and (found is value or bool(found == value))
