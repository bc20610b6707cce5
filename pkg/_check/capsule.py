"""Capsules of DLPack, which only one marshaller can open."""

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

from .._ctypes.abi import TensorData

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
#: Names of capsules, which are to live as long as these, and what lies in them.
_FORMS: tuple[tuple[bytes, Any], ...] = ((b"dltensor_versioned", _Managed), (b"dltensor", _Legacy))

_is_valid = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", pythonapi))
_get_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))


def copy_capsule(capsule: Any) -> tuple[Any, Any, int]:
    """A capsule with a struct that says the same and owns nothing.

    Returns
    -------
    (object, ctypes.Structure, int)
        The capsule; its struct, which is to outlive what is made of it; and where the one that it was copied
        from lies. What holds no tensor, or one of an unknown version, is returned as it is.
    """
    for name, form in _FORMS:
        if _is_valid(capsule, name):
            address = _get_pointer(capsule, name)
            copy = form()
            if form is _Managed and form.from_address(address).major != _MAJOR:
                # Another version lies elsewhere behind what says so, and will be refused.
                memmove(addressof(copy), address, form.flags.offset)
            else:
                memmove(addressof(copy), address, sizeof(form))
            copy.deleter = None
            return _new(addressof(copy), name, None), copy, address
    return capsule, None, 0
