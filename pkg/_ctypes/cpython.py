"""CPython's part of ctypes mode: calls that keep the interpreter's lock, objects as addresses, refcounts.

pypy.py defines the same names for PyPy. layout.py has the offsets in objects.
"""

from __future__ import annotations

import ctypes
import functools
from ctypes import PYFUNCTYPE, c_char_p, c_int, c_int32, c_void_p, py_object

from .._builtins import *  # noqa: F403
from .._rules.errors import require_main_interpreter
from .._typing import Any
from . import layout
from .cpython_wrappers import (
    UNREAD,
    address_of_memory,
    claim,
    collected,
    creates_wrappers,
    declare_wrappers,
    exporting,
    final,
    forget_wrapper,
    memory,
    memory_class,
    reader,
    retain,
    take_over,
    value_in,
    wrapper_finder,
)
from .entry import catches_entry
from .host_values import value_readers

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

#: Joins parts into memory that C code reads. Bytes are the fastest to create and pass.
join = b"".join

#: The type of a function's `call`. Without declared parameters, ctypes passes the address of the content of
#: bytes.
call_type = PYFUNCTYPE(c_int)

#: The type of the C callback for Python callables; ctypes converts the handle to the object.
callback_type = PYFUNCTYPE(c_int, py_object, c_void_p, c_int32, c_void_p)

_KEEPS_SIGNALS = 1  # ANYFFI_HOST_SIGNALS_STAY_PENDING
_KEEPS_WRAPPERS = 4  # ANYFFI_HOST_KEEPS_WRAPPERS
_CATCHES_SIGNALS = 8  # ANYFFI_HOST_CATCHES_SIGNALS

_api = ctypes.pythonapi
# Separate prototypes, because those of `pythonapi` are shared by the process. The argument is declared, so
# that this call also fails if the stack is too short to convert it.
_increment = PYFUNCTYPE(None, c_void_p)(("Py_IncRef", _api))
_decrement = PYFUNCTYPE(None, c_void_p)(("Py_DecRef", _api))
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
#: Kept alive, because a capsule stores the address of its name.
_EXCHANGE = b"dlpack_exchange_api"


#: Kept alive, because C code stores pointers to these.
_kept: list[Any] = []

ndarray_data = layout.NDARRAY_DATA
make_immutable = layout.make_immutable
#: Whether several threads call the runtime in parallel, so that calls on containers need critical sections.
is_sectioned = layout.FREE_THREADED
#: Without the GIL, a class may change between the check of its version and its use.
version_of = None if layout.FREE_THREADED else layout.version_of
bytes_offset, ascii_offset = _BYTES, _ASCII = layout.BYTES, layout.ASCII


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """Return the address of the content of bytes that the caller keeps alive.

    It costs 0.2 times what ctypes' own conversion does.
    """
    return id(x) + _BYTES


def lend_ascii(x: str, keep: list[Any]) -> int:
    """Return the address of ASCII text that the caller keeps alive."""
    return id(x) + _ASCII


_state_at = ctypes.c_uint.from_address
_STATE, _KIND, _IS_COMPACT, _COMPACT = layout.STATE, layout.KIND, layout.IS_COMPACT, layout.COMPACT
#: AnyffiTextEncoding by the width of a code point, and the reverse.
_ENCODINGS, _WIDTHS = (0, 1, 2, 0, 3), (1, 1, 2, 4)
_make_text = PYFUNCTYPE(py_object, c_int, c_void_p, ctypes.c_ssize_t)(("PyUnicode_FromKindAndData", _api))


def lend_text(x: str) -> tuple[int, int] | None:
    """Return encoding and address of non-ASCII text, which the caller keeps alive; or None."""
    state = _state_at(id(x) + _STATE).value
    return (_ENCODINGS[state >> _KIND & 7], id(x) + _COMPACT) if state & _IS_COMPACT else None


def read_text(address: int, length: int, encoding: int) -> str:
    """Return the text of code points in memory."""
    made: str = _make_text(_WIDTHS[encoding], address, length)
    return made


def context_of(address: int) -> Any:
    """Wrap an address so that ctypes passes it at a third of the cost of a `c_void_p`."""
    return ctypes.byref(ctypes.c_char.from_address(address))


def load(path: str) -> Any:
    """Load a library whose functions are called with the interpreter's lock held.

    Raises
    ------
    ImportError
        This is a subinterpreter.
    """
    current, main = (PYFUNCTYPE(c_void_p)((f"PyInterpreterState_{name}", _api))() for name in ("Get", "Main"))
    require_main_interpreter(current == main)
    return ctypes.PyDLL(path)


def guard(function: Any) -> Any:
    """Return the function itself: the interpreter's lock is held while it runs."""
    return function


def plain(function: Any) -> Any:
    """Return the function without declared parameters.

    No argument is converted, so it needs no more stack than any other C function.
    """
    return PYFUNCTYPE(function.restype)(ctypes.cast(function, c_void_p).value or 0)


#: More than the number of levels that a callback needs to catch an exception.
_LEVELS = 32


def need_room_of_callback(levels: int = _LEVELS) -> None:
    """Raise RecursionError if the stack is too short for a callback to store an error."""
    if levels:
        need_room_of_callback(levels - 1)


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> Any:
    """Create a capsule with DLPack's table of functions; fills `hooks`, which the table calls."""
    function = PYFUNCTYPE(c_int, c_void_p, c_void_p)(wrap_hook)
    _kept.append(function)
    for name, address in (
        ("unwrap", library.wrapper_get_object),
        ("wrap", function),
        ("set_error", _api.PyErr_SetString),
    ):
        setattr(hooks, name, ctypes.cast(address, c_void_p).value)
    hooks.exception_class = id(BufferError)
    table = library.tensor_create_exchange_api(ctypes.addressof(hooks))
    return _new_capsule(table, _EXCHANGE, None) if table else None


def give(x: Any, out: int) -> None:
    """Write a new reference to an object to an address."""
    _increment(id(x))
    c_void_p.from_address(out).value = id(x)


def hook_type(*params: Any) -> Any:
    """Return the type of a hook whose first parameter is a handle, passed as the object itself."""
    return PYFUNCTYPE(c_int, py_object, *params)


def plain_hook_type(*params: Any) -> Any:
    """Return the type of a hook without a handle."""
    return PYFUNCTYPE(c_int, *params)


def hooks(reporting: Any) -> dict[str, int]:
    """Return the addresses of the hooks that are the interpreter's own C functions, and their flag."""
    functions: dict[str, Any] = {
        "lock": _api.PyGILState_Ensure,
        "unlock": _api.PyGILState_Release,
        "suspend": _api.PyEval_SaveThread,
        "resume": _api.PyEval_RestoreThread,
        "handle_release": _api.Py_DecRef,
        "check_signals": _api.PyErr_CheckSignals,
        "capsule_new": _api.PyCapsule_New,
        "capsule_is_valid": _api.PyCapsule_IsValid,
        "capsule_get_pointer": _api.PyCapsule_GetPointer,
        "capsule_set_name": _api.PyCapsule_SetName,
    }
    if is_sectioned:
        functions["section_begin"] = _api.PyCriticalSection_Begin
        functions["section_end"] = _api.PyCriticalSection_End
    addresses = {name: ctypes.cast(function, c_void_p).value or 0 for name, function in functions.items()}
    flags = _KEEPS_SIGNALS | _CATCHES_SIGNALS | (_KEEPS_WRAPPERS if layout.FREE_THREADED else 0)
    return {"flags": flags, **addresses}


_invoke: Any = functools.partial.__call__


def create_over(x: Any, create: Any, *args: Any) -> int:
    """Call a function of the C ABI that steals a handle of an object.

    The handle, which is the object's address, is passed before the last argument.
    """
    handle = id(x)
    counted = functools.partial(_increment, handle)
    created = functools.partial(create, *args[:-1], handle, args[-1])
    results: list[Any] = []
    try:
        # A single bytecode, so that no signal handler can raise between the two calls.
        results.extend(map(_invoke, (counted, created)))
    except BaseException:
        # There was no memory for the arguments of the second call, which ctypes reports as an ArgumentError.
        if len(results) == 1:
            _decrement(handle)
        raise
    return int(results[1])


def object_at(address: int) -> Any:
    """Return the object whose handle is stored at an address."""
    return py_object.from_address(address).value


def object_of(x: Any) -> Any:
    """Return the object of a handle that a hook or callback received."""
    return x
