"""Wraps calls and callbacks with an observer, for the backends that make them in Python.

An observer has four functions: `begin_call(function, args, kwargs)` and `begin_callback(callable, args)`
return a record, or None to ignore the rest of the call; later, `end(record, result)` or `fail(record,
exception)` is called. An exception that they raise replaces the outcome of the call, like one of a signal
handler. But RecursionError and MemoryError are dropped, and counted by `next(observer.lost_calls)`, if they
are raised at the begin, or by `next(observer.lost_ends)`.
"""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["observe_call", "observe_callback"]

#: Raised by an observer itself when stack or memory is exhausted: the call continues without it. No helper
#: function catches them, because calling one would raise the same.
_EXHAUSTED = (RecursionError, MemoryError)


def observe_call(call: Any, observer: Any) -> Callable[..., Any]:
    """Return a `__call__` for functions of the runtime that an observer sees; `call` is the original."""
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
    """Return a replacement, which an observer sees, for a callable that C++ calls."""
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
