"""Methods of `Map` and `Dict` over the classes of a backend."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .._rules.containers import ITEMS, KEYS, VALUES, checks_self
from .._rules.culprits import locate_method
from .._rules.internal import MISSING
from .._typing import TYPE_CHECKING, Any
from .container import Container, deep_copies, is_made, is_public, new_or_same, shown_class, single_argument
from .reprs import recursive_repr

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DictMethods", "MapMethods", "MappingMethods"]

_ABSENT = object()


class MappingMethods(Container):
    """Methods of both classes."""

    __slots__ = ()

    if TYPE_CHECKING:  # defined by the backend

        def __setitem__(self, key: Any, item: Any) -> None: ...

        def _anyffi_get(self, key: Any, default: Any) -> Any: ...

        def _anyffi_pairs(self) -> list[tuple[Any, Any]]: ...

        #: The classes of views.
        _anyffi_views: tuple[Any, Any, Any]

        def _anyffi_iterate(self, what: int, backwards: bool) -> Iterator[Any]: ...

    def __reversed__(self, /) -> Iterator[Any]:
        return self._anyffi_iterate(KEYS, True)

    def _anyffi_size(self) -> int:
        """Return the number of entries, ignoring `__len__` of a subclass."""
        return operator.length_hint(self._anyffi_iterate(KEYS, False))

    def _anyffi_entries(self) -> dict[Any, Any]:
        return dict(self._anyffi_pairs())

    @staticmethod
    def _anyffi_is_alike(other: object) -> bool:
        return issubclass(type(other), (MappingMethods, dict, MappingProxyType))

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if not self._anyffi_is_alike(other):
            return NotImplemented
        if issubclass(type(other), MappingMethods):
            theirs: Any = other
            return (
                self._anyffi_size() == theirs._anyffi_size()
                and self._anyffi_entries() == theirs._anyffi_entries()
            )
        if type(other) is dict and self._anyffi_size() != len(other):
            return False
        return self._anyffi_entries() == other

    def __ne__(self, other: object) -> Any:
        equal = MappingMethods.__eq__(self, other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other: object) -> Any:
        return NotImplemented

    def __le__(self, other: object) -> Any:
        return NotImplemented

    def __gt__(self, other: object) -> Any:
        return NotImplemented

    def __ge__(self, other: object) -> Any:
        return NotImplemented

    def __or__(self, other: object) -> Any:
        if not self._anyffi_is_alike(other):
            return NotImplemented
        return self._anyffi_runtime.mapping_merge(self, other, self._anyffi_type_code)

    def __ror__(self, other: object) -> Any:
        if not self._anyffi_is_alike(other):
            return NotImplemented
        return self._anyffi_runtime.mapping_merge(other, self, self._anyffi_type_code)

    def get(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of `key`, or `default` if it is absent."""
        return self._anyffi_get(key, default)

    def keys(self, /) -> Any:
        """Return a set-like view of the keys."""
        return self._anyffi_views[KEYS](self)

    def values(self, /) -> Any:
        """Return a view of the values."""
        return self._anyffi_views[VALUES](self)

    def items(self, /) -> Any:
        """Return a set-like view of the pairs."""
        return self._anyffi_views[ITEMS](self)

    @recursive_repr
    def __repr__(self) -> str:
        self._anyffi_runtime.need_stack()
        pairs = ", ".join([f"{key!r}: {value!r}" for key, value in self._anyffi_pairs()])
        return f"{shown_class(self)}({{{pairs}}})"


def _copy_entries(mapping: MappingMethods, memo: dict[int, Any]) -> list[tuple[Any, Any]]:
    copies = iter(deep_copies([x for pair in mapping._anyffi_pairs() for x in pair], memo))
    return list(zip(copies, copies))


@checks_self("anyffi.Map")
class MapMethods(MappingMethods):
    """An immutable mapping of the runtime, in insertion order, as `types.MappingProxyType` shows one.

    Parameters
    ----------
    mapping : mapping or iterable of pairs
        As for `dict`.

    Examples
    --------
    >>> anyffi.Map({"a": 1})
    anyffi.Map({'a': 1})
    """

    __slots__ = ()
    _anyffi_plain = MappingProxyType

    def __init__(self, /, *mapping: Any, **pairs: Any) -> None:
        given = single_argument("Map", mapping, ())
        if is_made(self, given):
            return
        content = given if type(given) is dict and not pairs else dict(given, **pairs)
        self._anyffi_move_from(self._anyffi_runtime.to_object(MappingProxyType(content)))

    __new__ = new_or_same(__init__)

    def __ior__(self, other: object) -> Any:
        raise TypeError("'|=' is not supported by Map; use '|' instead")

    def copy(self, /) -> Any:
        """Return a new Dict of the same pairs, as the copy of a mappingproxy is a dict."""
        return self._anyffi_runtime.container_thaw(self)

    def thaw(self, /) -> Any:
        """Return a new Dict of the same pairs."""
        return self._anyffi_runtime.container_thaw(self)

    def __reduce__(self, /) -> tuple[Any, ...]:
        """Return the `__reduce__` value."""
        content = self._anyffi_content()
        return self._anyffi_reduced(self._anyffi_entries() if content is None else dict(content))

    def __copy__(self, /) -> Any:
        """Return the container itself, which is immutable; for a subclass a copy."""
        return self if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self
        entries = self._anyffi_entries()
        copies = dict(_copy_entries(self, memo))
        if id(self) in memo:  # it contains itself, through a List or Dict
            return memo[id(self)]
        same = all(map(operator.is_, entries, copies)) and all(
            map(operator.is_, entries.values(), copies.values())
        )
        return (
            self._anyffi_unchanged(memo)
            if same and is_public(type(self))
            else self._anyffi_remade(copies, memo)
        )


@checks_self("anyffi.Dict")
class DictMethods(MappingMethods):
    """A mutable mapping of the runtime, in insertion order, as `dict` is Python's: a reference.

    Changes are atomic: if one of several keys or values cannot be converted, the mapping is unchanged.

    Parameters
    ----------
    mapping : mapping or iterable of pairs
        As for `dict`.

    Examples
    --------
    >>> d = anyffi.Dict({"a": 1})
    >>> d["b"] = 2
    >>> d
    anyffi.Dict({'a': 1, 'b': 2})
    """

    __slots__ = ()
    _anyffi_plain = dict

    def __init__(self, /, *mapping: Any, **pairs: Any) -> None:
        given = single_argument("Dict", mapping, ())
        content = given if type(given) is dict and not pairs else dict(given, **pairs)
        made = self._anyffi_runtime.to_object(content)
        if self._anyffi_address:
            self._anyffi_runtime.dict_update(self, made)
        else:
            self._anyffi_move_from(made)

    @classmethod
    def fromkeys(cls, iterable: Iterable[Any], value: Any = None, /) -> Any:
        """Return a new mapping with the keys of `iterable` and one value for all of them."""
        # Converted once, so that all keys share it.
        try:
            shared = cls._anyffi_runtime.to_object(value)
        except Exception as exception:
            locate_method(exception, (iterable, value), ("anyffi.Dict.fromkeys", None))
            raise
        made = cls()
        for key in iterable:
            made[key] = shared
        return made

    def pop(self, key: Any, /, *default: Any) -> Any:
        """Remove a key and return its value, or `default` if it is absent."""
        if len(default) > 1:
            raise TypeError(f"pop expected at most 2 arguments, got {1 + len(default)}")
        runtime = self._anyffi_runtime
        peeked = runtime.dict_peek(self, key)
        if peeked is not None:
            # Unpacked first: without memory for that, nothing has changed.
            value = peeked[2]
            if runtime.container_erase_peeked(self, peeked):
                return value
            # Unpacking ran code that changed the dict: unpacked last, so that this ends.
            value = runtime.dict_pop(self, key)
            if value is not MISSING:
                return value
        if not default:
            raise KeyError(key)
        return default[0]

    def popitem(self, /) -> tuple[Any, Any]:
        """Remove and return the pair that was inserted last."""
        runtime = self._anyffi_runtime
        peeked = runtime.dict_peek_last(self)
        if peeked is not None:
            pair = peeked[1], peeked[2]
            if runtime.container_erase_peeked(self, peeked):
                return pair
        key, value = runtime.dict_popitem(self)
        return key, value

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of `key`; if it is absent, set it to `default` first."""
        found = self._anyffi_get(key, _ABSENT)
        if found is _ABSENT:
            runtime = self._anyffi_runtime
            # Converted first: without memory for that, nothing has changed.
            converted = runtime.to_object(default)
            # As an element is read: a Function that calls a Python callable is that callable.
            unpacked = runtime.to_object((converted,))[0] if callable(converted) else converted
            # In one step, because another thread may set it meanwhile.
            found = runtime.dict_setdefault(self, key, converted)
            return unpacked if type(found) is int else found[0]
        return found

    def update(self, /, *mapping: Any, **pairs: Any) -> None:
        """Set every pair of another mapping or iterable of pairs."""
        self._anyffi_update(single_argument("update", mapping, ()), pairs)

    def _anyffi_update(self, other: Any, pairs: dict[str, Any]) -> None:
        if pairs or not (issubclass(type(other), MappingMethods) and is_public(type(other))):
            other = dict(other, **pairs)
        self._anyffi_runtime.dict_update(self, other)

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]  # takes what `update` does
        self._anyffi_update(other, {})
        return self

    def clear(self, /) -> None:
        """Remove every pair."""
        self._anyffi_runtime.dict_clear(self)

    def copy(self, /) -> Any:
        """Return a new Dict of the same pairs."""
        return self._anyffi_runtime.container_copy(self)

    def freeze(self, /) -> Any:
        """Return a new Map of the same pairs."""
        return self._anyffi_runtime.container_freeze(self)

    def __reduce__(self, /) -> tuple[Any, ...]:
        """Return the `__reduce__` value."""
        content = self._anyffi_content()
        # Not `items()`: if there is no memory for the first pair, its iterator crashes the process.
        pairs = iter(self._anyffi_pairs()) if content is None else zip(content, content.values())
        return (*self._anyffi_reduced(), None, pairs)

    def __copy__(self, /) -> Any:
        """Return a new container of the same class and elements."""
        return self.copy() if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self.copy()
        made = self._anyffi_remade((), memo)
        self._anyffi_runtime.dict_update(made, dict(_copy_entries(self, memo)))
        return made
