"""Suggests what to pass instead of a rejected value, based on conversions that its class offers.

Classes are only inspected: no users' code runs.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from .._builtins import *  # noqa: F403
from .decisions import find_on_type

__all__ = ["advise", "advise_object"]

_ITEMS = re.compile(r"\[.*\]")
_WORDS = re.compile(r"\w+")
#: Ids of classes that have no such conversion, the most frequent ones in errors.
_FINAL = frozenset(map(id, [type(None), bytes, str]))
_name_of = type.__dict__["__name__"].__get__
_NUMBERS = frozenset(["Any", "Sequence", "bool", "complex", "float", "int"])


def advise(cls: type, expected: str, layout: str | None) -> str | None:
    """Return what to pass instead of an instance of a class, such as `its .to_numpy()`.

    Parameters
    ----------
    cls : type
        The class of the rejected value.
    expected : str
        The type of the parameter, as written in the message.
    layout : str or None
        The description of an array in the message: ` of float64, of shape ()`. None if it is unknown.
    """
    if id(cls) in _FINAL:
        return None
    words = _words_of(expected)
    items = set(_WORDS.findall("".join(_ITEMS.findall(expected))))
    if words & {"Tensor", "tensor"}:
        return None if layout else _for_tensor(cls)
    if words & {"Array", "Iterable", "List", "Sequence"}:
        return _for_sequence(cls, items)
    if words & {"Dict", "Map", "Mapping"}:
        return _for_mapping(cls)
    if words & {"AbstractSet", "FrozenSet", "Set"}:
        return "set() of it" if _is_iterable(cls) else None
    return _for_scalar(cls, words, layout)


def advise_object(cls: type, expected: str, layout: str | None) -> str | None:
    """Return the same for a C++ object, which is not a function even if it can be called."""
    if _words_of(expected) & {"Callable", "Function"} and _has(cls, "__call__"):
        return "its .__call__"
    # The runtime's own containers and tensors convert by themselves where they can.
    return advise(cls, expected, layout) if _has(cls, "_anyffi_type_key") else None


def _words_of(expected: str) -> set[str]:
    return set(_WORDS.findall(_ITEMS.sub("", expected)))


def _has(cls: type, name: str) -> bool:
    return find_on_type(cls, name) is not None


def _first(cls: type, *names: str) -> str | None:
    return next((f"its .{name}()" for name in names if _has(cls, name)), None)


def _is_iterable(cls: type) -> bool:
    if _has(cls, "__dlpack__") or issubclass(cls, (str, bytes, bytearray, dict, MappingProxyType)):
        return False
    return _has(cls, "__iter__")


def _for_tensor(cls: type) -> str | None:
    if _has(cls, "__dlpack__"):
        return None
    found = _first(cls, "to_numpy", "toarray")
    if found is None and (
        cls in (list, tuple, range, memoryview) or _has(cls, "__array__") or _has(cls, "__array_interface__")
    ):
        return "numpy.asarray() of it"
    return found


def _for_sequence(cls: type, items: set[str]) -> str | None:
    if cls is memoryview:
        return "numpy.asarray() of it"
    # An array of objects, such as text, cannot become a tensor.
    if items <= _NUMBERS and _has(cls, "to_numpy"):
        return "its .to_numpy()"
    if not _has(cls, "__len__"):  # a scalar of NumPy, or an iterator
        return "list() of it" if _is_iterable(cls) else None
    found = _first(cls, "to_pylist", "tolist", "to_list", "to_numpy", "toarray")
    return found or ("list() of it" if _is_iterable(cls) else None)


def _for_mapping(cls: type) -> str | None:
    if _has(cls, "__dataclass_fields__"):
        return "dataclasses.asdict() of it"
    if _has(cls, "to_dicts"):  # polars
        return "its .to_dict(as_series=False)"
    if _has(cls, "to_dict") and _has(cls, "columns"):  # pandas
        return 'its .to_dict("list")'
    return _first(cls, "to_pydict", "to_dict", "model_dump", "_asdict")


def _for_scalar(cls: type, words: set[str], layout: str | None) -> str | None:
    if _has(cls, "as_py"):  # scalars of Arrow
        return "its .as_py()"
    if _has(cls, "__dlpack__") or _has(cls, "to_numpy"):
        is_number = bool(words & {"bool", "complex", "float", "int"}) and _has(cls, "item")
        return (
            "its .item()" if is_number and (layout == "" or (layout or "").endswith("of shape ()")) else None
        )
    if "float" in words and _has(cls, "__float__") and "complex" not in _name_of(cls):
        return "float() of it"
    if "int" in words and _has(cls, "__index__"):
        return "int() of it"
    if "complex" in words and _has(cls, "__complex__"):
        return "complex() of it"
    if "str" in words and _has(cls, "__fspath__"):
        return "os.fspath() of it"
    return _first(cls, "to_pybytes", "tobytes") if "bytes" in words else None
