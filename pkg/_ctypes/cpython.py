"""CPython's part of ctypes mode: calls that keep the interpreter's lock, objects as addresses, refcounts.

pypy.py defines the same names for PyPy. layout.py has the offsets in objects.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from ctypes import PYFUNCTYPE, c_char_p, c_int, c_int32, c_uint32, c_void_p, py_object

from .._typing import Any
from . import layout

__all__ = [
    "address_of_memory",
    "call_type",
    "callback_type",
    "claim",
    "claims_at_once",
    "collected",
    "context_of",
    "create_over",
    "declare_wrappers",
    "exporting",
    "give",
    "guard",
    "hook_type",
    "hooks",
    "join",
    "lend_ascii",
    "lend_bytes",
    "lend_text",
    "load",
    "memory_class",
    "ndarray_data",
    "need_room_of_callback",
    "new_exchange",
    "object_at",
    "object_of",
    "plain",
    "plain_hook_type",
    "read_text",
    "retain",
    "take_over",
    "version_of",
    "wrapper_at",
]

#: Joins parts into memory for C code to read. Nothing is created and passed as fast as bytes.
join = b"".join

#: The type of a function's `call`. Without declared parameters ctypes passes the address of bytes' content.
call_type = PYFUNCTYPE(c_int)

#: The type of the C callback for Python callables; ctypes converts the handle to the object.
callback_type = PYFUNCTYPE(c_int, py_object, c_void_p, c_int32, c_void_p)

_KEEPS_SIGNALS = 1  # ANYFFI_HOST_SIGNALS_STAY_PENDING

_api = ctypes.pythonapi
# Prototypes of our own: those of `pythonapi` are shared by the process.
# The argument is declared, so that this call also fails where the stack is too short to convert it.
_increment = PYFUNCTYPE(None, c_void_p)(("Py_IncRef", _api))
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
#: A capsule keeps the address of its name.
_EXCHANGE = b"dlpack_exchange_api"
#: Calls its first argument with the following ones, up to a NULL, and borrows all of them.
_call = PYFUNCTYPE(py_object, py_object)(("PyObject_CallFunctionObjArgs", _api))


ndarray_data = layout.NDARRAY_DATA
#: Without the GIL a class may change between the look at its version and its use.
version_of = None if layout.FREE_THREADED else layout.version_of
_BYTES, _ASCII = layout.BYTES, layout.ASCII


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
    """Return encoding and address of text other than ASCII, which the caller keeps alive, or None."""
    state = _state_at(id(x) + _STATE).value
    return (_ENCODINGS[state >> _KIND & 7], id(x) + _COMPACT) if state & _IS_COMPACT else None


def read_text(address: int, length: int, encoding: int) -> str:
    """Return the text of code points in memory."""
    made: str = _make_text(_WIDTHS[encoding], address, length)
    return made


def context_of(address: int) -> Any:
    """Wrap an address as an argument that ctypes passes at a third of the cost of a `c_void_p`."""
    return ctypes.byref(ctypes.c_char.from_address(address))


def load(path: str) -> Any:
    """Load a library whose functions are called with the interpreter's lock held."""
    return ctypes.PyDLL(path)


def guard(function: Any) -> Any:
    """Return the function itself: the interpreter's lock is held while it runs."""
    return function


def plain(function: Any) -> Any:
    """Return the function without declared parameters.

    No conversion of arguments is called, so that it needs no more stack than any other C function.
    """
    return PYFUNCTYPE(function.restype)(ctypes.cast(function, c_void_p).value or 0)


#: More levels than a callback needs to catch an exception raised in it.
_LEVELS = 32


def need_room_of_callback(levels: int = _LEVELS) -> None:
    """Raise RecursionError where the stack is too short for a callback to store an error."""
    if levels:
        need_room_of_callback(levels - 1)


def new_exchange(library: Any, wrap_hook: Any, hooks: Any) -> Any:
    """Create a capsule with DLPack's table of functions; fills `hooks`, the functions that these call."""
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


#: The address of the function that retains an object.
retain = ctypes.cast(_api.Py_IncRef, c_void_p).value or 0


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
    addresses = {name: ctypes.cast(function, c_void_p).value or 0 for name, function in functions.items()}
    return {"flags": _KEEPS_SIGNALS, **addresses}


_invoke: Any = functools.partial.__call__


def create_over(x: Any, create: Any, *args: Any) -> int:
    """Call a function of the C ABI that steals a handle of an object.

    The handle, which is the object's address, is passed before the last argument.
    """
    handle = id(x)
    counted = functools.partial(_increment, handle)
    created = functools.partial(create, *args[:-1], handle, args[-1])
    # No bytecode runs between the two, where a signal handler could raise.
    _, status = map(_invoke, (counted, created))
    return int(status)


def object_at(address: int) -> Any:
    """Return the object whose handle is stored at an address."""
    return py_object.from_address(address).value


def object_of(x: Any) -> Any:
    """Return the object of a handle that a hook or callback received."""
    return x


_create_type = PYFUNCTYPE(py_object, c_void_p, py_object)(("PyType_FromSpecWithBases", _api))
#: C code keeps pointers to these. Before Python 3.11 a type reads its name from its spec.
_kept: list[Any] = []


def _subclass(name: str, base: Any, functions: dict[int, Any], flags: int) -> Any:
    """Create a subclass with C functions in slots of the type."""
    filled = [layout.Slot(slot, ctypes.cast(function, c_void_p)) for slot, function in functions.items()]
    slots = (layout.Slot * (len(filled) + 1))(*filled)
    spec = layout.Spec(
        f"{__name__}.{name}".encode(), base.__basicsize__, base.__itemsize__, layout.TYPE_FLAGS | flags, slots
    )
    _kept.extend((spec, slots))
    return _create_type(ctypes.addressof(spec), (base,))


def collected(base: Any, traverse: Any, clear: Any) -> Any:
    """Create a subclass of a class of wrappers with the C ABI's functions as `tp_traverse` and `tp_clear`."""
    functions = {layout.TP_TRAVERSE: traverse, layout.TP_CLEAR: clear}
    return _subclass("Collected", base, functions, layout.TYPE_HAS_GC)


def exporting(base: Any, get_buffer: Any) -> Any:
    """Create a subclass of a class of wrappers with a function of the C ABI as its `bf_getbuffer`."""
    return _subclass("Exporting", base, {layout.BF_GETBUFFER: get_buffer}, 0)


def memory_class(release: Any, finalize: Any) -> Any:
    """Create a class of memory, of a size or with a content, that a function of the C ABI finalizes.

    C code writes to it. It derives from bytes, which are the fastest to create and to pass; only the caller
    refers to them, and they are never hashed.

    The finalizer is a C function in the type's slot, which needs no Python frame: `__del__` would not run at
    the recursion limit. Memory has no part in garbage collection, as classes written in Python have from
    3.11 on: the collector would finalize it before the user's object that holds it.
    """
    return _subclass("Memory", bytes, {layout.TP_FINALIZE: finalize}, 0)


def address_of_memory(memory: Any) -> int:
    """Return the address of memory."""
    return id(memory) + _BYTES


class _WrapperLayout(ctypes.Structure):
    """AnyffiWrapperLayout; every function as an address."""

    _fields_ = (
        *((name, c_uint32) for name in ("struct_size", "type_offset", "memory_offset", "content_offset")),
        *((name, c_void_p) for name in ("exception_save", "exception_restore")),
        *((name, c_void_p) for name in ("retain", "set_error", "buffer_error", "memory_error")),
    )


def declare_wrappers(library: Any, cls: type, slot: str) -> None:
    """Declare the layout of wrappers to the runtime: which keep their memory in a slot of a class."""
    declared = _WrapperLayout(
        ctypes.sizeof(_WrapperLayout),
        layout.TYPE,
        layout.offset_of_slot(cls, slot),
        layout.BYTES,
        ctypes.cast(_api.PyErr_Fetch, c_void_p),
        ctypes.cast(_api.PyErr_Restore, c_void_p),
        retain,
        ctypes.cast(_api.PyErr_SetString, c_void_p),
        id(BufferError),
        id(MemoryError),
    )
    library.wrapper_set_layout(ctypes.addressof(declared))


#: Whether one call of the runtime makes a wrapper that of an object.
claims_at_once = not layout.FREE_THREADED

# ---- the wrapper of an object ---------------------------------------------------------------------

if layout.FREE_THREADED:
    import operator
    from _weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]

    class _Reference(ref):  # type: ignore[type-arg]
        """A weak reference to a wrapper, and what removes it from the table."""

        __slots__ = ("forget",)

        forget: Any

    #: The current wrappers by the address of the header's word that names the wrapper in other builds. Every
    #: operation on the table is atomic.
    _wrappers: dict[int, _Reference] = {}
    #: Called when a wrapper is destroyed. Not a Python function, which could not run at the recursion limit.
    _forget = operator.methodcaller("forget")

    def _refer(wrapper: Any, word: int) -> _Reference:
        reference = _Reference(wrapper, _forget)
        reference.forget = functools.partial(_remove_dead_weakref, _wrappers, word)
        return reference

    def wrapper_at(word: int) -> Any:
        """Return the wrapper of the object whose header has its word at an address, or None."""
        reference = _wrappers.get(word)
        return None if reference is None else reference()

    def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
        """Make a wrapper the current one of its object unless another one is alive."""
        reference = _refer(wrapper, word)
        if _wrappers.setdefault(word, reference) is reference:
            return True
        _remove_dead_weakref(_wrappers, word)
        return False

    def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
        """Make a wrapper the current one in the place of another one, which was emptied."""
        _wrappers[word] = _refer(wrapper, word)

else:
    _object = object()
    # No reference may be added before the refcount is read.
    layout.require(_call(sys.getrefcount, c_void_p(id(_object)), None) == 1, "a refcount")
    del _object

    def wrapper_at(word: int) -> Any:
        """Return the wrapper that the header's word at an address names, or None.

        A wrapper that is being destroyed, whose refcount is zero, does not count.
        """
        named = c_void_p.from_address(word)
        if not named.value:
            return None
        found: list[Any] = []
        try:
            # Only C code runs in here, so no other thread can run between the test of the refcount and the
            # new reference; and neither call adds a reference before the refcount was tested.
            all(map(_call, (sys.getrefcount, found.append), (named, named), (None, None)))
        except TypeError:
            # The word was cleared meanwhile: calls without an argument.
            return None
        return found[0] if found else None

    def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
        """Store a wrapper in the header's word, unless the word names a live wrapper."""
        former = c_void_p.from_address(word).value
        return wrapper_at(word) is None and bool(exchange(address, former, id(wrapper)))

    #: Makes a wrapper the current one in the place of another one, which was emptied.
    take_over = claim  # type: ignore[assignment]
