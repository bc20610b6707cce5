"""The frequent methods of Set and FrozenSet, as methods.py describes them."""

from __future__ import annotations

from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .mapping_methods import contains_key, equality
from .mappings import FrozenSetCore, SetCore
from .methods import (
    GIVEN,
    call_shared,
    create_plain,
    invoke,
    is_exactly,
    make_methods,
    pack_plain,
    runtime_function,
    size_of,
)
from .owned import OwnedValue, release
from .unpack import raise_taken
from .wrapper import ObjectCore, memory_of, refer, wrap

__all__ = ["frozen_set_methods", "set_methods"]

_UNSET, _FROZEN_SET, _SET = code.UNSET, code.FROZEN_SET, code.SET
_value_of = VALUE.unpack
_combine = platform.plain(library.wrapper_combine)
_compare = platform.plain(library.wrapper_compare)
_is_disjoint = platform.plain(library.wrapper_is_disjoint)
#: Operations of `anyffi_set_combine` and `anyffi_wrapper_compare`.
_OR, _AND, _SUB, _XOR = range(4)
_LESS_EQUAL, _GREATER_EQUAL = 1, 5

_Method = Callable[..., Any]
_Maker = Callable[[_Method], _Method]


def _change(name: str) -> _Maker:
    """Return what makes a method that passes an element to a function of the runtime."""
    function = runtime_function(f"Set.{name}")

    def make(shared: _Method) -> _Method:
        def change(self: Any = GIVEN, element: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(element, keep)
            if packed is None or rest or not is_exactly(self, _SET):
                return call_shared(shared, self, element, *rest)
            found = invoke(function, memory_of(self), None, packed, 1)
            if not found and shared.__name__ == "remove":
                raise KeyError(element)
            return None

        return change

    return make


def _is_set(x: Any) -> bool:
    cls = type(x)
    return cls is set or cls is frozenset or is_exactly(x, _SET, _FROZEN_SET)


def _is_full(x: Any) -> bool:
    return not issubclass(type(x), ObjectCore) or bool(x._address)


def _with_operand(use: Callable[[Any], Any], other: Any) -> Any:
    """Return what `use` makes of the reference to a set; None for one of Python's with other elements."""
    if issubclass(type(other), ObjectCore):
        return use(memory_of(other))
    theirs = create_plain(other)
    if theirs is None:
        return None
    try:
        return use(refer(_value_of(theirs)[2]))
    finally:
        release(theirs)


def _operator(type_code: int, operation: int, *, is_reflected: bool = False) -> _Maker:
    def combined(self: Any, other: Any) -> Any:
        """Return a new set, or None where that takes code of Python."""
        made = OwnedValue(VALUE_SIZE)
        mine = memory_of(self)

        def use(theirs: Any) -> int:
            both = (theirs, mine) if is_reflected else (mine, theirs)
            return _combine(*both, type_code, operation, made)  # type: ignore[no-any-return]

        status = _with_operand(use, other)
        if status == -1:
            raise_taken()
        value = _value_of(made)
        if status != 0 or value[0] == _UNSET:
            return None
        try:
            return wrap(value[2])
        finally:
            release(made)

    def make(shared: _Method) -> _Method:
        def combine(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if _is_set(other) and is_exactly(self, type_code) and not rest and not named:
                try:
                    made = combined(self, other)
                except AttributeError:
                    made = None  # one of them is empty
                if made is not None:
                    return made
            return call_shared(shared, self, other, *rest, **named)

        return combine

    return make


def _relation(type_code: int, relate: Callable[..., int], *operation: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def relation(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any) -> Any:
            found = None
            if _is_set(other) and is_exactly(self, type_code) and not rest:
                try:
                    mine = memory_of(self)
                    found = _with_operand(lambda theirs: relate(mine, theirs, type_code, *operation), other)
                except AttributeError:
                    found = None
            is_unknown = found is None or found < 0
            return call_shared(shared, self, other, *rest) if is_unknown else found == 1

        return relation

    return make


def _update(shared: _Method) -> _Method:
    """Return `update`, or `|=`, which returns the set."""
    function = runtime_function("Set.update")
    is_operator = shared.__name__ == "__ior__"

    def update(self: Any = GIVEN, /, *others: Any, **named: Any) -> Any:
        is_frequent = len(others) == 1 and _is_set(others[0]) and is_exactly(self, _SET) and not named
        if is_frequent and _is_full(self) and _is_full(others[0]):
            mine = memory_of(self)
            if _with_operand(lambda theirs: (invoke(function, mine, theirs),), others[0]) is not None:
                return self if is_operator else None
        return call_shared(shared, self, *others, **named)

    return update


def _of_set(type_code: int) -> dict[str, _Maker]:
    return {
        "__len__": size_of(type_code),
        "__contains__": contains_key(type_code),
        **{
            name: equality(type_code, name)
            for name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
        },
        "__or__": _operator(type_code, _OR),
        "__and__": _operator(type_code, _AND),
        "__sub__": _operator(type_code, _SUB),
        "__xor__": _operator(type_code, _XOR),
        "__ror__": _operator(type_code, _OR, is_reflected=True),
        "__rand__": _operator(type_code, _AND, is_reflected=True),
        "__rsub__": _operator(type_code, _SUB, is_reflected=True),
        "__rxor__": _operator(type_code, _XOR, is_reflected=True),
        "union": _operator(type_code, _OR),
        "intersection": _operator(type_code, _AND),
        "difference": _operator(type_code, _SUB),
        "symmetric_difference": _operator(type_code, _XOR),
        "isdisjoint": _relation(type_code, _is_disjoint),
        "issubset": _relation(type_code, _compare, _LESS_EQUAL),
        "issuperset": _relation(type_code, _compare, _GREATER_EQUAL),
    }


def frozen_set_methods(methods: type) -> dict[str, _Method]:
    return make_methods(_of_set(_FROZEN_SET), *methods.__mro__, FrozenSetCore)


def set_methods(methods: type) -> dict[str, _Method]:
    changes = {"add": _change("add"), "discard": _change("discard"), "remove": _change("discard")}
    changes.update({"update": _update, "__ior__": _update})
    return make_methods({**_of_set(_SET), **changes}, *methods.__mro__, SetCore)
