"""Methods of `Array`, `Shape` and `List` over the classes of a backend."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Iterator
from functools import partial

from .._builtins import *  # noqa: F403
from .._rules.containers import as_bound, as_count, as_position, checks_self, hashable, unpack_slice
from .._rules.values import find_on_type
from .._typing import TYPE_CHECKING, Any, Callable
from .container import Container, deep_copies, is_made, is_public, new_or_same, shown_class
from .reprs import recursive_repr
from .runtime import Runtime

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArrayMethods", "ListMethods", "SequenceMethods", "ShapeMethods"]


#: Sequence classes with `__rmul__`, which Python calls only after the list's own method fails.
_BUILTINS = (str, bytes, bytearray, tuple, list)


def _reflected(self: Any, other: Any, method: str, message: str) -> Any:
    """Call the other operand's reflected method; TypeError with `message` if it has none."""
    is_ours = issubclass(type(other), SequenceMethods) and _owner_of(type(other), method) == "anyffi"
    if not is_ours and find_on_type(type(other), method) is not None and not isinstance(other, _BUILTINS):
        result = getattr(type(other), method)(other, self)
        if result is not NotImplemented:
            return result
    raise TypeError(message)


def _find_order(items: list[Any], key: Callable[[Any], Any] | None, reverse: Any) -> list[int]:
    """Return the original positions of the items, in sorted order."""
    order = list(range(len(items)))
    key_at = items.__getitem__ if key is None else lambda position: key(items[position])
    order.sort(key=key_at, reverse=reverse)
    return order


def _owner_of(cls: type, method: str) -> str:
    """Return the package of the class that defines a method."""
    return next(base.__module__ for base in cls.__mro__ if method in vars(base)).partition(".")[0]


class SequenceMethods(Container):
    """Methods of both."""

    __slots__ = ()

    if TYPE_CHECKING:  # defined by the backend

        def _anyffi_items(self) -> list[Any]: ...

        def _anyffi_find(self, value: Any, start: int, stop: int) -> int: ...

        def _anyffi_iterate(self, backwards: bool) -> Iterator[Any]: ...

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        # NumPy would read the elements one by one, which takes up to ten times as long.
        if copy is False:
            raise ValueError(f"the elements of {shown_class(self)} cannot be an array without a copy")
        import numpy as np

        return np.array(self._anyffi_runtime.to_plain(self), dtype)

    def _anyffi_slice(self, which: slice) -> Any:
        return self._anyffi_runtime.sequence_slice(self, *unpack_slice(which))

    def _anyffi_operand(self, other: Any) -> Any:
        """Return the other operand if it is a container of the runtime or an exact builtin; else None."""
        cls = type(other)
        if issubclass(cls, self._anyffi_plain):
            return self._anyffi_plain.__getitem__(other, slice(None))
        return other if issubclass(cls, SequenceMethods) and cls._anyffi_plain is self._anyffi_plain else None

    def _anyffi_size(self) -> int:
        """Return the number of elements, ignoring `__len__` of a subclass."""
        return operator.length_hint(self._anyffi_iterate(False))

    def _anyffi_compare(self, other: object, operation: Callable[[Any, Any], Any]) -> Any:
        """Compare element by element up to the first that decides, as list and tuple do."""
        self._anyffi_runtime.need_stack()
        cls = type(other)
        iterate: Callable[[], Iterator[Any]]
        count: Callable[[], int]
        if issubclass(cls, self._anyffi_plain):
            iterate, count = (
                partial(self._anyffi_plain.__iter__, other),
                partial(self._anyffi_plain.__len__, other),
            )
        elif issubclass(cls, SequenceMethods) and cls._anyffi_plain is self._anyffi_plain:
            theirs: Any = other
            iterate, count = partial(theirs._anyffi_iterate, False), theirs._anyffi_size
        else:
            return NotImplemented
        is_equality = operation is operator.eq or operation is operator.ne
        if is_equality and self._anyffi_size() != count():
            return operation is operator.ne
        for position, (mine, item) in enumerate(zip(self._anyffi_iterate(False), iterate())):
            if mine is not item and not mine == item:  # noqa: SIM201  # `!=` is another method
                if position >= min(self._anyffi_size(), count()):
                    break
                return operation is operator.ne if is_equality else operation(mine, item)
        return operation(self._anyffi_size(), count())

    def __eq__(self, other: object) -> Any:
        return True if self is other else self._anyffi_compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return False if self is other else self._anyffi_compare(other, operator.ne)

    def __lt__(self, other: object) -> Any:
        return self._anyffi_compare(other, operator.lt)

    def __le__(self, other: object) -> Any:
        return self._anyffi_compare(other, operator.le)

    def __gt__(self, other: object) -> Any:
        return self._anyffi_compare(other, operator.gt)

    def __ge__(self, other: object) -> Any:
        return self._anyffi_compare(other, operator.ge)

    def __contains__(self, value: object) -> bool:
        return self._anyffi_find(value, 0, sys.maxsize) >= 0

    def __add__(self, other: object) -> Any:
        theirs = self._anyffi_operand(other)
        if theirs is None:
            name = self._anyffi_plain.__name__
            message = f'can only concatenate {name} (not "{type(other).__name__}") to {name}'
            return _reflected(self, other, "__radd__", message)
        return self._anyffi_new(self._anyffi_runtime.sequence_concat(self, theirs))

    def __radd__(self, other: object) -> Any:
        theirs = self._anyffi_operand(other)
        if theirs is None:
            return NotImplemented
        return self._anyffi_new(self._anyffi_runtime.sequence_concat(theirs, self))

    def __mul__(self, times: Any) -> Any:
        if find_on_type(type(times), "__index__") is None:
            return _reflected(self, times, "__rmul__", _not_a_count(times))
        return self._anyffi_runtime.sequence_repeat(self, as_count(times))

    def __rmul__(self, times: Any) -> Any:
        if find_on_type(type(times), "__index__") is None:
            if isinstance(times, _BUILTINS):
                return NotImplemented
            raise TypeError(_not_a_count(times))
        return self._anyffi_runtime.sequence_repeat(self, as_count(times))

    def index(self, value: Any, start: Any = 0, stop: Any = sys.maxsize, /) -> int:
        """Return the first position of `value` from `start` to `stop`; ValueError if there is none."""
        first, end = as_bound(start), as_bound(stop)
        size = self._anyffi_size()
        position = self._anyffi_find(
            value, max(first + size * (first < 0), 0), max(end + size * (end < 0), 0)
        )
        # This raises the interpreter's own message.
        return position if position >= 0 else self._anyffi_plain().index(value)

    def count(self, value: Any, /) -> int:
        """Count the elements that equal `value`."""
        found = total = 0
        while (found := self._anyffi_find(value, found, sys.maxsize) + 1) > 0:
            total += 1
        return total

    @recursive_repr
    def __repr__(self) -> str:
        self._anyffi_runtime.need_stack()
        return f"{shown_class(self)}({self._anyffi_plain(self._anyffi_items())!r})"


def _not_a_count(times: Any) -> str:
    return f"can't multiply sequence by non-int of type {type(times).__name__!r}"


@checks_self("anyffi.Array")
class ArrayMethods(SequenceMethods):
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
    _anyffi_plain = tuple

    def __init__(self, iterable: Iterable[Any] = (), /) -> None:
        if not is_made(self, iterable):
            self._anyffi_move_from(self._anyffi_new(tuple(iterable)))

    __new__ = new_or_same(__init__)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(map(hashable, self._anyffi_items())))

    def thaw(self, /) -> Any:
        """Return a new List of the same elements."""
        return self._anyffi_runtime.container_thaw(self)

    def __reduce__(self, /) -> tuple[Any, ...]:
        """Return the `__reduce__` value."""
        content = self._anyffi_content()
        return self._anyffi_reduced(tuple(self._anyffi_items() if content is None else content))

    def __copy__(self, /) -> Any:
        """Return the container itself, which is immutable; for a subclass a copy."""
        return self if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self
        items = self._anyffi_items()
        copies = deep_copies(items, memo)
        if id(self) in memo:  # it contains itself, through a List or Dict
            return memo[id(self)]
        if is_public(type(self)) and all(map(operator.is_, items, copies)):
            return self._anyffi_unchanged(memo)
        return self._anyffi_remade(copies, memo)


class ShapeMethods:
    """Extents of an array: an `Array` of 64-bit ints, which C++ functions accept without a check.

    It is accepted wherever an `Array` is.

    Parameters
    ----------
    iterable : iterable of int
        The extents. TypeError or OverflowError if one is no 64-bit int.

    Examples
    --------
    >>> anyffi.Shape([2, 3])
    anyffi.Shape((2, 3))
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _anyffi_runtime: Runtime

    def _anyffi_new(self, items: tuple[Any, ...]) -> Any:
        return self._anyffi_runtime.shape_create(items)


@checks_self("anyffi.List")
class ListMethods(SequenceMethods):
    """A mutable sequence of the runtime, as `list` is Python's. All references see a change.

    Changes are atomic: if one of several values cannot be converted, or iterating over them fails, the list
    is unchanged.

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
    _anyffi_plain = list

    def __init__(self, iterable: Iterable[Any] = (), /) -> None:
        # If a list contains itself, errors must name the list itself.
        made = self._anyffi_new(iterable if type(iterable) is list else list(iterable))
        if self._anyffi_address:
            self._anyffi_runtime.list_set_slice(self, made, None, None, None)
        else:
            self._anyffi_move_from(made)

    def _anyffi_set_slice(self, which: slice, values: Any) -> None:
        start, stop, step = unpack_slice(which)
        new: list[Any] = []
        if step in (None, 1):
            new[:] = values
        else:
            try:
                walk = iter(values)
            except TypeError:
                raise TypeError("must assign iterable to extended slice") from None
            new.extend(walk)
        self._anyffi_runtime.list_set_slice(self, new, start, stop, step)

    def _anyffi_delete_slice(self, which: slice) -> None:
        self._anyffi_runtime.list_erase_slice(self, *unpack_slice(which))

    def __reversed__(self, /) -> Iterator[Any]:
        return self._anyffi_iterate(True)

    def append(self, value: Any, /) -> None:
        """Add an element at the end."""
        self._anyffi_runtime.list_append(self, value)

    def extend(self, iterable: Iterable[Any], /) -> None:
        """Add all elements of `iterable` at the end."""
        self._anyffi_runtime.list_extend(self, list(iterable))

    def __iadd__(self, other: Any) -> Self:  # type: ignore[misc]  # takes what `extend` does
        self._anyffi_runtime.list_extend(self, list(other))
        return self

    def __imul__(self, times: Any) -> Any:
        if find_on_type(type(times), "__index__") is None:
            return _reflected(self, times, "__rmul__", _not_a_count(times))
        count = as_count(times)
        if count > 0:
            self._anyffi_runtime.list_extend(self, self._anyffi_runtime.sequence_repeat(self, count - 1))
        else:
            self._anyffi_runtime.list_clear(self)
        return self

    def insert(self, index: Any, value: Any, /) -> None:
        """Add an element before `index`, which is clipped to the list's range."""
        self._anyffi_runtime.list_insert(self, as_position(index), value)

    def pop(self, index: Any = -1, /) -> Any:
        """Remove and return an element, the last one by default."""
        runtime, position = self._anyffi_runtime, as_position(index)
        peeked = runtime.list_peek(self, position)
        if peeked is not None:
            # Unpacked first: without memory for that, nothing has changed.
            element = peeked[1]
            if runtime.container_erase_peeked(self, peeked):
                return element
        # If unpacking ran code that changed the list, it is unpacked last, so that this ends.
        return runtime.list_pop(self, position)

    def remove(self, value: Any, /) -> None:
        """Remove the first element that equals `value`; ValueError if there is none."""
        position = self._anyffi_find(value, 0, sys.maxsize)
        if position < 0:
            raise ValueError("list.remove(x): x not in list")
        self._anyffi_runtime.list_erase_slice(self, position, position + 1, None)

    def clear(self, /) -> None:
        """Remove every element."""
        self._anyffi_runtime.list_clear(self)

    def reverse(self, /) -> None:
        """Reverse the order of the elements, in place."""
        self._anyffi_runtime.list_reverse(self)

    def sort(self, /, *, key: Callable[[Any], Any] | None = None, reverse: Any = False) -> None:
        """Sort in place; the sort is stable.

        Parameters
        ----------
        key : callable, optional
            The function whose results are compared; by default the elements themselves are.
        reverse : bool
            Sort in descending order.

        Raises
        ------
        ValueError
            The list was changed meanwhile: it is empty while it is sorted, and the change is undone.

        Notes
        -----
        If a comparison or `key` raises, the list is unchanged.
        """
        if key is None and type(reverse) is bool and self._anyffi_runtime.list_sort(self, reverse):
            return
        former = self._anyffi_runtime.container_freeze(self)
        items = former._anyffi_items()
        find_order = partial(_find_order, items, key, reverse)
        untouched = self._anyffi_runtime.list_sort_by(self, former, find_order)
        if not untouched:
            raise ValueError("list modified during sort")

    def copy(self, /) -> Any:
        """Return a new List of the same elements."""
        return self._anyffi_runtime.container_copy(self)

    def freeze(self, /) -> Any:
        """Return a new Array of the same elements."""
        return self._anyffi_runtime.container_freeze(self)

    def __reduce__(self, /) -> tuple[Any, ...]:
        """Return the `__reduce__` value."""
        content = self._anyffi_content()
        return (*self._anyffi_reduced(), iter(self._anyffi_items() if content is None else content))

    def __copy__(self, /) -> Any:
        """Return a new container of the same class and elements."""
        return self.copy() if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self.copy()
        made = self._anyffi_remade((), memo)
        self._anyffi_runtime.list_extend(made, deep_copies(self._anyffi_items(), memo))
        return made
