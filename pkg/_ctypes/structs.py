"""Layouts of the C ABI's structs, as ctypes declares them."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
)

from .._typing import Any

__all__ = [
    "BigInt",
    "Box",
    "Bytes",
    "Complex",
    "Error",
    "ExchangeHooks",
    "Function",
    "FunctionInfo",
    "Header",
    "Host",
    "Mapping",
    "ParamInfo",
    "PyObject",
    "Sequence",
    "Slice",
    "Str",
    "Tensor",
    "TensorData",
    "TypeInfo",
    "Value",
    "address_of",
]


def address_of(function: Any) -> int:
    """Return the address of a C function, as stored in fields of structs."""
    return cast(function, c_void_p).value or 0


class Header(Structure):
    """AnyffiObject: the header of every object."""

    _fields_ = [
        ("type_code", c_int32),
        ("weak_count", c_uint32),
        ("strong_count", c_uint64),
        ("deleter", c_void_p),
        ("wrapper", c_void_p),
    ]


class Value(Structure):
    """AnyffiValue, as a field of another struct."""

    _fields_ = [("type_code", c_int32), ("aux", c_uint32), ("payload", c_int64)]


class Str(Structure):
    """AnyffiStrObject."""

    _fields_ = [
        ("header", Header),
        ("length", c_int64),
        ("encoding", c_int32),
        ("reserved", c_int32),
        ("hash", c_int64),
        ("data", c_void_p),
    ]


class Bytes(Structure):
    """AnyffiBytesObject."""

    _fields_ = [("header", Header), ("length", c_int64), ("hash", c_int64), ("data", c_void_p)]


class Sequence(Structure):
    """AnyffiSequence."""

    _fields_ = [
        ("header", Header),
        ("data", c_void_p),
        ("size", c_int64),
        ("capacity", c_int64),
        ("type_mask", c_uint64),
    ]


class Mapping(Structure):
    """AnyffiMapping."""

    _fields_ = [
        ("header", Header),
        ("entries", c_void_p),
        ("index", c_void_p),
        ("size", c_int64),
        ("used", c_int64),
        ("capacity", c_int64),
        ("index_mask", c_uint64),
        ("key_type_mask", c_uint64),
        ("value_type_mask", c_uint64),
        ("host_hash", c_int64),
    ]


class BigInt(Structure):
    """AnyffiBigInt."""

    _fields_ = [
        ("header", Header),
        ("negative", c_int32),
        ("reserved", c_int32),
        ("size", c_int64),
        ("words", c_void_p),
    ]


class Complex(Structure):
    """AnyffiComplex."""

    _fields_ = [("header", Header), ("real", c_double), ("imag", c_double)]


class Slice(Structure):
    """AnyffiSlice."""

    _fields_ = [("header", Header), ("start", Value), ("stop", Value), ("step", Value)]


class Error(Structure):
    """AnyffiError."""

    _fields_ = [
        ("header", Header),
        ("kind", Value),
        ("message", Value),
        ("traceback", Value),
        ("args", Value),
        ("cause", Value),
        ("handle", c_void_p),
    ]


class ParamInfo(Structure):
    """AnyffiParamInfo."""

    _fields_ = [("name", c_char_p), ("default_value", c_void_p), ("type_name", c_char_p)]


class FunctionInfo(Structure):
    """AnyffiFunctionInfo."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("name", c_char_p),
        ("doc", c_char_p),
        ("num_params", c_int32),
        ("num_required", c_int32),
        ("params", POINTER(ParamInfo)),
        ("result_type", c_char_p),
        ("try_call", c_void_p),
        ("exact_types", c_void_p),
        ("overloads", c_void_p),
        ("utf8_params", c_uint64),
        ("item_params", c_uint64),
        ("load_items", c_void_p),
        ("num_keyword_only", c_int32),
        ("reserved", c_int32),
        ("member_params", c_uint64),
        ("object_params", c_uint64),
        ("unsigned_params", c_uint64),
    ]


class Function(Structure):
    """AnyffiFunction."""

    _fields_ = [
        ("header", Header),
        ("call", c_void_p),
        ("self", c_void_p),
        ("release_self", c_void_p),
        ("info", POINTER(FunctionInfo)),
        ("handle", c_void_p),
    ]


class PyObject(Structure):
    """AnyffiPyObject."""

    _fields_ = [("header", Header), ("handle", c_void_p)]


class Box(Structure):
    """AnyffiBox."""

    _fields_ = [("header", Header), ("value", Value)]


class TensorData(Structure):
    """AnyffiTensorData."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_index", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("byte_offset", c_uint64),
    ]


class Tensor(Structure):
    """AnyffiTensor."""

    _fields_ = [("header", Header), ("tensor", TensorData), ("flags", c_uint64), ("owner", c_void_p)]


class TypeInfo(Structure):
    """AnyffiTypeInfo: only the fields that are read here."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("type_code", c_int32),
        ("family", c_int32),
        ("parent", c_int32),
        ("storage", c_int32),
        ("depth", c_int32),
        ("ancestors", POINTER(c_int32)),
        ("type_key", c_char_p),
    ]


class Host(Structure):
    """AnyffiHost; every hook as an address."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        *(
            (name, c_void_p)
            for name in (
                "lock",
                "unlock",
                "suspend",
                "resume",
                "handle_release",
                "handle_hash",
                "handle_equal",
                "handle_repr",
                "handle_type_name",
                "error_fill",
                "check_signals",
                "capsule_new",
                "capsule_is_valid",
                "capsule_get_pointer",
                "capsule_set_name",
                "handle_release_shared",
                "is_own_wrapper",
                "handle_convert",
                "handle_create",
                "wrapper_track",
                "wrapper_empty",
                "items_read",
                "items_write",
                "object_hash",
                "object_equal",
                "section_begin",
                "section_end",
                "section_object",
                "deferring_callback",
            )
        ),
    ]


class ExchangeHooks(Structure):
    """AnyffiExchangeApiHooks; every hook as an address."""

    _fields_ = [(name, c_void_p) for name in ("unwrap", "wrap", "set_error", "exception_class")]
