"""Calls of the runtime on PyPy, and the lock under which they run.

The runtime is called through PyPy's built-in `_cffi_backend`. PyPy compiles these calls, which makes them
twenty times as fast as those of ctypes.

One re-entrant lock replaces the interpreter's: it is held while the runtime runs, and released around
callbacks and wherever a function body lets other threads run. Signal handlers are deferred for as long: an
exception that one raises within a hook would be lost, and the lock never released.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import c_double, c_int32, c_int64, c_uint64, c_void_p
from sys import getrecursionlimit
from threading import get_ident

from __pypy__.thread import _signals_enter, _signals_exit  # type: ignore[import-not-found]
from _cffi_backend import FFI  # type: ignore[import-untyped]

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = [
    "POINTER",
    "address_of_function",
    "ffi",
    "guard",
    "load",
    "lock",
    "lock_around",
    "need_room_of_callback",
    "unguarded",
]

ffi = FFI()
POINTER = ffi.typeof("void *")

#: Returns the number of bytes left on the calling thread's stack.
_get_left: Any = None


def load(path: str) -> Any:
    """Load a library."""
    global _get_left
    library = ctypes.CDLL(path)
    _get_left = ffi.cast("size_t(*)(void)", address_of_function(library.anyffi_stack_get_remaining))
    return library


def address_of_function(function: Any) -> int:
    """Return the address of a function of ctypes."""
    return ctypes.cast(function, c_void_p).value or 0


# ---- calls ------------------------------------------------------------------------------------------

#: C's names of the types of results and parameters.
_RESULTS = {None: "void", c_int32: "int32_t", c_int64: "int64_t", c_void_p: "intptr_t"}
_PARAMS = {
    c_double: "double",
    c_int32: "int32_t",
    c_int64: "int64_t",
    c_uint64: "uint64_t",
    c_void_p: "void *",
}


def _as_pointer(x: Any) -> Any:
    """Convert memory, an address or None to a pointer of cffi; return anything else unchanged.

    A pointer from a buffer keeps the memory alive, which an address would not: compiled code drops variables
    that it does not read again.
    """
    cls = type(x)
    if cls is int:
        return ffi.cast(POINTER, x)
    if issubclass(cls, bytearray):
        return ffi.from_buffer(x)
    return ffi.NULL if x is None else x


def _unchanged(x: Any) -> Any:
    return x


def _compile(function: Any) -> Any:
    """Call a ctypes function through cffi; return it unchanged if cffi lacks its result type."""
    if function.restype not in _RESULTS:
        return function
    params = ", ".join(_PARAMS[param] for param in function.argtypes)
    call = ffi.cast(f"{_RESULTS[function.restype]}(*)({params or 'void'})", address_of_function(function))
    converters = [_as_pointer if param is c_void_p else _unchanged for param in function.argtypes]

    def compiled(*args: Any) -> Any:
        return call(*[convert(x) for convert, x in zip(converters, args)])

    return compiled


# ---- the lock and signals -------------------------------------------------------------------------

lock: Any = threading.RLock()

#: The thread whose signal handlers are deferred, or 0. Only the main thread runs any.
_muted = 0


def _mute() -> bool:
    """Defer this thread's signal handlers; return False if they are deferred, or it runs none."""
    global _muted
    try:
        _signals_exit()
    except RuntimeError:
        return False
    # From here on, no handler can raise.
    _muted = get_ident()
    return True


def _unmute() -> None:
    global _muted
    _muted = 0
    _signals_enter()


#: Stack sizes: more than a call of the runtime and its handlers use, the additional need of a callback, and a
#: reserve at the end of a small stack, whose size PyPy does not know.
_ROOM, _CALLBACK, _RESERVE = 48 * 1024, 48 * 1024, 16 * 1024


class _Stack(threading.local):
    """The part of a thread's stack that is known to be usable."""

    #: The smallest number of bytes left that was usable, and the recursion limit at that time.
    least = 1 << 64
    limit = 0


_stack = _Stack()


def _descend(left: int) -> None:
    if _get_left() > left:
        _descend(left)


def _need_room(size: int) -> None:
    """Raise RecursionError if less than a given size is left of the stack.

    Near its end PyPy raises RecursionError at every call, even on entry to a `finally` block, which is then
    skipped: the lock would never be released.
    """
    left, limit = _get_left() - size, getrecursionlimit()
    # The search costs many times what a call does. Its result is valid for every shorter stack.
    if left >= _stack.least and limit == _stack.limit:
        return
    if left >= _RESERVE:
        try:
            _descend(left)
            _stack.least, _stack.limit = left, limit
            return
        except RecursionError:
            pass
        except TypeError as error:
            # PyPy raises this instead of a RecursionError while another exception is handled.
            if "RecursionError" not in str(error):
                raise
    # Raised here, where enough stack is left to handle it.
    raise RecursionError("maximum recursion depth exceeded")


def need_room_of_callback() -> None:
    """Raise RecursionError where the stack is too short for a callback to store an error."""
    _need_room(_ROOM + _CALLBACK)


def guard(function: Any) -> Any:
    """Wrap a C function of ctypes: it runs with the lock held, and signal handlers are deferred."""
    return lock_around(_compile(function))


def lock_around(function: Any) -> Any:
    """Wrap a function: it runs with the lock held, and signal handlers are deferred."""

    def guarded(*args: Any) -> Any:
        _need_room(_ROOM)
        muted = _mute()
        try:
            with lock:
                return function(*args)
        finally:
            if muted:
                _unmute()

    return guarded


def unguarded(function: Callable[..., int]) -> Callable[..., int]:
    """Wrap a callback or hook that runs Python code: without the lock, and with signal handlers enabled.

    An exception that a handler raises before the function's first line, or after its last, becomes the status
    with which the runtime recognizes an interrupt.
    """

    def run(*args: Any) -> int:
        muted = _muted == get_ident()
        held = lock._release_save() if lock._is_owned() else None
        try:
            if muted:
                _unmute()
            status = function(*args)
            if muted:
                _mute()
        except BaseException:
            status = 0
            if muted:
                _mute()
        if held is not None:
            lock._acquire_restore(held)
        return status

    return run
