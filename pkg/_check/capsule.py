"""Copies of DLPack capsules, because only one of the marshallers can consume a capsule."""

from __future__ import annotations

from ctypes import (
    PYFUNCTYPE,
    Structure,
    addressof,
    c_char_p,
    c_int,
    c_uint32,
    c_uint64,
    c_void_p,
    memmove,
    py_object,
    pythonapi,
    sizeof,
)
from typing import Any

from .._builtins import *  # noqa: F403
from .._ctypes.structs import TensorData

__all__ = ["copy_capsule"]


class _Managed(Structure):
    """AnyffiManagedTensor."""

    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", TensorData),
    ]


class _Legacy(Structure):
    """AnyffiLegacyTensor."""

    _fields_ = [("tensor", TensorData), ("context", c_void_p), ("deleter", c_void_p)]


_MAJOR = 1
#: Names of capsules, which point to these bytes, and the structs in them.
_FORMS: tuple[tuple[bytes, Any], ...] = ((b"dltensor_versioned", _Managed), (b"dltensor", _Legacy))

_is_valid = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", pythonapi))
_get_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))


def copy_capsule(capsule: Any) -> tuple[Any, Any, int]:
    """Copy a capsule and its struct; the copy owns nothing.

    Returns
    -------
    (object, ctypes.Structure, int)
        The copy; its struct, which must outlive the tensor made from it; and the address of the original
        struct. Any other object is returned unchanged, with None and 0.
    """
    for name, form in _FORMS:
        if _is_valid(capsule, name):
            address = _get_pointer(capsule, name)
            copy = form()
            if form is _Managed and form.from_address(address).major != _MAJOR:
                # A capsule of another version is refused; after these fields its layout differs.
                memmove(addressof(copy), address, form.flags.offset)
            else:
                memmove(addressof(copy), address, sizeof(form))
            copy.deleter = None
            return _new(addressof(copy), name, None), copy, address
    return capsule, None, 0
