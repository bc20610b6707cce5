"""Wrappers on CPython: the classes of wrappers and their memory, and how an object's wrapper is found."""

from __future__ import annotations

import ctypes
import functools
import operator
import time
from ctypes import PYFUNCTYPE, c_uint32, c_void_p, py_object

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, TypeVar
from . import layout
from .structs import address_of

__all__ = [
    "UNREAD",
    "address_of_memory",
    "claim",
    "collected",
    "creates_wrappers",
    "declare_wrappers",
    "exporting",
    "final",
    "forget_wrapper",
    "memory",
    "memory_class",
    "reader",
    "retain",
    "take_over",
    "value_in",
    "wrapper_finder",
]

_Class = TypeVar("_Class", bound=type)

_api = ctypes.pythonapi
#: The address of the function that retains an object.
retain = address_of(_api.Py_IncRef)
#: Return a new type, and release it. The former returns an address because without memory for the name of the
#: type CPython 3.11 returns NULL without an exception, for which ctypes would crash if it were a `py_object`.
_create_type = PYFUNCTYPE(c_void_p, c_void_p, py_object)(("PyType_FromSpecWithBases", _api))
_release_type = PYFUNCTYPE(None, c_void_p)(("Py_DecRef", _api))
#: Kept alive, because C code stores pointers to these. Before Python 3.11 a type uses its spec's name.
_kept: list[Any] = []


def _subclass(name: str, base: Any, functions: dict[int, Any], flags: int) -> Any:
    """Create a subclass with a qualified name and with C functions in slots of the type."""
    filled = [layout.Slot(slot, ctypes.cast(function, c_void_p)) for slot, function in functions.items()]
    slots = (layout.Slot * (len(filled) + 1))(*filled)
    spec = layout.Spec(name.encode(), base.__basicsize__, base.__itemsize__, layout.TYPE_FLAGS | flags, slots)
    _kept.extend((spec, slots))
    created = _create_type(ctypes.addressof(spec), (base,))
    if created is None:
        raise MemoryError
    try:
        return ctypes.cast(created, py_object).value
    finally:
        _release_type(created)


def collected(base: Any, traverse: Any, clear: Any) -> Any:
    """Create a subclass of a class of wrappers with the C ABI's functions as `tp_traverse` and `tp_clear`."""
    functions = {layout.TP_TRAVERSE: traverse, layout.TP_CLEAR: clear}
    return _subclass(f"{__name__}.Collected", base, functions, layout.TYPE_IS_BASE | layout.TYPE_HAS_GC)


def exporting(name: str, base: Any, get_buffer: Any) -> Any:
    """Create a subclass of a class of wrappers with a function of the C ABI as its `bf_getbuffer`.

    Since Python 3.12 messages of its `__buffer__` show its name.
    """
    return _subclass(name, base, {layout.BF_GETBUFFER: get_buffer}, layout.TYPE_IS_BASE)


def final(base: _Class) -> _Class:
    """Create a subclass with the same name and no slots; messages show its module, as for a class in C."""
    made: _Class = _subclass(f"{base.__module__}.{base.__name__}", base, {}, 0)
    made.__doc__ = base.__doc__
    return made


def memory_class(release: Any, finalize: Any) -> Any:
    """Create a class of memory of a given size or content that a function of the C ABI finalizes.

    C code writes to it. It derives from bytes, which are the fastest to create and pass; only the caller
    refers to instances, and they are never hashed.

    The finalizer is a C function in the type's slot, which needs no Python frame: `__del__` would not run at
    the recursion limit. Memory does not take part in garbage collection, as instances of Python classes do
    from 3.11 on: the collector would finalize it before the user's object that owns it.
    """
    return _subclass(f"{__name__}.Memory", bytes, {layout.TP_FINALIZE: finalize}, layout.TYPE_IS_BASE)


def address_of_memory(memory: Any) -> int:
    """Return the address of memory."""
    return id(memory) + layout.BYTES


#: Creates memory as a new bytes object, to which C code writes.
memory = bytes
#: Returns the value in a wrapper's memory, after the reference, as exact bytes.
value_in = operator.itemgetter(slice(2 * layout.POINTER, None))


class _WrapperLayout(ctypes.Structure):
    """AnyffiWrapperLayout; every function as an address."""

    _fields_ = (
        *((name, c_uint32) for name in ("struct_size", "type_offset", "memory_offset", "content_offset")),
        *((name, c_void_p) for name in ("exception_save", "exception_restore")),
        *((name, c_void_p) for name in ("retain", "set_error", "buffer_error", "memory_error")),
        *((name, c_uint32) for name in ("count_offset", "count_size")),
        ("nothing", c_void_p),
        *((name, c_void_p) for name in ("make_text", "make_bytes", "make_int", "make_float", "make_bool")),
        *((name, c_void_p) for name in ("make_complex", "make_tuple", "allocate", "release")),
        *((name, c_void_p) for name in ("memory_class", "unread", "make_list", "make_dict", "list_as_tuple")),
        *((name, c_void_p) for name in ("make_set", "make_frozen_set", "make_proxy")),
        *((name, c_void_p) for name in ("list_append", "dict_set")),
    )


#: Functions of `reader` return this for values that only Python can read.
UNREAD = object()
#: Whether the runtime creates wrappers, which requires that headers refer to wrappers. Without the GIL,
#: another thread could release a wrapper between the check of its refcount and the new reference.
creates_wrappers = not layout.FREE_THREADED


def declare_wrappers(library: Any, cls: type, slot: str, memory_class: type) -> None:
    """Declare the layout of wrappers to the runtime: the slot in which they keep their memory."""
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
        layout.COUNT,
        layout.COUNT_SIZE,
        id(None),
        ctypes.cast(_api.PyUnicode_FromKindAndData, c_void_p),
        ctypes.cast(_api.PyBytes_FromStringAndSize, c_void_p),
        ctypes.cast(_api.PyLong_FromLongLong, c_void_p),
        ctypes.cast(_api.PyFloat_FromDouble, c_void_p),
        ctypes.cast(_api.PyBool_FromLong, c_void_p),
        ctypes.cast(_api.PyComplex_FromDoubles, c_void_p),
        ctypes.cast(_api.PyTuple_Pack, c_void_p),
        ctypes.cast(_api.PyType_GenericAlloc, c_void_p),
        ctypes.cast(_api.Py_DecRef, c_void_p),
        id(memory_class),
        id(UNREAD),
        ctypes.cast(_api.PyList_New, c_void_p),
        ctypes.cast(_api.PyDict_New, c_void_p),
        ctypes.cast(_api.PyList_AsTuple, c_void_p),
        ctypes.cast(_api.PySet_New, c_void_p),
        ctypes.cast(_api.PyFrozenSet_New, c_void_p),
        ctypes.cast(_api.PyDictProxy_New, c_void_p),
        ctypes.cast(_api.PyList_Append, c_void_p),
        ctypes.cast(_api.PyDict_SetItem, c_void_p),
    )
    library.wrapper_set_layout(ctypes.addressof(declared))


def reader(function: Any, *params: Any) -> Callable[..., Any]:
    """Return a function of the C ABI that returns an object of Python, or `UNREAD`.

    Only the first parameters may be declared, because declared ones take time.
    """
    return PYFUNCTYPE(py_object, *params)(address_of(function))


#: Returns the wrapper to which the header's word at an address refers, or None. Defined if C code finds
#: wrappers.
_current_wrapper: Any = None

# ---- the wrapper of an object ---------------------------------------------------------------------

if layout.FREE_THREADED:
    from _weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]

    class _Reference(ref):  # type: ignore[type-arg]
        """A weak reference to a wrapper, with the function that removes it from the table."""

        __slots__ = ("forget",)

        forget: Any

    #: The current wrappers, by the address of the header word that refers to the wrapper in other builds.
    #: Every operation on the table is atomic.
    _wrappers: dict[int, _Reference] = {}
    #: Called when a wrapper is destroyed. Not a Python function, because that could not run at the recursion
    #: limit.
    _forget = operator.methodcaller("forget")

    def _refer(wrapper: Any, word: int) -> _Reference:
        reference = _Reference(wrapper, _forget)
        reference.forget = functools.partial(_remove_dead_weakref, _wrappers, word)
        return reference

    def _wrapper_at(word: int) -> Any:
        reference = _wrappers.get(word)
        return None if reference is None else reference()

    def wrapper_finder(library: Any) -> Callable[[int], Any]:
        """Return the function that finds an object's wrapper by the address of its header word."""
        return _wrapper_at

    #: Seconds to wait for another thread that is finalizing a wrapper: if the wrapper survives, it is soon
    #: found again. Not long in total, since the finalizer may be waiting for this thread.
    _PAUSES = (*[0.0] * 100, *[0.0005] * 1000)

    def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
        """Make a wrapper the current one of its object, unless another one is alive."""
        reference = _refer(wrapper, word)
        for pause in _PAUSES:
            former = _wrappers.setdefault(word, reference)
            if former is reference:
                return True
            if former() is not None:
                return False
            _remove_dead_weakref(_wrappers, word)
            time.sleep(pause)
        _wrappers[word] = reference
        return True

    def take_over(exchange: Any, address: int, word: int, wrapper: Any) -> None:
        """Make a wrapper the current one in place of another one, which was emptied."""
        _wrappers[word] = _refer(wrapper, word)

    def forget_wrapper(word: int, wrapper: Any) -> None:
        """Forget an emptied wrapper as that of its object, whose address may be reused."""
        if _wrapper_at(word) is wrapper:
            _wrappers.pop(word, None)

else:

    def wrapper_finder(library: Any) -> Callable[[int], Any]:
        """Return the function that finds an object's wrapper, or None, by the address of its header word.

        C code checks that the wrapper is not being destroyed, and adds the reference, in one step.
        """
        global _current_wrapper
        _current_wrapper = PYFUNCTYPE(py_object, c_void_p)(address_of(library.wrapper_get_current))
        return _current_wrapper  # type: ignore[no-any-return]

    def claim(exchange: Any, address: int, word: int, wrapper: Any) -> bool:
        """Store a wrapper in the header word, unless the word refers to a live wrapper."""
        former = c_void_p.from_address(word).value
        return _current_wrapper(word) is None and bool(exchange(address, former, id(wrapper)))

    #: Makes a wrapper the current one in place of another one, which was emptied.
    take_over = claim  # type: ignore[assignment]

    def forget_wrapper(word: int, wrapper: Any) -> None:
        """Do nothing: the finalizer of the wrapper's memory clears the word."""
