"""PyPy's part of ctypes mode, without `PyDLL`, `pythonapi` and refcounts; cpython.py defines the same names.

Handles are numbers in a table.
"""

from __future__ import annotations

import itertools
import signal
import weakref
from ctypes import CFUNCTYPE, c_int, c_int32, c_void_p

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, TypeVar
from .pypy_calls import (
    POINTER,
    address_of_function,
    ffi,
    guard,
    load,
    lock,
    lock_around,
    need_room_of_callback,
    unguarded,
)

__all__ = [
    "UNREAD",
    "address_of_memory",
    "ascii_offset",
    "bytes_offset",
    "call_type",
    "callback_type",
    "catches_entry",
    "claim",
    "collected",
    "context_of",
    "create_over",
    "creates_wrappers",
    "declare_wrappers",
    "exporting",
    "final",
    "forget_wrapper",
    "give",
    "guard",
    "hook_type",
    "hooks",
    "is_sectioned",
    "join",
    "lend_ascii",
    "lend_bytes",
    "lend_text",
    "load",
    "make_immutable",
    "memory",
    "memory_class",
    "ndarray_data",
    "need_room_of_callback",
    "new_exchange",
    "object_at",
    "object_of",
    "plain",
    "plain_hook_type",
    "read_text",
    "reader",
    "retain",
    "take_over",
    "value_in",
    "value_readers",
    "version_of",
    "wrapper_finder",
]

_Class = TypeVar("_Class", bound=type)

#: Classes have no versions on PyPy.
version_of = None
#: A lock keeps other threads out while the runtime is called.
is_sectioned = False


def make_immutable(cls: type) -> None:
    """Do nothing: PyPy has no such flag."""


def catches_entry(function: Any) -> Any:
    """Return the function unchanged: exceptions before its first line are not caught."""
    return function


#: The type of a function's `call`.
call_type = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)

_objects: dict[int, Any] = {}
_numbers = itertools.count(1)


def value_readers(library: Any) -> tuple[None, None]:
    """Return nothing: objects have no addresses."""
    return None, None


#: Functions of `reader` return this: the runtime creates no objects of PyPy, and returns NULL.
UNREAD = 0
creates_wrappers = False


def reader(function: Any, *params: Any) -> Any:
    """Return the function itself."""
    return function


#: Joins parts into memory for C code to read.
join = b"".join


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """Return the address of a NUL-terminated copy of bytes. The owner of the copy is appended to `keep`."""
    copy = ffi.new("char[]", x)
    keep.append(copy)
    return int(ffi.cast("intptr_t", copy))


#: Objects have no address.
bytes_offset = ascii_offset = 0


def lend_ascii(x: str, keep: list[Any]) -> int:
    """Return the address of a copy of ASCII text, as `lend_bytes` does."""
    return lend_bytes(x.encode(), keep)


def lend_text(x: str) -> None:
    """Return None: text has no address."""


#: None: the text is decoded from bytes.
read_text = None


def context_of(address: int) -> Any:
    """Wrap an address as an argument that is passed fast."""
    return ffi.cast(POINTER, address)


def callback_type(function: Callable[..., int]) -> Any:
    """Create the callback that the runtime calls for Python callables."""
    return CFUNCTYPE(c_int, c_void_p, c_void_p, c_int32, c_void_p)(unguarded(function))


def hook_type(*params: Any) -> Callable[[Callable[..., int]], Any]:
    """Return a factory of hooks whose first parameter is a handle."""
    return plain_hook_type(c_void_p, *params)


def plain_hook_type(*params: Any) -> Callable[[Callable[..., int]], Any]:
    """Return a factory of hooks without a handle."""
    return lambda function: CFUNCTYPE(c_int, *params)(unguarded(function))


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> None:
    """Return None: objects have no address for compiled code."""


def give(x: Any, out: int) -> None:
    """Do nothing; never called, since there is no DLPack table."""


def plain(function: Any) -> Any:
    """Return the function itself: recursion is limited by the stack alone."""
    return function


# ---- hooks ----------------------------------------------------------------------------------------

_KEEPS_WRAPPERS = 4  # ANYFFI_HOST_KEEPS_WRAPPERS


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
        "check_signals": CFUNCTYPE(c_int)(unguarded(reporting(_check_signals))),
    }
    _kept.extend(functions.values())
    addresses = {name: address_of_function(function) for name, function in functions.items()}
    return {"flags": _KEEPS_WRAPPERS, **addresses}


#: Keeps callbacks alive as long as the runtime may call them.
_kept: list[Any] = []
_suspended: dict[int, Any] = {}


def _acquire() -> int:
    lock.acquire()
    return 0


def _release(state: int) -> None:
    lock.release()


def _suspend() -> int:
    if not lock._is_owned():
        return 0
    ticket = next(_numbers)
    _suspended[ticket] = lock._release_save()
    return ticket


def _resume(ticket: int) -> None:
    lock._acquire_restore(_suspended.pop(ticket))


def _release_handle(handle: int) -> None:
    _objects.pop(handle, None)


def _check_signals() -> None:
    # Signal handlers run between bytecodes. Compiled code runs them only once per iteration, and in this
    # call.
    signal.pthread_sigmask(signal.SIG_BLOCK, ())


# ---- handles and wrappers -------------------------------------------------------------------------


@lock_around
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
    """Create a class of memory of a given size or content that a function of the C ABI finalizes.

    It is pure Python and has no attribute with a finalizer of its own, so that it is still valid when its
    own finalizer runs.
    """
    postponed: list[Any] = []

    def finalize_memory(memory: Any) -> None:
        # PyPy runs finalizers anywhere, even near the end of the stack. If this one fails, a later one
        # releases the memory.
        try:
            while True:
                release(memory)
                memory = postponed.pop()
        except IndexError:
            pass
        except RecursionError:
            postponed.append(memory)

    return type("Memory", (bytearray,), {"__slots__": (), "__del__": finalize_memory})


#: Makes memory of bytes, which C code writes to.
memory = bytearray


def address_of_memory(memory: Any) -> int:
    """Return the address of memory, valid while it is alive."""
    return int(ffi.cast("intptr_t", ffi.from_buffer(memory)))


def value_in(memory: Any) -> bytes:
    """Return the value in a wrapper's memory, after the reference."""
    return bytes(memory[16:])


#: Never used, as no layouts of arrays are cached here.
ndarray_data = 0
#: 0: objects have no address with which the runtime could retain them.
retain = 0


def collected(base: Any, traverse: Any, clear: Any) -> Any:
    """Return the class itself: PyPy's garbage collector calls no functions of classes."""
    return base


def exporting(name: str, base: Any, get_buffer: Any) -> Any:
    """Return the class itself: PyPy's buffers are not those of C."""
    return base


def final(base: _Class) -> _Class:
    """Return the class unchanged: messages show no class with its module."""
    return base


def declare_wrappers(library: Any, cls: type, slot: str, memory_class: type) -> None:
    """Do nothing: compiled code reads no object of PyPy."""


#: The current wrappers, by the address of the header word that refers to the wrapper on CPython.
_wrappers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def wrapper_finder(library: Any) -> Callable[[int], Any]:
    """Return the function that finds an object's wrapper by the address of its header word."""
    return _wrappers.get


@lock_around
def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
    """Make a wrapper the current one of its object, unless another one is alive."""
    return _wrappers.setdefault(word, wrapper) is wrapper


def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
    """Make a wrapper the current one in place of another one, which was emptied."""
    _wrappers[word] = wrapper


@lock_around
def forget_wrapper(word: int, wrapper: Any) -> None:
    """Forget an emptied wrapper as that of its object, whose address may be reused."""
    if _wrappers.get(word) is wrapper:
        del _wrappers[word]
