"""What Array, List, Map and Dict can do beyond a backend's core: Python over the core and the runtime.

The classes here are mixed into the public ones by `_classes.build`, which also sets `_runtime`.
"""

from __future__ import annotations

import collections.abc
import operator
import sys
from collections.abc import Iterable, Iterator
from reprlib import recursive_repr
from types import GenericAlias, MappingProxyType
from typing import TYPE_CHECKING, Any, Callable

from ._runtime import Runtime

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArrayMethods", "DictMethods", "ListMethods", "MapMethods", "check_empty", "shown_class"]


def shown_class(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}"


def check_empty(x: Any) -> None:
    if x._address:
        raise TypeError(f"{type(x).__name__} was made already and does not change")


class _Sequence:
    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    _runtime: Runtime
    #: Python's own class of the kind, which compares and slices for us.
    _plain: Any
    _address: int

    if TYPE_CHECKING:  # the backend's core has them

        def __len__(self) -> int: ...

        def __getitem__(self, index: Any) -> Any: ...

        def __iter__(self) -> Iterator[Any]: ...

    def _slice(self, which: slice) -> Any:
        items = [self[index] for index in range(*which.indices(len(self)))]
        return self._new(self._plain(items))

    def _new(self, items: Any) -> Any:
        """A new container of this kind, of the items of an exact builtin."""
        return self._runtime.to_object(items)

    def _other(self, other: Any) -> Any:
        """The other operand as an exact builtin of this kind, or None if it is of another kind."""
        cls = type(other)
        if issubclass(cls, self._plain):
            return self._plain.__getitem__(other, slice(None))
        if issubclass(cls, _Sequence) and cls._plain is self._plain:
            return self._plain(other)
        return None

    def _compare(self, other: object, operation: Callable[[Any, Any], Any]) -> Any:
        theirs = self._other(other)
        return NotImplemented if theirs is None else operation(self._plain(self), theirs)

    def __eq__(self, other: object) -> Any:
        return True if self is other else self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return False if self is other else self._compare(other, operator.ne)

    def __lt__(self, other: object) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: object) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, operator.ge)

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, value: object) -> bool:
        return any(item is value or item == value for item in self)

    def __reversed__(self) -> Iterator[Any]:
        return iter([self[index] for index in reversed(range(len(self)))])

    def __add__(self, other: object) -> Any:
        theirs = self._other(other)
        return NotImplemented if theirs is None else self._new(self._plain(self) + theirs)

    def __radd__(self, other: object) -> Any:
        theirs = self._other(other)
        return NotImplemented if theirs is None else self._new(theirs + self._plain(self))

    def __mul__(self, times: Any) -> Any:
        try:
            count = operator.index(times)
        except TypeError:
            return NotImplemented
        return self._new(self._plain(self) * count)

    __rmul__ = __mul__

    def index(self, value: Any, start: int = 0, stop: int = sys.maxsize) -> int:
        """The first position of `value`; ValueError if it is not there."""
        for index in range(*slice(start, stop).indices(len(self))):
            item = self[index]
            if item is value or item == value:
                return index
        raise ValueError(f"{value!r} is not in {self._plain.__name__}")

    def count(self, value: Any) -> int:
        """How many elements equal `value`."""
        return sum(1 for item in self if item is value or item == value)

    @recursive_repr()
    def __repr__(self) -> str:
        return f"{shown_class(self)}({self._plain(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._plain(self),)


class ArrayMethods(_Sequence):
    """An immutable sequence of the runtime, as `tuple` is Python's.

    Parameters
    ----------
    iterable : iterable
        The elements.

    Examples
    --------
    >>> anyffi.Array((1, "two"))
    anyffi.Array((1, 'two'))
    """

    __slots__ = ()
    _plain = tuple
    _take: Callable[[Any], None]

    def __init__(self, iterable: Iterable[Any] = ()) -> None:
        check_empty(self)
        self._take(self._new(tuple(iterable)))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def thaw(self) -> Any:
        """A new List of the same elements."""
        return self._runtime.container_thaw(self)


class ListMethods(_Sequence):
    """A mutable sequence of the runtime, as `list` is Python's: a reference, all handles see a change.

    Parameters
    ----------
    iterable : iterable
        The elements.

    Examples
    --------
    >>> xs = anyffi.List([1, "two"])
    >>> xs.append(3.0)
    >>> xs
    anyffi.List([1, 'two', 3.0])
    """

    __slots__ = ()
    _plain = list
    _take: Callable[[Any], None]

    def __init__(self, iterable: Iterable[Any] = ()) -> None:
        made = self._new(list(iterable))
        if self._address:
            self[:] = made
        else:
            self._take(made)

    def _position(self, index: Any, message: str) -> int:
        size = len(self)
        position = operator.index(index)
        if position < 0:
            position += size
        if not 0 <= position < size:
            raise IndexError(message)
        return position

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._assign(index, value)
        else:
            position = self._position(index, "list assignment index out of range")
            self._runtime.list_set(self, position, value)

    def _assign(self, which: slice, values: Iterable[Any]) -> None:
        # Converted before anything is removed, so that a value that cannot be passed changes nothing.
        new = self._new(list(values))
        start, stop, step = which.indices(len(self))
        positions = range(start, stop, step)
        if step == 1:
            self._runtime.list_erase(self, start, len(positions))
            for offset, value in enumerate(new):
                self._runtime.list_insert(self, start + offset, value)
            return
        if len(new) != len(positions):
            raise ValueError(
                f"attempt to assign sequence of size {len(new)} to extended slice of size {len(positions)}"
            )
        for position, value in zip(positions, new):
            self._runtime.list_set(self, position, value)

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            position = self._position(index, "list assignment index out of range")
            self._runtime.list_erase(self, position, 1)
            return
        positions = range(*index.indices(len(self)))
        if positions.step == 1:
            self._runtime.list_erase(self, positions.start, len(positions))
            return
        for position in sorted(positions, reverse=True):
            self._runtime.list_erase(self, position, 1)

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        self._runtime.list_append(self, value)

    def extend(self, iterable: Iterable[Any]) -> None:
        """Add all elements of `iterable` at the end."""
        for value in list(iterable):
            self._runtime.list_append(self, value)

    def __iadd__(self, other: Any) -> Self:  # type: ignore[misc]  # takes what `extend` does
        self.extend(other)
        return self

    def __imul__(self, times: Any) -> Any:
        try:
            count = operator.index(times)
        except TypeError:
            return NotImplemented
        self[:] = list(self) * count
        return self

    def insert(self, index: int, value: Any) -> None:
        """Add an element before `index`, which is cut to the list's range."""
        self._runtime.list_insert(self, slice(index, None).indices(len(self))[0], value)

    def pop(self, index: int = -1) -> Any:
        """Remove and return an element, the last one by default."""
        position = self._position(index, "pop index out of range" if len(self) else "pop from empty list")
        value = self[position]
        self._runtime.list_erase(self, position, 1)
        return value

    def remove(self, value: Any) -> None:
        """Remove the first element that equals `value`; ValueError if there is none."""
        try:
            position = self.index(value)
        except ValueError:
            raise ValueError("list.remove(x): x not in list") from None
        self._runtime.list_erase(self, position, 1)

    def clear(self) -> None:
        """Remove every element."""
        self._runtime.list_erase(self, 0, len(self))

    def reverse(self) -> None:
        """Reverse the order of the elements, in place."""
        self._runtime.list_reverse(self)

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        """Sort in place; what a comparison raises leaves the list as it was."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def copy(self) -> Any:
        """A new List of the same elements."""
        return self._runtime.container_copy(self)

    def freeze(self) -> Any:
        """A new Array of the same elements."""
        return self._runtime.container_freeze(self)


class _KeysView(collections.abc.KeysView):  # type: ignore[type-arg]
    __slots__ = ()

    def __repr__(self) -> str:
        return f"keys({list(self)!r})"


class _ValuesView(collections.abc.ValuesView):  # type: ignore[type-arg]
    __slots__ = ()

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._walk())

    def __repr__(self) -> str:
        return f"values({list(self)!r})"


class _ItemsView(collections.abc.ItemsView):  # type: ignore[type-arg]
    __slots__ = ()

    _mapping: Any

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping._walk())

    def __repr__(self) -> str:
        return f"items({list(self)!r})"


_ABSENT = object()


class _Mapping:
    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)

    _runtime: Runtime
    _plain: Any
    _address: int
    _take: Callable[[Any], None]

    if TYPE_CHECKING:  # the backend's core has them

        def __len__(self) -> int: ...

        def __getitem__(self, key: Any) -> Any: ...

        def _entry(self, position: int) -> tuple[int, Any, Any] | None: ...

    def _walk(self) -> Iterator[tuple[Any, Any]]:
        """The pairs in insertion order; notices that the size changed."""
        size = len(self)
        position = 0
        while True:
            if len(self) != size:
                raise RuntimeError("dictionary changed size during iteration")
            entry = self._entry(position)
            if entry is None:
                return
            position, key, value = entry
            yield key, value

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._walk())

    def __reversed__(self) -> Iterator[Any]:
        keys = [key for key, _ in self._walk()]
        return iter(keys[::-1])

    def _dict(self) -> dict[Any, Any]:
        return dict(self._walk())

    def _other(self, other: Any) -> Any:
        cls = type(other)
        if issubclass(cls, dict):
            return dict(dict.items(other))
        if issubclass(cls, _Mapping):
            return other._dict()
        if cls is MappingProxyType:
            return dict(other)
        return None

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        theirs = self._other(other)
        return NotImplemented if theirs is None else self._dict() == theirs

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: object) -> Any:
        theirs = self._other(other)
        if theirs is None:
            return NotImplemented
        return self._runtime.to_object(self._plain({**self._dict(), **theirs}))

    def __ror__(self, other: object) -> Any:
        theirs = self._other(other)
        if theirs is None:
            return NotImplemented
        return self._runtime.to_object(self._plain({**theirs, **self._dict()}))

    def get(self, key: Any, default: Any = None) -> Any:
        """The value at `key`, or `default` if it is not there."""
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self) -> Any:
        """A set-like view of the keys."""
        return _KeysView(self)

    def values(self) -> Any:
        """A view of the values."""
        return _ValuesView(self)

    def items(self) -> Any:
        """A set-like view of the pairs."""
        return _ItemsView(self)

    @recursive_repr()
    def __repr__(self) -> str:
        pairs = ", ".join(f"{key!r}: {value!r}" for key, value in self._walk())
        return f"{shown_class(self)}({{{pairs}}})"

    def copy(self) -> Any:
        """A new container of the same pairs."""
        return self._runtime.container_copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._dict(),)


class MapMethods(_Mapping):
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
    _plain = MappingProxyType

    def __init__(self, mapping: Any = (), **pairs: Any) -> None:
        check_empty(self)
        self._take(self._runtime.to_object(MappingProxyType(dict(mapping, **pairs))))

    def thaw(self) -> Any:
        """A new Dict of the same pairs."""
        return self._runtime.container_thaw(self)


class DictMethods(_Mapping):
    """A mutable mapping of the runtime, in insertion order, as `dict` is Python's: a reference.

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
    _plain = dict

    def __init__(self, mapping: Any = (), **pairs: Any) -> None:
        if self._address:
            self.update(mapping, **pairs)
        else:
            self._take(self._runtime.to_object(dict(mapping, **pairs)))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._runtime.dict_set(self, key, value)

    def __delitem__(self, key: Any) -> None:
        if not self._runtime.dict_erase(self, key):
            raise KeyError(key)

    def pop(self, key: Any, default: Any = _ABSENT) -> Any:
        """Remove a key and return its value, or `default` if it is not there."""
        try:
            value = self[key]
        except KeyError:
            if default is _ABSENT:
                raise
            return default
        del self[key]
        return value

    def popitem(self) -> tuple[Any, Any]:
        """Remove and return the pair that was inserted last."""
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        pairs: list[tuple[Any, Any]] = list(self._walk())
        key, value = pairs[-1]
        self._runtime.dict_erase(self, key)
        return key, value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value at `key`, set to `default` first if it is not there."""
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return self[key]

    def update(self, mapping: Any = (), **pairs: Any) -> None:
        """Set every pair of another mapping or iterable of pairs."""
        for key, value in dict(mapping, **pairs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]  # takes what `update` does
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove every pair."""
        self._runtime.dict_clear(self)

    def freeze(self) -> Any:
        """A new Map of the same pairs."""
        return self._runtime.container_freeze(self)
