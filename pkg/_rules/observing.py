"""Calls and callbacks with an observer, for the backends that make them in Python.

An observer has four functions: `begin_call(function, args, kwargs)` and `begin_callback(callable, args)`
return a record, or None to hear no more of the call; then `end(record, result)` or `fail(record, exception)`
is called. What they raise replaces the outcome of the call, as what a signal handler raises does; but for
RecursionError and MemoryError, which are dropped, and counted by `next(observer.lost_calls)`, where a begin
is lost, or `next(observer.lost_ends)`.
"""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["observe_call", "observe_callback"]

#: What an observer raises itself where the stack or the memory ends: the call goes on without it. No helper
#: function catches them, since its call would raise the same.
_EXHAUSTED = (RecursionError, MemoryError)


def observe_call(call: Any, observer: Any) -> Callable[..., Any]:
    """Return a `__call__` of functions of the runtime that an observer sees; `call` is the one without."""
    begin, end, fail = observer.begin_call, observer.end, observer.fail
    lost_calls, lost_ends = observer.lost_calls, observer.lost_ends

    def __call__(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        record = None
        try:
            record = begin(self, args, kwargs)
        except _EXHAUSTED:
            try:  # noqa: SIM105
                next(lost_calls)
            except _EXHAUSTED:
                pass
        if record is None:
            return call(self, *args, **kwargs)
        try:
            result = call(self, *args, **kwargs)
        except BaseException as exception:
            try:
                fail(record, exception)
            except _EXHAUSTED:
                try:  # noqa: SIM105
                    next(lost_ends)
                except _EXHAUSTED:
                    pass
            raise
        try:
            end(record, result)
        except _EXHAUSTED:
            try:  # noqa: SIM105
                next(lost_ends)
            except _EXHAUSTED:
                pass
        return result

    __call__.__qualname__, __call__.__module__ = call.__qualname__, call.__module__
    __call__.__doc__ = call.__doc__
    return __call__


def observe_callback(function: Any, observer: Any) -> Callable[..., Any]:
    """Return what to call in the place of a callable that C++ calls."""
    begin, end, fail = observer.begin_callback, observer.end, observer.fail
    lost_calls, lost_ends = observer.lost_calls, observer.lost_ends

    def call(*args: Any) -> Any:
        record = None
        try:
            record = begin(function, args)
        except _EXHAUSTED:
            try:  # noqa: SIM105
                next(lost_calls)
            except _EXHAUSTED:
                pass
        if record is None:
            return function(*args)
        try:
            result = function(*args)
        except BaseException as exception:
            try:
                fail(record, exception)
            except _EXHAUSTED:
                try:  # noqa: SIM105
                    next(lost_ends)
                except _EXHAUSTED:
                    pass
            raise
        try:
            end(record, result)
        except _EXHAUSTED:
            try:  # noqa: SIM105
                next(lost_ends)
            except _EXHAUSTED:
                pass
        return result

    return call
