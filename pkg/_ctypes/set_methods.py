"""Fast versions of the frequent methods of Set and FrozenSet; see methods.py."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import ELEMENTS
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform, type_code_in
from .construction import construction
from .iterators import iterate_entries
from .known import pack_known
from .mappings import ABSENT, FrozenSetCore, SetCore
from .methods import (
    GIVEN,
    REFUSED,
    Maker,
    Method,
    call_shared,
    changing,
    contains_key,
    is_exactly,
    iterating,
    make_methods,
    pop_from,
    size_of,
)
from .owned import OwnedValue
from .set_operands import GREATER_EQUAL, LESS_EQUAL, comparison_of_sets, is_set, relation, write_elements
from .unpack import raise_taken
from .wrapper import memory_of, wrap_owned

__all__ = ["frozen_set_methods", "set_methods"]

_UNSET, _FROZEN_SET, _SET = code.UNSET, code.FROZEN_SET, code.SET
_value_of = VALUE.unpack
_change = platform.plain(library.wrapper_change)
_change_values = platform.plain(library.wrapper_change_values)
_combine = platform.plain(library.wrapper_combine)
_combine_values = platform.plain(library.wrapper_combine_values)
_add_element = platform.plain(library.wrapper_set_item)
_erase_key = platform.plain(library.wrapper_erase_key)
#: Operations of `anyffi_set_combine`.
_OR, _AND, _SUB, _XOR = range(4)


# ---- elements ---------------------------------------------------------------------------------------


def _pack_element(x: Any, keep: list[Any]) -> bytes | None:
    """Pack an element; None also for a mutable set, for which the slow path looks up the equal frozenset."""
    packed = pack_known(x, keep)
    if packed is None or type_code_in(packed, len(packed) - VALUE_SIZE) == (_SET,):
        return None
    return packed


def _change_element(change_set: Callable[..., int]) -> Maker:
    """Return a factory of methods that add or remove an element."""

    def make(shared: Method) -> Method:
        is_remove = shared.__name__ == "remove"

        def change(self: Any = GIVEN, element: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = _pack_element(element, keep) if is_exactly(self, _SET) and not rest else None
            if packed is None:
                return call_shared(shared, self, element, *rest)
            found = change_set(memory_of(self), _SET, packed, len(packed) // VALUE_SIZE)
            if found < 0:
                raise_taken()
            if not found and is_remove:
                raise KeyError(element)
            return None

        return change

    return make


def _pop(shared: Method) -> Method:
    def pop(self: Any = GIVEN, /, *rest: Any) -> Any:
        if not rest and is_exactly(self, _SET):
            popped = pop_from(memory_of(self), _SET, None, 1)
            if popped is not ABSENT and popped is not REFUSED:
                return popped
        return call_shared(shared, self, *rest)

    return pop


# ---- operations -------------------------------------------------------------------------------------


def _operation(
    type_code: int, operation: int, *, is_reflected: bool = False, is_iterable: bool = False
) -> Maker:
    """Return a factory of operators, or (`is_iterable`) of methods, that return a new set."""

    def combined(self: Any, other: Any) -> Any:
        """Return a new set; None if that needs Python code."""
        made = OwnedValue(VALUE_SIZE)
        keep: list[Any] = []
        mine = memory_of(self)
        if is_set(other):
            both = (memory_of(other), mine) if is_reflected else (mine, memory_of(other))
            status = _combine(*both, type_code, operation, made)
        else:
            values = write_elements(other, is_iterable, keep)
            if values is None:
                return None
            size = len(values) // VALUE_SIZE
            status = _combine_values(mine, values, size, type_code, operation, is_reflected, made)
        if status == -1:
            raise_taken()
        value = _value_of(made)
        return None if status != 0 or value[0] == _UNSET else wrap_owned(value, made)

    def make(shared: Method) -> Method:
        def combine(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if other is not GIVEN and is_exactly(self, type_code) and not rest and not named:
                made = combined(self, other)
                if made is not None:
                    return made
            return call_shared(shared, self, other, *rest, **named)

        return combine

    return make


def _change_by(operation: int, *, is_iterable: bool = False) -> Maker:
    """Return a factory of methods, or of operators (which return the set), that change a set."""

    def changed(self: Any, other: Any) -> bool:
        """Change the set; return False if that needs Python code."""
        keep: list[Any] = []
        if is_set(other):
            status = _change(memory_of(self), memory_of(other), operation)
        else:
            # For XOR, equal items of a list would cancel each other out.
            values = write_elements(other, is_iterable and operation != _XOR, keep)
            if values is None:
                return False
            status = _change_values(memory_of(self), values, len(values) // VALUE_SIZE, operation)
        if status == -1:
            raise_taken()
        return bool(status == 1)

    def make(shared: Method) -> Method:
        is_operator = shared.__name__.startswith("__")

        def change(self: Any = GIVEN, /, *others: Any, **named: Any) -> Any:
            is_frequent = len(others) == 1 and not named and is_exactly(self, _SET)
            if is_frequent and changed(self, others[0]):
                return self if is_operator else None
            return call_shared(shared, self, *others, **named)

        return change

    return make


# ---- by class ---------------------------------------------------------------------------------------


_OPERATIONS = {"or": _OR, "and": _AND, "sub": _SUB, "xor": _XOR}
_METHODS = {"union": _OR, "intersection": _AND, "difference": _SUB, "symmetric_difference": _XOR}
_CHANGES = {
    "update": _OR,
    "intersection_update": _AND,
    "difference_update": _SUB,
    "symmetric_difference_update": _XOR,
}


def _of_set(type_code: int) -> dict[str, Maker]:
    operations = _OPERATIONS.items()
    return {
        **construction(type_code),
        "__iter__": iterating((type_code,), iterate_entries, None, ELEMENTS),
        "__len__": size_of(type_code),
        "__contains__": contains_key(type_code, _pack_element),
        **{
            name: comparison_of_sets(type_code, name)
            for name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
        },
        **{f"__{name}__": _operation(type_code, what) for name, what in operations},
        **{f"__r{name}__": _operation(type_code, what, is_reflected=True) for name, what in operations},
        **{name: _operation(type_code, what, is_iterable=True) for name, what in _METHODS.items()},
        "isdisjoint": relation(type_code, None),
        "issubset": relation(type_code, LESS_EQUAL),
        "issuperset": relation(type_code, GREATER_EQUAL),
    }


def frozen_set_methods(methods: type) -> dict[str, Method]:
    makers = {**_of_set(_FROZEN_SET), "thaw": changing("container.thaw", _FROZEN_SET)}
    return make_methods(makers, *methods.__mro__, FrozenSetCore)


def set_methods(methods: type) -> dict[str, Method]:
    makers = {
        **_of_set(_SET),
        **{f"__i{name}__": _change_by(what) for name, what in _OPERATIONS.items()},
        **{name: _change_by(what, is_iterable=True) for name, what in _CHANGES.items()},
        "add": _change_element(_add_element),
        "clear": changing("Set.clear", _SET),
        "copy": changing("container.copy", _SET),
        "discard": _change_element(_erase_key),
        "freeze": changing("container.freeze", _SET),
        "pop": _pop,
        "remove": _change_element(_erase_key),
    }
    return make_methods(makers, *methods.__mro__, SetCore)
