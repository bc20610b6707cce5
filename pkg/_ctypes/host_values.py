"""Lets the runtime read Python's own numbers, text and containers: a whole list in one call."""

from __future__ import annotations

import ctypes
from ctypes import PYFUNCTYPE, c_int32, c_uint32, c_void_p

from .._builtins import *  # noqa: F403
from .._rules.decisions import MAX_DEPTH
from .._typing import Any, Callable
from . import layout
from .structs import address_of

__all__ = ["value_readers"]

_api = ctypes.pythonapi


class _HostValues(ctypes.Structure):
    """AnyffiHostValues; every function as an address."""

    _fields_ = (
        *(
            (name, c_uint32)
            for name in (
                *("struct_size", "class_offset", "count_offset", "count_size"),
                *("size_offset", "bytes_offset", "tuple_offset", "list_offset"),
                *("length_offset", "state_offset", "width_shift", "ascii_offset", "text_offset"),
            )
        ),
        ("max_depth", c_int32),
        *(
            (name, c_void_p)
            for name in (
                *("none", "true_object", "bool_class", "int_class", "float_class", "complex_class"),
                *("text_class", "bytes_class", "tuple_class", "list_class", "dict_class"),
                *("read_int", "read_float", "read_real", "read_imag", "dict_size", "dict_next"),
            )
        ),
    )


def _declare(library: Any) -> None:
    declared = _HostValues(
        struct_size=ctypes.sizeof(_HostValues),
        class_offset=layout.TYPE,
        count_offset=layout.COUNT,
        count_size=layout.COUNT_SIZE,
        size_offset=layout.SIZE,
        bytes_offset=layout.BYTES,
        tuple_offset=layout.TUPLE,
        list_offset=layout.LIST,
        length_offset=layout.LENGTH,
        state_offset=layout.STATE,
        width_shift=layout.KIND,
        ascii_offset=layout.ASCII,
        text_offset=layout.COMPACT,
        max_depth=MAX_DEPTH,
        none=id(None),
        true_object=id(True),
        bool_class=id(bool),
        int_class=id(int),
        float_class=id(float),
        complex_class=id(complex),
        text_class=id(str),
        bytes_class=id(bytes),
        tuple_class=id(tuple),
        list_class=id(list),
        dict_class=id(dict),
        read_int=address_of(_api.PyLong_AsLongLongAndOverflow),
        read_float=address_of(_api.PyFloat_AsDouble),
        read_real=address_of(_api.PyComplex_RealAsDouble),
        read_imag=address_of(_api.PyComplex_ImagAsDouble),
        dict_size=address_of(_api.PyDict_Size),
        dict_next=address_of(_api.PyDict_Next),
    )
    library.host_declare_values(ctypes.addressof(declared))


def value_readers(library: Any) -> tuple[Callable[..., int], Callable[..., int] | None]:
    """Return `anyffi_host_write_items` and `anyffi_host_create_object`.

    The second is None if other threads may change containers during the call.
    """
    _declare(library)
    write = PYFUNCTYPE(c_int32)(address_of(library.host_write_items))
    create = PYFUNCTYPE(c_int32)(address_of(library.host_create_object))
    return write, None if layout.FREE_THREADED else create
