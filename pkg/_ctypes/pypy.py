"""The portable twin of cpython.py: for interpreters without `PyDLL`, `pythonapi` and counts.

Objects cross as numbers in a table. One re-entrant lock stands for the interpreter's: it is held while the
runtime runs, and released around callbacks and wherever a body lets other threads run.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from ctypes import CFUNCTYPE, c_char, c_int, c_int32, c_void_p
from typing import Any, Callable

__all__ = [
    "buffer",
    "call_type",
    "callback_type",
    "claim",
    "finalizer",
    "guard",
    "hook_type",
    "hooks",
    "load",
    "new_handle",
    "object_at",
    "object_of",
    "plain",
    "take_over",
    "wrapper_at",
]

#: A function's `call`.
call_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

callback_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

_lock: Any = threading.RLock()
_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


def buffer(content: Any) -> Any:
    """Memory that C code may write to, of a size or with a content."""
    if isinstance(content, int):
        return (c_char * content)()
    return (c_char * len(content)).from_buffer_copy(content)


def load(path: str) -> Any:
    """Loads a library."""
    return ctypes.CDLL(path)


def guard(function: Any) -> Any:
    """The function, run under the lock."""

    def guarded(*args: Any) -> Any:
        with _lock:
            return function(*args)

    return guarded


def plain(function: Any) -> Any:
    """The function as it is: the limit of recursion is the stack's here."""
    return function


def hook_type(*params: Any) -> Any:
    """The type of a hook that gets a handle first."""
    return CFUNCTYPE(c_int, c_void_p, *params)


def hooks() -> dict[str, int]:
    """Addresses of the hooks that need no more than the lock."""
    functions = [
        CFUNCTYPE(c_int32)(_take_lock),
        CFUNCTYPE(None, c_int32)(_give_lock),
        CFUNCTYPE(c_void_p)(_suspend),
        CFUNCTYPE(None, c_void_p)(_resume),
        CFUNCTYPE(None, c_void_p)(_drop_handle),
        CFUNCTYPE(c_int)(_check_signals),
    ]
    _kept.extend(functions)
    names = ("lock", "unlock", "suspend", "resume", "handle_release", "check_signals")
    return {name: ctypes.cast(function, c_void_p).value or 0 for name, function in zip(names, functions)}


#: Callbacks live as long as the runtime may call them.
_kept: list[Any] = []
_suspended: dict[int, Any] = {}


def _take_lock() -> int:
    _lock.acquire()
    return 0


def _give_lock(_: int) -> None:
    _lock.release()


def _suspend() -> int:
    ticket = next(_numbers)
    _suspended[ticket] = _lock._release_save()
    return ticket


def _resume(ticket: int) -> None:
    _lock._acquire_restore(_suspended.pop(ticket))


def _drop_handle(handle: int) -> None:
    _objects.pop(handle, None)


def _check_signals() -> int:
    # The interpreter runs pending handlers on the way to here already. What one raises is swallowed, and
    # another status is returned.
    return 1  # ANYFFI_HOST_DONE


def new_handle(x: Any) -> int:
    """A handle of an object: a number of its own each time."""
    handle = next(_numbers)
    _objects[handle] = x
    return handle


def object_at(address: int) -> Any:
    """The object whose handle lies at an address."""
    return _objects[c_void_p.from_address(address).value or 0]


#: The object behind what a hook or callback was given.
object_of: Callable[[Any], Any] = _objects.__getitem__


def finalizer(release: Any) -> Any:
    """A `__del__` that calls a function of the runtime."""

    def finalize(self: Any) -> None:
        release(self)

    return finalize


#: The wrappers that live, by the address of the header's word that would name them.
_wrappers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def wrapper_at(word: int) -> Any:
    """The wrapper that lives, or None."""
    return _wrappers.get(word)


def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
    """Makes a wrapper the one of its object, unless there is one that lives."""
    with _lock:
        return _wrappers.setdefault(word, wrapper) is wrapper


def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
    """The same after the former wrapper was emptied, which lives until it is collected."""
    _wrappers[word] = wrapper
