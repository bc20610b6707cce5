"""PyPy's part of ctypes mode, without `PyDLL`, `pythonapi` and refcounts; cpython.py defines the same names.

Handles are numbers in a table. One re-entrant lock replaces the interpreter's: it is held while the runtime
runs, and released around callbacks and wherever a body lets other threads run. Signal handlers are deferred
as long: what one raises between the steps of a hook would be lost, and the lock never released.

The runtime is called through the `_cffi_backend` that is built into PyPy. PyPy compiles these calls, which
makes them twenty times as fast as those of ctypes.
"""

from __future__ import annotations

import ctypes
import itertools
import signal
import threading
import weakref
from ctypes import CFUNCTYPE, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from sys import getrecursionlimit
from threading import get_ident

from __pypy__.thread import _signals_enter, _signals_exit  # type: ignore[import-not-found]
from _cffi_backend import FFI  # type: ignore[import-untyped]

from .._typing import Any, Callable

__all__ = [
    "address_of_memory",
    "call_type",
    "callback_type",
    "claim",
    "context_of",
    "create_over",
    "declare_wrappers",
    "give",
    "guard",
    "hook_type",
    "hooks",
    "join",
    "lend_ascii",
    "lend_bytes",
    "load",
    "memory_class",
    "ndarray_data",
    "need_room_of_callback",
    "new_exchange",
    "object_at",
    "object_of",
    "plain",
    "retain",
    "take_over",
    "traversed",
    "wrapper_at",
]

#: The type of a function's `call`.
call_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

_lock: Any = threading.RLock()
_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


_ffi = FFI()
_POINTER = _ffi.typeof("void *")

#: Joins parts into memory for C code to read.
join = b"".join


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """Return the address of a copy of bytes that ends in NUL. The owner of the copy is appended to `keep`."""
    copy = _ffi.new("char[]", x)
    keep.append(copy)
    return int(_ffi.cast("intptr_t", copy))


def lend_ascii(x: str, keep: list[Any]) -> int:
    """Return the address of a copy of ASCII text, as `lend_bytes` does."""
    return lend_bytes(x.encode(), keep)


def context_of(address: int) -> Any:
    """Wrap an address as an argument that is passed fast."""
    return _ffi.cast(_POINTER, address)


#: Returns how many bytes of the calling thread's stack are left.
_get_left: Any = None


def load(path: str) -> Any:
    """Load a library."""
    global _get_left
    library = ctypes.CDLL(path)
    _get_left = _ffi.cast("size_t(*)(void)", _address_of(library.anyffi_stack_get_remaining))
    return library


def _address_of(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


# ---- calls ------------------------------------------------------------------------------------------

#: C's names of the types of results and parameters.
_RESULTS = {None: "void", c_int32: "int32_t", c_int64: "int64_t"}
_PARAMS = {
    c_double: "double",
    c_int32: "int32_t",
    c_int64: "int64_t",
    c_uint64: "uint64_t",
    c_void_p: "void *",
}


def _as_pointer(x: Any) -> Any:
    """Convert memory, an address or None to a pointer of cffi; return anything else unchanged.

    A pointer from a buffer keeps its memory alive, which an address would not: compiled code drops variables
    that it does not read again.
    """
    cls = type(x)
    if cls is int:
        return _ffi.cast(_POINTER, x)
    if issubclass(cls, bytearray):
        return _ffi.from_buffer(x)
    return _ffi.NULL if x is None else x


def _unchanged(x: Any) -> Any:
    return x


def _compile(function: Any) -> Any:
    """Call a function of ctypes through cffi; return it unchanged where its result is of another type."""
    if function.restype not in _RESULTS:
        return function
    params = ", ".join(_PARAMS[param] for param in function.argtypes)
    call = _ffi.cast(f"{_RESULTS[function.restype]}(*)({params or 'void'})", _address_of(function))
    converters = [_as_pointer if param is c_void_p else _unchanged for param in function.argtypes]

    def compiled(*args: Any) -> Any:
        return call(*[convert(x) for convert, x in zip(converters, args)])

    return compiled


# ---- the lock and signals -------------------------------------------------------------------------

#: The thread whose signal handlers are deferred, or 0. Only the main thread runs any.
_muted = 0


def _mute() -> bool:
    """Defer this thread's signal handlers; return False if they were already, or if it runs none."""
    global _muted
    try:
        _signals_exit()
    except RuntimeError:
        return False
    # No handler raises from here on.
    _muted = get_ident()
    return True


def _unmute() -> None:
    global _muted
    _muted = 0
    _signals_enter()


#: Stack sizes in bytes: for a call of the runtime and its handlers, for a callback in addition, and a reserve
#: at the end of a small stack, whose size PyPy does not detect.
_ROOM, _CALLBACK, _RESERVE = 48 * 1024, 48 * 1024, 16 * 1024


class _Stack(threading.local):
    """The part of a thread's stack that is known to be usable."""

    #: The least number of remaining bytes that was usable, and the recursion limit at that time.
    least = 1 << 64
    limit = 0


_stack = _Stack()


def _descend(left: int) -> None:
    if _get_left() > left:
        _descend(left)


def _need_room(size: int) -> None:
    """Raise RecursionError where less than a size is left of the stack.

    Near its end PyPy raises it at every call, even on entry to a `finally`, which is then skipped: the lock
    would never be released.
    """
    left, limit = _get_left() - size, getrecursionlimit()
    # The search costs many times what a call does. Its result holds for every shorter stack.
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
            # PyPy raises this for a RecursionError while another exception is handled.
            if "RecursionError" not in str(error):
                raise
    # Raised here, where enough of the stack is left to handle it.
    raise RecursionError("maximum recursion depth exceeded")


def need_room_of_callback() -> None:
    """Raise RecursionError where the stack is too short for a callback to store an error."""
    _need_room(_ROOM + _CALLBACK)


def guard(function: Any) -> Any:
    """Wrap a C function of ctypes: it runs under the lock, and signal handlers are deferred."""
    return _lock_around(_compile(function))


def _lock_around(function: Any) -> Any:
    """Wrap a function: it runs under the lock, and signal handlers are deferred."""

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
    """Wrap a callback or hook, which runs Python code: without the lock, and with signal handlers.

    An exception that a handler raises before the function's first line, or after its last, becomes the status
    that the runtime treats as an interrupt.
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
    """Create the C callback for Python callables."""
    return CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)(_unguarded(function))


def hook_type(*params: Any) -> Callable[[Callable[..., int]], Any]:
    """Return a factory of hooks whose first parameter is a handle."""
    return lambda function: CFUNCTYPE(c_int, c_void_p, *params)(_unguarded(function))


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> None:
    """Return None: objects have no address for compiled code."""


def give(x: Any, out: int) -> None:
    """Do nothing; never called, since there is no DLPack table."""


def plain(function: Any) -> Any:
    """Return the function itself: recursion is limited by the stack alone."""
    return function


# ---- hooks ----------------------------------------------------------------------------------------


def hooks(reporting: Callable[[Callable[[], None]], Callable[..., int]]) -> dict[str, int]:
    """Return the addresses of the hooks that pass no value.

    `reporting` turns a function that may raise into one that returns a status.
    """
    functions = {
        "lock": CFUNCTYPE(c_int32)(_acquire),
        "unlock": CFUNCTYPE(None, c_int32)(_release),
        "suspend": CFUNCTYPE(c_void_p)(_suspend),
        "resume": CFUNCTYPE(None, c_void_p)(_resume),
        "handle_release": CFUNCTYPE(None, c_void_p)(_release_handle),
        "check_signals": CFUNCTYPE(c_int)(_unguarded(reporting(_check_signals))),
    }
    _kept.extend(functions.values())
    return {name: _address_of(function) for name, function in functions.items()}


#: Keeps callbacks alive as long as the runtime may call them.
_kept: list[Any] = []
_suspended: dict[int, Any] = {}


def _acquire() -> int:
    _lock.acquire()
    return 0


def _release(state: int) -> None:
    _lock.release()


def _suspend() -> int:
    if not _lock._is_owned():
        return 0
    ticket = next(_numbers)
    _suspended[ticket] = _lock._release_save()
    return ticket


def _resume(ticket: int) -> None:
    _lock._acquire_restore(_suspended.pop(ticket))


def _release_handle(handle: int) -> None:
    _objects.pop(handle, None)


def _check_signals() -> None:
    # Handlers run between bytecodes. Compiled code runs them only once per iteration, and in this call.
    signal.pthread_sigmask(signal.SIG_BLOCK, ())


# ---- handles and wrappers -------------------------------------------------------------------------


@_lock_around
def create_over(x: Any, create: Any, *args: Any) -> int:
    """Call a function of the C ABI that steals a handle of an object.

    The handle, a new number each time, is passed before the last argument.
    """
    handle = next(_numbers)
    _objects[handle] = x
    status: int = create(*args[:-1], handle, args[-1])
    return status


def object_at(address: int) -> Any:
    """Return the object whose handle is stored at an address."""
    return _objects[c_void_p.from_address(address).value or 0]


#: Returns the object of a handle that a hook or callback received.
object_of: Callable[[Any], Any] = _objects.__getitem__


def memory_class(release: Any, finalize: Any) -> Any:
    """Create a class of memory, of a size or with a content, that a function of the C ABI finalizes.

    It is pure Python and has no attribute with a finalizer of its own, so that it is still valid when its
    own finalizer runs.
    """
    return type("Memory", (bytearray,), {"__slots__": (), "__del__": lambda self: release(self)})


def address_of_memory(memory: Any) -> int:
    """Return the address of memory, valid while it is alive."""
    return int(_ffi.cast("intptr_t", _ffi.from_buffer(memory)))


#: Never used, as no layouts of arrays are cached here.
ndarray_data = 0
#: Objects have no address by which the runtime could retain them.
retain = 0


def traversed(base: Any, traverse: Any) -> Any:
    """Return the class itself: PyPy's garbage collector calls no functions of classes."""
    return base


def declare_wrappers(library: Any, cls: type, slot: str) -> None:
    """Do nothing: compiled code reads no object of PyPy."""


#: The current wrappers by the address of the header's word that names the wrapper on CPython.
_wrappers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def wrapper_at(word: int) -> Any:
    """Return the wrapper of the object whose header has its word at an address, or None."""
    return _wrappers.get(word)


@_lock_around
def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
    """Make a wrapper the current one of its object unless another one is alive."""
    return _wrappers.setdefault(word, wrapper) is wrapper


def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
    """Make a wrapper the current one in the place of another one, which was emptied."""
    _wrappers[word] = wrapper
