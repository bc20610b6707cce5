"""Objects of the runtime that are alive, by type, and where they were made."""

from __future__ import annotations

import atexit
import contextlib
import gc
import sys
from collections.abc import Iterator
from types import FunctionType

from .. import _backend
from .._builtins import *  # noqa: F403
from .._library import find_library
from .._objects.bound import set_permanent_watcher
from .._rules.codes import code
from .._rules.conversions import enumeration_codes
from .._typing import Any, Callable
from .rendering import render

__all__ = ["LiveObject", "check_at_exit", "find_live", "no_leaks"]

_COLLECTIONS = 5


class LiveObject:
    """An object of the runtime that is alive.

    Attributes
    ----------
    value : object
        What it is in Python, as an argument of a callback would be.
    where : str or None
        Where it was made, if that is known: a Python function's definition; of others the line that made the
        object of Python for it, if the module `tracemalloc` was tracing by then.
    """

    __module__ = "anyffi.debug"
    __slots__ = ("_number", "type_key", "value", "where")

    def __init__(self, row: Any) -> None:
        self.value, self.type_key, self._number, is_wrapped = row
        self.where = _where(self.value, is_wrapped)

    def __repr__(self) -> str:
        where = f" made at {self.where}" if self.where else ""
        return f"<{self.type_key} {render(self.value)}{where}>"


def _where(value: Any, is_wrapped: bool) -> str | None:
    if type(value) is FunctionType:
        return f"{value.__code__.co_filename}:{value.__code__.co_firstlineno}"
    tracemalloc: Any = sys.modules.get("tracemalloc")
    if tracemalloc is None or not is_wrapped or not tracemalloc.is_tracing():
        return None
    found = tracemalloc.get_object_traceback(value)
    for frame in reversed(found or ()):
        # Innermost first; skip the package's own code, which made the object for its caller.
        if not frame.filename.startswith(_FOLDER):
            return f"{frame.filename}:{frame.lineno}"
    return None


_FOLDER = __file__[: -len("_tracing/liveness.py")]


_NAMES = ("live_objects", "report_at_exit", "forget", "last_number")
_functions: dict[str, Any] = {}


def _function(name: str) -> Any:
    if not _functions:
        _backend.active.load_module(find_library("anyffi_debug"))
        _functions.update({each: _backend.active.get_global_func(f"anyffi.debug.{each}") for each in _NAMES})
        set_permanent_watcher(_begin_permanent)
    return _functions[name]


def _begin_permanent() -> Callable[[], None]:
    """Leave out what a library creates while it is loaded, and what its classes need."""
    after = _function("last_number")()

    def end() -> None:
        _function("forget")(after, _function("last_number")())

    return end


def _is_member(value: Any) -> bool:
    """Return whether a value is a member of a C++ enumeration, which keeps used members alive."""
    cls = type(value)
    return id(cls) in enumeration_codes and any(value is each for each in cls.__members__.values())


def find_live() -> list[LiveObject]:
    """Return the objects that are alive, of those that were created since the first call."""
    return [LiveObject(row) for row in _function("live_objects")() if not _is_member(row[0])]


def _forget_members() -> None:
    for value, _, number, _ in _function("live_objects")(code.PY_OBJECT):
        if _is_member(value):
            _function("forget")(number - 1, number)


def check_at_exit() -> None:
    """Write what is alive at exit to stderr: FFI_LEAK_CHECK=1."""
    _function("report_at_exit")()
    atexit.register(_forget_members)


def _settle() -> None:
    for _ in range(_COLLECTIONS):
        gc.collect()


@contextlib.contextmanager
def no_leaks() -> Iterator[None]:
    """Fail if objects of the runtime that a block of code creates are alive after it.

    What a variable still refers to is alive, too.

    Raises
    ------
    AssertionError
        It names them by type, and where they were made.

    Examples
    --------
    >>> with anyffi.testing.no_leaks():
    ...     anyffi.List([1, 2]).append(3)
    """
    find_live()
    _settle()
    before = {each._number for each in find_live()}
    yield
    _settle()
    leaked = [each for each in find_live() if each._number not in before]
    if leaked:
        shown = "".join(f"\n    {each!r}" for each in leaked[:20])
        more = f"\n    and {len(leaked) - 20} more" if len(leaked) > 20 else ""
        raise AssertionError(f"{len(leaked)} objects of anyffi are still alive:{shown}{more}")
