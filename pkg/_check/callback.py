"""Callbacks by both marshallers.

cython unpacks the arguments. Then ctypes runs the whole callback, but calls `_Callback.invoke` instead of the
function: there the arguments are compared, and the function is called once. ctypes packs its result, and then
cython does.
"""

from __future__ import annotations

from ctypes import string_at
from typing import Any, Callable

from .._builtins import *  # noqa: F403
from .._ctypes import abi as _abi
from .._ctypes import callback as _callback
from .._ctypes import unpack as _unpack
from .._cython import _core
from .._rules import observing as _observing
from .._rules import values as _rules
from .._rules.culprits import locate_result
from .compare import same_exception
from .journal import Journal, thread
from .pack import (
    OwnedPacking,
    is_external,
    is_from_cython,
    mismatch,
    name_of,
    name_of_argument,
    raises_again,
    raising,
    without_own_frames,
)
from .plain import same_results
from .text import show, show_all

__all__ = ["run_callback", "set_observer"]

_SIZE = _abi.VALUE_SIZE
_DONE = 1  # ANYFFI_HOST_DONE

#: The stages of a callback: ctypes unpacks the arguments, the function runs, ctypes packs its result.
_UNPACKING, _RUNNING, _PACKING = range(3)


def _itself(function: Any) -> Any:
    return function


_callable_of: Callable[[Any], Any] = _itself


def set_observer(observer: Any) -> None:
    """Make an observer's functions run before and after each callback; None removes them."""
    global _callable_of
    _callable_of = (
        _itself if observer is None else lambda function: _observing.observe_callback(function, observer)
    )


class _Callback:
    """The state of a callback."""

    __slots__ = ("_by_cython", "_function", "_journal", "_problem", "_result", "_stage")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._journal = Journal()
        self._stage = _UNPACKING
        #: The arguments as cython unpacks them, or the exception that it raises.
        self._by_cython: list[Any] = []
        self._problem: BaseException | None = None
        self._result: Any = None

    def run(self, args: int, count: int, result: int) -> BaseException | None:
        """Write the result as cython packs it, or return the exception to raise."""
        former = thread.journal
        by_ctypes = None
        is_discarded = _callback.is_discarded(result)
        try:
            thread.journal = self._journal
            try:
                self._by_cython = _core.read_values(args, count)
            except BaseException as exception:
                self._problem = exception
            self._journal.replay()
            if _callback._callback(self.invoke, args, count, result) != _DONE:
                # Near the end of the stack, ctypes has no room to set an error. No local variable may hold
                # the exception, because its traceback refers to this frame.
                return self._settle(
                    _core.hold_raised().read() or RecursionError("maximum recursion depth exceeded"),
                    args,
                    count,
                )
            thread.journal = self._journal
            if is_discarded:
                return None
            by_ctypes = _core.take(result)
            [made] = self._packing().compare(by_ctypes.cell)
            made.move(result)
            return None
        except BaseException as exception:
            return exception
        finally:
            thread.journal = former
            self._journal.close()
            self._problem = None
            # The function may have kept its own frame, which refers to this one.
            del by_ctypes

    def invoke(self, *by_ctypes: Any) -> Any:
        """Run instead of the function."""
        self._stage = _RUNNING
        thread.journal = None
        self._compare(by_ctypes)
        self._result = _callable_of(self._function)(*self._by_cython)
        self._stage = _PACKING
        self._journal = thread.journal = Journal()
        self._journal.begin(self._result)
        return self._result

    def _compare(self, by_ctypes: tuple[Any, ...]) -> None:
        if self._problem is not None:
            if not is_from_cython(self._problem, self._journal):
                raise self._problem
            raise self._mismatch("arguments", raising(self._problem), f"unpacks {show_all(by_ctypes)}")
        if len(self._by_cython) != len(by_ctypes):
            raise self._mismatch(
                "arguments", f"unpacks {show_all(self._by_cython)}", f"unpacks {show_all(by_ctypes)}"
            )
        for index, (by_cython, other) in enumerate(zip(self._by_cython, by_ctypes)):
            if not same_results(by_cython, other):
                raise self._mismatch(index, f"unpacks {show(by_cython)}", f"unpacks {show(other)}")

    def _settle(self, raised: BaseException, args: int, count: int) -> BaseException:
        """Return the exception to raise after ctypes, or the function itself, raised one."""
        if self._stage == _RUNNING:
            return raised
        if self._stage == _PACKING:
            thread.journal = self._journal
            settled = self._packing().settle(raised)
            locate_result(settled, (self._result,), self._function)
            return settled
        if is_external(raised, self._journal):
            return raised
        if self._problem is not None and same_exception(self._problem, raised):
            return self._problem
        for index, value in enumerate(_abi.VALUE.iter_unpack(string_at(args, _SIZE * count))):
            self._journal.replay()
            if raises_again(raised, _unpack.unpack, value):
                problem = self._problem
                by_cython = (
                    raising(problem) if problem is not None else f"unpacks {show(self._by_cython[index])}"
                )
                return self._mismatch(index, by_cython, raising(raised))
        return raised

    def _packing(self) -> OwnedPacking:
        return OwnedPacking(self._function, (self._result,), self._journal)

    def _mismatch(self, place: int | str, by_cython: str, by_ctypes: str) -> BaseException:
        if isinstance(place, int):
            return mismatch(name_of_argument(self._function, place), by_cython, by_ctypes)
        return mismatch(f"{name_of(self._function)}: {place}", by_cython, by_ctypes)


def run_callback(function: Any, args: int, count: int, result: int) -> BaseException | None:
    """Run a callback for cython: write `result`, or return the exception to raise."""
    if _rules.is_cleared(function):
        return _rules.cleared_function(function)
    raised = None
    try:
        raised = _Callback(function).run(args, count, result)
        return raised and raised.with_traceback(without_own_frames(raised.__traceback__))
    finally:
        # Its traceback refers to this frame.
        del raised
