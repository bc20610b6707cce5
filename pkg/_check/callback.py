"""Callbacks by both marshallers.

cython reads the arguments. ctypes then runs the whole callback, and finds `_Callback.reach` in the place of
the function. There the arguments are compared, and the function is called once. What it returns is packed by
ctypes, and by cython afterwards.
"""

from __future__ import annotations

from ctypes import string_at
from typing import Any

from .._cython import _core
from .compare import same, same_exception
from .journal import Journal, thread
from .pack import (
    OwnedPacking,
    comes_back,
    failure,
    is_cythons,
    is_outside,
    mismatch,
    name_of,
    name_of_argument,
    room,
    without_own_frames,
)
from .text import show, show_all

__all__ = ["run_callback"]

_abi, _callback, _unpack = map(room, ("abi", "callback", "unpack"))
_SIZE = _abi.VALUE_SIZE
_DONE = 1  # ANYFFI_HOST_DONE

#: While ctypes reads the arguments, while the function is at work, while ctypes packs what it returned.
_READING, _AT_WORK, _PACKING = range(3)


class _Callback:
    """A call of a Python function under way."""

    __slots__ = ("_function", "_journal", "_mine", "_problem", "_result", "_stage")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._journal = Journal()
        self._stage = _READING
        #: The arguments as cython reads them, or what it raises instead.
        self._mine: list[Any] = []
        self._problem: BaseException | None = None
        self._result: Any = None

    def run(self, args: int, count: int, result: int) -> BaseException | None:
        """Writes the result as cython makes it; or returns what is to be raised."""
        former = thread.journal
        theirs = None
        try:
            thread.journal = self._journal
            try:
                self._mine = _core.read_values(args, count)
            except BaseException as exception:
                self._problem = exception
            self._journal.replay()
            if _callback._callback(self.reach, args, count, result) != _DONE:
                # At the end of the stack ctypes has no room to leave an error. No local name here may hold
                # it: its traceback leads to this frame.
                return self._settle(
                    _core.hold_raised().read() or RecursionError("maximum recursion depth exceeded"),
                    args,
                    count,
                )
            thread.journal = self._journal
            theirs = _core.take(result)
            [made] = self._packing().compare(theirs.cell)
            made.move(result)
            return None
        except BaseException as exception:
            return exception
        finally:
            thread.journal = former
            self._journal.close()
            self._problem = None
            # The function may have kept its frame, and thereby this one.
            del theirs

    def reach(self, *theirs: Any) -> Any:
        """What stands in the function's place."""
        self._stage = _AT_WORK
        thread.journal = None
        self._compare(theirs)
        self._result = self._function(*self._mine)
        self._stage = _PACKING
        self._journal = thread.journal = Journal()
        self._journal.begin(self._result)
        return self._result

    def _compare(self, theirs: tuple[Any, ...]) -> None:
        if self._problem is not None:
            if not is_cythons(self._problem, self._journal):
                raise self._problem
            raise self._misread("arguments", failure(self._problem), show_all(theirs))
        if len(self._mine) != len(theirs):
            raise self._misread("arguments", show_all(self._mine), show_all(theirs))
        for index, (mine, other) in enumerate(zip(self._mine, theirs)):
            if not same(mine, other):
                raise self._misread(index, show(mine), show(other))

    def _settle(self, raised: BaseException, args: int, count: int) -> BaseException:
        """What is to be raised where ctypes raised, or the function itself."""
        if self._stage == _AT_WORK:
            return raised
        if self._stage == _PACKING:
            thread.journal = self._journal
            return self._packing().settle(raised)
        if is_outside(raised, self._journal):
            return raised
        if self._problem is not None and same_exception(self._problem, raised):
            return self._problem
        for index, value in enumerate(_abi.VALUE.iter_unpack(string_at(args, _SIZE * count))):
            self._journal.replay()
            if comes_back(raised, _unpack.unpack, value):
                mine = show(self._mine[index]) if self._problem is None else failure(self._problem)
                return self._misread(index, mine, failure(raised))
        return raised

    def _packing(self) -> OwnedPacking:
        return OwnedPacking(self._function, (self._result,), self._journal)

    def _misread(self, place: int | str, mine: str, theirs: str) -> BaseException:
        if isinstance(place, int):
            return mismatch(name_of_argument(self._function, place), "reads", mine, theirs)
        return mismatch(f"{name_of(self._function)}: {place}", "reads", mine, theirs)


def run_callback(function: Any, args: int, count: int, result: int) -> BaseException | None:
    """What cython calls in the place of a callable: writes `result`, or returns what is to be raised."""
    raised = None
    try:
        raised = _Callback(function).run(args, count, result)
        return raised and raised.with_traceback(without_own_frames(raised.__traceback__))
    finally:
        # Its traceback leads to this frame.
        del raised
