"""Fast versions of the frequent methods of Map and Dict; see methods.py."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.containers import KEYS, missing_item
from .._typing import Any, NoReturn
from .abi import VALUE, VALUE_SIZE, library, platform
from .construction import construction
from .iterators import iterate_entries
from .known import pack_known
from .mappings import ABSENT, DictCore, MapCore
from .methods import (
    GIVEN,
    REFUSED,
    Maker,
    Method,
    call_shared,
    changing,
    compare_plain,
    comparison,
    contains_key,
    invoke,
    is_exactly,
    iterating,
    make_methods,
    pop_from,
    runtime_function,
    size_of,
)
from .owned import OwnedValue, cells
from .recipe import SCALARS
from .scalars import NONE
from .unpack import raise_taken, take, unpack
from .wrapper import memory_of, wrap_owned

__all__ = ["dict_methods", "map_methods"]

_INT, _UNSET, _MAP, _DICT = code.INT, code.UNSET, code.MAP, code.DICT
_value_of = VALUE.unpack
#: The type codes of scalars that are inline values.
_INLINE = (code.NONE, code.BOOL, code.INT, code.FLOAT, code.STR, code.BYTES)
_value = VALUE.pack
_pop_cell, _push_cell = cells.pop, cells.append
_read_item = platform.reader(library.wrapper_read_item)
_UNREAD = platform.UNREAD
_set_pair = platform.plain(library.wrapper_set_item)
_erase_key = platform.plain(library.wrapper_erase_key)


def _equality(type_code: int, name: str) -> Maker:
    def compare(self: Any, other: Any, operation: int) -> int:
        return compare_plain(self, other, type_code, operation)

    return comparison(type_code, name, lambda self, other, position: -1, compare)


# ---- look-ups ---------------------------------------------------------------------------------------


def _look_up(self: Any, type_code: int, key: Any) -> Any:
    """Return the value of a key, ABSENT if there is none, or REFUSED if the slow path is needed."""
    keep: list[Any] = []
    packed = pack_known(key, keep)
    if packed is None:
        return REFUSED
    try:
        item = _pop_cell() if cells else OwnedValue(VALUE_SIZE)
        found = _read_item(memory_of(self), type_code, packed, len(packed) // VALUE_SIZE, item)
    except (AttributeError, TypeError, IndexError):
        # It is no wrapper, or another thread took the last cell.
        return REFUSED
    if found is not _UNREAD:
        _push_cell(item)
        return found
    value = _value_of(item)
    if value[0] != _UNSET:
        return take(value, item)
    if value[2] == -1:
        raise_taken()
    return ABSENT if value[2] == 0 else REFUSED


def _raise_absent(self: Any, key: Any) -> NoReturn:
    raise KeyError(key)


def _item_of(type_code: int) -> Maker:
    # Not the shared method, which would hash the key again.
    absent = missing_item if type_code == _DICT else _raise_absent

    def make(shared: Method) -> Method:
        def get_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            if not rest and not named:
                found = _look_up(self, type_code, key)
                if found is ABSENT:
                    return absent(self, key)
                if found is not REFUSED:
                    return found
            return call_shared(shared, self, key, *rest, **named)

        return get_item

    return make


def _get(type_code: int) -> Maker:
    def make(shared: Method) -> Method:
        def get(self: Any = GIVEN, key: Any = GIVEN, default: Any = GIVEN, /, *rest: Any) -> Any:
            if not rest:
                found = _look_up(self, type_code, key)
                if found is ABSENT:
                    return None if default is GIVEN else default
                if found is not REFUSED:
                    return found
            return call_shared(shared, self, key, default, *rest)

        return get

    return make


# ---- changes ----------------------------------------------------------------------------------------


def _set_item(shared: Method) -> Method:
    def set_item(self: Any = GIVEN, key: Any = GIVEN, item: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        keep: list[Any] = []
        packed_key = pack_known(key, keep) if is_exactly(self, _DICT) and not rest and not named else None
        packed = None if packed_key is None else pack_known(item, keep)
        if packed_key is None or packed is None:
            call_shared(shared, self, key, item, *rest, **named)
            return
        pair = packed_key + packed
        if _set_pair(memory_of(self), _DICT, pair, len(pair) // VALUE_SIZE) != 1:
            raise_taken()

    return set_item


def _delete_item(shared: Method) -> Method:
    def delete_item(self: Any = GIVEN, key: Any = GIVEN, /, *rest: Any, **named: Any) -> None:
        keep: list[Any] = []
        packed = pack_known(key, keep) if is_exactly(self, _DICT) and not rest and not named else None
        if packed is None:
            call_shared(shared, self, key, *rest, **named)
            return
        found = _erase_key(memory_of(self), _DICT, packed, len(packed) // VALUE_SIZE)
        if found == 0:
            raise KeyError(key)
        if found < 0:
            raise_taken()

    return delete_item


def _setdefault(shared: Method) -> Method:
    function = runtime_function("Dict.setdefault")

    def setdefault(self: Any = GIVEN, key: Any = GIVEN, default: Any = GIVEN, /, *rest: Any) -> Any:
        is_scalar = default is GIVEN or id(type(default)) in SCALARS
        found = _look_up(self, _DICT, key) if is_scalar and is_exactly(self, _DICT) and not rest else REFUSED
        if found is REFUSED:
            return call_shared(shared, self, key, default, *rest)
        if found is not ABSENT:
            return found
        keep: list[Any] = []
        packed_key = pack_known(key, keep)
        packed = NONE if default is GIVEN else pack_known(default, keep)
        if packed_key is None or packed is None or len(packed) != VALUE_SIZE:
            return call_shared(shared, self, key, default, *rest)
        value = _value_of(packed)
        if value[0] not in _INLINE:
            return call_shared(shared, self, key, default, *rest)
        # Unpacked first: without memory for that, nothing has changed.
        unpacked = unpack(value)
        found = invoke(function, memory_of(self), None, packed_key + packed)
        return unpacked if type(found) is int else found[0]

    return setdefault


def _pop(shared: Method) -> Method:
    def pop(self: Any = GIVEN, key: Any = GIVEN, /, *default: Any, **named: Any) -> Any:
        keep: list[Any] = []
        is_plain = is_exactly(self, _DICT) and len(default) < 2 and not named
        packed = pack_known(key, keep) if is_plain else None
        found = REFUSED if packed is None else pop_from(memory_of(self), _DICT, packed, 2)
        if found is REFUSED:
            return call_shared(shared, self, key, *default, **named)
        if found is not ABSENT:
            return found
        if not default:
            raise KeyError(key)
        return default[0]

    return pop


def _popitem(shared: Method) -> Method:
    def popitem(self: Any = GIVEN, /, *rest: Any) -> Any:
        if not rest and is_exactly(self, _DICT):
            popped = pop_from(memory_of(self), _DICT, None, 1, 2)
            if popped is not ABSENT and popped is not REFUSED:
                return popped
        return call_shared(shared, self, *rest)

    return popitem


def _update(shared: Method) -> Method:
    """Return a factory of `update`, or of `|=`, which returns the mapping."""
    function = runtime_function("Dict.update")
    is_operator = shared.__name__ == "__ior__"

    def update(self: Any = GIVEN, /, *others: Any, **named: Any) -> Any:
        keep: list[Any] = []
        other = others[0] if len(others) == 1 and not named else None
        is_known = type(other) is dict or is_exactly(other, _DICT, _MAP)
        packed = pack_known(other, keep) if is_known and is_exactly(self, _DICT) else None
        if packed is None:
            return call_shared(shared, self, *others, **named)
        invoke(function, memory_of(self), None, packed)
        return self if is_operator else None

    return update


def _merge(type_code: int, *, is_reflected: bool = False) -> Maker:
    function = runtime_function("Mapping.merge")
    step = _value(_INT, 0, type_code)

    def make(shared: Method) -> Method:
        def merge(self: Any = GIVEN, other: Any = GIVEN, /, *rest: Any, **named: Any) -> Any:
            keep: list[Any] = []
            is_known = type(other) is dict or is_exactly(other, _DICT, _MAP)
            mine = pack_known(self, keep) if is_exactly(self, type_code) and is_known else None
            theirs = None if mine is None else pack_known(other, keep)
            if mine is None or theirs is None or rest or named:
                return call_shared(shared, self, other, *rest, **named)
            return invoke(
                function, None, None, (theirs + mine if is_reflected else mine + theirs) + step, wrap_owned
            )

        return merge

    return make


# ---- by class ---------------------------------------------------------------------------------------


def _of_mapping(type_code: int) -> dict[str, Maker]:
    return {
        **construction(type_code),
        "__iter__": iterating((type_code,), iterate_entries, None, KEYS),
        "__len__": size_of(type_code),
        "__getitem__": _item_of(type_code),
        "__contains__": contains_key(type_code, pack_known),
        "__eq__": _equality(type_code, "__eq__"),
        "__ne__": _equality(type_code, "__ne__"),
        "__or__": _merge(type_code),
        "__ror__": _merge(type_code, is_reflected=True),
        "get": _get(type_code),
    }


def map_methods(methods: type) -> dict[str, Method]:
    thaw = changing("container.thaw", _MAP)
    return make_methods({**_of_mapping(_MAP), "copy": thaw, "thaw": thaw}, *methods.__mro__, MapCore)


def dict_methods(methods: type) -> dict[str, Method]:
    makers = {
        **_of_mapping(_DICT),
        "__delitem__": _delete_item,
        "__ior__": _update,
        "__setitem__": _set_item,
        "clear": changing("Dict.clear", _DICT),
        "copy": changing("container.copy", _DICT),
        "freeze": changing("container.freeze", _DICT),
        "pop": _pop,
        "popitem": _popitem,
        "setdefault": _setdefault,
        "update": _update,
    }
    return make_methods(makers, *methods.__mro__, DictCore)
