"""Conversions for C++ parameters that accept several Python types: sequences, sets, paths, times.

`convert` is the hook `handle_convert` of both backends, and `create` is the hook `handle_create`. Protocols
are looked up on the class of a value, as everywhere.
"""

from __future__ import annotations

import os
import sys
from abc import get_cache_token
from collections import deque
from collections.abc import ItemsView, KeysView, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import lru_cache
from itertools import islice

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable
from .decisions import find_on_type, is_a, is_changeable
from .dtype import dtype
from .internal import ON_PYPY, Elements, Opaque
from .times import create_date_time, create_duration, to_date_time, to_duration

__all__ = ["LISTED", "convert", "create", "enumeration_codes", "set_enumerations"]

#: Sequences whose items `list` reads at once, without users' code.
LISTED: tuple[type, ...] = (deque, *map(type, ({1: 1}.keys(), {1: 1}.values(), {1: 1}.items())))
_LISTED = frozenset(map(id, LISTED))

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def convert(x: Any, conversion: int) -> Any:
    """Return the conversion of `x` for the runtime; None if there is none.

    Parameters
    ----------
    x : object
        A value that the runtime treats as opaque.
    conversion : int
        An `AnyffiConversion`.

    Returns
    -------
    list, Elements, str, bytes, slice, tuple, numpy.ndarray or None
        For a range: a slice of start, count and step; for a buffer: a tuple of dtype and bytes.
    """
    return _TO[conversion](x)


def create(conversion: int, value: Any) -> Any:
    """Return the object for a path (as bytes), a time (in microseconds), or a member of an enumeration.

    For an enumeration, `conversion` is its type code, and the value is the member's number.
    """
    found = _FROM.get(conversion)
    return Opaque(_class_of(conversion)(value)) if found is None else found(value)


_class_of: Callable[[int], Any]
#: The type code of each enumeration that C++ describes, by the id of its class, which is never freed. In
#: calls of overloaded functions, an Int is marked with the enumeration of the member.
enumeration_codes: dict[int, int] = {}


def set_enumerations(class_of: Callable[[int], Any]) -> None:
    """Set the function that returns the class of an enumeration, given its type code."""
    global _class_of
    _class_of = class_of


def _to_sequence(x: Any) -> Any:
    cls = type(x)
    if cls is range:
        return _describe_range(x)
    if id(cls) in _LISTED:
        return list(x)
    if not _is_sequence(cls):
        return None
    elements = _read_buffer(x)
    if elements is not None:
        return elements
    # An iterator may yield more than `len` says, or never end.
    count = len(x)
    items = list(islice(iter(x), min(count + 1, sys.maxsize)))
    if len(items) != count:
        raise ValueError(f"a {cls.__name__} of {count} items has {'fewer' if len(items) < count else 'more'}")
    return items


#: Whether immutable classes are sequences.
_unchanging: dict[type, bool] = {}
_unchanging_since: Any = None


def _is_sequence(cls: type) -> bool:
    global _unchanging_since
    if is_changeable(cls):
        return _find_out_sequence(cls)
    # It changes whenever a class is registered with an abstract class.
    token = get_cache_token()
    if token != _unchanging_since:
        _unchanging.clear()
        _unchanging_since = token
    if cls not in _unchanging:
        _unchanging[cls] = _find_out_sequence(cls)
    return _unchanging[cls]


def _find_out_sequence(cls: type) -> bool:
    # Series of pandas and polars have indices, missing values and types of their own.
    if find_on_type(cls, "to_numpy") is not None or issubclass(cls, type):
        return False
    if any(is_a(cls, abstract) for abstract in (Sequence, KeysView, ValuesView, ItemsView)):
        return True
    has = (find_on_type(cls, name) is not None for name in ("__len__", "__getitem__"))
    # Sparse arrays of SciPy, which have `tocoo`, define `__len__` only to refuse it.
    return all(has) and all(find_on_type(cls, name) is None for name in ("keys", "tocoo"))


def _describe_range(x: range) -> Any:
    if _INT64_MIN <= x.start <= _INT64_MAX and _INT64_MIN <= x.stop <= _INT64_MAX:
        step = x.step if len(x) > 1 else 1
        return slice(x.start, len(x), step)
    return list(x)


#: Kinds of elements, by the letter in a buffer's format.
_KINDS = {**dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "uint"), "f": "float", "d": "float"}
_NATIVE = "@=" + ("<" if sys.byteorder == "little" else ">")


def _read_buffer(x: Any) -> tuple[Any, bytes] | None:
    """Return dtype and bytes of a one-dimensional buffer of numbers; None for anything else."""
    try:
        view = memoryview(x)
    except TypeError:
        return None
    with view:
        letter = view.format.lstrip(_NATIVE)
        kind = _KINDS.get(letter)
        if view.ndim != 1 or (kind is None and letter != "?"):
            return None
        return _dtype_of(kind, view.itemsize), view.tobytes()


@lru_cache(maxsize=16)
def _dtype_of(kind: str | None, size: int) -> Any:
    return dtype("bool" if kind is None else f"{kind}{8 * size}")


def _to_iterable(x: Any) -> Any:
    cls = type(x)
    if _is_sequence(cls):
        return _to_sequence(x)
    return None if find_on_type(cls, "__iter__") is None else list(x)


def _to_set(x: Any) -> Any:
    return Elements(list(x), False) if is_a(type(x), AbstractSet) else None


def _to_path(x: Any) -> Any:
    return None if find_on_type(type(x), "__fspath__") is None else os.fspath(x)


def _create_path(native: bytes) -> Any:
    # Imported late: few programs return paths.
    import pathlib

    return pathlib.Path(os.fsdecode(native))


def _to_tensor(x: Any) -> Any:
    """Return the NumPy array of an object with `__array__`, such as a pandas Series or an h5py data set."""
    cls = type(x)
    if not any(find_on_type(cls, name) is not None for name in ("__array__", "__array_interface__")):
        return None
    try:
        import numpy
    except ImportError:
        return None
    found = numpy.asanyarray(x)  # keeps masked arrays, which are then rejected
    return None if found.dtype == object and _is_sequence(cls) else found


def _to_plain(x: Any) -> Any:
    """Return a member of an enumeration; the runtime uses its value."""
    return x if isinstance(x, (int, Enum)) else None


def _keep(x: Any) -> Any:
    """Return an object that keeps a Python instance alive; None if C++ can recreate the instance.

    `host.h` of the compiled marshaller makes the same decision.
    """
    namespace = type(x).__dict__
    is_made_again = "_anyffi_type_key" in namespace or "_anyffi_record" in namespace
    # PyPy's collector does not see references from the runtime, so cycles would never be freed.
    return None if is_made_again or ON_PYPY else Opaque(x)


_TO: dict[int, Callable[[Any], Any]] = {
    1: _to_sequence,
    2: _to_iterable,
    3: _to_set,
    4: _to_path,
    5: to_date_time,
    6: to_duration,
    7: _to_plain,
    8: _to_tensor,
}
_FROM: dict[int, Callable[[Any], Any]] = {
    4: _create_path,
    5: create_date_time,
    6: create_duration,
    9: _keep,
    10: Opaque,
}
