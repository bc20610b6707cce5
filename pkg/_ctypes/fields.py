"""Fields of the runtime's objects: one call reads or writes one."""

from __future__ import annotations

from ctypes import ArgumentError

from .._builtins import *  # noqa: F403
from .._rules.codes import code
from .._rules.refusals import explain_field
from .._typing import Any, Callable, NoReturn
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error
from .members import name_enumeration
from .native import take_native
from .owned import OwnedValue, cells
from .pack import argument_writers, find_argument_writer
from .scalars import scalar_borrowers
from .stepping import steps_always
from .unpack import raise_taken, take
from .wrapper import memory_of, renew_wrapper, write_wrapper
from .writers import number_writers

__all__ = ["field_getter", "field_setter"]

_INT, _UNSET = code.INT, code.UNSET
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_FAILED, _SET, _SET_WITH_TYPE = -1, 1, 2
_value = VALUE.pack
_value_of = VALUE.unpack
_pop_cell, _push_cell = cells.pop, cells.append
_read_field = platform.reader(library.wrapper_read_field)
_set_field = platform.plain(library.wrapper_set_field)
_UNREAD = platform.UNREAD


def field_getter(name: str, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that reads a field of a wrapper's object; `slow` handles other cases."""
    if steps_always:
        return slow
    key = name.encode()

    def get(self: Any) -> Any:
        try:
            result = _pop_cell() if cells else OwnedValue(VALUE_SIZE)
            found = _read_field(memory_of(self), key, result)
        except (AttributeError, TypeError, IndexError):
            # It is no wrapper, or another thread took the last cell.
            result = None
        # Outside the handler, so that the exception does not become the context of another one.
        if result is None:
            return slow(self)
        if found is not _UNREAD:
            _push_cell(result)
            return found
        value = _value_of(result)
        type_code, flags, payload = value
        if type_code != _UNSET:
            return take_native(value, result) if flags and type_code > 0 else take(value, result)
        if payload == _FAILED:
            raise_taken()
        return slow(self)

    return get


def field_setter(name: str, slow: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return a function that sets a field of a wrapper's object; `slow` handles other cases."""
    if steps_always:
        return slow
    key = name.encode()

    def put(self: Any, value: Any) -> None:
        try:
            keep: list[Any] = []
            cls = type(value)
            if cls is int:
                packed = _value(_INT, 0, value) if _INT64_MIN <= value <= _INT64_MAX else None
            else:
                write = scalar_borrowers.get(id(cls))
                found = argument_writers.get(id(cls)) or find_argument_writer(cls) if write is None else None
                # Users' code must run only once, so `slow` handles such values.
                if found is write_wrapper or found in number_writers:
                    write = found
                packed = None if write is None else write(value, keep)
                if found is not None and type(packed) is bytes and not keep:
                    packed = name_enumeration(value, packed)
            if type(packed) is bytes and not keep:
                try:
                    status = _set_field(memory_of(self), key, packed)
                except (AttributeError, TypeError):
                    status = 0
                if status == _SET:
                    return
                if status == _FAILED:
                    _raise_about(value)
                if status == _SET_WITH_TYPE:
                    renew_wrapper(self)
                    return
            slow(self, value)
        except ArgumentError as error:
            translated = translate_error(error)
        else:
            return
        # Outside the handler, so that the ArgumentError does not become the context.
        try:
            raise translated
        finally:
            del translated

    return put


def _raise_about(value: Any) -> NoReturn:
    """Raise the error about a value that a field rejects."""
    try:
        raise_taken()
    except TypeError as exception:
        explain_field(exception, value)
        raise
