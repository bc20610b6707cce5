"""Tensors and NumPy's arrays: every dtype, any layout, without a copy."""

from __future__ import annotations

import sys
from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from support import get_testing_function
from tensors import CPYTHON, PADDED, address, make, ml_dtypes, read_only


@pytest.mark.parametrize("name", cases.DLPACK)
def test_arrays_of_every_dtype(ffi: Any, name: str) -> None:
    tensor = make(ffi, dtype=name)
    array = np.asarray(tensor)
    assert array.dtype == np.dtype(name)
    assert array.flags.writeable
    assert address(array) == tensor.data_ptr()
    assert np.asarray(tensor.__array__()).dtype == array.dtype
    assert get_testing_function(ffi, "tensor.empty")((2, 3), anyffi.dtype(name)).strides == (3, 1)


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


def test_numpy_derives_dtypes_from_tensors(ffi: Any) -> None:
    extended = () if ml_dtypes is None else (ml_dtypes.bfloat16,)
    for expected in map(np.dtype, ("?", "i2", "f4", "c16", *extended)):
        tensor = make(ffi, dtype=expected.name)
        assert tensor.__numpy_dtype__ == expected
        if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # earlier ones do not know the attribute
            assert np.result_type(tensor) == expected


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
    assert not hasattr(tensor, "__numpy_dtype__")
    assert tensor.dtype == dtype
    assert get_testing_function(ffi, "echo")(tensor) is tensor


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


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes only supports CPython")
def test_arrays_of_ml_dtypes(ffi: Any) -> None:
    for cls in vars(ml_dtypes).values():
        if not isinstance(cls, type) or not issubclass(cls, np.generic) or cls.__name__ == "bcomplex32":
            continue
        plain = np.arange(1, 7).astype(cls).reshape(2, 3)
        # Twice: the second array of a dtype takes a fast path.
        for x in (
            plain,
            plain,
            plain[::-1],
            plain.T,
            plain[:, ::2],
            plain[:0],
            plain[0, 0, ...],
            read_only(plain[:]),
        ):
            tensor = get_testing_function(ffi, "echo")(x)
            assert tensor.dtype == x.dtype
            assert get_testing_function(ffi, "describe")(plain).endswith("padded)") == bool(
                tensor.dtype.bits % 8
            )
            for back in (np.asarray(tensor), tensor.__array__()):
                assert back.dtype == x.dtype
                assert back.flags.writeable == x.flags.writeable
                if x.size:
                    assert back.strides == x.strides
                    assert address(back) == address(x)
                assert np.array_equal(back.astype("c8"), x.astype("c8"), equal_nan=True)


def test_subclasses_of_ndarray(ffi: Any) -> None:
    class Plain(np.ndarray):  # type: ignore[type-arg]
        """Overrides attributes that the conversion does not read."""

        shape = strides = dtype = flags = property(lambda self: 5)

    class Exporting(np.ndarray):  # type: ignore[type-arg]
        def __dlpack__(self, **options: Any) -> Any:
            return base.__dlpack__(**options)

    class Valued(np.ndarray):  # type: ignore[type-arg]
        def __anyffi_value__(self) -> Any:
            return "value"

    class Late(np.ndarray):  # type: ignore[type-arg]
        pass

    base, echo = np.arange(6, dtype="i2").reshape(2, 3)[::-1], get_testing_function(ffi, "echo")
    writable, fixed = base.view(Plain), read_only(base.view())
    for _ in range(3):
        for given in (writable, [writable], {"k": writable}):
            result = echo(given)
            tensor = result if given is writable else result[0] if type(given) is list else result["k"]
            assert (tensor.shape, tensor.strides, tensor.dtype) == ((2, 3), (-3, 1), "int16")
            assert tensor.data_ptr() == address(base)
            assert np.asarray(tensor).flags.writeable
        assert not np.asarray(echo(fixed.view(Plain))).flags.writeable
        assert not np.asarray(echo(fixed)).flags.writeable
        assert echo(np.zeros(2).view(Exporting)).shape == (2, 3)
        assert echo(np.zeros(2).view(Valued)) == "value"
        assert echo(np.zeros(2).view(Late)).shape == (2,)
        assert echo([np.zeros(2), np.zeros(2).view(Late), np.zeros(2, "f4")])[2].dtype == "float32"
    Late.__anyffi_value__ = lambda self: 7  # type: ignore[attr-defined]
    assert echo(np.zeros(2).view(Late)) == 7
    assert echo([np.zeros(2).view(Late)]) == [7]
    with pytest.raises(TypeError, match="has no DLPack code"):
        echo(np.zeros(2, "V3").view(Plain))
    with pytest.raises(TypeError, match="has no DLPack code"):
        echo([np.zeros(2), np.zeros(2, ">f8")])


def test_arrays_in_containers(ffi: Any) -> None:
    x, nop = np.zeros((2, 3)), get_testing_function(ffi, "nop")
    before = sys.getrefcount(x) if CPYTHON else 0
    for _ in range(4):
        result = get_testing_function(ffi, "echo")([x, (x, x.T), {"k": x[:1]}, read_only(x.view())])
        assert result[0].shape == (2, 3)
        assert not result[0].same_as(result[1][0])
        assert result[1][1].strides == (1, 3)
        assert result[2]["k"].shape == (1, 3)
        assert np.asarray(result[0]).flags.writeable
        assert not np.asarray(result[3]).flags.writeable
        nop([x, x], x, {"a": [x]})
        with pytest.raises(TypeError):
            nop([x, np.zeros(1, "O")])
        with pytest.raises(ZeroDivisionError):
            nop([x, [x]], cases.REFUSED)
        assert get_testing_function(ffi, "apply")(lambda a: [a, x], [x])[1].data_ptr() == address(x)
        del result
    if CPYTHON:
        assert sys.getrefcount(x) == before


def test_classes_as_dtypes(ffi: Any) -> None:
    """NumPy uses dtype object for a class that it does not know."""
    for cls in (ffi.List, ffi.Tensor, ffi.Function):
        assert np.dtype(cls) == object


def test_masked_arrays(ffi: Any) -> None:
    """Refused if elements are masked, since these would become numbers."""
    total = ffi.get_global_func("testing.tensor.sum")
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    for given in (masked, [masked], {"k": masked}):
        with pytest.raises(
            TypeError, match=r"elements of the MaskedArray are masked; pass its \.filled\(value\)"
        ):
            ffi.convert(given)
    assert total(masked.compressed()) == 2
    assert total(masked.filled(5)) == 7
    assert total(np.ma.array([1.0, 2.0])) == 3
    assert total(np.ma.array([1.0, 2.0], mask=[False, False])) == 3
