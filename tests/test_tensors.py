"""Tensors: what they show of themselves, who shares their memory, who keeps it alive, and what is refused."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from programs import run_program

CPYTHON = sys.implementation.name == "cpython"
cpython_only = pytest.mark.skipif(not CPYTHON, reason="counts are CPython's")
capsules = pytest.mark.skipif(not CPYTHON, reason="only CPython's capsules are within reach")
NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])
#: Since then NumPy exports and takes read-only arrays.
versioned = pytest.mark.skipif(NUMPY < (2, 1), reason="this NumPy knows no versions of DLPack")

if CPYTHON:
    import ml_dtypes
else:
    ml_dtypes = None  # it is not made for others

READ_ONLY, COPIED, PADDED = 1, 2, 4


class Exporter:
    """Another library's array: all that is known of it is `__dlpack__`."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.asked: list[Any] = []

    def __dlpack__(self, **options: Any) -> Any:
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __index__(self) -> int:
        raise AssertionError("exporting comes before being an index")


class OldExporter(Exporter):
    """One from before there were versions."""

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()


def address(x: Any) -> int:
    return x.__array_interface__["data"][0]  # type: ignore[no-any-return]


def function(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing." + name)


# ---- attributes ------------------------------------------------------------------------------------------


ARRAYS = [x for x in cases.EXAMPLES if isinstance(x, np.ndarray)]
IDS = [f"{x.dtype}{x.shape}" for x in map(np.asarray, ARRAYS)]


@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_attributes(ffi: Any, x: Any) -> None:
    tensor = function(ffi, "echo")(x)
    plain = np.asarray(x)
    assert type(tensor) is ffi.Tensor
    assert tensor.shape == plain.shape
    assert type(tensor.shape) is tuple
    assert tensor.strides == tuple(stride // plain.itemsize for stride in plain.strides)
    assert tensor.ndim == plain.ndim
    assert tensor.dtype == plain.dtype
    assert type(tensor.dtype) is anyffi.dtype
    assert tensor.device == Device("cpu")
    assert tensor.numel() == plain.size
    assert [tensor.size(i) for i in range(-tensor.ndim, tensor.ndim)] == [*plain.shape, *plain.shape]
    assert tensor.data_ptr() == address(plain)
    assert tensor.is_contiguous() == plain.flags.c_contiguous
    assert tensor.__dlpack_device__() == (1, 0)
    assert repr(tensor) == f"anyffi.Tensor(shape={plain.shape}, dtype='{tensor.dtype}', device='cpu:0')"
    assert ffi.get_global_func("anyffi.value.text")(tensor) == repr(tensor)
    with pytest.raises(IndexError):
        tensor.size(plain.ndim)
    if plain.ndim:
        assert len(tensor) == function(ffi, "size")(tensor) == len(plain)
    else:
        with pytest.raises(TypeError, match="unsized"):
            len(tensor)
        with pytest.raises(TypeError, match="unsized"):
            function(ffi, "size")(tensor)


@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_cpp_sees_the_same(ffi: Any, x: Any) -> None:
    tensor = ffi.convert(x)
    for given in (x, tensor):
        dtype, device, shape, strides, read_only, contiguous, numel, place = function(ffi, "tensor.ask")(
            given
        )
        assert (dtype, device, tuple(shape)) == (tensor.dtype, tensor.device, tensor.shape)
        assert tuple(strides) == tensor.strides
        assert read_only is not np.asarray(x).flags.writeable
        assert contiguous is tensor.is_contiguous()
        assert numel == tensor.numel()
        assert place == tensor.data_ptr()


def test_tensors_are_equal_by_identity(ffi: Any) -> None:
    one, other = ffi.convert(np.zeros(2)), ffi.convert(np.zeros(2))
    assert one == one
    assert one != other
    assert {one: 1}[one] == 1
    echo = function(ffi, "echo")
    assert echo({one: 1})[one] == 1
    assert function(ffi, "equal")(one, one) is True
    assert function(ffi, "equal")(one, other) is False
    assert one.same_as(echo([one])[0])


# ---- the same memory --------------------------------------------------------------------------------------


def test_writes_are_seen_by_all(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    tensor = function(ffi, "echo")(x)
    back = np.asarray(tensor)
    assert np.shares_memory(x, back)
    function(ffi, "tensor.fill")(tensor, 7.0)
    assert (x == 7).all()
    assert (back == 7).all()
    back[0, 0] = 1
    assert function(ffi, "tensor.sum")(x) == function(ffi, "tensor.sum")(tensor) == 36


def test_any_layout_is_read_and_written(ffi: Any) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for part in (
        x[:, ::-1, 1:3],
        x.T,
        x[1, :, ::-2],
        x[..., None],
        np.array(3.0),
        x[:0],
        np.broadcast_to(x[0], (3, 3, 4)),
    ):
        assert function(ffi, "tensor.sum")(part) == part.sum()
    function(ffi, "tensor.fill")(x[:, ::-2, 1::2], -1.0)
    assert (x[:, [0, 2], 1::2] == -1).all()
    assert (x == -1).sum() == 8
    assert (x[:, 1] != -1).all()


def test_out_arguments(ffi: Any) -> None:
    a, b, c = np.arange(3.0), np.ones(6)[::2], np.empty(3)
    add = function(ffi, "tensor.add")
    result = add(a, b, out=c)
    assert type(result) is ffi.Tensor
    assert result.data_ptr() == address(c)
    assert c.tolist() == [1, 2, 3]
    tensor = ffi.convert(c)
    assert add(a, b, out=tensor) is tensor
    assert add(a, a, tensor) is tensor
    assert c.tolist() == [0, 2, 4]


def test_what_went_in_comes_back(ffi: Any) -> None:
    tensor = ffi.convert(np.zeros(2))
    echo, hold, held = (function(ffi, name) for name in ("echo", "hold", "held"))
    assert ffi.convert(tensor) is tensor
    assert ffi.from_dlpack(tensor) is tensor
    assert echo(tensor) is tensor
    assert echo([tensor])[0] is tensor
    assert function(ffi, "typed.tensor")(tensor) is tensor
    assert function(ffi, "apply")(lambda x: x, tensor) is tensor
    hold({"k": tensor})
    assert held()["k"] is tensor
    hold(None)


def test_a_callback_gets_a_tensor(ffi: Any) -> None:
    x = np.arange(3)
    seen = []
    result = function(ffi, "apply")(lambda t: seen.append(t) or t, x)
    assert type(seen[0]) is ffi.Tensor
    assert seen[0].data_ptr() == address(x)
    assert seen[0] is result


def test_a_container_of_arrays(ffi: Any) -> None:
    x = np.zeros(2)
    result = function(ffi, "echo")({"a": [x, (x,)], "b": slice(x)})
    assert {result["a"][0].data_ptr(), result["a"][1][0].data_ptr(), result["b"].stop.data_ptr()} == {
        address(x)
    }
    assert function(ffi, "typed.array_tensor")([x, x])[1].data_ptr() == address(x)


# ---- read-only ---------------------------------------------------------------------------------------------


def read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def test_read_only_memory_is_not_written(ffi: Any) -> None:
    for x in (read_only(np.ones(2)), np.broadcast_to(1.0, (2, 2)), np.frombuffer(read_only(np.ones(2)))):
        tensor = ffi.convert(x)
        assert not np.asarray(tensor).flags.writeable
        assert function(ffi, "describe")(tensor).endswith("read-only)")
        assert function(ffi, "tensor.sum")(tensor) == x.size
        for given in (x, tensor):
            with pytest.raises(ValueError, match="read-only"):
                function(ffi, "tensor.fill")(given, 2.0)
        assert (x == 1).all()


def test_the_flag_is_that_of_the_moment(ffi: Any) -> None:
    x = np.ones(2)
    tensor = ffi.convert(x)
    x.flags.writeable = False
    assert np.asarray(tensor).flags.writeable
    assert not np.asarray(ffi.convert(x)).flags.writeable


def test_typed_access_is_checked(ffi: Any) -> None:
    total = function(ffi, "tensor.sum")
    for x in (np.zeros(2, "f4"), np.zeros(2, "i8"), np.zeros(2, "c16"), np.zeros(2, "?")):
        with pytest.raises(TypeError, match=f"expected a tensor of float64, got one of {x.dtype}"):
            total(x)
    raw = np.zeros(17, "u1")
    with pytest.raises(ValueError, match="not aligned to 8 bytes"):
        total(raw[1:].view("f8"))
    for x in ([1.0], 1.0, None, "x", np.float64(1)):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected Tensor, got"):
            total(x)


# ---- borrowed tensors --------------------------------------------------------------------------------------


def test_a_view_cannot_be_kept(ffi: Any) -> None:
    call, tensor = function(ffi, "tensor.call"), ffi.convert(np.ones(3))
    for f in (lambda x: None, function(ffi, "hold"), function(ffi, "echo"), function(ffi, "typed.tensor")):
        with pytest.raises(TypeError, match="borrows its memory for a call: it cannot be kept"):
            call(f, tensor)


def test_a_view_can_be_used(ffi: Any) -> None:
    call = function(ffi, "tensor.call")
    for x in (np.ones(3), read_only(np.ones((2, 2)))):
        tensor = ffi.convert(x)
        assert call(function(ffi, "tensor.sum"), x) == x.sum()
        assert call(function(ffi, "describe"), tensor) == function(ffi, "describe")(tensor)
        assert call(function(ffi, "typed.tensor_view"), x) == x.ndim
        assert call(function(ffi, "size"), x) == len(x)
    with pytest.raises(ValueError, match="read-only"):
        call(function(ffi, "tensor.fill"), read_only(np.ones(2)))


# ---- what NumPy makes of them ----------------------------------------------------------------------------


def make(ffi: Any, shape: Any = (2, 2), dtype: str = "float64", **more: Any) -> Any:
    return function(ffi, "tensor.make")(shape, anyffi.dtype(dtype), **more)


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
    assert tensor.data_ptr() == tensor._info()[0].value + 4
    assert not tensor.is_contiguous()
    assert make(ffi, (2, 0, 3), strides=(9, 9, 9)).is_contiguous()
    assert make(ffi, (1, 3), strides=(77, 1)).is_contiguous()


def test_conversion_on_the_way(ffi: Any) -> None:
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
def test_what_numpy_has_no_dtype_for(ffi: Any, dtype: str, more: Any) -> None:
    tensor = make(ffi, dtype=dtype, **more)
    assert not hasattr(tensor, "__array_interface__")
    if dtype == "uint1" and hasattr(ml_dtypes, "uint1"):
        return
    with pytest.raises(TypeError, match=f"NumPy has no dtype for {dtype}"):
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


# ---- DLPack ------------------------------------------------------------------------------------------------


@capsules
@pytest.mark.parametrize("cls", [Exporter, OldExporter])
def test_exporters_become_tensors(ffi: Any, cls: Any) -> None:
    x = np.arange(6.0).reshape(2, 3).T
    for convert in (function(ffi, "echo"), ffi.convert, ffi.from_dlpack):
        exporter = cls(x)
        tensor = convert(exporter)
        assert type(tensor) is ffi.Tensor
        assert cases.same(tensor, x)
    assert function(ffi, "describe")(cls(x)) == cases.describe(x)
    assert function(ffi, "tensor.sum")(cls(x)) == 15


@capsules
def test_the_newest_form_is_asked_for_first(ffi: Any) -> None:
    exporter = Exporter(ffi.convert(np.zeros(2)))
    ffi.convert(exporter)
    assert exporter.asked == [{"max_version": (1, 1)}]


def test_the_protocol_is_looked_up_on_the_type(ffi: Any) -> None:
    class Disabled(Exporter):
        __dlpack__ = None  # type: ignore[assignment]

        def __index__(self) -> int:
            return 5

    class Plain:
        pass

    plain = Plain()
    plain.__dlpack__ = np.zeros(2).__dlpack__  # type: ignore[attr-defined]
    echo = function(ffi, "echo")
    assert echo(plain) is plain
    assert echo(Exporter) is Exporter
    assert echo(Disabled(None)) == 5


class OwnArray(np.ndarray):  # type: ignore[type-arg]
    """Exports something else than itself."""

    def __dlpack__(self, **options: Any) -> Any:
        return np.arange(3).__dlpack__()


@capsules
def test_a_subclass_of_ndarray_may_export_itself(ffi: Any) -> None:
    assert function(ffi, "echo")(np.zeros(9).view(OwnArray)).shape == (3,)


@pytest.mark.parametrize(
    "error", [ValueError("v"), KeyboardInterrupt(), BufferError("b"), TypeError("t")], ids=repr
)
def test_what_an_exporter_raises_arrives(ffi: Any, error: BaseException) -> None:
    class Failing:
        def __dlpack__(self, **options: Any) -> Any:
            raise error

    for call in (function(ffi, "nop"), ffi.convert, ffi.from_dlpack):
        with pytest.raises(type(error)) as caught:
            call(Failing())
        assert caught.value is error
        error.__traceback__ = error.__context__ = None


@capsules
@pytest.mark.parametrize("x", [None, 5, "capsule", object(), [1]], ids=lambda x: type(x).__name__)
def test_what_is_no_capsule_is_refused(ffi: Any, x: Any) -> None:
    class Wrong:
        def __dlpack__(self, **options: Any) -> Any:
            return x

    match = f"expected a capsule of DLPack that nobody has used, got {type(x).__name__}"
    for call in (function(ffi, "nop"), ffi.convert, ffi.from_dlpack):
        with pytest.raises(TypeError, match=match):
            call(Wrong())


@capsules
def test_capsules_are_used_once(ffi: Any) -> None:
    import datetime

    x = np.arange(3)
    for options in ({}, {"max_version": (1, 0)}):
        capsule = ffi.convert(x).__dlpack__(**options)
        tensor = ffi.from_dlpack(capsule)
        assert tensor.data_ptr() == address(x)
        with pytest.raises(TypeError, match="nobody has used, got PyCapsule"):
            ffi.from_dlpack(capsule)
    with pytest.raises(TypeError, match="got PyCapsule"):
        ffi.from_dlpack(datetime.datetime_CAPI)  # type: ignore[attr-defined]
    capsule = x.__dlpack__()
    assert function(ffi, "echo")(capsule) is capsule, "only `from_dlpack` opens one"


@versioned
def test_read_only_exporters(ffi: Any) -> None:
    x = read_only(np.ones(2))
    assert function(ffi, "describe")(Exporter(x)) == cases.describe(x)
    with pytest.raises(BufferError):
        ffi.convert(OldExporter(x))


def test_numpy_takes_tensors(ffi: Any) -> None:
    for x in ARRAYS:
        tensor = ffi.convert(x)
        if np.asarray(x).flags.writeable:
            back = np.from_dlpack(tensor)
            assert address(back) == tensor.data_ptr()
            assert back.dtype == tensor.dtype
            assert back.shape == tensor.shape


@versioned
def test_numpy_takes_read_only_tensors(ffi: Any) -> None:
    back = np.from_dlpack(ffi.convert(read_only(np.ones(2))))
    assert not back.flags.writeable


@capsules
def test_forms_of_export(ffi: Any) -> None:
    tensor = ffi.convert(np.arange(3))
    for version in (None, (0, 8)):
        assert '"dltensor"' in repr(tensor.__dlpack__(max_version=version))
    for version in ((1, 0), (1, 1), (2, 0)):
        assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=version))
    for device in (None, (1, 0), (DLDeviceType.kDLCPU, 0)):
        assert ffi.from_dlpack(tensor.__dlpack__(dl_device=device)).data_ptr() == tensor.data_ptr()
    with pytest.raises(BufferError, match="a tensor on cpu:0 cannot be exported to cuda:0"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        tensor.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="cannot say that a tensor is read-only"):
        ffi.convert(read_only(np.ones(2))).__dlpack__()
    with pytest.raises(BufferError, match="cannot say that a tensor is padded"):
        make(ffi, dtype="int4", flags=PADDED).__dlpack__()


@capsules
@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_copies(ffi: Any, x: Any) -> None:
    tensor = ffi.convert(x)
    for options in ({}, {"max_version": (1, 1)}):
        copied = ffi.from_dlpack(tensor.__dlpack__(copy=True, **options))
        array = np.asarray(copied)
        assert copied.is_contiguous()
        assert array.flags.writeable
        assert array.dtype == np.asarray(x).dtype
        assert np.array_equal(array, x)
        assert not np.shares_memory(array, x)


def test_copies_that_cannot_be_made(ffi: Any) -> None:
    with pytest.raises(BufferError, match="elements of int4 share bytes"):
        make(ffi, dtype="int4").__dlpack__(copy=True)
    huge = np.broadcast_to(np.float64(1), (2**31, 2**28))
    with pytest.raises(MemoryError):
        ffi.convert(huge).__dlpack__(copy=True)
    with pytest.raises((MemoryError, ValueError)):
        ffi.convert(np.broadcast_to(np.float64(1), (2**30, 2**31))).__dlpack__(copy=True)


@capsules
def test_flags_and_offsets_pass_through_capsules(ffi: Any) -> None:
    describe = function(ffi, "describe")
    for tensor in (
        make(ffi, dtype="int4", flags=PADDED | READ_ONLY),
        make(ffi, dtype="float8_e4m3fnx2", byte_offset=8, strides=(1, 2), device=Device("cuda:1")),
        make(ffi, (), "code200_3"),
        make(ffi, (0, 3)),
    ):
        twin = ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0)))
        assert not twin.same_as(tensor)
        assert describe(twin) == describe(tensor)
        assert twin._info()[1:] == tensor._info()[1:]
        assert twin.data_ptr() == tensor.data_ptr()


def test_requirements(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert ffi.from_dlpack(x, require_alignment=8, require_contiguous=True).shape == (2, 3)
    with pytest.raises(ValueError, match="side by side"):
        ffi.from_dlpack(x.T, require_contiguous=True)
    with pytest.raises(ValueError, match="not aligned to 64 bytes"):
        ffi.from_dlpack(np.zeros(200, "u1")[(8 - address(np.zeros(1))) % 64 :][1:], require_alignment=64)
    for bad in (5, "x", [1.0], None, np.float64(1)):
        with pytest.raises(TypeError, match=f"or a capsule of DLPack, got {type(bad).__name__}"):
            ffi.from_dlpack(bad)


def test_both_backends_share_tensors(both: Any) -> None:
    for one, other in (both, both[::-1]):
        x = np.arange(3.0)
        tensor = one.convert(x)
        assert other.convert(tensor) is tensor
        assert other.from_dlpack(tensor) is tensor
        assert function(other, "tensor.sum")(tensor) == 3
        assert function(other, "describe")(tensor) == cases.describe(x)
        assert np.shares_memory(np.asarray(other.from_dlpack(tensor.__dlpack__())), x)


def test_exporters_are_alike_in_both(both: Any) -> None:
    for x in (
        Exporter(np.zeros(3, ">f4")),
        Exporter(np.zeros(2, object)),
        OldExporter(None),
        Exporter(5),
        OldExporter(read_only(np.ones(2))),
    ):
        outcomes = []
        for ffi in both:
            try:
                outcomes.append(function(ffi, "describe")(x))
            except Exception as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


# ---- who keeps the memory alive --------------------------------------------------------------------------


class Watched(np.ndarray):  # type: ignore[type-arg]
    """An array that can be weakly referenced and says when it dies."""


def watched() -> tuple[Any, weakref.ref[Any]]:
    x = np.arange(4.0).view(Watched)
    return x, weakref.ref(x)


@cpython_only
def test_a_call_keeps_nothing(ffi: Any) -> None:
    x = np.arange(4.0)
    before = sys.getrefcount(x)
    nop, echo, total = (function(ffi, name) for name in ("nop", "echo", "tensor.sum"))
    for _ in range(3):
        nop(x, [x], {"k": (x,)}, Exporter(x), OldExporter(x))
        echo(x)
        total(x)
        np.asarray(echo(x))
        ffi.from_dlpack(x).__dlpack__()
        np.from_dlpack(echo(x))
        with pytest.raises(ZeroDivisionError):
            nop(x, Exporter(x), cases.REFUSED)
        with pytest.raises(BufferError):
            nop(x, x.view("u1")[:30].view([("a", "u1"), ("b", "f4"), ("c", "V10")])["b"])
        with pytest.raises(TypeError):
            function(ffi, "tensor.fill")(x, "no number")
    assert sys.getrefcount(x) == before


@cpython_only
def test_the_tensor_keeps_the_array(ffi: Any) -> None:
    x, alive = watched()
    tensor = ffi.convert(x)
    del x
    assert alive() is not None
    assert function(ffi, "tensor.sum")(tensor) == 6
    del tensor
    assert alive() is None


@cpython_only
@pytest.mark.parametrize("order", ["tensor first", "array first"])
def test_whoever_is_last_keeps_the_memory(ffi: Any, order: str) -> None:
    x, alive = watched()
    tensor = ffi.convert(x)
    last = np.from_dlpack(tensor)[1:][::-1]
    held = np.asarray(tensor)[:2]
    del x
    if order == "tensor first":
        del tensor
        gc.collect()
        assert alive() is not None
        del held
        assert last.tolist() == [3, 2, 1]
        del last
    else:
        del held, last
        assert alive() is not None
        assert function(ffi, "tensor.sum")(tensor) == 6
        del tensor
    assert alive() is None


@cpython_only
def test_cpp_keeps_the_array(ffi: Any) -> None:
    x, alive = watched()
    hold, held = function(ffi, "hold"), function(ffi, "held")
    hold([x])
    del x
    assert alive() is not None
    back = np.asarray(held()[0])
    hold(None)
    assert back.tolist() == [0, 1, 2, 3]
    del back
    assert alive() is None


@cpython_only
@pytest.mark.parametrize("wrap", [lambda x: x, Exporter, OldExporter], ids=["array", "versioned", "legacy"])
def test_memory_is_given_back_on_any_thread(ffi: Any, wrap: Any) -> None:
    x, alive = watched()
    tensor = ffi.convert(wrap(x))
    hold, drop = function(ffi, "hold"), function(ffi, "drop_in_thread")
    hold(tensor)
    del x, tensor
    thread = threading.Thread(target=hold, args=(None,))
    thread.start()
    thread.join()
    assert alive() is None
    x, alive = watched()
    drop([wrap(x)])
    assert alive() is x
    del x
    assert alive() is None
    x, alive = watched()
    wrapped = [wrap(x)]
    del x
    drop(wrapped.pop())
    del wrapped
    gc.collect()
    assert alive() is None


@capsules
def test_a_capsule_that_nobody_takes_gives_back(ffi: Any) -> None:
    live = anyffi.testing.live_blocks
    x, alive = watched()
    before = live()
    for options in ({}, {"max_version": (1, 0)}, {"copy": True}):
        capsule = ffi.convert(x).__dlpack__(**options)
        assert live() > before
        del capsule
        assert live() == before
    del x
    assert alive() is None


@capsules
def test_a_consumer_that_fails_gives_back(ffi: Any) -> None:
    """The capsule dies while the consumer's exception is on its way."""
    tensor = make(ffi, dtype="float8_e4m3fn")
    before = anyffi.testing.live_blocks()
    for _ in range(3):
        with pytest.raises((RuntimeError, BufferError)):
            np.from_dlpack(tensor)
    assert anyffi.testing.live_blocks() == before


@cpython_only
def test_memory_of_cpp_outlives_the_tensor(ffi: Any) -> None:
    live = anyffi.testing.live_blocks
    before = live()
    tensor = make(ffi)
    array = np.asarray(tensor)
    del tensor
    gc.collect()
    array[:] = 5
    assert live() > before
    view = array[0]
    del array
    assert view.tolist() == [5, 5]
    del view
    gc.collect()
    assert live() == before


PROGRAM = """
import threading
import anyffi, anyffi.testing
import numpy as np

class Exporter:
    def __init__(self, array): self.array = array
    def __dlpack__(self, **options): return self.array.__dlpack__(**options)

x = np.arange(1000.0)
hold, drop = anyffi.testing.hold, anyffi.testing.drop_in_thread
kept = [anyffi.convert(x), np.asarray(anyffi.convert(x)), anyffi.from_dlpack(Exporter(x))]
if hasattr(x, "__dlpack__") and anyffi.testing.__name__ and {capsules}:
    kept += [kept[0].__dlpack__(), kept[0].__dlpack__(max_version=(1, 0)), np.from_dlpack(kept[0])]
hold([*kept[:1], Exporter(x), x, {{"k": x}}])

def work():
    while True:
        anyffi.testing.echo([x, Exporter(x)])

thread = threading.Thread(target=work, daemon=True)
thread.start()
cycle = [kept]
cycle.append(cycle)
print("done")
"""


@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_tensors_at_the_end_of_the_interpreter(mode: str, request: Any) -> None:
    if mode not in request.config.getoption("--modes").split(","):
        pytest.skip("the mode is not tested")
    assert run_program(PROGRAM.format(capsules=CPYTHON), mode) == "done\n"


def test_numpy_is_not_imported() -> None:
    program = """
    import sys
    import anyffi, anyffi.testing
    echo = anyffi.testing.echo
    assert echo(anyffi.dtype("float32")) == "float32"
    assert anyffi.dtype("float32") != 5
    tensor = anyffi.testing.__getattr__("tensor.make")((2,), anyffi.dtype("float32"))
    assert tensor.shape == (2,)
    assert echo(tensor) is tensor
    assert not {"numpy", "ml_dtypes"} & set(sys.modules)
    """
    for mode in ("ctypes", *(["cython"] if CPYTHON else [])):
        run_program(program, mode)
