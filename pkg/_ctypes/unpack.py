"""Unpacking: converts AnyffiValues to Python values, with a table from type code to reader."""

from __future__ import annotations

import struct
import sys
from ctypes import ArgumentError, string_at

from .._builtins import *  # noqa: F403
from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.codes import code
from .._rules.refusals import explain
from .._typing import Any, Callable, NoReturn
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error
from .owned import OwnedValue, release
from .structs import BigInt, Box, Bytes, Complex, Error, Function, PyObject, Slice, Str, Value
from .wrapper import wrap, wrap_owned

__all__ = [
    "discard_error",
    "need_stack",
    "own",
    "raise_error",
    "raise_taken",
    "read_error",
    "set_error_maker",
    "show_frames",
    "take",
    "unpack",
    "unpack_copy",
    "unpack_owned",
]

#: Type code, aux and payload of a value.
_value_of = VALUE.unpack
_pack_inline = struct.Struct("=Iq").pack
_UNITS = struct.Struct("=5H")
_INLINE_BYTES = 11  # ANYFFI_INLINE_BYTES
_FLOAT = struct.Struct("=d")
_WORD = struct.Struct("=q")
_DATA_TYPE = struct.Struct("=BBH")
_DEVICE = struct.Struct("=ii")
#: The encoding for wide text, and the position of the lower two of its four bytes.
_UTF32, _LOW = ("utf-32-le", 0) if sys.byteorder == "little" else ("utf-32-be", 2)

#: Width of a code point by AnyffiTextEncoding: ASCII, Latin-1, UCS2, UCS4.
_WIDTHS = (1, 1, 2, 4)


def _decode(data: bytes, encoding: int) -> str:
    if encoding < 2:
        return data.decode("latin-1")
    if encoding == 2:
        # Not decoded as UTF-16: two adjacent surrogates would become one character.
        wide = bytearray(2 * len(data))
        wide[_LOW::4], wide[_LOW + 1 :: 4] = data[::2], data[1::2]
        return wide.decode(_UTF32, "surrogatepass")
    return data.decode(_UTF32, "surrogatepass")


def _read_bytes_as_text(address: int, length: int, encoding: int) -> str:
    return _decode(string_at(address, length * _WIDTHS[encoding]), encoding)


_read_text: Callable[[int, int, int], str] = platform.read_text or _read_bytes_as_text  # type: ignore[truthy-function]


def _read_inline_str(aux: int, payload: int) -> str:
    raw = _pack_inline(aux, payload)
    if raw[11] <= _INLINE_BYTES:
        # ASCII.
        return raw[: _INLINE_BYTES - raw[11]].decode()
    encoding, spare = divmod(raw[11], 16)
    length = _INLINE_BYTES - spare
    if encoding == 2:
        return "".join(map(chr, _UNITS.unpack_from(raw)[:length]))
    return _decode(raw[: length * _WIDTHS[encoding]], encoding)


def _read_inline_bytes(aux: int, payload: int) -> bytes:
    raw = _pack_inline(aux, payload)
    return raw[: _INLINE_BYTES - raw[11] % 16]


def _read_text_view(aux: int, payload: int) -> str:
    length, encoding = divmod(aux, 4)
    return _read_text(payload, length, encoding)


def _read_tensor_view(aux: int, payload: int) -> Any:
    return unpack_owned(own(VALUE.pack(code.TENSOR_VIEW, aux, payload)))


#: Cached data types and devices, so that equal ones are the same object; by payload.
_data_types: dict[int, Any] = {}
_devices: dict[int, Any] = {}


def _read_data_type(aux: int, payload: int) -> Any:
    found = _data_types.get(payload)
    return _share(_data_types, code.DATA_TYPE, _DATA_TYPE, payload) if found is None else found


def _read_device(aux: int, payload: int) -> Any:
    found = _devices.get(payload)
    return _share(_devices, code.DEVICE, _DEVICE, payload) if found is None else found


def _share(shared: dict[int, Any], type_code: int, layout: struct.Struct, payload: int) -> Any:
    fields = layout.unpack_from(_WORD.pack(payload))
    made = _rules.lift(type_code, fields)
    if len(shared) < _MOST_SHARED and _rules.lift(type_code, fields) is made:
        shared[payload] = made
    return made


_MOST_SHARED = 256

#: Readers of inline and borrowed values; their arguments are aux and payload.
_inline_readers: dict[int, Callable[[int, int], Any]] = {
    code.NONE: lambda aux, payload: None,
    code.BOOL: lambda aux, payload: payload != 0,
    code.INT: lambda aux, payload: payload,
    code.FLOAT: lambda aux, payload: _FLOAT.unpack(_WORD.pack(payload))[0],
    code.STR: _read_inline_str,
    code.BYTES: _read_inline_bytes,
    code.STR_VIEW: _read_text_view,
    code.BYTES_VIEW: lambda aux, payload: string_at(payload, aux >> 2),
    code.ELLIPSIS: lambda aux, payload: ...,
    code.TENSOR_VIEW: _read_tensor_view,
    code.POINTER: lambda aux, payload: _rules.lift(code.POINTER, payload % 2**64),
    code.DATA_TYPE: _read_data_type,
    code.DEVICE: _read_device,
}


def _read_str(address: int) -> str:
    found = Str.from_address(address)
    return _read_text(found.data, found.length, found.encoding)


def _read_bytes(address: int) -> bytes:
    found = Bytes.from_address(address)
    return string_at(found.data, found.length)


def _read_big_int(address: int) -> int:
    found = BigInt.from_address(address)
    magnitude = string_at(found.words, _WORD.size * found.size)
    made: int = _rules.lift(code.BIG_INT, (magnitude, found.negative))
    return made


_PARTS = struct.Struct("=dd")


def _read_complex(address: int) -> complex:
    return complex(*_PARTS.unpack(string_at(address + Complex.real.offset, _PARTS.size)))


def _read_slice(address: int) -> slice:
    content = string_at(address + Slice.start.offset, 3 * VALUE_SIZE)
    return slice(*[unpack_copy(part) for part in VALUE.iter_unpack(content)])


_make_error = _errors.make
#: Adds C++ frames to the traceback of an exception; None unless this is switched on.
_add_frames: Callable[[BaseException, Any], None] | None = None


def set_error_maker(make: Callable[..., Any]) -> None:
    """Make exceptions with another function; see hooks.py."""
    global _make_error
    _make_error = make


def _read_error(address: int) -> Any:
    """Return the original exception if the error came from Python, else a new one."""
    found = Error.from_address(address)
    if found.handle:
        return platform.object_at(address + Error.handle.offset)
    args = _read_field(found.args)
    return _make_error(
        _read_field(found.kind),
        _read_field(found.message),
        None if args is None else tuple(args),
        _read_field(found.cause),
    )


def _read_function(address: int) -> Any:
    if Function.from_address(address).handle:
        return platform.object_at(address + Function.handle.offset)
    return wrap(address)


#: Readers of objects that need no wrapper; their argument is the borrowed address.
_object_readers: dict[int, Callable[[int], Any]] = {
    code.STR_OBJECT: _read_str,
    code.BYTES_OBJECT: _read_bytes,
    code.BIG_INT: _read_big_int,
    code.COMPLEX: _read_complex,
    code.SLICE: _read_slice,
    code.ERROR: _read_error,
    code.FUNCTION: _read_function,
    code.PY_OBJECT: lambda address: platform.object_at(address + PyObject.handle.offset),
    code.BOX: lambda address: _read_field(Box.from_address(address).value),
}


def unpack(value: tuple[int, int, int]) -> Any:
    """Unpack a value that the caller keeps alive."""
    type_code, aux, payload = value
    if type_code <= 0:
        read = _inline_readers.get(type_code)
        return read(aux, payload) if read is not None else _rules.lift(type_code, None)
    reader = _object_readers.get(type_code)
    return wrap(payload) if reader is None else reader(payload)


def unpack_owned(value: Any) -> Any:
    """Unpack an owned value and release it."""
    try:
        return unpack(_value_of(value))
    finally:
        if type(value) is not bytes:
            release(value)


#: Returns the Python object for an owned value, which it then releases; UNREAD for values that are read here.
_take_value = platform.reader(library.wrapper_take_value)
_UNREAD = platform.UNREAD


def take(value: tuple[int, int, int], owner: Any) -> Any:
    """Unpack an owned value, whose content was read before, and release it."""
    found = _take_value(owner)
    if found is not _UNREAD:
        return found
    type_code, aux, payload = value
    if type_code <= 0:
        # Inline values need no release, which takes as long as unpacking one.
        read = _inline_readers.get(type_code)
        return read(aux, payload) if read is not None else _rules.lift(type_code, None)
    read_object = _object_readers.get(type_code)
    if read_object is None:
        return wrap_owned(value, owner)
    try:
        return read_object(payload)
    except ArgumentError as error:
        translated = translate_error(error)
    finally:
        release(owner)
    # Outside the handler, so that the ArgumentError does not become the context.
    try:
        raise translated
    finally:
        del translated


def unpack_copy(value: tuple[int, int, int]) -> Any:
    """Unpack a borrowed value that other code may release meanwhile."""
    if value[0] <= 0:
        return unpack(value)
    # Nested slices recurse through here, so it uses as few frames as possible.
    copy = own(VALUE.pack(*value))
    try:
        return unpack(_value_of(copy))
    finally:
        release(copy)


def _read_field(field: Value) -> Any:
    return unpack_copy((field.type_code, field.aux, field.payload))


def own(value: bytes) -> Any:
    """Copy a borrowed value to an owned one."""
    copy = OwnedValue(VALUE_SIZE)
    if library.value_own(value, copy) != 0:
        raise_taken()
    return copy


#: Without declared parameters, because memory for their conversion may be exhausted.
_take_raised = platform.plain(library.error_take_raised)


def discard_error() -> None:
    """Discard the thread's error, if there is one."""
    error = OwnedValue(VALUE_SIZE)
    _take_raised(error)
    release(error)


_get_remaining_stack = platform.plain(library.stack_get_remaining)
_STACK_RESERVE = 24576  # ANYFFI_STACK_RESERVE


def need_stack() -> None:
    """Raise RecursionError if the thread's stack is too short for another level of a recursive walk.

    Python's own limit counts calls, regardless of the size of the stack.
    """
    if _get_remaining_stack() < _STACK_RESERVE:
        raise RecursionError("maximum recursion depth exceeded")


def raise_taken() -> NoReturn:
    """Take the thread's error, which a function of the C ABI set, and raise it."""
    error = OwnedValue(VALUE_SIZE)
    _take_raised(error)
    raise_error(error)


def _read_frames(address: int) -> Any:
    """Return the C++ frames of an error as text; None if that fails."""
    try:
        text = OwnedValue(VALUE_SIZE)
        library.error_get_frames(address, text)
        return unpack_owned(text)
    except Exception as raised:
        # It may fail at the recursion limit, for example. The error itself matters more.
        if _errors.is_from_handler(raised):
            raise
        return None


def show_frames() -> None:
    """Add C++ frames to the tracebacks of all errors from now on."""
    global _add_frames
    from .._rules.frames import add_frames

    _add_frames = add_frames
    library.error_record_frames(1)


#: Bypass users' exceptions that reject the setting of attributes, as frozen dataclasses do.
_get_context = BaseException.__dict__["__context__"].__get__
_set_context = BaseException.__dict__["__context__"].__set__


def read_error(value: tuple[int, int, int], refused: tuple[Any, ...] | None) -> tuple[BaseException, bool]:
    """Return the exception for an error that the caller keeps alive, and whether Python raised it."""
    from_python = value[0] == code.ERROR and bool(Error.from_address(value[2]).handle)
    exception = unpack(value)
    if type(exception) in (KeyboardInterrupt, MemoryError) and not from_python:
        # The runtime treats a callback that never reached its first line as interrupted or out of memory, but
        # it may have been the end of the stack.
        platform.need_room_of_callback()
    if not isinstance(exception, BaseException):
        exception = _errors.unexplained()
    if refused is not None:
        explain(exception, refused)
    if _add_frames is not None and value[0] == code.ERROR:
        _add_frames(exception, _read_frames(value[2]))
    return exception, from_python


def raise_error(error: Any, refused: tuple[Any, ...] | None = None) -> NoReturn:
    """Release an error and raise its exception. `refused`: the rejected arguments, if it is about them."""
    try:
        exception, from_python = read_error(_value_of(error), refused)
    finally:
        # The error refers to the exception. If a frame of the traceback still referred to the error, that
        # would be a cycle that the garbage collector cannot see.
        release(error)
    context = _get_context(exception)
    try:
        raise exception
    finally:
        if from_python:
            # Keep its own context.
            _set_context(exception, context)
        # Its traceback refers to this frame, so this frame must not refer to it.
        del exception, context
