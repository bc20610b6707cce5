"""What only CPython has: calls that keep the interpreter's lock, objects as addresses, counts.

pypy.py is the portable twin of this file, with the same names.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from ctypes import PYFUNCTYPE, c_char_p, c_int, c_int32, c_void_p, py_object

from .._typing import Any

__all__ = [
    "address_of_memory",
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

#: Memory for C code to read, of several parts. Nothing is as fast to make and to pass as bytes.
join = b"".join

#: A function's `call`. Without declared parameters ctypes passes bytes as a pointer to their content.
call_type = PYFUNCTYPE(c_int)

#: The runtime calls it for a Python callable; ctypes turns the handle into the object itself.
callback_type = PYFUNCTYPE(c_int, py_object, c_void_p, c_int32, c_void_p)

_KEEPS_SIGNALS = 1  # ANYFFI_HOST_SIGNALS_STAY_PENDING

_api = ctypes.pythonapi
# Prototypes of our own: those of `pythonapi` belong to everybody.
# Its argument is converted as those of other functions are: where the stack ends before one is called, it
# ends before this one is too.
_increment = PYFUNCTYPE(None, c_void_p)(("Py_IncRef", _api))
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
#: A capsule keeps the address of its name.
_EXCHANGE = b"dlpack_exchange_api"
_new_instance_method = PYFUNCTYPE(py_object, py_object)(("PyInstanceMethod_New", _api))
#: Calls its first argument with the others, which are as many as come before a NULL.
_call = PYFUNCTYPE(py_object, py_object)(("PyObject_CallFunctionObjArgs", _api))


#: Where the content of bytes, and of text that is all ASCII, lies in the object. A zero stands behind either.
_BYTES_START = bytes.__basicsize__ - 1
_ASCII_START = sys.getsizeof("") - 1


def lend_bytes(x: bytes, keep: list[Any]) -> int:
    """The address of the content of bytes that the caller keeps alive: 0.2 times what asking ctypes costs."""
    return id(x) + _BYTES_START


def lend_ascii(x: str, keep: list[Any]) -> int:
    """The same of text that is all ASCII."""
    return id(x) + _ASCII_START


def context_of(address: int) -> Any:
    """An address as ctypes passes it on with the least work: a third of what a `c_void_p` costs."""
    return ctypes.byref(ctypes.c_char.from_address(address))


def load(path: str) -> Any:
    """Loads a library whose functions are called with the interpreter's lock held."""
    return ctypes.PyDLL(path)


def guard(function: Any) -> Any:
    """The function as it is: the interpreter's lock is held while it runs."""
    return function


def plain(function: Any) -> Any:
    """The function without declared parameters.

    Nothing is called to convert arguments, so that it can be called wherever another C function could.
    """
    return PYFUNCTYPE(function.restype)(ctypes.cast(function, c_void_p).value or 0)


#: More than what a callback needs to catch what is raised in it.
_LEVELS = 32


def need_room_of_callback(levels: int = _LEVELS) -> None:
    """Raises RecursionError where a callback would have none to leave an error."""
    if levels:
        need_room_of_callback(levels - 1)


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> Any:
    """A capsule with DLPack's table of functions; `hooks` is an empty struct for what they call."""
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


#: What takes one more reference to an object, as an address.
retain = ctypes.cast(_api.Py_IncRef, c_void_p).value or 0


def give(x: Any, out: int) -> None:
    """Writes a new reference to an object to an address."""
    _increment(id(x))
    c_void_p.from_address(out).value = id(x)


def hook_type(*params: Any) -> Any:
    """The type of a hook that gets a handle first, as the object itself."""
    return PYFUNCTYPE(c_int, py_object, *params)


def hooks(reporting: Any) -> dict[str, int]:
    """The hooks that are the interpreter's own C functions, as addresses, and the flag that one needs.

    They report by themselves.
    """
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
    addresses = {name: ctypes.cast(function, c_void_p).value or 0 for name, function in functions.items()}
    return {"flags": _KEEPS_SIGNALS, **addresses}


_invoke: Any = functools.partial.__call__


def create_over(x: Any, create: Any, *args: Any) -> int:
    """Calls a function of the C ABI that takes over a handle of an object: what it returns.

    The handle, which is the object's address, comes before the last argument.
    """
    handle = id(x)
    counted = functools.partial(_increment, handle)
    created = functools.partial(create, *args[:-1], handle, args[-1])
    # No step of Python lies between the two, where a signal handler could raise.
    _, status = map(_invoke, (counted, created))
    return int(status)


def object_at(address: int) -> Any:
    """The object whose handle lies at an address."""
    return py_object.from_address(address).value


#: The object behind what a hook or callback was given.
def object_of(x: Any) -> Any:
    return x


class _Slot(ctypes.Structure):
    """A PyType_Slot."""

    _fields_ = (("id", c_int), ("function", c_void_p))


class _Spec(ctypes.Structure):
    """A PyType_Spec."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basic_size", c_int),
        ("item_size", c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_TP_TRAVERSE = 71
_BASE_TYPE, _HAVE_GC, _HAVE_VERSION_TAG = 1 << 10, 1 << 14, 1 << 18
_create_type = PYFUNCTYPE(py_object, c_void_p, py_object)(("PyType_FromSpecWithBases", _api))
#: What C goes on to use. Types made from it name themselves, before Python 3.11, by what they were made of.
_kept: list[Any] = []


def _subclass(name: str, base: Any, traverse: Any = None) -> Any:
    """A subclass with a part in garbage collection only if it has a function for that."""
    given = [] if traverse is None else [_Slot(_TP_TRAVERSE, ctypes.cast(traverse, c_void_p))]
    slots = (_Slot * (len(given) + 1))(*given, _Slot(0, None))
    flags = _BASE_TYPE | _HAVE_VERSION_TAG | (_HAVE_GC if given else 0)
    spec = _Spec(f"{__name__}.{name}".encode(), base.__basicsize__, base.__itemsize__, flags, slots)
    _kept.extend((spec, slots))
    return _create_type(ctypes.addressof(spec), (base,))


def traversed(base: Any, traverse: Any) -> Any:
    """A subclass of a class of wrappers whose garbage collection asks a function of the C ABI."""
    return _subclass("Traversed", base, traverse)


def memory_class(release: Any) -> Any:
    """A class of memory, of a size or with a content, for whose end a function of the C ABI is called.

    C code writes to it. It is made of bytes, which are the fastest to make and to pass: nobody but the caller
    knows them, and they are never hashed.

    `__del__` is that function as it stands: one written in Python would swallow what a signal handler raises
    while it runs. Memory has no part in garbage collection, as classes written in Python have from Python
    3.11 on: the collector would call `__del__` before that of the user's object which holds the memory. So
    it may run twice: within many deallocations, CPython keeps the arguments of a call for later.
    """
    cls = _subclass("Memory", bytes)
    cls.__del__ = _new_instance_method(release)
    return cls


def address_of_memory(memory: Any) -> int:
    """Where memory lies."""
    return id(memory) + _BYTES_START


def wrapper_at(word: int) -> Any:
    """The wrapper that the header's word at an address names, or None; one being destroyed is none."""
    named = c_void_p.from_address(word)
    if not named.value:
        return None
    found: list[Any] = []
    try:
        # Only C code runs in here, so no other thread can come between the look at the count and the new
        # reference; and neither call makes a reference before the count was seen not to be zero.
        all(map(_call, (sys.getrefcount, found.append), (named, named), (None, None)))
    except TypeError:
        # The word was emptied meanwhile: calls without an argument.
        return None
    return found[0] if found else None


def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
    """Names a wrapper in the header's word, unless that names one that lives."""
    former = c_void_p.from_address(word).value
    return wrapper_at(word) is None and bool(exchange(address, former, id(wrapper)))


#: The same after the former wrapper was emptied.
take_over = claim
