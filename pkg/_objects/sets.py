"""Methods of `Set` and `FrozenSet` over the classes of a backend.

Both keep insertion order. A result has the left operand's elements first, then those that the right one adds.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import filterfalse

from .._builtins import *  # noqa: F403
from .._rules.containers import PLAIN_SETS, checks_self, hashable
from .._rules.internal import Elements
from .._typing import TYPE_CHECKING, Any, Callable
from .container import Container, deep_copies, is_made, is_public, new_or_same, shown_class
from .reprs import recursive_repr

__all__ = ["FrozenSetMethods", "SetMethods"]

#: Distinct elements in order: a dict whose values are None.
_Distinct = dict[Any, None]

#: The set-like views of a dict, which operators of sets accept.
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.items()))


def _listed(elements: Any) -> list[Any]:
    """Return the elements of an iterable, ignoring overrides of a set's subclass."""
    if issubclass(type(elements), _Set):
        own: list[Any] = elements._anyffi_elements()
        return own
    bases: tuple[Any, ...] = (set, frozenset)
    for base in bases:
        # An exact set is copied in one step, since other threads may change it.
        if issubclass(type(elements), base) and type(elements) is not set:
            return list(base.__iter__(elements))
    # In the same way as the compiled methods.
    return list(elements)


def _distinct(elements: Iterable[Any]) -> _Distinct:
    """Return the distinct elements of an iterable."""
    try:
        return dict.fromkeys(_listed(elements))
    except TypeError as error:
        # Python 3.14 says that it cannot be a dict key, with the reason in parentheses. Users' code would
        # have a frame.
        if type(error) is TypeError and error.__traceback__ and error.__traceback__.tb_next is None:
            before, is_unhashable, reason = str(error).partition("' as a dict key (")
            if is_unhashable and before.startswith("cannot use '"):
                error.args = (reason[:-1],)
        raise


class _FloatNan(float):
    """Represents any float NaN in comparisons of elements: all NaNs are one element."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is _FloatNan

    def __hash__(self) -> int:
        return 0


class _ComplexNan(complex):
    """Represents a complex number with a NaN; those with equal parts are one element."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is _ComplexNan and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _comparable(element: Any) -> Any:
    """Return the element, or a stand-in for a NaN: Python compares NaNs by identity, and reads copy them."""
    cls = type(element)
    if issubclass(cls, float):
        return _FloatNan(element) if float.__ne__(element, element) else element
    if issubclass(cls, complex):
        return _ComplexNan(element) if complex.__ne__(element, element) else element
    return element


def _comparables(elements: Iterable[Any]) -> _Distinct:
    """Return the distinct elements of an iterable, for comparison with those of another."""
    distinct = _distinct(elements)
    # Not `any` of a generator: closing it may fail, and the interpreter would print that.
    for cls in {*map(type, distinct)}:
        if issubclass(cls, (float, complex)):
            break
    else:
        return distinct
    made: _Distinct = {}
    for element in distinct:
        # A second NaN keeps its identity: a Python set with two NaNs cannot be converted.
        shown = _comparable(element)
        made[element if shown in made else shown] = None
    return made


class _Hashed:
    """Represents an element in a frozenset that is only made for its hash.

    PyPy's frozenset hashes each element twice, which doubles the time at every level of nesting.
    """

    __slots__ = ("_anyffi_hash",)

    def __init__(self, hash_of_element: int) -> None:
        self._anyffi_hash = hash_of_element

    def __hash__(self) -> int:
        return self._anyffi_hash


class _Set(Container):
    __slots__ = ()

    if TYPE_CHECKING:  # defined by the backend

        def __len__(self) -> int: ...
        def __contains__(self, element: object) -> bool: ...
        def __iter__(self) -> Iterator[Any]: ...
        def _anyffi_iterate(self) -> Iterator[Any]: ...
        def _anyffi_elements(self) -> list[Any]: ...

    def _anyffi_new(self, distinct: Iterable[Any]) -> Any:
        return self._anyffi_runtime.to_object(Elements(distinct, self._anyffi_plain is frozenset))

    def _anyffi_made_of(self, elements: Any) -> Any:
        return self._anyffi_new(_distinct(elements))

    def _anyffi_operand(self, other: object) -> _Distinct | None:
        """Return the elements of an operator's other operand, or None if it is not a set."""
        if issubclass(type(other), (_Set, set, frozenset, *_VIEWS)):
            return _comparables(other)  # type: ignore[arg-type]
        return None

    def _anyffi_contains_set(self, element: Any) -> bool:
        return self._anyffi_runtime.container_freeze(element) in self

    def _anyffi_has(self, element: Any) -> bool:
        """Return whether the set has an element, which must be hashable: `in` would accept sets, too."""
        hash(element)
        return element in self

    def _anyffi_compare(self, other: object, operation: Callable[[Any, Any], Any]) -> Any:
        theirs = self._anyffi_operand(other)
        return NotImplemented if theirs is None else operation(_comparables(self).keys(), theirs.keys())

    def _anyffi_size(self) -> int:
        """Return the number of elements, ignoring `__len__` of a subclass."""
        return operator.length_hint(self._anyffi_iterate())

    def _anyffi_differs_in_size(self, other: Any, relation: Callable[[int, int], bool]) -> bool:
        """Return whether the other operand is a set whose size decides, without a look at the elements."""
        if issubclass(type(other), _Set):
            return relation(self._anyffi_size(), other._anyffi_size())
        return id(type(other)) in PLAIN_SETS and relation(self._anyffi_size(), len(other))

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        return (
            False
            if self._anyffi_differs_in_size(other, operator.ne)
            else self._anyffi_compare(other, operator.eq)
        )

    def __ne__(self, other: object) -> Any:
        if self is other:
            return False
        return (
            True
            if self._anyffi_differs_in_size(other, operator.ne)
            else self._anyffi_compare(other, operator.ne)
        )

    def __lt__(self, other: object) -> Any:
        return (
            False
            if self._anyffi_differs_in_size(other, operator.ge)
            else self._anyffi_compare(other, operator.lt)
        )

    def __le__(self, other: object) -> Any:
        return (
            False
            if self._anyffi_differs_in_size(other, operator.gt)
            else self._anyffi_compare(other, operator.le)
        )

    def __gt__(self, other: object) -> Any:
        return (
            False
            if self._anyffi_differs_in_size(other, operator.le)
            else self._anyffi_compare(other, operator.gt)
        )

    def __ge__(self, other: object) -> Any:
        return (
            False
            if self._anyffi_differs_in_size(other, operator.lt)
            else self._anyffi_compare(other, operator.ge)
        )

    def _anyffi_combine(self, other: object, operation: Callable[..., Iterable[Any]]) -> Any:
        theirs = self._anyffi_operand(other)
        return NotImplemented if theirs is None else self._anyffi_new(operation(_comparables(self), theirs))

    def _anyffi_combine_swapped(self, other: object, operation: Callable[..., Iterable[Any]]) -> Any:
        theirs = self._anyffi_operand(other)
        return NotImplemented if theirs is None else self._anyffi_new(operation(theirs, _comparables(self)))

    def __or__(self, other: object) -> Any:
        return self._anyffi_combine(other, _unite)

    def __ror__(self, other: object) -> Any:
        return self._anyffi_combine_swapped(other, _unite)

    def __and__(self, other: object) -> Any:
        return self._anyffi_combine(other, _intersect)

    def __rand__(self, other: object) -> Any:
        return self._anyffi_combine_swapped(other, _intersect)

    def __sub__(self, other: object) -> Any:
        return self._anyffi_combine(other, _subtract)

    def __rsub__(self, other: object) -> Any:
        return self._anyffi_combine_swapped(other, _subtract)

    def __xor__(self, other: object) -> Any:
        return self._anyffi_combine(other, _differ)

    def __rxor__(self, other: object) -> Any:
        return self._anyffi_combine_swapped(other, _differ)

    def union(self, /, *others: Iterable[Any]) -> Any:
        """Return a new set of the elements of this one and all others."""
        theirs = [_comparables(other) for other in others]
        return self._anyffi_new(_unite(_comparables(self), *theirs))

    def intersection(self, /, *others: Iterable[Any]) -> Any:
        """Return a new set of the elements that this one and all others have."""
        theirs = [_comparables(other) for other in others]
        return self._anyffi_new(_intersect(_comparables(self), *theirs))

    def difference(self, /, *others: Iterable[Any]) -> Any:
        """Return a new set of the elements of this one that no other has."""
        theirs = [_comparables(other) for other in others]
        return self._anyffi_new(_subtract(_comparables(self), *theirs))

    def symmetric_difference(self, other: Iterable[Any], /) -> Any:
        """Return a new set of the elements that only one of the two has."""
        theirs = _comparables(other)
        return self._anyffi_new(_differ(_comparables(self), theirs))

    def isdisjoint(self, other: Iterable[Any], /) -> bool:
        """Return whether the two have no element in common."""
        if issubclass(type(other), _Set) and is_public(type(other)):
            public: Any = other
            return not _has_any(self._anyffi_elements(), public.__contains__)
        if is_public(type(self)):
            return not _has_any(_listed(other), self._anyffi_has)
        theirs = _distinct(other)
        return _comparables(self).keys().isdisjoint(_comparables(theirs))

    def issubset(self, other: Iterable[Any], /) -> bool:
        """Return whether the other has every element of this one."""
        theirs = _comparables(other)
        return _comparables(self).keys() <= theirs.keys()

    def issuperset(self, other: Iterable[Any], /) -> bool:
        """Return whether this one has every element of the other."""
        if is_public(type(self)):
            return _has_all(_listed(other), self._anyffi_has)
        theirs = _distinct(other)
        return _comparables(self).keys() >= _comparables(theirs).keys()

    @recursive_repr
    def __repr__(self) -> str:
        self._anyffi_runtime.need_stack()
        elements = ", ".join([repr(element) for element in self._anyffi_elements()])
        return f"{shown_class(self)}({{{elements}}})" if elements else f"{shown_class(self)}()"

    def __reduce__(self, /) -> tuple[Any, ...]:
        """Return the `__reduce__` value."""
        # Must be called before the elements have wrappers.
        holds_trees = self._anyffi_holds_trees()
        elements = self._anyffi_elements()
        # One by one, since a Python set would lose the order.
        if holds_trees:
            elements = [*map(self._anyffi_runtime.to_plain, elements)]
        return self._anyffi_reduced(elements)


# Not `any` and `all` of a generator, which would make another error of a StopIteration from an element.


def _has_any(elements: Iterable[Any], has: Callable[[Any], bool]) -> bool:
    for element in elements:  # noqa: SIM110
        if has(element):
            return True
    return False


def _has_all(elements: Iterable[Any], has: Callable[[Any], bool]) -> bool:
    for element in elements:  # noqa: SIM110
        if not has(element):
            return False
    return True


def _unite(first: _Distinct, *others: _Distinct) -> _Distinct:
    united = dict(first)
    for other in others:
        united.update(other)
    return united


def _intersect(first: Iterable[Any], *others: _Distinct) -> Iterable[Any]:
    found = first
    for other in others:
        found = [*filter(other.__contains__, found)]
    return found


def _subtract(first: Iterable[Any], *others: _Distinct) -> Iterable[Any]:
    left = first
    for other in others:
        left = [*filterfalse(other.__contains__, left)]
    return left


def _differ(first: _Distinct, other: _Distinct) -> Iterable[Any]:
    return [*_subtract(first, other), *_subtract(other, first)]


@checks_self("anyffi.FrozenSet")
class FrozenSetMethods(_Set):
    """An immutable set of the runtime, in insertion order, as `frozenset` is Python's.

    Parameters
    ----------
    iterable : iterable
        The elements, which must be hashable.

    Examples
    --------
    >>> anyffi.FrozenSet([2, 1, 2])
    anyffi.FrozenSet({2, 1})
    """

    __slots__ = ()
    _anyffi_plain = frozenset

    if TYPE_CHECKING:  # defined by the backend

        def _anyffi_hash(self, computed: int = 0) -> int: ...

    def __init__(self, iterable: Iterable[Any] = (), /) -> None:
        if not is_made(self, iterable):
            self._anyffi_move_from(self._anyffi_new(_distinct(iterable)))

    __new__ = new_or_same(__init__)

    def __hash__(self) -> int:  # type: ignore[override]
        known = self._anyffi_hash()
        if known:
            return known
        self._anyffi_runtime.need_stack()
        return self._anyffi_hash(
            hash(frozenset([_Hashed(hash(hashable(element))) for element in self._anyffi_iterate()]))
        )

    def copy(self, /) -> Any:
        """Return the set itself, which never changes; for a subclass a FrozenSet."""
        return self if is_public(type(self)) else self._anyffi_runtime.container_copy(self)

    def __copy__(self, /) -> Any:
        """Return the container itself, which is immutable; for a subclass a copy."""
        return self if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self
        elements = self._anyffi_elements()
        copies = deep_copies(elements, memo)
        if id(self) in memo:  # an element has it as an attribute
            return memo[id(self)]
        if is_public(type(self)) and all(map(operator.is_, elements, copies)):
            return self._anyffi_unchanged(memo)
        return self._anyffi_remade(copies, memo)

    def thaw(self, /) -> Any:
        """Return a new Set of the same elements."""
        return self._anyffi_runtime.container_thaw(self)


@checks_self("anyffi.Set")
class SetMethods(_Set):
    """A mutable set of the runtime, in insertion order, as `set` is Python's: a reference.

    Parameters
    ----------
    iterable : iterable
        The elements, which must be hashable.

    Examples
    --------
    >>> s = anyffi.Set([2, 1, 2])
    >>> s.add("three")
    >>> s
    anyffi.Set({2, 1, 'three'})
    """

    __slots__ = ()
    _anyffi_plain = set

    def __init__(self, iterable: Iterable[Any] = (), /) -> None:
        made = self._anyffi_new(_distinct(iterable))
        if self._anyffi_address:
            self._anyffi_runtime.set_assign(self, made)
        else:
            self._anyffi_move_from(made)

    def _anyffi_key(self, element: Any) -> Any:
        """Replace a set, which is unhashable, by the equal frozenset for a lookup."""
        if issubclass(type(element), (set, SetMethods)):
            return self._anyffi_runtime.container_freeze(element)
        return element

    def add(self, element: Any, /) -> None:
        """Add an element, unless it is present."""
        self._anyffi_runtime.set_add(self, element)

    def discard(self, element: Any, /) -> None:
        """Remove an element, if it is present."""
        self._anyffi_runtime.set_discard(self, self._anyffi_key(element))

    def remove(self, element: Any, /) -> None:
        """Remove an element; KeyError if it is absent."""
        if not self._anyffi_runtime.set_discard(self, self._anyffi_key(element)):
            raise KeyError(element)

    def pop(self, /) -> Any:
        """Remove and return the element that was added last; KeyError if there is none."""
        runtime = self._anyffi_runtime
        peeked = runtime.set_peek_last(self)
        if peeked is not None:
            # Unpacked first: without memory for that, nothing has changed.
            element = peeked[1]
            if runtime.container_erase_peeked(self, peeked):
                return element
        # If unpacking ran code that changed the set, it is unpacked last, so that this ends.
        return runtime.set_pop(self)

    def clear(self, /) -> None:
        """Remove every element."""
        self._anyffi_runtime.set_clear(self)

    def copy(self, /) -> Any:
        """Return a new Set of the same elements."""
        return self._anyffi_runtime.container_copy(self)

    def __copy__(self, /) -> Any:
        """Return a new container of the same class and elements."""
        return self.copy() if is_public(type(self)) else self._anyffi_copy_of_class()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._anyffi_is_copied_at_once():
            return self.copy()
        made = self._anyffi_remade((), memo)
        made._anyffi_add_all(_distinct(deep_copies(self._anyffi_elements(), memo)))
        return made

    def freeze(self, /) -> Any:
        """Return a new FrozenSet of the same elements."""
        return self._anyffi_runtime.container_freeze(self)

    def _anyffi_add_all(self, distinct: Iterable[Any]) -> None:
        self._anyffi_runtime.set_update(self, Elements(distinct, True))

    def _anyffi_change_elements(self, added: Iterable[Any], removed: Iterable[Any]) -> None:
        # At once: without memory for the last element, none may have changed.
        self._anyffi_runtime.set_change(self, Elements(added, True), tuple(removed))

    def update(self, /, *others: Iterable[Any]) -> None:
        """Add the elements of all others."""
        self._anyffi_add_all(_unite({}, *[_comparables(other) for other in others]))

    def intersection_update(self, /, *others: Iterable[Any]) -> None:
        """Keep only the elements that all others have."""
        theirs = [_comparables(other) for other in others]
        mine = _comparables(self)
        kept = dict.fromkeys(_intersect(mine, *theirs))
        self._anyffi_change_elements((), _subtract(mine, kept))

    def difference_update(self, /, *others: Iterable[Any]) -> None:
        """Remove the elements that any other has."""
        self._anyffi_change_elements((), _unite({}, *[_comparables(other) for other in others]))

    def symmetric_difference_update(self, other: Iterable[Any], /) -> None:
        """Keep the elements that only one of the two has."""
        theirs = _comparables(other)
        mine = _comparables(self)
        self._anyffi_change_elements(_subtract(theirs, mine), _intersect(mine, theirs))

    # Typed as Any: each returns NotImplemented for other types.

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        return self._anyffi_change(other, self.update)

    def __iand__(self, other: Any) -> Any:  # type: ignore[misc]
        return self._anyffi_change(other, self.intersection_update)

    def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
        return self._anyffi_change(other, self.difference_update)

    def __ixor__(self, other: Any) -> Any:  # type: ignore[misc]
        return self._anyffi_change(other, self.symmetric_difference_update)

    def _anyffi_change(self, other: Any, method: Callable[[Any], None]) -> Any:
        theirs = self._anyffi_operand(other)
        if theirs is None:
            return NotImplemented
        method(theirs)
        return self
