"""Packing by both marshallers: ctypes has packed values, or failed to, and cython packs them as well."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, TracebackType
from typing import Any, Callable

from .. import _ctypes
from .._cython import ObjectCore, _core
from .._rules import errors as _errors
from .compare import find_difference, same_exception
from .journal import Journal
from .text import render, show

__all__ = [
    "OwnedPacking",
    "Packing",
    "comes_back",
    "failure",
    "is_cythons",
    "is_outside",
    "mismatch",
    "name_of",
    "name_of_argument",
    "room",
    "without_own_frames",
]


def room(name: str) -> Any:
    """A room of the ctypes marshaller. Its package has functions of the same names."""
    return importlib.import_module(f"{_ctypes.__name__}.{name}")


_pack = room("pack")
_SIZE = room("abi").VALUE_SIZE

# ---- messages ----------------------------------------------------------------------------------------


def name_of(function: Any) -> str:
    """A function of the runtime, or the callable behind a callback, as messages call it."""
    cls = type(function)
    if issubclass(cls, ObjectCore):
        info = function._info()
        return f"{(info and info[0]) or 'function'}()"
    if cls is FunctionType or cls is BuiltinFunctionType:
        return f"callback {function.__qualname__}()"
    return f"callback of type {cls.__qualname__}"


def name_of_argument(function: Any, index: int) -> str:
    """The same, with one of its arguments."""
    info = function._info() if issubclass(type(function), ObjectCore) else None
    name = info[2][index][0] if info and index < len(info[2]) else None
    return f"{name_of(function)}: argument {index}{f' ({name})' if name else ''}"


def mismatch(place: str, verb: str, mine: str, theirs: str) -> BaseException:
    """What is raised where the marshallers disagree."""
    return _errors.MarshalMismatch(f"{place}: cython {verb} {mine}, ctypes {verb} {theirs}")


def failure(exception: BaseException) -> str:
    """An exception in the place of what should have been made."""
    return f"nothing but {show(exception)}"


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of the check, and of the marshaller that it drives."""
    return _errors.without_frames(traceback, (__package__, _ctypes.__name__))


# ---- what is nobody's fault --------------------------------------------------------------------------


def is_outside(exception: BaseException, journal: Journal | None) -> bool:
    """Whether an exception tells of memory, stack or signals, and not of a value."""
    if isinstance(exception, MemoryError):
        return True
    if not isinstance(exception, (KeyboardInterrupt, RecursionError)):
        return False
    return journal is None or not journal.has_made(exception)


def is_cythons(exception: BaseException, journal: Journal | None) -> bool:
    """Whether it was about a value that the compiled marshaller raised an exception."""
    if is_outside(exception, journal):
        return False
    # Between its calls there is Python code, in which a signal handler may raise anything.
    traceback = exception.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is None or traceback.tb_frame.f_globals.get("__name__") == _core.__name__


def comes_back(exception: BaseException, function: Callable[[Any], Any], x: Any) -> bool:
    """Whether a function raises the same once more. What a signal handler raised in it does not come back."""
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
        """Packs one value as ctypes does, for nothing."""
        raise NotImplementedError

    def _place(self, index: int) -> str:
        return name_of_argument(self._function, index)

    def compare(self, theirs: bytes) -> list[Any]:
        """What cython makes of the values: the same as `theirs`, or MarshalMismatch is raised."""
        made = []
        for index, x in enumerate(self._replay()):
            made.append(self._pack_as(index, x, theirs[_SIZE * index : _SIZE * (index + 1)]))
            if self._journal is not None and self._journal.disorder:
                raise mismatch(self._place(index), "asks users' code", "in one order", "in another")
        if len(theirs) != _SIZE * len(made):
            counts = str(len(made)), str(len(theirs) // _SIZE)
            raise mismatch(name_of(self._function), "counts arguments:", *counts)
        return made

    def _pack_as(self, index: int, x: Any, theirs: bytes) -> Any:
        try:
            made = self._pack(x)
        except BaseException as exception:
            if not is_cythons(exception, self._journal):
                raise
            text = render(theirs) if theirs else "nothing"
            raise mismatch(self._place(index), "makes", failure(exception), text) from exception
        mine = made.cell
        if mine != theirs and theirs:
            difference = find_difference(mine, theirs, {} if self._journal is None else self._journal.copied)
            if difference is not None:
                place = self._place(index) + (f", at {difference.path}" if difference.path else "")
                raise mismatch(place, "makes", difference.mine, difference.theirs)
        return made

    def settle(self, raised: BaseException) -> BaseException:
        """What is to be raised where ctypes raised."""
        if is_outside(raised, self._journal):
            return raised
        as_it_came = raised.__traceback__, raised.__context__
        try:
            return self._find_culprit(raised)
        finally:
            raised.__traceback__, raised.__context__ = as_it_came

    def _find_culprit(self, raised: BaseException) -> BaseException:
        outcomes = []
        for x in self._replay():
            try:
                made = self._pack(x)
            except BaseException as exception:
                if same_exception(exception, raised):
                    return raised
                if not is_cythons(exception, self._journal):
                    return exception
                outcomes.append(failure(exception))
                break
            outcomes.append(render(made.cell))
        if self._journal is not None and self._journal.has_kept(raised):
            # It was raised while ctypes asked what cython knows: by a signal handler.
            return raised
        for index, (x, outcome) in enumerate(zip(self._replay(), outcomes)):
            if comes_back(raised, self._pack_by_ctypes, x):
                return mismatch(self._place(index), "makes", outcome, failure(raised))
        return raised

    def _replay(self) -> Iterable[Any]:
        """The values as ctypes saw them."""
        return self._values if self._journal is None else self._journal.replay_for(self._values)


class OwnedPacking(Packing):
    """One value that stands alone: the result of a callback, or (no function) what is converted."""

    __slots__ = ()

    _pack = staticmethod(_core.render_owned)

    def _pack_by_ctypes(self, x: Any) -> None:
        _pack.pack_owned(x)

    def _place(self, index: int) -> str:
        return "anyffi.convert()" if self._function is None else f"{name_of(self._function)}: result"
