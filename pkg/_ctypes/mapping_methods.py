"""The frequent methods of Map, Dict, Set and FrozenSet, as methods.py describes them."""

from __future__ import annotations

from .._rules.codes import code
from .._rules.internal import MISSING
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .mappings import DictCore, FrozenSetCore, MapCore, SetCore
from .methods import (
    GIVEN,
    call_shared,
    compare_plain,
    comparison,
    create_plain,
    invoke,
    is_exactly,
    make_methods,
    pack_plain,
    runtime_function,
    size_of,
)
from .owned import OwnedValue, release
from .unpack import raise_taken, take
from .wrapper import memory_of, refer, wrap

__all__ = ["dict_methods", "frozen_set_methods", "map_methods", "set_methods"]

_INT, _UNSET = code.INT, code.UNSET
_MAP, _DICT, _FROZEN_SET, _SET = code.MAP, code.DICT, code.FROZEN_SET, code.SET
_value_of = VALUE.unpack
_get_item = platform.plain(library.wrapper_get_item)
_has_key = platform.plain(library.wrapper_has_key)
_combine = platform.plain(library.wrapper_combine)
_compare = platform.plain(library.wrapper_compare)
_is_disjoint = platform.plain(library.wrapper_is_disjoint)
#: Operations of `anyffi_set_combine` and `anyffi_wrapper_compare`.
_OR, _AND, _SUB, _XOR = range(4)
_LESS_EQUAL, _GREATER_EQUAL = 1, 5

_Method = Callable[..., Any]
_Maker = Callable[[_Method], _Method]


def _equality(type_code: int, name: str) -> _Maker:
    def compare(self: Any, other: Any, operation: int) -> int:
        return compare_plain(self, other, type_code, operation)

    return comparison(type_code, name, lambda self, other, position: -1, compare)


# ---- mappings ---------------------------------------------------------------------------------------


def _item_of(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def get_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(key, keep)
            if packed is not None and not rest and not named:
                item = OwnedValue(VALUE_SIZE)
                try:
                    found = _get_item(memory_of(self), type_code, packed, item)
                except (AttributeError, TypeError):
                    found = -2
                if found == 1:
                    value = _value_of(item)
                    return value[2] if value[0] == _INT else take(value, item)
                if found == -1:
                    raise_taken()
            return call_shared(shared, self, key, *rest, **named)

        return get_item

    return make


def _get(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def get(self: Any = GIVEN, key: Any = GIVEN, default: Any = None, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(key, keep)
            if packed is not None and not rest:
                item = OwnedValue(VALUE_SIZE)
                try:
                    found = _get_item(memory_of(self), type_code, packed, item)
                except (AttributeError, TypeError):
                    found = -2
                if found == 1:
                    return take(_value_of(item), item)
                if found == 0:
                    return default
                if found == -1:
                    raise_taken()
            return call_shared(shared, self, key, default, *rest)

        return get

    return make


def _contains(type_code: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def contains(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any) -> Any:
            keep: list[Any] = []
            packed = pack_plain(key, keep)
            found = -2
            if packed is not None and not rest:
                try:
                    found = _has_key(memory_of(self), type_code, packed)
                except (AttributeError, TypeError):
                    found = -2
                if found == -1:
                    raise_taken()
            return found == 1 if found >= 0 else call_shared(shared, self, key, *rest)

        return contains

    return make


def _set_item(shared: _Method) -> _Method:
    function = runtime_function("Dict.set")

    def set_item(self: Any = GIVEN, key: Any = GIVEN, item: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        keep: list[Any] = []
        packed_key, packed = pack_plain(key, keep), pack_plain(item, keep)
        if packed_key is None or packed is None or rest or named or not is_exactly(self, _DICT):
            call_shared(shared, self, key, item, *rest, **named)
        else:
            invoke(function, memory_of(self), None, packed_key + packed, 2)

    return set_item


def _setdefault(shared: _Method) -> _Method:
    function = runtime_function("Dict.setdefault")

    def setdefault(self: Any = GIVEN, key: Any = GIVEN, default: Any = None, /, *rest: Any) -> Any:
        keep: list[Any] = []
        packed_key, packed = pack_plain(key, keep), pack_plain(default, keep)
        if packed_key is None or packed is None or rest or not is_exactly(self, _DICT):
            return call_shared(shared, self, key, default, *rest)
        return invoke(function, memory_of(self), None, packed_key + packed, 2)

    return setdefault


def _pop(shared: _Method) -> _Method:
    function = runtime_function("Dict.pop")

    def pop(self: Any = GIVEN, key: Any = GIVEN, default: Any = GIVEN, /, *rest: Any) -> Any:
        keep: list[Any] = []
        packed = pack_plain(key, keep)
        if packed is None or rest or not is_exactly(self, _DICT):
            return call_shared(shared, self, key, default, *rest)
        found = invoke(function, memory_of(self), None, packed, 1)
        if found is not MISSING:
            return found
        if default is GIVEN:
            raise KeyError(key)
        return default

    return pop


# ---- sets -------------------------------------------------------------------------------------------


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


def _combined(self: Any, other: Any, type_code: int, operation: int) -> Any:
    """Return a new set, or None where that takes code of Python."""
    made = OwnedValue(VALUE_SIZE)
    theirs = create_plain(other) if type(other) is set or type(other) is frozenset else None
    try:
        memory = memory_of(other) if theirs is None else refer(_value_of(theirs)[2])
        status = _combine(memory_of(self), memory, type_code, operation, made)
    except (AttributeError, TypeError):
        return None
    finally:
        if theirs is not None:
            release(theirs)
    if status == -1:
        raise_taken()
    value = _value_of(made)
    if status < 0 or value[0] == _UNSET:
        return None
    try:
        return wrap(value[2])
    finally:
        release(made)


def _operator(type_code: int, operation: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def combine(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if (
                is_exactly(other, _SET, _FROZEN_SET)
                and is_exactly(self, type_code)
                and not rest
                and not named
            ):
                made = _combined(self, other, type_code, operation)
                if made is not None:
                    return made
            return call_shared(shared, self, other, *rest, **named)

        return combine

    return make


def _relation(type_code: int, relate: Callable[..., int], *operation: int) -> _Maker:
    def make(shared: _Method) -> _Method:
        def relation(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any) -> Any:
            found = -1
            if is_exactly(other, _SET, _FROZEN_SET) and is_exactly(self, type_code) and not rest:
                try:
                    found = relate(memory_of(self), memory_of(other), type_code, *operation)
                except AttributeError:
                    found = -1
            return call_shared(shared, self, other, *rest) if found < 0 else found == 1

        return relation

    return make


# ---- by class ---------------------------------------------------------------------------------------


def _of_mapping(type_code: int) -> dict[str, _Maker]:
    return {
        "__len__": size_of(type_code),
        "__getitem__": _item_of(type_code),
        "__contains__": _contains(type_code),
        "__eq__": _equality(type_code, "__eq__"),
        "__ne__": _equality(type_code, "__ne__"),
        "get": _get(type_code),
    }


def _of_set(type_code: int) -> dict[str, _Maker]:
    return {
        "__len__": size_of(type_code),
        "__contains__": _contains(type_code),
        **{
            name: _equality(type_code, name)
            for name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
        },
        "__or__": _operator(type_code, _OR),
        "__and__": _operator(type_code, _AND),
        "__sub__": _operator(type_code, _SUB),
        "__xor__": _operator(type_code, _XOR),
        "union": _operator(type_code, _OR),
        "intersection": _operator(type_code, _AND),
        "difference": _operator(type_code, _SUB),
        "symmetric_difference": _operator(type_code, _XOR),
        "isdisjoint": _relation(type_code, _is_disjoint),
        "issubset": _relation(type_code, _compare, _LESS_EQUAL),
        "issuperset": _relation(type_code, _compare, _GREATER_EQUAL),
    }


def map_methods(methods: type) -> dict[str, _Method]:
    return make_methods(_of_mapping(_MAP), *methods.__mro__, MapCore)


def dict_methods(methods: type) -> dict[str, _Method]:
    makers = {**_of_mapping(_DICT), "__setitem__": _set_item, "pop": _pop, "setdefault": _setdefault}
    return make_methods(makers, *methods.__mro__, DictCore)


def frozen_set_methods(methods: type) -> dict[str, _Method]:
    return make_methods(_of_set(_FROZEN_SET), *methods.__mro__, FrozenSetCore)


def set_methods(methods: type) -> dict[str, _Method]:
    changes = {"add": _change("add"), "discard": _change("discard"), "remove": _change("discard")}
    return make_methods({**_of_set(_SET), **changes}, *methods.__mro__, SetCore)
