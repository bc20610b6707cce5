"""The views that `keys`, `values` and `items` of a mapping return."""

from __future__ import annotations

from collections.abc import Iterator

from .._rules.containers import ITEMS, KEYS, VALUES, has_pair
from .._typing import Any

__all__ = ["ItemsCore", "KeysCore", "ValuesCore"]


class _ViewCore:
    __slots__ = ("_mapping",)

    _what: int

    def __new__(cls, *args: Any) -> Any:
        made = super().__new__(cls)
        made._mapping = None
        return made

    def __init__(self, mapping: Any) -> None:
        self._mapping = mapping

    def __len__(self) -> int:
        return len(self._mapping)

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._mapping._iterate(self._what, False)
        return iterator


class KeysCore(_ViewCore):
    """A view of keys."""

    __slots__ = ()
    _what = KEYS

    def __contains__(self, key: object) -> bool:
        return key in self._mapping


class ValuesCore(_ViewCore):
    """A view of values."""

    __slots__ = ()
    _what = VALUES

    def __contains__(self, value: object) -> bool:
        return value in iter(self)


class ItemsCore(_ViewCore):
    """A view of pairs."""

    __slots__ = ()
    _what = ITEMS

    def __contains__(self, pair: object) -> bool:
        return has_pair(self._mapping, pair)
