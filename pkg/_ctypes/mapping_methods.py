"""The frequent methods of Map and Dict, as methods.py describes them."""

from __future__ import annotations

from .._rules.codes import code
from .._rules.internal import MISSING
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .mappings import DictCore, MapCore
from .methods import (
    GIVEN,
    call_shared,
    compare_plain,
    comparison,
    invoke,
    is_exactly,
    make_methods,
    pack_plain,
    runtime_function,
    size_of,
)
from .owned import OwnedValue
from .scalars import NONE
from .unpack import raise_taken, take
from .wrapper import memory_of

__all__ = ["contains_key", "dict_methods", "equality", "map_methods"]

_INT, _MAP, _DICT = code.INT, code.MAP, code.DICT
_value_of = VALUE.unpack
_get_item = platform.plain(library.wrapper_get_item)
_has_key = platform.plain(library.wrapper_has_key)

_Method = Callable[..., Any]
_Maker = Callable[[_Method], _Method]


def equality(type_code: int, name: str) -> _Maker:
    """Return what makes a comparison of mappings, or of sets."""

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
        def get(self: Any = GIVEN, key: Any = GIVEN, default: Any = GIVEN, /, *rest: Any) -> Any:
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
                    return None if default is GIVEN else default
                if found == -1:
                    raise_taken()
            return call_shared(shared, self, key, default, *rest)

        return get

    return make


def contains_key(type_code: int) -> _Maker:
    """Return what makes `in` for the keys of a mapping or the elements of a set."""

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

    def setdefault(self: Any = GIVEN, key: Any = GIVEN, default: Any = GIVEN, /, *rest: Any) -> Any:
        keep: list[Any] = []
        packed_key = pack_plain(key, keep)
        packed = NONE if default is GIVEN else pack_plain(default, keep)
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


# ---- by class ---------------------------------------------------------------------------------------


def _of_mapping(type_code: int) -> dict[str, _Maker]:
    return {
        "__len__": size_of(type_code),
        "__getitem__": _item_of(type_code),
        "__contains__": contains_key(type_code),
        "__eq__": equality(type_code, "__eq__"),
        "__ne__": equality(type_code, "__ne__"),
        "get": _get(type_code),
    }


def map_methods(methods: type) -> dict[str, _Method]:
    return make_methods(_of_mapping(_MAP), *methods.__mro__, MapCore)


def dict_methods(methods: type) -> dict[str, _Method]:
    makers = {**_of_mapping(_DICT), "__setitem__": _set_item, "pop": _pop, "setdefault": _setdefault}
    return make_methods(makers, *methods.__mro__, DictCore)
