"""16 bytes to Python values: one table from type code to reader, `rules.lift` for what is uncommon."""

from __future__ import annotations

import struct
import sys
from ctypes import string_at

from .._rules import errors as _errors
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable, NoReturn
from .abi import (
    VALUE,
    VALUE_SIZE,
    BigInt,
    Box,
    Bytes,
    Complex,
    Error,
    Function,
    Header,
    PyObject,
    Slice,
    Str,
    Value,
    library,
    platform,
)
from .cell import Cell, empty
from .wrapper import wrap

__all__ = ["drop_raised", "own", "raise_error", "raise_taken", "unpack", "unpack_copy", "unpack_owned"]

#: Code, the word beside it, and payload of a value.
_value_of = VALUE.unpack
_IN_PLACE = struct.Struct("=Iq")
_INLINE_BYTES = 11  # ANYFFI_INLINE_BYTES
_FLOAT = struct.Struct("=d")
_WORD = struct.Struct("=q")
_DATA_TYPE = struct.Struct("=BBH")
_DEVICE = struct.Struct("=ii")
#: The encoding of wide text, and where in four of its bytes the lower two lie.
_UTF32, _LOW = ("utf-32-le", 0) if sys.byteorder == "little" else ("utf-32-be", 2)

#: Width of a code point by AnyffiTextEncoding: ASCII, Latin-1, UCS2, UCS4.
_WIDTHS = (1, 1, 2, 4)


def _decode(data: bytes, encoding: int) -> str:
    if encoding < 2:
        return data.decode("latin-1")
    if encoding == 2:
        # Not as UTF-16: two surrogates that stand side by side would become one character.
        wide = bytearray(2 * len(data))
        wide[_LOW::4], wide[_LOW + 1 :: 4] = data[::2], data[1::2]
        return wide.decode(_UTF32, "surrogatepass")
    return data.decode(_UTF32, "surrogatepass")


def _read_inline_str(aux: int, payload: int) -> str:
    raw = _IN_PLACE.pack(aux, payload)
    encoding, spare = divmod(raw[11], 16)
    return _decode(raw[: (_INLINE_BYTES - spare) * _WIDTHS[encoding]], encoding)


def _read_inline_bytes(aux: int, payload: int) -> bytes:
    raw = _IN_PLACE.pack(aux, payload)
    return raw[: _INLINE_BYTES - raw[11] % 16]


def _read_text_view(aux: int, payload: int) -> str:
    length, encoding = divmod(aux, 4)
    return _decode(string_at(payload, length * _WIDTHS[encoding]), encoding)


def _read_tensor_view(aux: int, payload: int) -> Any:
    return unpack_owned(own(VALUE.pack(code.TENSOR_VIEW, aux, payload)))


def _lift_packed(type_code: int, fields: struct.Struct, payload: int) -> Any:
    return _rules.lift(type_code, fields.unpack_from(_WORD.pack(payload)))


#: Readers of what lies in place or is borrowed, given the word beside the code and the payload.
_in_place: dict[int, Callable[[int, int], Any]] = {
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
    code.DATA_TYPE: lambda aux, payload: _rules.lift(
        code.DATA_TYPE, _DATA_TYPE.unpack_from(_WORD.pack(payload))
    ),
    code.DEVICE: lambda aux, payload: _rules.lift(code.DEVICE, _DEVICE.unpack(_WORD.pack(payload))),
}


def _read_str(address: int) -> str:
    found = Str.from_address(address)
    return _decode(string_at(found.data, found.length * _WIDTHS[found.encoding]), found.encoding)


def _read_bytes(address: int) -> bytes:
    found = Bytes.from_address(address)
    return string_at(found.data, found.length)


def _read_big_int(address: int) -> int:
    found = BigInt.from_address(address)
    magnitude = string_at(found.words, _WORD.size * found.size)
    made: int = _rules.lift(code.BIG_INT, (magnitude, found.negative))
    return made


def _read_complex(address: int) -> complex:
    found = Complex.from_address(address)
    made: complex = _rules.lift(code.COMPLEX, (found.real, found.imag))
    return made


def _read_slice(address: int) -> slice:
    found = Slice.from_address(address)
    return slice(_read_field(found.start), _read_field(found.stop), _read_field(found.step))


def _read_error(address: int) -> Any:
    """The exception itself where it came from Python, else one that stands for the error."""
    found = Error.from_address(address)
    if found.handle:
        return platform.object_at(address + Error.handle.offset)
    args = _read_field(found.args)
    return _errors.make(
        _read_field(found.kind),
        _read_field(found.message),
        None if args is None else tuple(args),
        _read_field(found.cause),
    )


def _read_function(address: int) -> Any:
    if Function.from_address(address).handle:
        return platform.object_at(address + Function.handle.offset)
    return wrap(address)


#: Readers of objects that have no wrapper, given the address. They borrow.
_objects: dict[int, Callable[[int], Any]] = {
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
    """The Python value of a value that the caller keeps alive."""
    type_code, aux, payload = value
    if type_code <= 0:
        read = _in_place.get(type_code)
        return read(aux, payload) if read is not None else _rules.lift(type_code, None)
    reader = _objects.get(Header.from_address(payload).type_code, wrap)
    return reader(payload)


def unpack_owned(value: Any) -> Any:
    """The Python value of an owned value: of a cell, which is emptied, or of what needs none."""
    try:
        return unpack(_value_of(value))
    finally:
        if type(value) is not bytes:
            empty(value)


def unpack_copy(value: tuple[int, int, int]) -> Any:
    """The Python value of a borrowed value, which other code may let go meanwhile."""
    if value[0] <= 0:
        return unpack(value)
    cell = Cell(VALUE_SIZE)
    try:
        library.value_own(VALUE.pack(*value), cell)
        return unpack(_value_of(cell))
    finally:
        empty(cell)


def _read_field(field: Value) -> Any:
    return unpack_copy((field.type_code, field.aux, field.payload))


def own(value: bytes) -> Any:
    """A cell with a copy of a borrowed value."""
    cell = Cell(VALUE_SIZE)
    if library.value_own(value, cell) != 0:
        raise_taken()
    return cell


def drop_raised() -> None:
    """Drops the error that a function of the C ABI left, if there is one."""
    cell = Cell(VALUE_SIZE)
    library.error_take_raised(cell)
    empty(cell)


def raise_taken() -> NoReturn:
    """Raises the error that a function of the C ABI left."""
    cell = Cell(VALUE_SIZE)
    try:
        library.error_take_raised(cell)
        raise_error(_value_of(cell))
    finally:
        empty(cell)


def raise_error(value: tuple[int, int, int]) -> NoReturn:
    """Raises the exception of an error that the caller keeps alive."""
    from_python = value[0] == code.ERROR and bool(Error.from_address(value[2]).handle)
    exception = unpack(value)
    if type(exception) is KeyboardInterrupt and not from_python:
        # The runtime takes a callback that did not get as far as its first line for an interrupted one, but
        # it may also have been one level too deep.
        platform.need_room_of_callback()
    if not isinstance(exception, BaseException):
        exception = _errors.unexplained()
    context = exception.__context__
    try:
        raise exception
    finally:
        if from_python:
            # It has been raised before: its context is to stay as it is.
            exception.__context__ = context
        # The exception's traceback holds this frame, which must not hold the exception.
        del exception, context
