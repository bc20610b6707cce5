"""Packing by both marshallers: after ctypes has packed values, or failed to, cython packs them too."""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, TracebackType
from typing import Any, Callable

from .. import _ctypes
from .._builtins import *  # noqa: F403
from .._ctypes import abi as _abi
from .._ctypes import pack as _pack
from .._cython import ObjectCore, _core
from .._rules import errors as _errors
from .compare import find_difference, same_exception
from .journal import Journal
from .text import render, show

__all__ = [
    "OwnedPacking",
    "Packing",
    "is_external",
    "is_from_ctypes",
    "is_from_cython",
    "mismatch",
    "name_of",
    "name_of_argument",
    "raises_again",
    "raising",
    "without_own_frames",
]

_SIZE = _abi.VALUE_SIZE
_OWN_MODULES = (_ctypes.__name__, _errors.__name__.rpartition(".")[0])

# ---- messages ----------------------------------------------------------------------------------------


def name_of(function: Any) -> str:
    """Name a function of the runtime, or the callable of a callback."""
    cls = type(function)
    if issubclass(cls, ObjectCore):
        info = function._anyffi_info()
        return f"{(info and info[0]) or 'function'}()"
    if cls is FunctionType or cls is BuiltinFunctionType:
        return f"callback {function.__qualname__}()"
    return f"callback of type {cls.__qualname__}"


def name_of_argument(function: Any, index: int) -> str:
    """Name one of its arguments."""
    info = function._anyffi_info() if issubclass(type(function), ObjectCore) else None
    name = info[2][index][0] if info and index < len(info[2]) else None
    return f"{name_of(function)}: argument {index}{f' ({name})' if name else ''}"


def mismatch(place: str, by_cython: str, by_ctypes: str) -> BaseException:
    """Create the exception for a disagreement; each text is a verb with its object, for one marshaller."""
    return _errors.MarshalMismatch(f"{place}: cython {by_cython}, ctypes {by_ctypes}")


def raising(exception: BaseException) -> str:
    """Format the text for a marshaller that raises an exception."""
    return f"raises {show(exception)}"


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Remove the frames of check mode, and of the ctypes marshaller, from a traceback."""
    return _errors.without_frames(traceback, (__package__, _ctypes.__name__))


# ---- exceptions that are not compared ------------------------------------------------------------------


def is_external(exception: BaseException, journal: Journal | None) -> bool:
    """Return whether memory, the stack or a signal caused an exception, rather than a value."""
    if isinstance(exception, MemoryError):
        return True
    if not isinstance(exception, (KeyboardInterrupt, RecursionError)):
        return False
    return journal is None or not journal.has_made(exception)


def is_from_cython(exception: BaseException, journal: Journal | None) -> bool:
    """Return whether the compiled marshaller raised an exception because of a value."""
    if is_external(exception, journal):
        return False
    # Between its calls Python code runs, in which a signal handler may raise anything.
    where = _module_raising(exception)
    return where is None or where == _core.__name__


def is_from_ctypes(exception: BaseException, journal: Journal | None) -> bool:
    """Return whether the ctypes marshaller, or the rules, raised an exception because of a value."""
    where = _module_raising(exception) or ""
    return not is_external(exception, journal) and where.startswith(_OWN_MODULES)


def _module_raising(exception: BaseException) -> str | None:
    traceback = exception.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return None if traceback is None else traceback.tb_frame.f_globals.get("__name__")


def raises_again(exception: BaseException, function: Callable[[Any], Any], x: Any) -> bool:
    """Return whether a function raises the same exception again, which a signal handler would not."""
    try:
        function(x)
    except BaseException as again:
        return same_exception(exception, again)
    return False


# ---- packing -----------------------------------------------------------------------------------------


class Packing:
    """Values that both marshallers pack as arguments."""

    __slots__ = ("_function", "_journal", "_values")

    def __init__(self, function: Any, values: tuple[Any, ...], journal: Journal | None) -> None:
        self._function = function
        self._values = values
        self._journal = journal

    _pack = staticmethod(_core.render)

    def _pack_by_ctypes(self, x: Any) -> None:
        """Pack one value by ctypes and discard it."""
        raise NotImplementedError

    def _place(self, index: int) -> str:
        return name_of_argument(self._function, index)

    def compare(self, by_ctypes: bytes) -> list[Any]:
        """Pack the values with cython; raise MarshalMismatch if `by_ctypes` differs."""
        made = []
        for index, x in enumerate(self._replay()):
            made.append(self._pack_as(index, x, by_ctypes[_SIZE * index : _SIZE * (index + 1)]))
            if self._journal is not None and self._journal.disorder:
                raise mismatch(
                    self._place(index), "calls users' code in one order", "calls it in another order"
                )
        if len(by_ctypes) != _SIZE * len(made):
            counts = len(made), len(by_ctypes) // _SIZE
            raise mismatch(name_of(self._function), *(f"packs {count} arguments" for count in counts))
        return made

    def _pack_as(self, index: int, x: Any, by_ctypes: bytes) -> Any:
        try:
            made = self._pack(x)
        except BaseException as exception:
            if not is_from_cython(exception, self._journal):
                raise
            text = render(by_ctypes) if by_ctypes else "nothing"
            raise mismatch(self._place(index), raising(exception), f"packs {text}") from exception
        by_cython = made.cell
        if by_cython != by_ctypes and by_ctypes:
            copied = {} if self._journal is None else self._journal.copied
            difference = find_difference(by_cython, by_ctypes, copied)
            if difference is not None:
                place = self._place(index) + (f", at {difference.path}" if difference.path else "")
                raise mismatch(place, f"packs {difference.by_cython}", f"packs {difference.by_ctypes}")
        return made

    def settle(self, raised: BaseException) -> BaseException:
        """Return the exception to raise after ctypes raised one."""
        if is_external(raised, self._journal):
            return raised
        former = raised.__traceback__, raised.__context__
        try:
            return self._find_culprit(raised)
        finally:
            raised.__traceback__, raised.__context__ = former

    def _find_culprit(self, raised: BaseException) -> BaseException:
        outcomes = []
        for x in self._replay():
            try:
                made = self._pack(x)
            except BaseException as exception:
                if same_exception(exception, raised):
                    return raised
                if not is_from_cython(exception, self._journal):
                    return exception
                outcomes.append(raising(exception))
                break
            outcomes.append(f"packs {render(made.cell)}")
        if self._journal is not None and self._journal.has_unreplayed(raised):
            # A signal handler raised it, during a call that only ctypes makes.
            return raised
        for index, (x, outcome) in enumerate(zip(self._replay(), outcomes)):
            if raises_again(raised, self._pack_by_ctypes, x):
                return mismatch(self._place(index), outcome, raising(raised))
        return raised

    def _replay(self) -> Iterable[Any]:
        """Return the values as ctypes read them."""
        return self._values if self._journal is None else self._journal.replay_for(self._values)


class OwnedPacking(Packing):
    """A value packed as owned: a callback's result, or (without a function) the argument of `convert`."""

    __slots__ = ()

    _pack = staticmethod(_core.render_owned)

    def _pack_by_ctypes(self, x: Any) -> None:
        _pack.pack_owned(x)

    def _place(self, index: int) -> str:
        return "anyffi.convert()" if self._function is None else f"{name_of(self._function)}: result"
