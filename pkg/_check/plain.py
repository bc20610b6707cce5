"""Conversion to Python's own containers by both marshallers.

ctypes describes the parts without hashing any, so that users' code runs once, in the compiled marshaller.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from .._ctypes.plain import to_parts
from .._cython import _core
from .._rules.codes import code
from .containers import read_by_both
from .journal import are_scalars

__all__ = ["to_plain"]

_CODES = {
    tuple: code.ARRAY,
    list: code.LIST,
    MappingProxyType: code.MAP,
    dict: code.DICT,
    frozenset: code.FROZEN_SET,
    set: code.SET,
}
_MAPPINGS, _SETS = (code.MAP, code.DICT), (code.FROZEN_SET, code.SET)


def to_plain(x: Any) -> Any:
    """Return Python's own container for one of the runtime, at all levels; what is no container as it is."""
    made: list[Any] = []

    def by_cython(x: Any) -> Any:
        made[:] = [_core.to_plain(x)]
        return _describe(made[0])

    def by_ctypes(x: Any) -> Any:
        return _describe_parts(to_parts(x))

    read_by_both("anyffi.to_python()", x, by_ctypes, by_cython)
    return made[0]


# ---- descriptions: tuples of a code and parts, which `same` compares without users' code -------------------


def _describe(x: Any) -> Any:
    """Describe what cython made."""
    if type(x) is slice:
        return slice(_describe(x.start), _describe(x.stop), _describe(x.step))
    type_code = next((found for cls, found in _CODES.items() if type(x) is cls), 0)
    if not type_code:
        return x
    if type_code in _MAPPINGS:
        return _summarize(type_code, [_describe(part) for pair in x.items() for part in pair])
    return _summarize(type_code, [_describe(part) for part in x])


def _describe_parts(x: Any) -> Any:
    """Describe what ctypes made."""
    if type(x) is slice:
        return slice(_describe_parts(x.start), _describe_parts(x.stop), _describe_parts(x.step))
    return _summarize(x[0], [_describe_parts(part) for part in x[1]]) if type(x) is tuple else x


def _summarize(type_code: int, parts: list[Any]) -> Any:
    keys = parts[::2] if type_code in _MAPPINGS else parts if type_code in _SETS else []
    if not are_scalars(keys):
        # Opaque keys may be equal in Python alone, and sets have orders of their own.
        return type_code, ()
    return type_code, tuple(sorted(map(repr, parts)) if type_code in _SETS else parts)
