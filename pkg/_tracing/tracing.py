"""Traces: each call and callback as events, in memory or as lines of JSON in a file."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import threading
import time
import weakref

from .. import _mode
from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any, Callable
from .callables import describe_callable
from .observing import Described, Watcher, untold, unwatch, watch
from .rendering import name_of_class, render, render_error, type_of

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["FORMAT", "Trace", "trace", "trace_to"]

#: The version of the lines of a file; it changes when programs that read them have to change.
FORMAT = 1

_now = time.perf_counter_ns
# The system does not soon reuse its number after a thread has ended, unlike `get_ident`.
_native_id = getattr(threading, "get_native_id", threading.get_ident)
#: The maximum number of C++ threads that a trace remembers.
_MOST_THREADS = 10_000


class _Thread(threading.local):
    """The calls in progress on a thread, and the thread's number in a trace."""

    def __init__(self) -> None:
        self.number = 0
        self.calls: list[_Place] = []


class _Call:
    """A call in progress."""

    __slots__ = ("__weakref__", "calls", "number", "place", "start")

    def __init__(self, number: int, calls: list[_Place]) -> None:
        self.number = number
        self.calls = calls
        self.place = _Place(self)
        self.place.number = number
        self.start = _now()

    def leave(self) -> None:
        """End it, before its event is made: even if that fails, later calls are not within it."""
        # Inner calls that a signal handler interrupted before the observer had their records end with it.
        # Calls of greenlets need not end in the reverse order.
        if self.place in self.calls:
            while self.calls.pop() is not self.place:
                pass


class _Place(weakref.ref[_Call]):
    """The position of a call among those in progress; a dead reference if its end was lost."""

    __slots__ = ("number",)

    number: int


class Trace(Watcher):
    """A trace of all calls between Python and C++, on all threads; a context manager.

    Attributes
    ----------
    events : list of dict
        The events so far, unless they are written to a file. docs/debugging.md lists their keys.
    """

    __module__ = "anyffi"

    def __init__(self, path: Any = None) -> None:
        self.events: list[dict[str, Any]] = []
        self._file = None if path is None else _File(path)
        self._numbers = itertools.count(1)
        self._threads = itertools.count(1)
        #: By the system's number: threads that Python did not start, which it knows only during a callback.
        self._foreign: dict[int, int] = {}
        self._local = _Thread()
        self._is_open = False
        self._zero = self._lost = 0

    def __enter__(self) -> Self:
        if self._zero:
            raise RuntimeError("this trace was used before; make another one")
        self._zero, self._lost = _now(), untold()
        self._is_open = True
        try:
            self._write(self._describe_process(None))
            _open_traces.append(self)
            watch(self)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, cls: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._is_open:
            return
        try:
            unwatch(self)
            lost = untold() - self._lost
            self._try_write({"event": "end", "pid": os.getpid(), "time": _now() - self._zero, "lost": lost})
        finally:
            # Even without memory for the event, or if a signal handler raises: nothing else would end the
            # trace later.
            self._is_open = False
            if self in _open_traces:
                _open_traces.remove(self)
            if self._file is not None:
                self._file.close()

    def _write(self, event: dict[str, Any]) -> None:
        if not self._is_open:
            return
        if self._file is None:
            self.events.append(event)
        else:
            self._file.write(event)

    def _try_write(self, event: dict[str, Any]) -> None:
        # There is nobody to whom an error could be reported.
        with contextlib.suppress(OSError):
            self._write(event)

    def _describe_process(self, parent: int | None) -> dict[str, Any]:
        event = {
            "event": "process",
            "format": FORMAT,
            "pid": os.getpid(),
            "time": _now() - self._zero,
            "date": time.time(),
            "mode": _mode.ffi_mode,
            "command": list(map(str, getattr(sys, "argv", ()))),
        }
        if parent is not None:
            event["forked_from"] = parent
        return event

    def _begin(self, event: dict[str, Any]) -> _Call:
        """Write the first event of a call, after filling in what only this trace knows."""
        local = self._local
        if not local.number:
            local.number = self._number_thread()
        number = next(self._numbers)
        calls = local.calls
        while calls and calls[-1]() is None:
            calls.pop()
        event["pid"], event["id"], event["thread"] = os.getpid(), number, local.number
        event["parent"], event["depth"] = (calls[-1].number if calls else None), len(calls)
        event["time"] = _now() - self._zero
        # Done first, so that if it fails nothing was written.
        call = _Call(number, calls)
        calls.append(call.place)
        try:
            self._write(event)
        except BaseException:
            calls.pop()
            raise
        try:  # noqa: SIM105
            call.start = _now()
        except MemoryError:
            # The start stays the time before the event was written.
            pass
        return call

    def _number_thread(self) -> int:
        """Return the number of this thread, and write the event if it is new."""
        # `threading.current_thread` would make an object for a thread of C++.
        found = getattr(threading, "_active", {}).get(threading.get_ident())
        if found is None or type(found) is threading._DummyThread:
            native = _native_id()
            number = self._foreign.get(native)
            if number is not None:
                return number
            number = next(self._threads)
            if len(self._foreign) >= _MOST_THREADS:
                self._foreign.clear()
            self._foreign[native] = number
        else:
            number = next(self._threads)
        name = getattr(found, "_name", None)
        event = {"event": "thread", "pid": os.getpid(), "thread": number, "time": _now() - self._zero}
        event["name"] = name if type(name) is str else f"thread {number}"
        self._write(event)
        return number

    def begin_call(self, function: Any, known: Described, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Write the event of a call from Python."""
        names = known.params + (None,) * (len(args) - len(known.params))
        shown = [_show(x, name) for name, x in zip(names, args)]
        if kwargs:
            shown += [_show(x, str.__str__(name)) for name, x in zip(kwargs, kwargs.values())]
        return self._begin(
            {
                "event": "call",
                "to": "C++",
                "name": known.name,
                "signature": known.signature,
                "arguments": shown,
            }
        )

    def begin_callback(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Write the event of a call from C++."""
        found = describe_callable(function, args)
        if found is None:
            return None
        name, signature = found
        return self._begin(
            {
                "event": "call",
                "to": "Python",
                "name": name,
                "signature": signature,
                "arguments": [_show(x, None) for x in args],
            }
        )

    def _end(self, call: _Call, name: str, **more: Any) -> None:
        self._write({"event": name, "pid": os.getpid(), "id": call.number, **more})

    def end(self, record: Any, result: Any) -> None:
        """Write the event of a result."""
        record.leave()
        duration = _now() - record.start
        self._end(
            record,
            "return",
            time=record.start - self._zero + duration,
            duration=duration,
            type=type_of(result),
            value=render(result),
        )

    def fail(self, record: Any, exception: BaseException) -> None:
        """Write the event of an exception."""
        record.leave()
        duration = _now() - record.start
        self._end(
            record,
            "raise",
            time=record.start - self._zero + duration,
            duration=duration,
            error=name_of_class(type(exception)),
            message=render_error(exception),
        )


def _show(x: Any, name: str | None) -> dict[str, Any]:
    shown = {"type": type_of(x), "value": render(x)}
    return shown if name is None else {"name": name, **shown}


class _File:
    """A file to which lines are appended, each by one system call, so that none is incomplete."""

    _file: int | None = None

    def __init__(self, path: Any) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._is_cut = False

    def write(self, event: dict[str, Any]) -> None:
        """Append an event. OSError if the disk is full."""
        if self._file is None:
            return
        line = (json.dumps(event) + "\n").encode()
        if self._is_cut:
            line = b"\n" + line
        self._is_cut = os.write(self._file, line) != len(line)

    def close(self) -> None:
        """Close the file. Other threads may be about to write."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # The trace never began.
        if self._file is not None:
            close(self._file)


def trace(path: str | os.PathLike[str] | None = None) -> Trace:
    """Trace all calls between Python and C++, in a `with` statement.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The file to which each event is appended as a line of JSON, for ``python -m anyffi trace``. Without
        it, the events are the attribute `events` of the result.

    Examples
    --------
    >>> with anyffi.trace() as traced:
    ...     anyffi.Function(lambda x: x + 1)(2)
    3
    >>> [event["event"] for event in traced.events]
    ['process', 'thread', 'call', 'call', 'return', 'return', 'end']
    """
    return Trace(path)


# Pickles and `help` use the name of the public module.
trace.__module__ = "anyffi"

_open_traces: list[Trace] = []


def _after_fork(parent: list[int]) -> None:
    former, parent[0] = parent[0], os.getpid()
    for each in _open_traces:
        each._foreign.clear()
        each._try_write(each._describe_process(former))


def trace_to(path: str) -> Trace:
    """Begin a trace that lasts until the interpreter ends: that of FFI_TRACE."""
    import atexit

    made = Trace(os.path.abspath(path.replace("{pid}", str(os.getpid()))))
    made.__enter__()
    atexit.register(made.__exit__, None, None, None)
    return made


if hasattr(os, "register_at_fork"):
    _pid = [os.getpid()]
    os.register_at_fork(after_in_child=lambda: _after_fork(_pid))
