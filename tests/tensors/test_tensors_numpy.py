"""Tensors and NumPy's arrays: every dtype, any layout, without a copy."""

from __future__ import annotations

from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from tensors import PADDED, address, function, make, ml_dtypes


@pytest.mark.parametrize("name", cases.DLPACK)
def test_arrays_of_every_dtype(ffi: Any, name: str) -> None:
    tensor = make(ffi, dtype=name)
    array = np.asarray(tensor)
    assert array.dtype == np.dtype(name)
    assert array.flags.writeable
    assert address(array) == tensor.data_ptr()
    assert np.asarray(tensor.__array__()).dtype == array.dtype
    assert function(ffi, "tensor.empty")((2, 3), anyffi.dtype(name)).strides == (3, 1)


def test_offsets_and_strides(ffi: Any) -> None:
    tensor = make(ffi, (2, 3), "int16", strides=(1, 2), byte_offset=4)
    array = np.asarray(tensor)
    assert array.strides == (2, 4)
    assert address(array) == tensor.data_ptr()
    assert tensor.data_ptr() % 8 == 4  # memory of C is aligned
    assert not tensor.is_contiguous()
    assert make(ffi, (2, 0, 3), strides=(9, 9, 9)).is_contiguous()
    assert make(ffi, (1, 3), strides=(77, 1)).is_contiguous()


def test_conversion_during_the_call(ffi: Any) -> None:
    tensor = make(ffi, dtype="int8")
    assert np.asarray(tensor, dtype="f4").dtype == np.float32
    assert tensor.__array__("f4").dtype == np.float32
    assert not np.shares_memory(tensor.__array__(copy=True), np.asarray(tensor))
    assert np.shares_memory(tensor.__array__(copy=False), np.asarray(tensor))
    assert not np.shares_memory(np.array(tensor), np.asarray(tensor))
    with pytest.raises(ValueError, match="without a copy"):
        tensor.__array__("f4", copy=False)


@pytest.mark.parametrize(
    ("dtype", "more"),
    [
        ("float32x4", {}),
        ("float128", {}),
        ("handle", {}),
        ("int4", {}),
        ("uint1", {"flags": PADDED}),
        ("float8_e4m3fnx2", {}),
        ("code200_8", {}),
        ("float4_e2m1fn", {}),
    ],
)
def test_dtypes_unknown_to_numpy(ffi: Any, dtype: str, more: Any) -> None:
    tensor = make(ffi, dtype=dtype, **more)
    assert not hasattr(tensor, "__array_interface__")
    if dtype == "uint1" and hasattr(ml_dtypes, "uint1"):
        return
    reason = f"NumPy has no dtype for {dtype}"
    if dtype in ("int4", "float4_e2m1fn"):
        reason = f"elements of {dtype} share bytes, and those of NumPy's arrays do not"
    with pytest.raises(TypeError, match=reason):
        np.asarray(tensor)
    assert tensor.dtype == dtype
    assert function(ffi, "echo")(tensor) is tensor


def test_memory_of_other_devices(ffi: Any) -> None:
    for number in DLDeviceType:
        tensor = make(ffi, device=Device(number, 3))
        assert tensor.device == Device(number, 3)
        assert tensor.__dlpack_device__() == (number, 3)
        assert str(tensor.device) in repr(tensor)
        if number in (
            DLDeviceType.kDLCPU,
            DLDeviceType.kDLCUDAHost,
            DLDeviceType.kDLROCMHost,
            DLDeviceType.kDLCUDAManaged,
        ):
            assert np.asarray(tensor).shape == (2, 2)
            continue
        with pytest.raises(
            TypeError, match=f"a tensor on {tensor.device} is not in memory that NumPy can read"
        ):
            np.asarray(tensor)
        with pytest.raises(BufferError, match="cannot be copied by the CPU"):
            tensor.__dlpack__(copy=True)


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes is made for CPython alone")
def test_arrays_of_ml_dtypes(ffi: Any) -> None:
    for cls in vars(ml_dtypes).values():
        if not isinstance(cls, type) or not issubclass(cls, np.generic) or cls.__name__ == "bcomplex32":
            continue
        x = np.arange(1, 7).astype(cls).reshape(2, 3)[::-1]
        tensor = function(ffi, "echo")(x)
        assert tensor.dtype == x.dtype
        assert function(ffi, "describe")(x).endswith("padded)") == bool(tensor.dtype.bits % 8)
        back = np.asarray(tensor)
        assert back.dtype == x.dtype
        assert back.strides == x.strides
        assert address(back) == address(x)
        assert np.array_equal(back.astype("c8"), x.astype("c8"), equal_nan=True)
