"""PyPy's twin of cpython.py: there is no `PyDLL`, no `pythonapi` and no count.

Objects cross as numbers in a table. One re-entrant lock stands for the interpreter's: it is held while the
runtime runs, and released around callbacks and wherever a body lets other threads run. Signals are held back
as long: what a handler raises within the machinery of a hook would be lost, and the lock with it.

The runtime is called through the part of cffi that is built into PyPy, whose calls PyPy compiles: that takes
a twentieth of the time that calls through ctypes take.
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

#: A function's `call`.
call_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

_lock: Any = threading.RLock()
_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


_ffi = FFI()
_POINTER = _ffi.typeof("void *")

#: Memory for C code to read, of several parts.
join = b"".join


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """The address of a copy of bytes, with a zero behind it. `keep` gets what holds it."""
    copy = _ffi.new("char[]", x)
    keep.append(copy)
    return int(_ffi.cast("intptr_t", copy))


def lend_ascii(x: str, keep: list[Any]) -> int:
    """The same of text that is all ASCII."""
    return lend_bytes(x.encode(), keep)


def context_of(address: int) -> Any:
    """An address as it is passed on with the least work."""
    return _ffi.cast(_POINTER, address)


#: How many bytes are left of the calling thread's stack.
_get_left: Any = None


def load(path: str) -> Any:
    """Loads a library."""
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
    """Memory, an address or None as what cffi takes for a pointer; all else is that already.

    A buffer keeps its memory, which an address would not: compiled code lets go of what it needs no more.
    """
    cls = type(x)
    if cls is int:
        return _ffi.cast(_POINTER, x)
    if issubclass(cls, bytearray):
        return _ffi.from_buffer(x)
    return _ffi.NULL if x is None else x


def _as_it_is(x: Any) -> Any:
    return x


def _compile(function: Any) -> Any:
    """A function that ctypes knows, called through cffi; itself where its result is uncommon."""
    if function.restype not in _RESULTS:
        return function
    params = ", ".join(_PARAMS[kind] for kind in function.argtypes)
    call = _ffi.cast(f"{_RESULTS[function.restype]}(*)({params or 'void'})", _address_of(function))
    converters = [_as_pointer if kind is c_void_p else _as_it_is for kind in function.argtypes]

    def compiled(*args: Any) -> Any:
        return call(*[convert(x) for convert, x in zip(converters, args)])

    return compiled


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


#: More of the stack than a call of the runtime and its handlers take up, what a callback adds to that, and
#: what is to be left of a small stack, whose end PyPy does not know.
_ROOM, _CALLBACK, _RESERVE = 48 * 1024, 48 * 1024, 16 * 1024


class _Stack(threading.local):
    """What is known of a thread's stack."""

    #: The least that was ever left of it, or could have been, and the limit of recursion of that time.
    least = 1 << 64
    limit = 0


_stack = _Stack()


def _descend(left: int) -> None:
    if _get_left() > left:
        _descend(left)


def _need_room(size: int) -> None:
    """Raises RecursionError where the stack has no room of a size.

    Near its end PyPy raises it at every call, even as it enters a `finally`, which is then left out: the lock
    would be kept, and signals held back, for ever.
    """
    left, limit = _get_left() - size, getrecursionlimit()
    # To look costs many times what a call does, and is not needed again further up.
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
            # What becomes of a RecursionError while another exception is dealt with.
            if "RecursionError" not in str(error):
                raise
    # Here there is room to deal with it.
    raise RecursionError("maximum recursion depth exceeded")


def need_room_of_callback() -> None:
    """Raises RecursionError where a callback would have none to leave an error."""
    _need_room(_ROOM + _CALLBACK)


def guard(function: Any) -> Any:
    """A function of C that ctypes knows, run under the lock and without signals."""
    return _lock_around(_compile(function))


def _lock_around(function: Any) -> Any:
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
    return {name: _address_of(function) for name, function in functions.items()}


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


@_lock_around
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


def memory_class(release: Any, finalize: Any) -> Any:
    """Create a class of memory, of a size or with a content, that a function of the C ABI finalizes.

    It is pure Python and has no attribute with a finalizer of its own, so that it is still valid when its
    own finalizer runs.
    """
    return type("Memory", (bytearray,), {"__slots__": (), "__del__": lambda self: release(self)})


def address_of_memory(memory: Any) -> int:
    """Where memory lies, for as long as it lives."""
    return int(_ffi.cast("intptr_t", _ffi.from_buffer(memory)))


#: Never used, as nothing is learnt of arrays here.
ndarray_data = 0
#: An object here has no address by which the runtime could take one more reference.
retain = 0


def traversed(base: Any, traverse: Any) -> Any:
    """The class as it is: PyPy's garbage collector asks nobody, and what the runtime holds it keeps."""
    return base


def declare_wrappers(library: Any, cls: type, slot: str) -> None:
    """Do nothing: compiled code reads no object of PyPy."""


#: The wrappers that live, by the address of the header's word that would name them.
_wrappers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def wrapper_at(word: int) -> Any:
    """The wrapper that lives, or None."""
    return _wrappers.get(word)


@_lock_around
def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
    """Makes a wrapper the one of its object, unless there is one that lives."""
    return _wrappers.setdefault(word, wrapper) is wrapper


def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
    """The same after the former wrapper was emptied, which lives until it is collected."""
    _wrappers[word] = wrapper
