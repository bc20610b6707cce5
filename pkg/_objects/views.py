"""The views that `keys`, `values` and `items` of a mapping return, over the classes of a backend."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from collections.abc import Set as AbstractSet
from types import GenericAlias, MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules.containers import ITEMS, KEYS, PLAIN_SEQUENCES, PLAIN_SETS, VALUES, checks_self
from .._typing import Any
from .reprs import recursive_repr

__all__ = ["CORES", "build_views"]


class _ViewMethods:
    """Methods of all views, which reflect changes of the mapping."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    _mapping: Any
    _what: int

    def __init__(self, mapping: Any) -> None:
        self._mapping = mapping

    @property
    def mapping(self) -> Any:
        """A read-only view of the mapping."""
        return MappingProxyType(self._mapping)

    def __reversed__(self) -> Iterator[Any]:
        iterator: Iterator[Any] = self._mapping._anyffi_iterate(self._what, True)
        return iterator

    @recursive_repr
    def __repr__(self) -> str:
        self._mapping._anyffi_runtime.need_stack()
        return f"{type(self).__name__}({list(self)!r})"  # type: ignore[call-overload]

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle {type(self).__name__!r} object")


class _SetMethods(_ViewMethods, AbstractSet):  # type: ignore[type-arg]
    """The operators of sets, which return sets."""

    __slots__ = ()

    @classmethod
    def _from_iterable(cls, elements: Iterable[Any]) -> Any:
        return set(elements)

    # Uses Python's set operators if the other operand is a set or such a view, in a third of the time.

    def __sub__(self, other: Any) -> Any:
        if id(type(other)) in PLAIN_SEQUENCES:
            other = set(other)
        elif id(type(other)) not in PLAIN_SETS:
            return AbstractSet.__sub__(self, other)
        made = set(self)
        if len(other) > len(made):
            return made - other  # looks up the elements of the smaller one
        made.difference_update(other)
        return made

    def __or__(self, other: Any) -> Any:
        if id(type(other)) not in PLAIN_SETS and type(other) is not type(self):
            return AbstractSet.__or__(self, other)
        made = set(self)
        made.update(other)
        return made

    def __xor__(self, other: Any) -> Any:
        is_view = type(other) is type(self)
        if is_view and self._what == ITEMS:
            # Pairs contained in both need not be hashable.
            return {pair for pair in self if pair not in other} | {pair for pair in other if pair not in self}
        if id(type(other)) not in PLAIN_SETS and not is_view:
            return AbstractSet.__xor__(self, other)
        made = set(self)
        made.symmetric_difference_update(other)
        return made

    __ror__, __rxor__ = __or__, __xor__


#: By name: the backend's class, the kind of items, the methods, the class of `collections.abc`, the
#: docstring.
_ROWS: dict[str, tuple[str, int, type, type, str]] = {
    "dict_keys": ("KeysCore", KEYS, _SetMethods, KeysView, "The keys, as a set."),
    "dict_values": ("ValuesCore", VALUES, _ViewMethods, ValuesView, "The values."),
    "dict_items": ("ItemsCore", ITEMS, _SetMethods, ItemsView, "Keys and values in pairs, as a set."),
}

#: Slots and methods of Python's views that are defined here.
_SLOTS, _METHODS = ("__init__", "__repr__"), ("__reversed__", "__reduce__")

#: The names under which a backend has its own classes.
CORES = tuple(row[0] for row in _ROWS.values())


def build_views(core: Any) -> tuple[type, ...]:
    """Create the classes of views over a backend, indexed by the kind of their items."""
    made = []
    for name, (core_name, what, methods, abstract, doc) in _ROWS.items():
        namespace = {"__slots__": (), "__module__": "anyffi", "__doc__": doc, "_what": what}
        checked = checks_self(f"anyffi.{name}", slots=True, only=_SLOTS + _METHODS, methods_in_c=_METHODS)
        cls = checked(ABCMeta(name, (getattr(core, core_name), methods), namespace))
        abstract.register(cls)  # type: ignore[attr-defined]
        made.append(cls)
    return tuple(made)
