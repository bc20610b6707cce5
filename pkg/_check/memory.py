"""Reads the content of values in memory: facts, which are compared directly, and the values inside."""

from __future__ import annotations

import struct
from ctypes import sizeof, string_at
from typing import Any, Callable

from .._builtins import *  # noqa: F403
from .._ctypes import structs
from .._ctypes.abi import VALUE_SIZE
from .._rules.codes import code

__all__ = ["BORROWED", "HOLDERS", "WIDTHS", "Content", "contents", "read_borrowed", "read_counts"]

#: The compared parts of an object: facts, and the bytes of the values inside.
Content = tuple[tuple[Any, ...], bytes]

WIDTHS = (1, 1, 2, 4)  # of a code point, by AnyffiTextEncoding
_FLOAT = struct.Struct("=d")
_ENTRY_SIZE = 2 * VALUE_SIZE + 8  # AnyffiEntry: key, value, hash


def _read_str(address: int) -> Content:
    found = structs.Str.from_address(address)
    return (found.encoding, string_at(found.data, (found.length + 1) * WIDTHS[found.encoding])), b""


def _read_bytes(address: int) -> Content:
    found = structs.Bytes.from_address(address)
    return (0, string_at(found.data, found.length + 1)), b""


def _read_big_int(address: int) -> Content:
    found = structs.BigInt.from_address(address)
    return (found.negative, string_at(found.words, 8 * found.size)), b""


def _read_complex(address: int) -> Content:
    found = structs.Complex.from_address(address)
    return (_FLOAT.pack(found.real), _FLOAT.pack(found.imag)), b""


def _read_slice(address: int) -> Content:
    start = structs.Slice.start.offset
    return (), string_at(address + start, sizeof(structs.Slice) - start)


def _read_sequence(address: int) -> Content:
    found = structs.Sequence.from_address(address)
    size = found.size
    return (size, found.type_mask), string_at(found.data, VALUE_SIZE * size)


def _read_mapping(address: int) -> Content:
    """Read facts, and keys and values in turn."""
    found = structs.Mapping.from_address(address)
    used = found.used
    entries = string_at(found.entries, _ENTRY_SIZE * used)
    values = [entries[at : at + 2 * VALUE_SIZE] for at in range(0, len(entries), _ENTRY_SIZE)]
    return (found.size, used, found.key_type_mask, found.value_type_mask), b"".join(values)


def _read_tensor_view(address: int) -> tuple[Any, ...]:
    found = structs.TensorData.from_address(address)
    size = 8 * found.ndim
    shape, strides = string_at(found.shape, size), string_at(found.strides, size)
    element = found.code, found.bits, found.lanes
    return found.data, found.device_type, found.device_index, element, shape, strides, found.byte_offset


def _read_tensor(address: int) -> Content:
    found = structs.Tensor.from_address(address)
    return (*_read_tensor_view(address + structs.Tensor.tensor.offset), found.flags, found.owner), b""


def _read_error(address: int) -> Content:
    found = structs.Error.from_address(address)
    start, stop = structs.Error.kind.offset, structs.Error.handle.offset
    # The fields of an error for a Python exception are only filled when they are first read.
    return (found.handle,), b"" if found.handle else string_at(address + start, stop - start)


def _read_function(address: int) -> Content:
    found = structs.Function.from_address(address)
    return (found.call, found.handle), b""


def _read_py_object(address: int) -> Content:
    return (structs.PyObject.from_address(address).handle,), b""


def _read_box(address: int) -> Content:
    return (), string_at(address + structs.Box.value.offset, VALUE_SIZE)


#: Readers for the types of objects that a marshaller creates.
contents: dict[int, Callable[[int], Content]] = {
    code.BOX: _read_box,
    code.STR_OBJECT: _read_str,
    code.BYTES_OBJECT: _read_bytes,
    code.BIG_INT: _read_big_int,
    code.COMPLEX: _read_complex,
    code.SLICE: _read_slice,
    code.ERROR: _read_error,
    code.FUNCTION: _read_function,
    code.PY_OBJECT: _read_py_object,
    code.ARRAY: _read_sequence,
    code.LIST: _read_sequence,
    code.SHAPE: _read_sequence,
    code.MAP: _read_mapping,
    code.DICT: _read_mapping,
    code.FROZEN_SET: _read_mapping,
    code.SET: _read_mapping,
    code.TENSOR: _read_tensor,
}

#: The types whose objects contain values, also if they are empty.
HOLDERS = frozenset(
    type_code for type_code, read in contents.items() if read in (_read_sequence, _read_mapping, _read_slice)
)


def read_borrowed(type_code: int, aux: int, address: int) -> tuple[Any, ...]:
    """Read the memory to which a borrowed value points."""
    if type_code == code.TENSOR_VIEW:
        return _read_tensor_view(address)
    length, encoding = divmod(aux, 4)
    # Includes the terminating zero.
    return encoding, string_at(address, (length + 1) * WIDTHS[encoding])


BORROWED = (code.STR_VIEW, code.BYTES_VIEW, code.TENSOR_VIEW)


def read_counts(address: int) -> tuple[int, int]:
    header = structs.Header.from_address(address)
    return header.strong_count, header.weak_count
