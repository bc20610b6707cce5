"""The library as ctypes loads it: its functions and the type codes.

Type codes are read from the library, never repeated here.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from ctypes import c_int32

from .._builtins import *  # noqa: F403
from .._library import find_library
from .._rules import codes as _types
from .._rules.errors import require_first_interpreter
from .._typing import Any, Callable
from .prototypes import PROTOTYPES

if sys.implementation.name == "cpython":
    from . import cpython as platform
else:
    from . import pypy as platform  # type: ignore[no-redef]

__all__ = [
    "VALUE",
    "VALUE_SIZE",
    "address_of",
    "library",
    "platform",
    "translate_error",
    "translates_errors",
    "type_code_in",
]

#: An AnyffiValue: type code, aux, and the payload as a signed word.
VALUE = struct.Struct("=iIq")
VALUE_SIZE = VALUE.size
#: The type code alone, in a tuple.
type_code_in = struct.Struct("=i").unpack_from
#: `c_api.h`'s ANYFFI_ABI_VERSION for the layouts below.
_ABI_VERSION = 1


def _load() -> Any:
    """Load the runtime; its functions are attributes without the prefix ``anyffi_``."""
    loaded = platform.load(find_library("anyffi"))

    class Library:
        """Functions of libanyffi."""

    sectioned = _list_sectioned(loaded) if platform.is_sectioned else {}
    for name, (result, *params) in PROTOTYPES.items():
        function = sectioned.get(name) or getattr(loaded, name)
        function.restype = result
        # Of a list ctypes would make a tuple, and raise TypeError without memory for it.
        function.argtypes = tuple(params)
        setattr(Library, name[len("anyffi_") :], staticmethod(platform.guard(function)))
    return Library


class _Sectioned(ctypes.Structure):
    """AnyffiSectioned."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p))


def _list_sectioned(loaded: Any) -> dict[str, Any]:
    """Return the versions of container functions that run within critical sections, by name."""
    find = loaded.anyffi_host_list_sectioned
    find.restype = ctypes.POINTER(_Sectioned)
    rows, made = find(), {}
    for row in rows:
        if row.name is None:
            break
        made[row.name.decode()] = loaded._FuncPtr(row.function)
    return made


#: What ctypes writes after "argument 1: " if memory or the stack is exhausted; near the end of the stack it
#: cannot find the class's name.
_OUT_OF_MEMORY = ("MemoryError", "<class 'MemoryError'>")
_OUT_OF_STACK = ("RecursionError", "<class 'RecursionError'>", "???")


def translate_error(exception: BaseException) -> BaseException:
    """Return the error behind an ArgumentError, which ctypes raises for any failure to convert an argument.

    No argument of ours has the wrong type, so memory or the stack was exhausted. Errors from users' own
    ctypes calls, in callbacks for example, are not changed.
    """
    if type(exception) is not ctypes.ArgumentError:
        return exception
    place, separator, why = str(exception).partition(": ")
    if separator and place.startswith("argument "):
        if why.startswith(_OUT_OF_MEMORY):
            return MemoryError()
        if not why or why.startswith(_OUT_OF_STACK):
            return RecursionError("maximum recursion depth exceeded")
    return exception


def translates_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function raise the error behind an ArgumentError."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except ctypes.ArgumentError as error:
            translated = translate_error(error)
        # Outside the handler, so that the ArgumentError does not become the context.
        try:
            raise translated
        finally:
            del translated

    return call


def address_of(buffer: Any) -> int:
    """Return the address of a ctypes object."""
    return ctypes.addressof(buffer)


library = _load()
if library.abi_get_version() != _ABI_VERSION:
    raise ImportError("libanyffi was built for another ABI version than this package; reinstall anyffi")
require_first_interpreter(not library.host_has_ended())


def _list_types() -> None:
    codes = (c_int32 * library.type_list(None, 0))()
    count = library.type_list(address_of(codes), len(codes))
    known = codes[: min(count, len(codes))]
    _types.fill([(code, library.type_get_info(code).contents.type_key.decode()) for code in known])


_list_types()
