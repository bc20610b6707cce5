"""Conversion to Python's own containers by both marshallers.

ctypes describes the parts without hashing them, so that users' code runs once, in the compiled marshaller.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Callable

from .._builtins import *  # noqa: F403
from .._ctypes.plain import Parts, to_parts
from .._cython import _core
from .._rules.codes import code
from .compare import same
from .containers import read_by_both
from .journal import are_scalars

__all__ = ["same_results", "to_plain"]

_CODES = {
    tuple: code.ARRAY,
    list: code.LIST,
    MappingProxyType: code.MAP,
    dict: code.DICT,
    frozenset: code.FROZEN_SET,
    set: code.SET,
}
_MAPPINGS, _SETS = (code.MAP, code.DICT), (code.FROZEN_SET, code.SET)
#: Marks the unchanged argument in a description.
_GIVEN = "as given"


def to_plain(x: Any) -> Any:
    """Return Python's own container for one of the runtime's, at all levels; other values unchanged."""
    made: list[Any] = []

    def by_cython(x: Any) -> Any:
        made[:] = [_core.to_plain(x)]
        return _Description(_open_plain).of(made[0], x)

    def by_ctypes(x: Any) -> Any:
        return _Description(_open_parts).of(to_parts(x), x)

    read_by_both("anyffi.to_python()", x, by_ctypes, by_cython)
    return made[0]


def same_results(by_cython: Any, by_ctypes: Any) -> bool:
    """Return whether two results agree; ctypes describes copies of containers."""
    if type(by_ctypes) is not Parts:
        return same(by_cython, by_ctypes)
    return same(_Description(_open_plain).of(by_cython, None), _Description(_open_parts).of(by_ctypes, None))


def _open_plain(x: Any) -> tuple[int, Any] | None:
    """Return type code and parts of a container that cython created; keys and values in turn."""
    type_code = next((found for cls, found in _CODES.items() if type(x) is cls), None)
    if type_code is None:
        return None
    return type_code, [part for pair in x.items() for part in pair] if type_code in _MAPPINGS else list(x)


def _open_parts(x: Any) -> tuple[int, Any] | None:
    return (x[0], x[1]) if type(x) is Parts else None


class _Description:
    """Describes a value by tuples that `same` compares without users' code.

    Containers are numbered in the order in which they are visited, so that one that occurs again costs
    nothing.
    """

    def __init__(self, open_container: Callable[[Any], tuple[int, Any] | None]) -> None:
        self._open = open_container
        self._rows: list[Any] = []
        self._numbers: dict[int, int] = {}

    def of(self, made: Any, given: Any) -> tuple[Any, ...]:
        return self._describe(made, given), *self._rows

    def _describe(self, made: Any, given: Any = None) -> Any:
        if made is given and made is not None:
            return _GIVEN
        if type(made) is slice:
            parts = [(getattr(made, name), getattr(given, name, None)) for name in ("start", "stop", "step")]
            return slice(*[self._describe(*part) for part in parts])
        opened = self._open(made)
        if opened is None:
            return made
        number = self._numbers.get(id(made))
        if number is None:
            number = self._numbers[id(made)] = len(self._rows)
            self._rows.append(None)
            self._rows[number] = self._summarize(*opened)
        return "container", number

    def _summarize(self, type_code: int, parts: list[Any]) -> tuple[int, Any]:
        keys = parts[::2] if type_code in _MAPPINGS else parts if type_code in _SETS else []
        if not are_scalars(keys):
            # Opaque keys may be equal only in Python, and sets have their own order.
            return type_code, ()
        if type_code in _SETS:
            return type_code, tuple(sorted(map(repr, parts)))
        return type_code, tuple([self._describe(part) for part in parts])
