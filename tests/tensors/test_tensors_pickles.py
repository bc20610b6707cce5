"""Pickles of tensors in every protocol, and out of band."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import anyffi
import numpy as np
import pytest
from pickles import PROTOCOLS, every_protocol, tensor_of, through
from support import cpython_only

ARRAYS = {
    "one axis": np.arange(5.0),
    "two axes": np.arange(6, dtype="int16").reshape(2, 3),
    "no axis": np.array(7, dtype="uint8"),
    "empty": np.zeros((2, 0, 3)),
    "strided": np.arange(24).reshape(4, 6)[::2, ::-3],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "bool": np.array([True, False]),
    "complex": np.array([1 - 2j]),
}
every_array = pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)


@every_protocol
@every_array
@pytest.mark.parametrize("read_only", [False, True])
def test_tensors(ffi: Any, array: Any, read_only: bool, protocol: int) -> None:
    source = array.copy() if array.flags.c_contiguous else array
    if read_only:
        source = source[...]
        source.flags.writeable = False
    x = tensor_of(ffi, source)
    for made in (through(x, protocol), copy.copy(x), copy.deepcopy(x)):
        assert type(made) is anyffi.Tensor
        assert made.is_contiguous()
        assert made.data_ptr() != x.data_ptr() or array.size == 0
        got = np.asarray(made)
        assert (got.dtype, got.shape) == (array.dtype, array.shape)
        assert (got == array).all()
        assert got.flags.writeable is not read_only


def buffers_of(x: Any) -> tuple[bytes, list[Any]]:
    buffers: list[Any] = []
    return pickle.dumps(x, 5, buffer_callback=buffers.append), buffers


@every_array
def test_a_tensor_is_pickled_out_of_band(ffi: Any, array: Any) -> None:
    x = tensor_of(ffi, array)
    data, (buffer,) = buffers_of(x)
    assert bytes(buffer.raw()) == array.tobytes()
    # The buffers are copied to other memory, writable or not.
    for carry in (bytearray, bytes):
        made = pickle.loads(data, buffers=[carry(buffer.raw())])
        np.testing.assert_array_equal(np.asarray(made), array)
        np.asarray(made)[...] = 0  # writable, and not shared
    np.testing.assert_array_equal(np.asarray(x), array)
    assert not buffer.raw().readonly
    buffer.release()
    read_only = array.copy()
    read_only.flags.writeable = False
    _, (buffer,) = buffers_of(tensor_of(ffi, read_only))
    assert buffer.raw().readonly
    buffer.release()


@cpython_only("PyPy does not keep a buffer where it is while ctypes uses it: the tensor is made of a copy")
def test_memory_out_of_band_is_shared(ffi: Any) -> None:
    array = np.zeros(1000)
    x = tensor_of(ffi, array)
    data, buffers = buffers_of([x, ffi.List([x])])
    assert len(data) < 500
    (buffer,) = buffers
    there = bytearray(buffer.raw())
    first, (second,) = pickle.loads(data, buffers=[there])
    assert first is second
    np.asarray(first)[3] = 1.5
    assert np.frombuffer(there)[3] == 1.5
    with pytest.raises(BufferError):
        there.clear()
    # In one process nothing is copied at all.
    same, _ = pickle.loads(data, buffers=buffers)
    assert same.data_ptr() == x.data_ptr()
    del first, second
    there.clear()


def test_the_memory_lives_as_long_as_its_buffer(ffi: Any) -> None:
    x = tensor_of(ffi, np.arange(1000.0))
    data, (buffer,) = buffers_of(x)
    del x
    np.testing.assert_array_equal(np.frombuffer(buffer), np.arange(1000.0))
    made = pickle.loads(data, buffers=[buffer])
    del buffer
    np.testing.assert_array_equal(np.asarray(made), np.arange(1000.0))


@every_protocol
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int4"])
def test_tensors_of_extended_types(ffi: Any, name: str, protocol: int) -> None:
    ml_dtypes = pytest.importorskip(
        "ml_dtypes", reason="needs ml_dtypes; NumPy's own dtypes have other tests"
    )
    x = tensor_of(ffi, np.arange(5).astype(getattr(ml_dtypes, name)))
    made = through(x, protocol)
    assert made.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(made).astype(float), np.asarray(x).astype(float))


def test_memory_that_begins_elsewhere(ffi: Any) -> None:
    x = ffi.get_global_func("testing.tensor.make")((2, 2), anyffi.dtype("int64"), byte_offset=8)
    np.asarray(x)[...] = [[1, 2], [3, 4]]
    for protocol in PROTOCOLS:
        assert np.asarray(through(x, protocol)).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("name", "size"), [("int4", 2), ("float32x4", 64), ("bool", 4)])
def test_bytes_of_what_is_no_dtype_of_numpy(ffi: Any, name: str, size: int) -> None:
    x = ffi.get_global_func("testing.tensor.make")((2, 2), anyffi.dtype(name))
    made = through(x, 5)
    assert (made.shape, made.dtype, made.strides) == (x.shape, x.dtype, (2, 1))
    _, (buffer,) = buffers_of(x)
    assert len(buffer.raw()) == size
    buffer.release()


def test_what_cannot_be_pickled(ffi: Any) -> None:
    make = ffi.get_global_func("testing.tensor.make")
    with pytest.raises(TypeError, match="^cannot pickle a tensor on cuda:1$"):
        pickle.dumps(make((2,), anyffi.dtype("float32"), device=anyffi.Device("cuda:1")))
    with pytest.raises(BufferError, match="int4 share bytes"):
        pickle.dumps(make((2, 2), anyffi.dtype("int4"), strides=(1, 2)))


@pytest.mark.parametrize(
    ("data_type", "shape", "message"),
    [
        ("float32", (3,), "a tensor of 12 bytes cannot be made of 8 bytes"),
        ("float64", (2,), "a tensor of 16 bytes cannot be made of 8 bytes"),
        ("float32", (-1, -2), "negative"),
        ("int4", (5,), "a tensor of 3 bytes cannot be made of 8 bytes"),
        ("nonsense", (2,), "unknown name"),
        ("float32", (0, 2**63), r"ints of 64 bits, not \(0, 9223372036854775808\)$"),
        ("float32", (2.0,), r"ints of 64 bits, not \(2.0,\)$"),
        ("float32", ("a", None), r"ints of 64 bits, not \('a', None\)$"),
    ],
)
def test_a_description_that_does_not_fit(data_type: str, shape: Any, message: str) -> None:
    from anyffi._pickling import unpickle_tensor

    for content in (bytes(8), bytearray(8)):
        with pytest.raises(ValueError, match=message):
            unpickle_tensor(content, data_type, shape, 0)


@pytest.mark.parametrize("flags", [-1, 8, 2**64])
def test_unknown_flags(flags: int) -> None:
    from anyffi._pickling import unpickle_tensor

    with pytest.raises(ValueError, match=f"^unknown flags of a tensor: {flags}$"):
        unpickle_tensor(bytes(8), "float32", (2,), flags)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes of Python export buffers from 3.12 on")
def test_a_buffer_that_shrinks(ffi: Any) -> None:
    """The buffer is requested only once, since a second request may return less memory."""

    class Shrinks:
        calls = 0

        def __buffer__(self, flags: int) -> memoryview:
            self.calls += 1
            return memoryview(bytearray(800 if self.calls == 1 else 1))

    data = pickle.dumps(ffi.from_dlpack(np.zeros(100)), protocol=5, buffer_callback=lambda buffer: None)
    given = Shrinks()
    made = pickle.loads(data, buffers=[given])
    assert (given.calls, made.shape, np.asarray(made).sum()) == (1, (100,), 0)
