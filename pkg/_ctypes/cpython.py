"""What only CPython has: calls that keep the interpreter's lock, objects as addresses, counts.

pypy.py is the portable twin of this file, with the same names.
"""

from __future__ import annotations

import ctypes
from ctypes import PYFUNCTYPE, c_int, c_int32, c_uint32, c_void_p, py_object
from typing import Any, Callable, Dict

__all__ = [
    "callback_type",
    "check_signals",
    "clear_wrapper",
    "foreign_wrapper",
    "guard",
    "hooks",
    "hook_type",
    "load",
    "new_handle",
    "object_at",
    "object_of",
    "set_wrapper",
    "signal_type",
]

#: The runtime calls it for a Python callable; ctypes turns the handle into the object itself.
callback_type = PYFUNCTYPE(c_int, py_object, c_void_p, c_int32, c_void_p)

#: The hook that runs signal handlers.
signal_type = PYFUNCTYPE(c_int, c_void_p)

_api = ctypes.pythonapi
_increment = _api.Py_IncRef
_increment.argtypes = [py_object]
_increment.restype = None


def load(path: str) -> Any:
    """Loads a library whose functions are called with the interpreter's lock held."""
    return ctypes.PyDLL(path)


def guard(function: Any) -> Any:
    """The function as it is: the interpreter's lock is held while it runs."""
    return function


def hook_type(*params: Any) -> Any:
    """The type of a hook that gets a handle first, as the object itself."""
    return PYFUNCTYPE(c_int, py_object, *params)


def hooks() -> Dict[str, int]:
    """Addresses of the hooks that are the interpreter's own C functions."""
    functions: Dict[str, Any] = {
        "lock": _api.PyGILState_Ensure,
        "unlock": _api.PyGILState_Release,
        "suspend": _api.PyEval_SaveThread,
        "resume": _api.PyEval_RestoreThread,
        "handle_release": _api.Py_DecRef,
    }
    return {name: ctypes.cast(function, c_void_p).value or 0 for name, function in functions.items()}


def check_signals() -> None:
    """Runs pending signal handlers; raises what one of them raises."""
    _api.PyErr_CheckSignals()


def new_handle(x: Any) -> int:
    """A counted handle of an object: its address."""
    _increment(x)
    return id(x)


def object_at(address: int) -> Any:
    """The object whose handle lies at an address."""
    return py_object.from_address(address).value


#: The object behind what a hook or callback was given.
object_of: Callable[[Any], Any] = lambda x: x


def foreign_wrapper(address: int) -> Any:
    """The object that the header's word at an address names, or None. One that is being destroyed is none."""
    word = c_void_p.from_address(address).value
    # The low half of the count: that is the count in every layout since 3.9, on little-endian machines.
    if not word or not c_uint32.from_address(word).value:
        return None
    return py_object.from_address(address).value


def set_wrapper(address: int, wrapper: Any) -> None:
    """Names a wrapper in the header's word at an address."""
    c_void_p.from_address(address).value = id(wrapper)


def clear_wrapper(address: int) -> None:
    """Empties the header's word at an address."""
    c_void_p.from_address(address).value = None
