"""The C ABI as ctypes declares it: struct layouts and the functions of the library.

Type codes are read from the library, never written here.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

from .._library import find_library
from .._rules import codes as _types
from .._typing import Any, Callable

if sys.implementation.name == "cpython":
    from . import cpython as platform
else:
    from . import pypy as platform  # type: ignore[no-redef]

__all__ = ["VALUE", "VALUE_SIZE", "address_of", "library", "platform", "translate_error", "translates_errors"]

#: An AnyffiValue: type code, aux, and the payload as a signed word.
VALUE = struct.Struct("=iIq")
VALUE_SIZE = VALUE.size
#: What `c_api.h` calls ANYFFI_ABI_VERSION; the layouts below are those of this version.
_ABI_VERSION = 1


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
    """AnyffiValue, where it is a field of another struct."""

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
    """AnyffiTypeInfo: the fields that are read here."""

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
            )
        ),
    ]


class ExchangeHooks(Structure):
    """AnyffiExchangeApiHooks; every hook as an address."""

    _fields_ = [(name, c_void_p) for name in ("unwrap", "wrap", "set_error", "exception_class")]


_int, _object, _values = c_int32, c_void_p, c_void_p
#: Result and parameters of every function that is called.
_PROTOTYPES: dict[str, Any] = {
    "anyffi_abi_get_version": (c_int32,),
    "anyffi_recipe_build": (c_int32, _values, c_int32),
    "anyffi_recipe_create": (_int, _values, c_int32, _values),
    "anyffi_recipe_finalize": (None, c_void_p),
    "anyffi_recipe_release": (None, _values),
    "anyffi_big_int_create": (_int, c_void_p, c_int64, c_int32, _values),
    "anyffi_bytes_create": (_int, c_void_p, c_int64, _values),
    "anyffi_complex_create": (_int, c_double, c_double, _values),
    "anyffi_error_create_host": (_int, c_void_p, _values),
    "anyffi_error_set_raised": (None, _object),
    "anyffi_error_take_raised": (None, _values),
    "anyffi_function_call_recipe": (_int, c_void_p, _values, c_int32, _values),
    "anyffi_function_create_host": (_int, c_void_p, c_void_p, _values),
    "anyffi_function_call_wrapped": (_int, _object, c_void_p, c_void_p, _values, c_int32, _values),
    "anyffi_wrapper_claim": (c_int32, c_void_p, _object, c_void_p),
    "anyffi_wrapper_combine": (c_int32, c_void_p, c_void_p, c_int32, c_int32, _values),
    "anyffi_wrapper_compare": (c_int32, c_void_p, c_void_p, c_int32, c_int32),
    "anyffi_wrapper_compare_values": (c_int32, c_void_p, _values, c_int32, c_int32, c_int32),
    "anyffi_wrapper_count_elements": (c_int64, c_void_p, c_int32, _values),
    "anyffi_wrapper_find_element": (c_int64, c_void_p, c_int32, _values, c_int32, c_int32),
    "anyffi_wrapper_get_element": (c_int32, c_void_p, c_int32, c_int32, _values),
    "anyffi_wrapper_get_item": (c_int32, c_void_p, c_int32, _values, _values),
    "anyffi_wrapper_get_next": (c_int32, c_void_p, c_int32, c_int32, c_int32, c_int32, _values, _values),
    "anyffi_wrapper_get_size": (c_int64, c_void_p, c_int32),
    "anyffi_wrapper_has_key": (c_int32, c_void_p, c_int32, _values),
    "anyffi_wrapper_is_disjoint": (c_int32, c_void_p, c_void_p, c_int32),
    "anyffi_wrapper_set_element": (c_int32, c_void_p, c_int32, _values),
    "anyffi_wrapper_detach": (None, c_void_p),
    "anyffi_wrapper_attach": (None, c_void_p, _object, c_void_p),
    "anyffi_host_install": (None, c_void_p),
    "anyffi_container_copy": (_int, _values, c_int32, _values),
    "anyffi_mapping_create_from": (_int, c_int32, _values, c_int64, _values, c_void_p, c_void_p),
    "anyffi_mapping_find": (_int, _object, _values, c_void_p),
    "anyffi_mapping_get": (_int, _object, _values, _values),
    "anyffi_mapping_set": (_int, _object, _values, _values, c_void_p),
    "anyffi_object_compare_exchange_wrapper": (c_int32, _object, c_void_p, c_void_p),
    "anyffi_py_object_create": (_int, c_void_p, _values),
    "anyffi_registry_remove_host_functions": (None,),
    "anyffi_registry_find": (_int, _values, _values),
    "anyffi_sequence_create_from": (_int, c_int32, _values, c_int64, _values),
    "anyffi_sequence_erase": (_int, _object, c_int64, c_int64),
    "anyffi_sequence_find": (c_int64, _object, _values, c_int64, c_int64, c_void_p),
    "anyffi_sequence_get": (None, _object, c_int64, _values),
    "anyffi_sequence_slice": (_int, _object, c_int32, c_int64, c_int64, c_int64, _values),
    "anyffi_sequence_set": (_int, _object, c_int64, _values),
    "anyffi_slice_create": (_int, _values, _values, _values, _values),
    "anyffi_str_create": (_int, c_void_p, c_int64, c_int32, _values),
    "anyffi_tensor_from_capsule": (_int, c_void_p, _values),
    "anyffi_tensor_is_contiguous": (c_int32, c_void_p),
    "anyffi_tensor_create_exchange_api": (c_void_p, c_void_p),
    "anyffi_tensor_create_host": (_int, c_void_p, c_uint64, c_void_p, _values),
    "anyffi_type_get_info": (POINTER(TypeInfo), c_int32),
    "anyffi_type_is_a": (c_int32, c_int32, c_int32),
    "anyffi_type_list": (c_int32, c_void_p, c_int32),
    "anyffi_value_finalize": (None, c_void_p),
    "anyffi_value_move": (None, _values, _values),
    "anyffi_value_own": (_int, _values, _values),
    "anyffi_value_release": (None, _values),
    "anyffi_wrapper_finalize": (None, c_void_p),
    "anyffi_wrapper_get_buffer": (_int, c_void_p, c_void_p, c_int),
    "anyffi_wrapper_get_object": (_object, c_void_p),
    "anyffi_wrapper_set_layout": (None, c_void_p),
    "anyffi_wrapper_traverse": (_int, c_void_p, c_void_p, c_void_p),
    "anyffi_wrapper_clear": (_int, c_void_p),
}


def _load() -> Any:
    """Load the runtime; its functions are attributes without the prefix ``anyffi_``."""
    loaded = platform.load(find_library("anyffi"))

    class Library:
        """Functions of libanyffi."""

    for name, (result, *params) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = params
        setattr(Library, name[len("anyffi_") :], staticmethod(platform.guard(function)))
    return Library


def translate_error(exception: BaseException) -> BaseException:
    """Return the error behind an ArgumentError, which ctypes raises for any failure to convert an argument.

    No argument of ours has the wrong type, so memory or the stack ran out.
    """
    if type(exception) is not ctypes.ArgumentError:
        return exception
    if "MemoryError" in str(exception):
        return MemoryError()
    return RecursionError("maximum recursion depth exceeded")


def translates_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function raise the error behind an ArgumentError."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except ctypes.ArgumentError as error:
            translated = translate_error(error)
        # Out of the handler, so that the ArgumentError is not its context.
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


def _list_types() -> None:
    codes = (c_int32 * library.type_list(None, 0))()
    count = library.type_list(address_of(codes), len(codes))
    known = codes[: min(count, len(codes))]
    _types.fill([(code, library.type_get_info(code).contents.type_key.decode()) for code in known])


_list_types()
