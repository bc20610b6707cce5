"""DLPack's C exchange API of `anyffi.Tensor`, called as compiled code calls it."""

from __future__ import annotations

import ctypes
import gc
import weakref
from ctypes import (
    POINTER,
    PYFUNCTYPE,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import numpy as np
import pytest
from support import CPYTHON, cpython_only

pytestmark = cpython_only("compiled code knows no addresses of objects on PyPy")


class Watched(np.ndarray):  # type: ignore[type-arg]
    """An array with weak references."""


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(ctypes.c_int64)),
        ("strides", POINTER(ctypes.c_int64)),
        ("byte_offset", c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Managed._fields_ = [
    ("major", c_uint32),
    ("minor", c_uint32),
    ("context", c_void_p),
    ("deleter", PYFUNCTYPE(None, POINTER(Managed)) if CPYTHON else c_void_p),
    ("flags", c_uint64),
    ("tensor", DLTensor),
]

if CPYTHON:
    SET_ERROR = PYFUNCTYPE(None, c_void_p, c_char_p, c_char_p)

    class Table(ctypes.Structure):
        _fields_ = [
            ("major", c_uint32),
            ("minor", c_uint32),
            ("former", c_void_p),
            (
                "allocate",
                PYFUNCTYPE(c_int, POINTER(DLTensor), POINTER(POINTER(Managed)), c_void_p, SET_ERROR),
            ),
            ("export", PYFUNCTYPE(c_int, ctypes.py_object, POINTER(POINTER(Managed)))),
            ("take", PYFUNCTYPE(c_int, POINTER(Managed), POINTER(c_void_p))),
            ("borrow", PYFUNCTYPE(c_int, ctypes.py_object, POINTER(DLTensor))),
            ("get_stream", PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))),
        ]


def table_of(cls: Any) -> Any:
    capsule = cls.__dlpack_c_exchange_api__
    get_pointer = PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return Table.from_address(get_pointer(capsule, b"dlpack_exchange_api"))


@pytest.fixture
def table(ffi: Any) -> Any:
    return table_of(ffi.Tensor)


def export(table: Any, tensor: Any) -> Any:
    managed = POINTER(Managed)()
    assert table.export(tensor, byref(managed)) == 0
    return managed


def take(table: Any, managed: Any) -> Any:
    """Create an object from a managed tensor, whose reference is stolen; return a new reference."""
    made = c_void_p()
    assert table.take(managed, byref(made)) == 0
    tensor = ctypes.cast(made, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(tensor))
    return tensor


def read(tensor: DLTensor) -> Any:
    shape = tensor.shape[: tensor.ndim]
    return tensor.data, shape, tensor.strides[: tensor.ndim], (tensor.code, tensor.bits, tensor.lanes)


def test_the_table(ffi: Any, table: Any) -> None:
    assert (table.major, table.minor, table.former) == (1, 3, None)
    assert ffi.Tensor.__dlpack_c_exchange_api__ is ffi.Tensor.__dlpack_c_exchange_api__
    own = type("Own", (ffi.Tensor,), {})
    assert own.__dlpack_c_exchange_api__ is ffi.Tensor.__dlpack_c_exchange_api__
    stream = c_void_p(5)
    assert table.get_stream(2, 1, byref(stream)) == 0
    assert stream.value is None


def test_each_backend_has_its_own_table(both: tuple[Any, Any]) -> None:
    first, second = (table_of(ffi.Tensor) for ffi in both)
    assert ctypes.addressof(first) != ctypes.addressof(second)
    for ffi in both:
        tensor = ffi.convert(np.arange(3.0))
        managed = export(table_of(ffi.Tensor), tensor)
        managed.contents.deleter(managed)


def test_a_managed_tensor_of_a_tensor(ffi: Any, table: Any) -> None:
    array = np.arange(6, dtype="i2").reshape(2, 3).T.view(Watched)
    gone, address = weakref.ref(array), array.ctypes.data
    tensor = ffi.convert(array)
    managed = export(table, tensor)
    del array, tensor
    gc.collect()
    assert gone() is not None
    share = managed.contents
    assert (share.major, share.flags) == (1, 0)
    assert (share.tensor.device_type, share.tensor.device_id, share.tensor.byte_offset) == (1, 0, 0)
    assert read(share.tensor) == (address, [3, 2], [1, 3], (0, 16, 1))
    share.deleter(managed)
    gc.collect()
    assert gone() is None


def test_flags_are_exported(ffi: Any, table: Any) -> None:
    array = np.zeros(2)
    array.flags.writeable = False
    managed = export(table, ffi.convert(array))
    assert managed.contents.flags == 1
    back = take(table, managed)
    assert type(back) is ffi.Tensor
    assert not np.asarray(back).flags.writeable


def test_a_tensor_of_a_managed_tensor(ffi: Any, table: Any) -> None:
    array = np.arange(4.0).view(Watched)
    gone = weakref.ref(array)
    made = take(table, export(table, ffi.convert(array)))
    assert type(made) is ffi.Tensor
    assert np.shares_memory(np.asarray(made), array)
    del array
    gc.collect()
    assert np.asarray(made).tolist() == [0, 1, 2, 3]
    assert ffi.get_global_func("testing.tensor.sum")(made) == 6
    del made
    gc.collect()
    assert gone() is None


def test_borrowed(ffi: Any, table: Any) -> None:
    array = np.arange(6.0)[::-2]
    tensor, out = ffi.convert(array), DLTensor()
    assert table.borrow(tensor, byref(out)) == 0
    assert read(out) == (array.ctypes.data, [3], [-2], (2, 64, 1))
    array = np.zeros(2)
    array.flags.writeable = False
    with pytest.raises(BufferError, match="cannot express read-only memory"):
        table.borrow(ffi.convert(array), byref(out))


def test_other_objects_are_refused(ffi: Any, table: Any) -> None:
    empty, managed, out = ffi.Tensor.__new__(ffi.Tensor), POINTER(Managed)(), DLTensor()
    for wrong in (empty, ffi.List([1])):
        with pytest.raises(BufferError, match="expected a Tensor that is not empty"):
            table.export(wrong, byref(managed))
        with pytest.raises(BufferError, match="expected a Tensor that is not empty"):
            table.borrow(wrong, byref(out))
    assert not managed


def test_an_invalid_managed_tensor(ffi: Any, table: Any) -> None:
    managed = export(table, ffi.convert(np.zeros(2)))
    managed.contents.major = 2
    made = c_void_p()
    with pytest.raises(
        BufferError, match=r"DLPack 2\.3, which is not supported: the newest known version is 1\.3"
    ):
        table.take(managed, byref(made))
    assert made.value is None


@pytest.mark.parametrize(("bits", "lanes"), [(0, 1), (32, 0), (0, 0)])
def test_elements_without_a_size(ffi: Any, table: Any, bits: int, lanes: int) -> None:
    array = np.zeros(2).view(Watched)
    gone = weakref.ref(array)
    managed = export(table, ffi.convert(array))
    managed.contents.tensor.bits, managed.contents.tensor.lanes = bits, lanes
    made = c_void_p()
    with pytest.raises(
        BufferError, match=f"^the tensor has elements of {bits} bits and {lanes} lanes; both are at least 1$"
    ):
        table.take(managed, byref(made))
    assert made.value is None
    del array
    gc.collect()
    assert gone() is None


def test_new_tensors(ffi: Any, table: Any) -> None:
    shape = (ctypes.c_int64 * 2)(3, 2)
    like = DLTensor(None, 1, 0, 2, 2, 32, 1, shape, None, 0)
    managed, errors = POINTER(Managed)(), []
    set_error = SET_ERROR(lambda context, kind, message: errors.append((context, kind, message)))
    assert table.allocate(byref(like), byref(managed), 7, set_error) == 0
    made = take(table, managed)
    assert (made.shape, made.strides, str(made.dtype)) == ((3, 2), (2, 1), "float32")
    shape[0] = -1
    assert table.allocate(byref(like), byref(managed), 7, set_error) == -1
    like.device_type = 2
    assert table.allocate(byref(like), byref(managed), 8, set_error) == -1
    assert not managed
    (context, kind, message), last = errors
    assert (context, kind) == (7, b"ValueError")
    assert b"negative" in message
    assert last == (8, b"BufferError", b"tensors can be allocated on the CPU only")
