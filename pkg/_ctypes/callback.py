"""Calls from C++ into Python: functions over callables, and the hooks of the host."""

from __future__ import annotations

import ctypes
import functools
from ctypes import c_int32, c_int64, c_void_p
from types import FunctionType

from .._builtins import *  # noqa: F403
from .._rules import conversions as _conversions
from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.codes import code
from .._rules.culprits import locate_result
from .._rules.decisions import find_on_type
from .._rules.locks import share_section
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error
from .native import unpack_transferred
from .owned import OwnedValue, release
from .pack import pack_into, set_callback
from .structs import ExchangeHooks, Host, address_of
from .unpack import unpack_copy
from .wrapper import empty, wrap

__all__ = ["create_exchange", "install_host", "is_discarded", "set_finder", "set_locator", "shut_down"]

_DONE, _DECLINED = 1, 2  # AnyffiHostStatus
#: Near the end of the stack there may be no room to set an error. Then ctypes returns `_SWALLOWED`, and the
#: caller, which is just as near to the end, raises its own RecursionError.
_NO_ROOM, _SWALLOWED = (RecursionError, ctypes.ArgumentError), 0

_object_of = platform.object_of
#: Finds the callable of a callback.
_callable_of: Callable[[Any], Any] = _object_of
_is_cleared = _rules.is_cleared
_INT = code.INT
_read_values = VALUE.iter_unpack


@functools.lru_cache(maxsize=32)
def _memory_type(size: int) -> Any:
    return ctypes.c_char * size


_release_at = library.value_release
#: Callbacks and hooks, kept alive because the runtime may call them until the process ends.
_kept: list[Any] = []


#: Completes errors about results of callbacks.
_locate_result: Callable[..., None] = locate_result


def set_locator(locate: Callable[..., None]) -> None:
    """Complete errors about results of callbacks with another function than `locate_result`."""
    global _locate_result
    _locate_result = locate


def set_finder(find: Callable[[Any], Any]) -> None:
    """Find the callable of a callback with another function than `object_of`."""
    global _callable_of
    _callable_of = find


def _set_raised(exception: BaseException) -> None:
    """Set an exception, with its traceback, as the thread's error."""
    error = OwnedValue(VALUE_SIZE)
    try:
        # If even this fails, the thread's error is already a MemoryError.
        if platform.create_over(exception, library.error_create_host, error) == 0:
            library.error_set_raised(VALUE.unpack(error)[2])
    finally:
        release(error)


#: Marks that a Python callable has not returned yet.
_NOT_RETURNED = object()
_FLAGS = 4  # the offset of the flags in a value
_DISCARDED = 256  # AnyffiValueFlag


def is_discarded(result: int) -> bool:
    """Return whether the caller of a callback drops its result."""
    return bool(ctypes.c_uint32.from_address(result + _FLAGS).value & _DISCARDED)


#: How often an attempt to report an error may fail.
_ATTEMPTS = 8


@platform.catches_entry
def _fail(exception: BaseException, result: int, attempts: int = _ATTEMPTS) -> int:
    """Report the failure of a callback; of a hook if `result` is NULL."""
    try:
        if result:
            # A signal handler may have raised it after the result was written.
            _release_at(result)
        _set_raised(translate_error(exception))
        return -1
    except _NO_ROOM:
        return _SWALLOWED
    except BaseException as raised:
        # A signal handler raised it during the report, or memory is exhausted.
        return _fail(raised, result, attempts - 1) if attempts else _SWALLOWED


@platform.catches_entry
def _callback(function: Any, args: int, count: int, result: int, x: Any = _NOT_RETURNED) -> int:
    """Call a Python callable for the runtime, from any thread.

    The result is written last. If ctypes swallows an exception raised before this function's first line, for
    lack of memory or stack, the result is still Unset, and the runtime treats the call as failed.
    """
    try:
        try:
            if function.__globals__ is None if type(function) is FunctionType else _is_cleared(function):
                raise _rules.cleared_function(function)
            values = _read_values(_memory_type(VALUE_SIZE * count).from_address(args)) if count else ()
            x = _callable_of(function)(*[v[2] if v[0] == _INT else unpack_transferred(v) for v in values])
            if x is not None and is_discarded(result):
                x = None
            pack_into(x, result)
            return _DONE
        except BaseException as exception:
            # Translated first: the message identifies the error, and is extended below.
            exception = translate_error(exception)
            if x is not _NOT_RETURNED:
                _locate_result(exception, (x,), _object_of(function))
            return _fail(exception, result)
    except BaseException as interrupt:
        # A signal handler raised it before the first line, or while the first exception was being handled.
        try:
            return _fail(interrupt, result)
        except _NO_ROOM:
            return _SWALLOWED


def _with_status(function: Callable[..., int | None]) -> Callable[..., int]:
    """Make a function report exceptions as hooks do: by a status, with the thread's error set."""

    def report(*args: Any) -> int:
        try:
            try:
                return function(*args) or _DONE
            except BaseException as exception:
                return _fail(exception, 0)
        except BaseException as interrupt:
            try:
                return _fail(interrupt, 0)
            except _NO_ROOM:
                return _SWALLOWED

    return platform.catches_entry(report)


def _hook(*params: Any) -> Callable[[Callable[..., None]], Any]:
    """Make a hook from a function, given the types of the parameters between the handle and the result."""

    def decorate(function: Callable[..., None]) -> Any:
        made = platform.hook_type(*params)(_with_status(function))
        _kept.append(made)
        return made

    return decorate


@_hook(c_void_p)
def _hash(handle: Any, out: int) -> None:
    c_int64.from_address(out).value = hash(_object_of(handle))


@_hook(c_void_p, c_void_p)
def _equal(handle: Any, other: int, out: int) -> None:
    value = VALUE.unpack(ctypes.string_at(other, VALUE_SIZE))
    c_int32.from_address(out).value = bool(_object_of(handle) == unpack_copy(value))


@_hook(c_void_p)
def _repr(handle: Any, out: int) -> None:
    pack_into(repr(_object_of(handle)), out)


@_hook(c_void_p)
def _type_name(handle: Any, out: int) -> None:
    pack_into(type(_object_of(handle)).__name__, out)


@_hook(c_void_p, c_void_p, c_void_p)
def _error_fill(handle: Any, kind: int, message: int, traceback: int) -> None:
    for place, text in zip((kind, message, traceback), _errors.fill(_object_of(handle), bool(message))):
        if place:
            pack_into(text, place)


@_hook(c_int32, c_void_p)
def _convert(handle: Any, conversion: int, out: int) -> None:
    pack_into(_conversions.convert(_object_of(handle), conversion), out)


def _create(conversion: int, given: int, out: int) -> None:
    """Create the host's object for a path or a time; a hook without a handle."""
    value = unpack_copy(VALUE.unpack(ctypes.string_at(given, VALUE_SIZE)))
    pack_into(_conversions.create(conversion, value), out)


def _object_hash(given: int, out: int) -> int | None:
    """Hash an object of the runtime as its Python class defines; a hook without a handle."""
    x = unpack_copy(VALUE.unpack(ctypes.string_at(given, VALUE_SIZE)))
    if find_on_type(type(x), "__hash__") is object.__hash__:
        # For the runtime, an unset result means that ctypes swallowed an exception.
        c_int64.from_address(out).value = 0
        return _DECLINED
    c_int64.from_address(out).value = hash(x)
    return None


def _object_equal(given: int, other: int, out: int) -> int | None:
    """Compare values at least one of which is an object of the runtime; a hook without a handle."""
    x, y = (unpack_copy(VALUE.unpack(ctypes.string_at(place, VALUE_SIZE))) for place in (given, other))
    if all(find_on_type(type(one), "__eq__") is object.__eq__ for one in (x, y)):
        c_int32.from_address(out).value = 0
        return _DECLINED
    c_int32.from_address(out).value = bool(x == y)
    return None


def _plain_hook(function: Callable[..., int | None], *params: Any) -> int:
    """Make a hook without a handle from a function."""
    made = platform.plain_hook_type(*params)(_with_status(function))
    _kept.append(made)
    return address_of(made)


def install_host() -> None:
    """Install the hooks of the host, and the function that runs callbacks."""
    callback = platform.callback_type(_callback)
    _kept.append(callback)
    set_callback(address_of(callback))
    host = Host(struct_size=ctypes.sizeof(Host), **platform.hooks(_with_status))
    host.flags |= _rules.HOST_FLAGS
    host.handle_hash = address_of(_hash)
    host.handle_equal = address_of(_equal)
    host.handle_repr = address_of(_repr)
    host.handle_type_name = address_of(_type_name)
    host.error_fill = address_of(_error_fill)
    host.handle_convert = address_of(_convert)
    host.handle_create = _plain_hook(_create, c_int32, c_void_p, c_void_p)
    host.wrapper_empty = _plain_hook(empty, c_void_p)
    host.object_hash = _plain_hook(_object_hash, c_void_p, c_void_p)
    host.object_equal = _plain_hook(_object_equal, c_void_p, c_void_p, c_void_p)
    if not platform.is_sectioned:
        library.host_install(ctypes.addressof(host))
        return

    def lock(section: object) -> None:
        # Kept alive, because this thread may be within a section on the former object.
        _kept.append(section)
        host.section_object = id(section)
        if not library.host_has_ended():
            library.host_install(ctypes.addressof(host))

    share_section(lock)


def create_exchange() -> Any:
    """Create the capsule of DLPack's C exchange API for tensors; None if Python has no C API."""
    return platform.new_exchange(library, _with_status(_wrap_tensor), ExchangeHooks())


def _wrap_tensor(address: int, out: int) -> None:
    platform.give(wrap(address), out)


def shut_down() -> None:
    """Release the Python functions in the registry and uninstall the hooks."""
    library.registry_remove_host_functions()
    library.host_install(None)
