"""PyPy's twin of cpython.py: there is no `PyDLL`, no `pythonapi` and no count.

Objects cross as numbers in a table. One re-entrant lock stands for the interpreter's: it is held while the
runtime runs, and released around callbacks and wherever a body lets other threads run. Signals are held back
as long: what a handler raises within the machinery of a hook would be lost, and the lock with it.
"""

from __future__ import annotations

import ctypes
import itertools
import signal
import threading
import weakref
from ctypes import CFUNCTYPE, c_char, c_char_p, c_int, c_int32, c_void_p
from threading import get_ident

from __pypy__.thread import _signals_enter, _signals_exit  # type: ignore[import-not-found]

from .._typing import Any, Callable

__all__ = [
    "call_type",
    "callback_type",
    "claim",
    "context_of",
    "create_over",
    "give",
    "guard",
    "hook_type",
    "hooks",
    "join",
    "lend_ascii",
    "lend_bytes",
    "load",
    "memory_class",
    "new_exchange",
    "object_at",
    "object_of",
    "plain",
    "retain",
    "take_over",
    "traversed",
    "wrapper_at",
]

#: A function's `call`.
call_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

_lock: Any = threading.RLock()
_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


def join(parts: list[Any]) -> Any:
    """Memory for C code to read, of several parts."""
    content = b"".join(parts)
    return (c_char * len(content)).from_buffer_copy(content)


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """The address of the content of bytes, with a zero behind it. `keep` gets what holds it."""
    pointer = c_char_p(x)
    keep.append(pointer)
    return c_void_p.from_buffer(pointer).value or 0


def lend_ascii(x: str, keep: list[Any]) -> int:
    """The same of text that is all ASCII."""
    return lend_bytes(x.encode(), keep)


#: An address as ctypes passes it on.
context_of = c_void_p


def load(path: str) -> Any:
    """Loads a library."""
    return ctypes.CDLL(path)


# ---- on the way in and out ------------------------------------------------------------------------

#: The thread that holds its signals back, if there is one. Only the main thread has any.
_muted = 0


def _mute() -> bool:
    """Holds this thread's signals back; False if they were already, or if it gets none."""
    global _muted
    try:
        _signals_exit()
    except RuntimeError:
        return False
    # Nothing can be raised from here on.
    _muted = get_ident()
    return True


def _unmute() -> None:
    global _muted
    _muted = 0
    _signals_enter()


#: Calls, one within the other, that take up more of the stack than a call of the runtime and its handlers.
_ROOM = 100


def _need_room(calls: int) -> None:
    """Raises RecursionError near the end of the stack.

    There PyPy raises it at every call, even as it enters a `finally`, which is then left out: the lock would
    be kept, and signals held back, for ever.
    """
    if calls:
        _need_room(calls - 1)


def guard(function: Any) -> Any:
    """The function, run under the lock and without signals."""

    def guarded(*args: Any) -> Any:
        _need_room(_ROOM)
        muted = _mute()
        try:
            with _lock:
                return function(*args)
        finally:
            if muted:
                _unmute()

    return guarded


def _unguarded(function: Callable[..., int]) -> Callable[..., int]:
    """A callback or hook that runs Python's code: without the lock, and with signals.

    What a handler raises before the function's first line, or after its last, becomes a status that tells the
    runtime of an interruption.
    """

    def run(*args: Any) -> int:
        muted = _muted == get_ident()
        held = _lock._release_save() if _lock._is_owned() else None
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
            _lock._acquire_restore(held)
        return status

    return run


def callback_type(function: Callable[..., int]) -> Any:
    """What the runtime calls for a Python callable."""
    return CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)(_unguarded(function))


def hook_type(*params: Any) -> Callable[[Callable[..., int]], Any]:
    """Makes a hook that gets a handle first."""
    return lambda function: CFUNCTYPE(c_int, c_void_p, *params)(_unguarded(function))


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> None:
    """None: here compiled code knows no address of an object."""


def give(x: Any, out: int) -> None:
    """Never called, as there is no table of DLPack."""


def plain(function: Any) -> Any:
    """The function as it is: the limit of recursion is the stack's here."""
    return function


# ---- hooks ----------------------------------------------------------------------------------------


def hooks(reporting: Callable[[Callable[[], None]], Callable[..., int]]) -> dict[str, int]:
    """Addresses of the hooks that deal with no value.

    `reporting` makes what a hook that may fail returns of a function that raises or not.
    """
    functions = {
        "lock": CFUNCTYPE(c_int32)(_take_lock),
        "unlock": CFUNCTYPE(None, c_int32)(_give_lock),
        "suspend": CFUNCTYPE(c_void_p)(_suspend),
        "resume": CFUNCTYPE(None, c_void_p)(_resume),
        "handle_release": CFUNCTYPE(None, c_void_p)(_drop_handle),
        "check_signals": CFUNCTYPE(c_int)(_unguarded(reporting(_check_signals))),
    }
    _kept.extend(functions.values())
    return {name: ctypes.cast(function, c_void_p).value or 0 for name, function in functions.items()}


#: Callbacks live as long as the runtime may call them.
_kept: list[Any] = []
_suspended: dict[int, Any] = {}


def _take_lock() -> int:
    _lock.acquire()
    return 0


def _give_lock(state: int) -> None:
    _lock.release()


def _suspend() -> int:
    if not _lock._is_owned():
        return 0
    ticket = next(_numbers)
    _suspended[ticket] = _lock._release_save()
    return ticket


def _resume(ticket: int) -> None:
    _lock._acquire_restore(_suspended.pop(ticket))


def _drop_handle(handle: int) -> None:
    _objects.pop(handle, None)


def _check_signals() -> None:
    # Handlers run between the steps of interpreted code. Compiled code asks for them at every loop alone.
    signal.pthread_sigmask(signal.SIG_BLOCK, ())


# ---- handles and wrappers -------------------------------------------------------------------------


@guard
def create_over(x: Any, create: Any, *args: Any) -> int:
    """Calls a function of the C ABI that takes over a handle of an object: what it returns.

    The handle, which is a number of its own each time, comes before the last argument.
    """
    handle = next(_numbers)
    _objects[handle] = x
    status: int = create(*args[:-1], handle, args[-1])
    return status


def object_at(address: int) -> Any:
    """The object whose handle lies at an address."""
    return _objects[c_void_p.from_address(address).value or 0]


#: The object behind what a hook or callback was given.
object_of: Callable[[Any], Any] = _objects.__getitem__


def memory_class(release: Any) -> Any:
    """What makes memory, of a size or with a content, for whose end a function of the C ABI is called."""
    namespace = {"__slots__": (), "__del__": lambda self: release(self)}
    classes: dict[int, Any] = {}

    @guard  # An interrupt between making it and writing to it would leave memory without its end to go.
    def make(content: Any) -> Any:
        size = content if isinstance(content, int) else len(content)
        cls = classes.get(size)
        if cls is None:
            # Another thread may have made one too.
            cls = classes.setdefault(size, type("Memory", (c_char * size,), namespace))
        return cls() if isinstance(content, int) else cls.from_buffer_copy(content)

    return make


#: An object here has no address by which the runtime could take one more reference.
retain = 0


def traversed(base: Any, traverse: Any) -> Any:
    """The class as it is: PyPy's garbage collector asks nobody, and what the runtime holds it keeps."""
    return base


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
