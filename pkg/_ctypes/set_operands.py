"""Packs and compares the operands of set methods."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import PLAIN_ITERABLES, PLAIN_SETS
from .._typing import Any
from .abi import VALUE_SIZE, library, platform
from .methods import GIVEN, Maker, Method, call_shared, comparison, is_exactly
from .recipe import copy_items, write_plain
from .unpack import raise_taken
from .wrapper import memory_of

__all__ = ["GREATER_EQUAL", "LESS_EQUAL", "comparison_of_sets", "is_set", "relation", "write_elements"]

_FROZEN_SET, _SET = code.FROZEN_SET, code.SET
_compare = platform.plain(library.wrapper_compare)
_count_values = platform.plain(library.wrapper_count_values)
_get_size = platform.plain(library.wrapper_get_size)
_is_disjoint = platform.plain(library.wrapper_is_disjoint)
#: Operations of `anyffi_wrapper_compare`.
_LESS, LESS_EQUAL, _EQUAL, _NOT_EQUAL, _GREATER, GREATER_EQUAL = range(6)
#: So many elements are converted first, since they usually decide.
_FIRST = 16


def is_set(x: Any) -> bool:
    return is_exactly(x, _SET, _FROZEN_SET)


def write_elements(x: Any, is_iterable: bool, keep: list[Any]) -> bytes | None:
    """Return the elements of one of Python's sets, or of a list or tuple, as a recipe; None for others."""
    cls = type(x)
    is_known = cls is set or cls is frozenset or (is_iterable and (cls is list or cls is tuple))
    return write_plain(x, keep, with_nans=False) if is_known else None


def _may_hold(operation: int, size: int, count: int) -> bool:
    """Return whether the sizes of two sets permit a relation, before any element is hashed."""
    if operation in (_EQUAL, _NOT_EQUAL):
        return size == count
    if operation in (_LESS, _GREATER):
        return size < count if operation == _LESS else size > count
    return size <= count if operation == LESS_EQUAL else size >= count


def _relate(self: Any, other: Any, type_code: int, operation: int) -> int:
    """Compare a set with one of Python's, as `anyffi_wrapper_compare` does."""
    keep: list[Any] = []
    if id(type(other)) not in PLAIN_ITERABLES:
        return -1
    elements = copy_items(other)
    count = len(elements)
    try:
        mine = memory_of(self)
        size = _get_size(mine, type_code)
        is_equality = operation in (_EQUAL, _NOT_EQUAL)
        if size >= 0 and id(type(other)) in PLAIN_SETS and not _may_hold(operation, size, count):
            return int(operation == _NOT_EQUAL)
        values = write_plain(elements, keep, with_nans=False)
        if values is None or size < 0:
            return -1
        found = _count_values(mine, values, len(values) // VALUE_SIZE, type_code)
    except (AttributeError, TypeError):
        return -1
    if found == -2:
        raise_taken()
    if found < 0:
        return -1
    if is_equality:
        return int((size == found) == (operation == _EQUAL))
    return int(found == (size if operation in (_LESS, LESS_EQUAL) else count))


def comparison_of_sets(type_code: int, name: str) -> Maker:
    def compare(self: Any, other: Any, operation: int) -> int:
        is_plain = type(other) is set or type(other) is frozenset
        return _relate(self, other, type_code, operation) if is_plain else -1

    return comparison(type_code, name, lambda self, other, position: -1, compare)


def relation(type_code: int, operation: int | None) -> Maker:
    """Return a factory of `issubset`, `issuperset` or (None) `isdisjoint`."""

    def relate(self: Any, other: Any) -> int:
        if is_set(other):
            both = memory_of(self), memory_of(other)
            if operation is None:
                return _is_disjoint(*both, type_code)  # type: ignore[no-any-return]
            return _compare(*both, type_code, operation)  # type: ignore[no-any-return]
        if operation == LESS_EQUAL:
            # Equal items of a list count once, so lists are left to the slow path.
            return _relate(self, other, type_code, operation) if id(type(other)) in PLAIN_SETS else -1
        if id(type(other)) not in PLAIN_ITERABLES:
            return -1
        elements = copy_items(other)
        size = _get_size(memory_of(self), type_code)
        if operation is not None and id(type(other)) in PLAIN_SETS and 0 <= size < len(elements):
            return 0
        found = relate_items(self, elements[:_FIRST])
        return relate_items(self, elements[_FIRST:]) if found == 1 and len(elements) > _FIRST else found

    def relate_items(self: Any, items: Any) -> int:
        if operation is not None:
            return _relate(self, items, type_code, operation)
        keep: list[Any] = []
        values = write_elements(items, True, keep)
        if values is None:
            return -1
        found = _count_values(memory_of(self), values, len(values) // VALUE_SIZE, type_code)
        return -1 if found < 0 else int(found == 0)

    def make(shared: Method) -> Method:
        def relate_to(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any) -> Any:
            found = -1
            if other is not GIVEN and is_exactly(self, type_code) and not rest:
                found = relate(self, other)
            return call_shared(shared, self, other, *rest) if found < 0 else found == 1

        return relate_to

    return make
