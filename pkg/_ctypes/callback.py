"""Calls from C++ into Python: functions over callables, and what the runtime asks of its host."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p, memmove

from .._rules import errors as _errors
from .._rules import values as _rules
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, ExchangeHooks, Host, library, platform, unhide
from .cell import Cell, empty, hand_over
from .pack import NONE, pack_owned, set_callback
from .unpack import unpack, unpack_copy
from .wrapper import wrap

__all__ = ["create_exchange", "install_host", "shut_down"]

_DONE = 1  # ANYFFI_HOST_DONE
#: At the end of the stack there may be no room to leave an error. ctypes itself returns this then, with a
#: report: the caller is as near to the end, and raises a RecursionError of its own.
_NO_ROOM, _SWALLOWED = (RecursionError, ctypes.ArgumentError), 0

_object_of = platform.object_of
_move = library.value_move
_release = library.value_release
#: Callbacks and the table of hooks live as long as the runtime may call them.
_kept: list[Any] = []


def _leave_raised(exception: BaseException) -> None:
    """Puts an exception, which carries its traceback, into the thread's error slot."""
    cell = Cell(VALUE_SIZE)
    try:
        # Where even that fails, a MemoryError is in the slot already.
        if platform.create_over(exception, library.error_create_host, cell) == 0:
            library.error_set_raised(VALUE.unpack(cell)[2])
    finally:
        empty(cell)


def _callback(function: Any, args: int, count: int, result: int) -> int:
    """What the runtime calls, from any thread, for a function over a Python callable.

    The result is written last: ctypes swallows what is raised before the first line and after the last one,
    and the runtime takes a result that is still unset for a call that was interrupted.
    """
    packed = NONE
    try:
        try:
            try:
                read = VALUE.unpack_from
                values = (ctypes.c_char * (VALUE_SIZE * count)).from_address(args) if count else b""
                x = _object_of(function)(*[unpack(read(values, VALUE_SIZE * i)) for i in range(count)])
                packed = pack_owned(x)
                if type(packed) is bytes:
                    memmove(result, packed, VALUE_SIZE)
                else:
                    _move(packed, result)
                return _DONE
            except BaseException as exception:
                # A signal handler may have raised it when all was done.
                _release(result)
                if type(packed) is not bytes:
                    empty(packed)
                _leave_raised(unhide(exception))
                return -1
        except BaseException as interrupt:
            # A signal handler raised it while the first exception was dealt with.
            _release(result)
            _leave_raised(interrupt)
            return -1
    except _NO_ROOM:
        return _SWALLOWED


def _reporting(function: Callable[..., None]) -> Callable[..., int]:
    """A function that raises or not as one that returns what a hook does."""

    def report(*args: Any) -> int:
        try:
            try:
                function(*args)
                return _DONE
            except BaseException as exception:
                _leave_raised(unhide(exception))
                return -1
        except _NO_ROOM:
            return _SWALLOWED

    return report


def _hook(*params: Any) -> Callable[[Callable[..., None]], Any]:
    """Makes a hook of a function that raises or not."""

    def decorate(function: Callable[..., None]) -> Any:
        made = platform.hook_type(*params)(_reporting(function))
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
def _text(handle: Any, out: int) -> None:
    hand_over(pack_owned(repr(_object_of(handle))), out)


@_hook(c_void_p)
def _type_name(handle: Any, out: int) -> None:
    hand_over(pack_owned(type(_object_of(handle)).__name__), out)


@_hook(c_void_p, c_void_p, c_void_p)
def _error_fill(handle: Any, kind: int, message: int, traceback: int) -> None:
    for place, text in zip((kind, message, traceback), _errors.fill(_object_of(handle))):
        hand_over(pack_owned(text), place)


def _address(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


def install_host() -> None:
    """Gives the runtime its hooks and its way into Python."""
    callback = platform.callback_type(_callback)
    _kept.append(callback)
    set_callback(_address(callback))
    host = Host(struct_size=ctypes.sizeof(Host), **platform.hooks(_reporting))
    host.flags |= _rules.HOST_FLAGS
    host.handle_hash = _address(_hash)
    host.handle_equal = _address(_equal)
    host.handle_repr = _address(_text)
    host.handle_type_name = _address(_type_name)
    host.error_fill = _address(_error_fill)
    library.host_install(ctypes.addressof(host))


def create_exchange() -> Any:
    """A capsule with DLPack's table of functions for wrappers of tensors; None where there can be none."""
    return platform.new_exchange(library, _reporting(_wrap_tensor), ExchangeHooks())


def _wrap_tensor(address: int, out: int) -> None:
    platform.give(wrap(address), out)


def shut_down() -> None:
    """Gives back what the registry holds of Python; from then on the runtime calls no hook."""
    library.registry_remove_host_functions()
    library.host_install(None)
