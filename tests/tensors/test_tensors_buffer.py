"""The memory of tensors by Python's buffer protocol."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import struct
import sys
import weakref
from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from anyffi._rules.internal import Memory
from support import run_in_threads
from tensors import ARRAYS, CPYTHON, IDS, PADDED, READ_ONLY, address, make, read_only

pytestmark = pytest.mark.skipif(not CPYTHON, reason="PyPy has no C buffers")

SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x38, 0x58, 0x98
FORMATS = "?bhilBHILefd"


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


def request(x: Any, flags: int) -> tuple[Any, ...]:
    """Return what a consumer in C gets: length, item size, read-only, ndim, format, shape, strides."""
    buffer = Buffer()
    get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(
        ("PyObject_GetBuffer", ctypes.pythonapi)
    )
    release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyBuffer_Release", ctypes.pythonapi))
    get(x, ctypes.addressof(buffer), flags)
    assert buffer.obj == id(x)
    assert not buffer.suboffsets
    shape = tuple(buffer.shape[: buffer.ndim]) if buffer.shape else None
    strides = tuple(buffer.strides[: buffer.ndim]) if buffer.strides else None
    found = buffer.len, buffer.itemsize, bool(buffer.readonly), buffer.ndim, buffer.format, shape, strides
    release(ctypes.addressof(buffer))
    return found


def refused(x: Any, flags: int) -> str:
    with pytest.raises(BufferError) as caught:
        request(x, flags)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_a_view_is_that_of_the_array(ffi: Any, x: Any) -> None:
    tensor, plain = ffi.convert(x), np.asarray(x)
    if plain.dtype.char not in FORMATS + "FDqQ":
        with pytest.raises(BufferError, match=f"elements of {tensor.dtype} have no buffer format"):
            memoryview(tensor)
        return
    found, wanted = memoryview(tensor), memoryview(plain)
    assert found.format == np.dtype(str(tensor.dtype)).char.replace("F", "Zf").replace("D", "Zd")
    assert struct.calcsize(wanted.format[-1:]) == struct.calcsize(found.format[-1:])
    for name in ("shape", "itemsize", "ndim", "nbytes", "readonly", "c_contiguous", "f_contiguous"):
        assert getattr(found, name) == getattr(wanted, name), name
    # NumPy may show any strides for axes with 0 or 1 elements.
    if 0 not in found.shape and 1 not in found.shape:
        assert found.strides == wanted.strides
    assert found.obj is tensor
    assert found.tobytes() == wanted.tobytes() == bytes(tensor)
    array = np.asarray(tensor)
    assert array.dtype == plain.dtype
    assert array.flags.writeable == (not found.readonly)
    assert np.array_equal(array, plain, equal_nan=plain.dtype.kind in "fc")
    if plain.size:
        assert address(array) == tensor.data_ptr() == address(plain)


@pytest.mark.parametrize("name", cases.DLPACK)
def test_formats(ffi: Any, name: str) -> None:
    tensor = make(ffi, (2, 3), name, bytes=96)
    dtype = np.dtype(name)
    if dtype.char not in FORMATS + "FD":
        assert refused(tensor, FORMAT | ND) == f"elements of {name} have no buffer format"
    else:
        form = memoryview(tensor).format
        assert form == dtype.char.replace("F", "Zf").replace("D", "Zd")
        assert np.asarray(memoryview(tensor)).dtype.char == dtype.char
    # A request for plain bytes needs no format.
    assert request(tensor, SIMPLE)[:2] == (6 * dtype.itemsize, dtype.itemsize)
    assert hashlib.sha256(tensor).digest() == hashlib.sha256(bytes(6 * dtype.itemsize)).digest()


def test_what_a_consumer_asks_for(ffi: Any) -> None:
    tensor = ffi.convert(np.zeros((2, 3), "i2"))
    assert request(tensor, SIMPLE) == (12, 2, False, 1, None, None, None)
    assert request(tensor, WRITABLE) == (12, 2, False, 1, None, None, None)
    assert request(tensor, FORMAT) == (12, 2, False, 1, b"h", None, None)
    assert request(tensor, ND) == (12, 2, False, 2, None, (2, 3), None)
    for flags in (STRIDES, C_CONTIGUOUS, ANY_CONTIGUOUS):
        assert request(tensor, flags) == (12, 2, False, 2, None, (2, 3), (6, 2))
    assert "column-major" in refused(tensor, F_CONTIGUOUS)
    columns = ffi.convert(np.zeros((3, 2), "i2").T)
    for flags in (STRIDES, F_CONTIGUOUS, ANY_CONTIGUOUS):
        assert request(columns, flags) == (12, 2, False, 2, None, (2, 3), (2, 4))
    parts = ffi.convert(np.zeros((4, 6), "i2")[::-2, ::2])
    assert request(parts, STRIDES) == (12, 2, False, 2, None, (2, 3), (-24, 4))
    assert refused(parts, ANY_CONTIGUOUS) == "the tensor is not contiguous in column-major order"
    for flags in (SIMPLE, ND, C_CONTIGUOUS):
        assert refused(columns, flags) == refused(parts, flags) == "the tensor is not contiguous"
    for shape in ((), (1, 1), (0, 3), (5,)):
        for flags in (C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS):
            assert request(make(ffi, shape), flags)[3] == len(shape)
        assert request(make(ffi, shape), SIMPLE)[3] == 1


def test_read_only_memory_is_not_exported_as_writable(ffi: Any) -> None:
    tensor = ffi.convert(read_only(np.zeros(3)))
    view = memoryview(tensor)
    assert view.readonly
    with pytest.raises(TypeError, match="read-only"):
        view[0] = 1.0
    assert refused(tensor, WRITABLE) == "the tensor is read-only"
    assert not np.asarray(tensor).flags.writeable
    with pytest.raises(TypeError, match="not writable"):
        ctypes.c_char.from_buffer(tensor)


def test_writes_are_visible(ffi: Any) -> None:
    x = np.zeros((2, 3), "i4")
    view = memoryview(ffi.convert(x[:, ::-1]))
    view[0, 0] = 7
    assert x.tolist() == [[0, 0, 7], [0, 0, 0]]
    ctypes.c_int32.from_buffer(ffi.convert(x), 4).value = 9
    assert x[0, 1] == 9


def test_the_buffer_keeps_the_memory(ffi: Any) -> None:
    class Watched(np.ndarray):  # type: ignore[type-arg]
        pass

    for export in (memoryview, np.asarray, lambda t: np.frombuffer(t)[1:], lambda t: memoryview(t)[::2]):
        x = np.arange(4.0).view(Watched)
        gone = weakref.ref(x)
        kept = export(ffi.convert(x))
        del x
        gc.collect()
        assert gone() is not None
        assert list(np.asarray(kept)) in ([0, 1, 2, 3], [1, 2, 3], [0, 2])
        del kept
        assert gone() is None


def test_a_buffer_in_a_cycle_is_collected(ffi: Any) -> None:
    class Holder:
        pass

    seen = []

    class Watching:
        def __init__(self, view: Any) -> None:
            self.view = view

        def __del__(self) -> None:
            seen.append(np.asarray(self.view).tolist())

    gone: list[Any] = []
    tensor = make(ffi, (2, 2))
    holder = Holder()
    holder.view, holder.holder, holder.last = memoryview(tensor), holder, Watching(tensor)  # type: ignore[attr-defined]
    del tensor
    weakref.finalize(holder, gone.append, 1)
    live = anyffi.testing.live_blocks()
    del holder
    gc.collect()
    assert gone == [1]
    assert seen == [[[0, 0], [0, 0]]]
    assert anyffi.testing.live_blocks() < live


def test_threads_export_one_tensor(ffi: Any) -> None:
    tensor = ffi.convert(np.arange(12.0).reshape(3, 4)[:, ::-1])
    wanted = np.asarray(tensor).tolist()
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(300):
            found = memoryview(tensor)
            if found.tolist() != wanted or tensor.shape != (3, 4) or tensor.strides != (4, -1):
                wrong.append(found)

    run_in_threads([work] * 4)
    assert wrong == []


def test_exports_leak_nothing(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    tensor, other = ffi.convert(x), make(ffi, dtype="float8_e4m3fn")
    before = sys.getrefcount(x), sys.getrefcount(tensor), sys.getrefcount(other), sys.getrefcount(None)
    live = anyffi.testing.live_blocks()
    for _ in range(100):
        memoryview(tensor).release()
        np.asarray(tensor)
        request(tensor, STRIDES)
        refused(tensor, F_CONTIGUOUS)
        with pytest.raises(BufferError):
            memoryview(other)
    gc.collect()  # tracebacks of exceptions that pytest keeps
    after = sys.getrefcount(x), sys.getrefcount(tensor), sys.getrefcount(other), sys.getrefcount(None)
    assert after[:3] == before[:3]
    assert after[3] - before[3] < 50
    assert anyffi.testing.live_blocks() == live


# ---- refusals ------------------------------------------------------------------------------------------------


def test_memory_of_other_devices(ffi: Any) -> None:
    for number in DLDeviceType:
        tensor = make(ffi, device=Device(number, 3))
        if number in (1, 3, 11, 13):
            assert memoryview(tensor).tolist() == [[0, 0], [0, 0]]
        else:
            text = f"the memory of the tensor is on {tensor.device}, not on the CPU"
            assert refused(tensor, SIMPLE) == refused(tensor, FORMAT | STRIDES) == text


@pytest.mark.parametrize(
    ("dtype", "flags"),
    [("int4", 0), ("float4_e2m1fn", 0), ("uint1", 0), ("code200_0", 0), ("float32x0", PADDED)],
)
def test_elements_without_bytes(ffi: Any, dtype: str, flags: int) -> None:
    try:
        tensor = make(ffi, dtype=dtype, flags=flags)
    except ValueError:
        return
    assert refused(tensor, SIMPLE) == f"elements of {dtype} have no buffer format"


def test_elements_of_several_lanes_are_bytes(ffi: Any) -> None:
    tensor = make(ffi, (2,), "float32x4")
    assert request(tensor, STRIDES) == (32, 16, False, 1, None, (2,), (16,))
    assert "no buffer format" in refused(tensor, FORMAT)
    assert request(make(ffi, (3,), "int4", flags=PADDED), SIMPLE)[:2] == (3, 1)


def test_hostile_shapes(ffi: Any) -> None:
    huge = make(ffi, (2**40, 2**40), "int8", strides=(0, 0))
    assert refused(huge, STRIDES) == "the tensor has too many elements"
    assert huge.numel() == 2**80
    with pytest.raises((TypeError, ValueError)):
        np.asarray(huge)
    far = make(ffi, (2, 1), strides=(2**61, 2**62))
    assert refused(far, STRIDES) == "a stride of the tensor is too large"
    assert request(make(ffi, (1, 2), strides=(2**62, 1)), SIMPLE)[0] == 16
    assert memoryview(make(ffi, (2**40, 0, 2**40), strides=(1, 1, 1))).nbytes == 0


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def without_memory(ffi: Any, size: int, device: int = 1) -> Any:
    """Return a tensor of float64 at address 0."""
    extents = (ctypes.c_int64 * 2)(size, 1)
    place = ctypes.addressof(extents)
    managed = Managed(None, (device, 0), 1, (2, 64, 1, 0), place, place + 8, 0, None, None)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    _kept.append(managed)
    return ffi.from_dlpack(new(ctypes.addressof(managed), _CAPSULE_NAME, None), writable=True)


_CAPSULE_NAME = b"dltensor"
#: The tensor's owner reads it at the end.
_kept: list[Managed] = []


def test_elements_without_memory(ffi: Any) -> None:
    """Consumers would allocate memory of their own, or read address 0."""
    text = "the tensor has elements but no memory"
    with pytest.raises(BufferError, match=text):
        without_memory(ffi, 2)
    # C++ can make such a tensor.
    tensor = ffi.convert(Memory(0, (2, 64, 1), (2,), 0, None))
    assert refused(tensor, SIMPLE) == refused(tensor, STRIDES | FORMAT) == text
    assert not hasattr(tensor, "__array_interface__")
    with pytest.raises(TypeError, match=text):
        np.asarray(tensor)
    for options in ({}, {"max_version": (1, 0)}):
        with pytest.raises(BufferError, match=text):
            tensor.__dlpack__(**options)
    with pytest.raises(BufferError, match=text):
        np.from_dlpack(tensor)
    empty = without_memory(ffi, 0)
    assert memoryview(empty).tolist() == np.asarray(empty).tolist() == []
    assert empty.data_ptr() == 0
    # Addresses of other devices may be 0.
    assert "dltensor" in repr(without_memory(ffi, 2, device=4).__dlpack__())


def test_an_empty_wrapper_has_no_memory(ffi: Any) -> None:
    for read in (memoryview, bytes, np.frombuffer):
        with pytest.raises(BufferError, match="expected a Tensor that is not empty"):
            read(ffi.Tensor())


def test_a_wrapper_in_another_class(ffi: Any) -> None:
    wrapper = ffi.List([1])
    wrapper.__class__ = ffi.Tensor
    with pytest.raises(BufferError, match="expected a Tensor"):
        memoryview(wrapper)
    for read in (lambda x: x.shape, len, lambda x: x.numel(), lambda x: x.__dlpack__(stream=1)):
        with pytest.raises(TypeError, match="this Tensor holds an object of another type"):
            read(wrapper)
    with pytest.raises(TypeError, match="expected Tensor, got List"):
        wrapper.__dlpack__()
    tensor = ffi.convert(np.zeros(3))
    view = memoryview(tensor)
    tensor.__class__ = ffi.List
    del tensor
    assert view.tolist() == [0, 0, 0]
    view.release()


def test_subclasses_inherit_the_buffer(ffi: Any) -> None:
    class Named(ffi.Tensor):  # type: ignore[misc]
        __slots__ = ("name",)

    assert issubclass(Named, ffi.Tensor)
    with pytest.raises(BufferError, match="not empty"):
        memoryview(Named())
    assert hasattr(Named, "__buffer__") == (sys.version_info >= (3, 12))
    if sys.version_info >= (3, 12):
        from collections.abc import Buffer as AbstractBuffer

        assert isinstance(ffi.convert(np.zeros(1)), AbstractBuffer)
        assert ffi.convert(np.zeros(1)).__buffer__(0).nbytes == 8


def test_memory_of_a_tensor_read_only_flag(ffi: Any) -> None:
    assert memoryview(make(ffi, flags=READ_ONLY)).readonly
    assert not memoryview(make(ffi)).readonly
