"""Keys that are equal if their values have the same structure."""

from __future__ import annotations

from .. import _current
from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["StructuralKey"]


class StructuralKey:
    """A key for dicts and sets that equals another one whose value has the same structure.

    Parameters
    ----------
    key : object
        Converted as by `anyffi.convert`. It must not change while the key is in use.

    Examples
    --------
    >>> from anyffi.structure import StructuralKey
    >>> seen = {StructuralKey([1, {"a": 2}]): "first"}
    >>> seen[StructuralKey([1, {"a": 2}])]
    'first'
    """

    __slots__ = ("_hash", "_key")
    __module__ = "anyffi.structure"

    _key: Any
    _hash: int

    def __init__(self, key: Any) -> None:
        self._key = _current.api.convert(key)
        self._hash = _current.api.structural_hash(self._key)

    @property
    def key(self) -> Any:
        """The value."""
        return self._key

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructuralKey):
            return NotImplemented
        same: bool = self._hash == other._hash and _current.api.structural_equal(self._key, other._key)
        return same

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"StructuralKey({self._key!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return StructuralKey, (self._key,)
