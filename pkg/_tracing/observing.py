"""The observer of calls and callbacks: it passes them on to all watchers, which cannot disturb a call."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque

from .. import _backend
from .._builtins import *  # noqa: F403
from .._rules import errors as _errors
from .._rules import keywords
from .._rules.locks import make_lock
from .._typing import Any, Callable

__all__ = ["Described", "Watcher", "describe", "unobserved", "untold", "unwatch", "watch"]


class Described:
    """What is known of a function of the runtime."""

    __slots__ = ("name", "params", "reference", "signature")

    def __init__(self, function: Any) -> None:
        # The call itself will raise the error that the wrapper is empty.
        is_empty = not function._anyffi_address
        info = None if is_empty else function._anyffi_info()
        self.name: str = _qualify(function, info) or "function"
        #: The names of its parameters, None for an unnamed one; empty for overloads.
        self.params: tuple[Any, ...] = () if info is None else tuple(param[0] for param in info[2])
        runtime = function._anyffi_runtime
        #: The pickle that finds it in another process, or why there is none; set at its first use.
        self.reference: Any = None
        self.signature: Any = None
        if keywords.is_overloaded(info):
            shown = [runtime.function_signature(one) for one in function.overloads]
            self.signature = " | ".join(map(str, shown))
        elif not is_empty:
            self.signature = runtime.function_signature(function)


def _qualify(function: Any, info: Any) -> Any:
    """Return the name of a function or None; of methods and constructors with the key of their class."""
    if keywords.is_overloaded(info):
        info = function.overloads[0]._anyffi_info()
    if info is None or info[0] is None:
        return None
    name, _, params, _, _, result, _ = info
    if keywords.is_method(info):
        return f"{params[0][3]}.{name}"
    return result if result is not None and result.rpartition(".")[2] == name else name


class _Reference(weakref.ref[Any]):
    """A weak reference to a wrapper, with its identity."""

    __slots__ = ("key",)

    key: int


#: By the identity of a function's wrapper: a reference to it, and what is known; None for a function of the
#: package itself.
_known: dict[int, tuple[_Reference, Described | None]] = {}
#: How the names of such functions begin; the second are methods of users' classes.
_OWN_NAMES = ("anyffi.", "__anyffi_")
#: References whose wrappers are gone. Filled by C code, because an exception of a signal handler would be
#: lost in a Python callback.
_dead: deque[Any] = deque()


def describe(function: Any) -> Described | None:
    """Return what is known of a function; None for those by which the package itself uses the runtime."""
    known = _known.get(id(function))
    if known is not None and known[0]() is function:
        return known[1]
    while _dead:
        dead = _dead.popleft()
        former = _known.get(dead.key)
        if former is not None and former[0] is dead:
            del _known[dead.key]
    if not function._anyffi_address:
        return Described(function)
    info = function._anyffi_info()
    name = info and info[0]
    found = None if name is not None and name.startswith(_OWN_NAMES) else Described(function)
    reference = _Reference(function, _dead.append)
    reference.key = id(function)
    _known[reference.key] = reference, found
    return found


class Watcher:
    """Watches calls: `end` or `fail` get what `begin_call` or `begin_callback` returned, if not None."""

    def begin_call(self, function: Any, known: Described, args: tuple[Any, ...], kwargs: Any) -> Any:
        """See a call from Python; `kwargs` may be None."""

    def begin_callback(self, function: Any, args: tuple[Any, ...]) -> Any:
        """See a call from C++."""

    def end(self, record: Any, result: Any) -> None:
        """See the result."""

    def fail(self, record: Any, exception: BaseException) -> None:
        """See the exception."""


class _Unobserved(threading.local):
    """A context in which no watcher sees the calls of this thread."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


unobserved = _Unobserved()

#: A list, because removing an element needs no memory.
_watchers: list[Watcher] = []
_lock = make_lock()
#: How many calls had a beginning, and so also an end, that no watcher saw, and how many only an end: memory
#: or the stack were exhausted, or a disk was full. `next` counts even if there is no memory for its result.
_lost_calls, _lost_ends = itertools.count(), itertools.count()


def untold() -> int:
    """Return how many events were lost."""
    calls, ends = (int(repr(each)[len("count(") : -1]) for each in (_lost_calls, _lost_ends))
    return 2 * calls + ends


def _tell(lost: Any, watch: Callable[..., Any], *args: Any) -> Any:
    """Call a watcher; its errors do not fail the call, except for those of a signal handler."""
    try:
        return watch(*args)
    except (RecursionError, MemoryError):
        next(lost)
        return None
    except BaseException as raised:
        if _errors.is_from_handler(raised):
            raise
        next(lost)
        return None


def _places_of_records() -> list[list[Any]]:
    """Return the watchers with places for their records, allocated first so that none is lost."""
    # A copy, because other threads may remove a watcher.
    return [[each, None] for each in tuple(_watchers)]


class _Observer:
    """The observer that the backends call (`_rules/observing.py`)."""

    lost_calls, lost_ends = _lost_calls, _lost_ends

    @staticmethod
    def begin_call(function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        known = None if unobserved.depth else _tell(_lost_calls, describe, function)
        if known is None:
            return None
        records = _places_of_records()
        for place in records:
            place[1] = _tell(_lost_calls, place[0].begin_call, function, known, args, kwargs)
        return records

    @staticmethod
    def begin_callback(function: Any, args: tuple[Any, ...]) -> Any:
        if unobserved.depth:
            return None
        records = _places_of_records()
        for place in records:
            place[1] = _tell(_lost_calls, place[0].begin_callback, function, args)
        return records

    @staticmethod
    def end(records: Any, result: Any) -> None:
        for watcher, record in reversed(records):
            if record is not None:
                _tell(_lost_ends, watcher.end, record, result)

    @staticmethod
    def fail(records: Any, exception: BaseException) -> None:
        for watcher, record in reversed(records):
            if record is not None:
                _tell(_lost_ends, watcher.fail, record, exception)


def watch(watcher: Watcher) -> None:
    """Make a watcher see all calls and callbacks from now on."""
    with _lock:
        # This is done first: if it fails or is interrupted, a later call can simply repeat it.
        _backend.set_observer(_Observer)
        _watchers.append(watcher)


def unwatch(watcher: Watcher) -> None:
    """End that. Calls that it has seen begin may still end.

    It sees no more calls also where a MemoryError is raised; then calls may go on to look for watchers.
    """
    if watcher in _watchers:
        _watchers.remove(watcher)
    with _lock:
        if not _watchers:
            _backend.set_observer(None)
