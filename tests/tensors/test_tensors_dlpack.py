"""DLPack: exporters, consumers, capsule versions, and refusals."""

from __future__ import annotations

import operator
import re
from typing import Any

import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from support import FREE_THREADED, get_testing_function
from tensors import (
    ARRAYS,
    IDS,
    PADDED,
    READ_ONLY,
    VERSIONED,
    Exporter,
    OldExporter,
    address,
    capsules,
    make,
    read_only,
)

versioned = pytest.mark.skipif(not VERSIONED, reason="this NumPy knows no versions of DLPack")


@capsules
@pytest.mark.parametrize("cls", [Exporter, OldExporter])
def test_exporters_become_tensors(ffi: Any, cls: Any) -> None:
    x = np.arange(6.0).reshape(2, 3).T
    for convert in (get_testing_function(ffi, "echo"), ffi.convert, ffi.from_dlpack):
        exporter = cls(x)
        tensor = convert(exporter)
        assert type(tensor) is ffi.Tensor
        assert np.array_equal(np.asarray(tensor), x)
        assert np.shares_memory(np.asarray(tensor), x)
        # What a capsule without a version holds is read-only.
        assert np.asarray(tensor).flags.writeable == (cls is Exporter and VERSIONED)
    if VERSIONED:
        assert get_testing_function(ffi, "describe")(Exporter(x)) == cases.describe(x)
    assert get_testing_function(ffi, "tensor.sum")(cls(x)) == 15


@capsules
def test_an_exporter_without_versions_is_read_only(ffi: Any) -> None:
    """Its capsule cannot say whether the memory may be written, and immutable arrays use it too."""
    x = np.zeros(3)
    fill = get_testing_function(ffi, "tensor.fill")
    for given in (OldExporter(x), ffi.convert(OldExporter(x)), x.__dlpack__()):
        with pytest.raises(ValueError, match="the tensor is read-only"):
            fill(ffi.from_dlpack(given), 2.0)
    with pytest.raises(ValueError, match="the tensor is read-only"):
        fill(OldExporter(x), 2.0)
    for given in (OldExporter(x), x.__dlpack__()):
        tensor = ffi.from_dlpack(given, writable=True)
        assert tensor.data_ptr() == address(x)
        assert np.asarray(tensor).flags.writeable


class OldCopier(Exporter):
    """Knows all options, but exports the struct from before DLPack had versions, as JAX does."""

    def __dlpack__(self, *, max_version: Any, copy: Any = None) -> Any:
        return (self.array.copy() if copy else self.array).__dlpack__()


@capsules
def test_a_copy_is_writable(ffi: Any) -> None:
    x = np.zeros(3)
    fill = get_testing_function(ffi, "tensor.fill")
    for given in (
        x,
        Exporter(ffi.convert(read_only(np.zeros(3)))),
        OldExporter(x),
        OldCopier(x),
        x.__dlpack__(),
    ):
        copied = ffi.from_dlpack(given, copy=True)
        fill(copied, 2.0)
        assert np.asarray(copied).tolist() == [2, 2, 2]
    assert x.tolist() == [0, 0, 0]
    assert not np.asarray(ffi.from_dlpack(OldCopier(x))).flags.writeable


@capsules
def test_a_tensor_without_a_version_is_passed_on_without_one(ffi: Any) -> None:
    """As its exporter does, so that libraries which only know the old struct get their arrays back."""
    x = np.zeros(3)
    tensor = get_testing_function(ffi, "echo")([OldExporter(x)])[0]
    back = ffi.from_dlpack(tensor.__dlpack__(), writable=True)
    assert back.data_ptr() == address(x)
    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(BufferError, match="cannot express that a tensor is read-only"):
        ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0))).__dlpack__()


@capsules
def test_writable_changes_nothing_about_other_exporters(ffi: Any) -> None:
    x = np.ones(3)
    for given in (x, ffi.convert(x), Exporter(x), Exporter(ffi.convert(x))):
        assert ffi.from_dlpack(given, writable=True).data_ptr() == address(x)
    frozen = ffi.from_dlpack(Exporter(ffi.convert(read_only(x))), writable=True)
    assert not np.asarray(frozen).flags.writeable
    with pytest.raises(TypeError, match="expected an unused DLPack capsule, got List"):
        ffi.get_global_func("anyffi.Tensor.from_writable_capsule")([1])


@capsules
def test_the_newest_version_is_requested_first(ffi: Any) -> None:
    exporter = Exporter(ffi.convert(np.zeros(2)))
    ffi.convert(exporter)
    assert exporter.asked == [{"max_version": (1, 3)}]


def test_the_protocol_is_looked_up_on_the_type(ffi: Any) -> None:
    class Disabled(Exporter):
        __dlpack__ = None  # type: ignore[assignment]

        def __index__(self) -> int:
            return 5

    class Plain:
        pass

    plain = Plain()
    plain.__dlpack__ = np.zeros(2).__dlpack__  # type: ignore[attr-defined]
    echo = get_testing_function(ffi, "echo")
    assert echo(plain) is plain
    assert echo(Exporter) is Exporter
    assert echo(Disabled(None)) == 5


class OwnArray(np.ndarray):  # type: ignore[type-arg]
    """Exports another array than itself."""

    def __dlpack__(self, **options: Any) -> Any:
        return np.arange(3).__dlpack__()


@capsules
def test_a_subclass_of_ndarray_may_override_its_export(ffi: Any) -> None:
    assert get_testing_function(ffi, "echo")(np.zeros(9).view(OwnArray)).shape == (3,)


@pytest.mark.parametrize(
    "error", [ValueError("v"), KeyboardInterrupt(), BufferError("b"), TypeError("t")], ids=repr
)
def test_exceptions_of_an_exporter_pass_through(ffi: Any, error: BaseException) -> None:
    class Failing:
        def __dlpack__(self, **options: Any) -> Any:
            raise error

    for call in (get_testing_function(ffi, "nop"), ffi.convert, ffi.from_dlpack):
        with pytest.raises(type(error)) as caught:
            call(Failing())
        assert caught.value is error
        error.__traceback__ = error.__context__ = None


@capsules
@pytest.mark.parametrize("x", [None, 5, "capsule", object(), [1]], ids=lambda x: type(x).__name__)
def test_other_objects_than_capsules_are_refused(ffi: Any, x: Any) -> None:
    class Wrong:
        def __dlpack__(self, **options: Any) -> Any:
            return x

    match = f"expected an unused DLPack capsule, got {type(x).__name__}"
    for call in (get_testing_function(ffi, "nop"), ffi.convert, ffi.from_dlpack):
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
        with pytest.raises(TypeError, match="unused DLPack capsule, got PyCapsule"):
            ffi.from_dlpack(capsule)
    with pytest.raises(TypeError, match="got PyCapsule"):
        ffi.from_dlpack(datetime.datetime_CAPI)  # type: ignore[attr-defined]
    capsule = x.__dlpack__()
    assert get_testing_function(ffi, "echo")(capsule) is capsule, "only `from_dlpack` opens one"


@versioned
def test_read_only_exporters(ffi: Any) -> None:
    x = read_only(np.ones(2))
    assert get_testing_function(ffi, "describe")(Exporter(x)) == cases.describe(x)
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
def test_versions_of_export(ffi: Any) -> None:
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
    with pytest.raises(BufferError, match="cannot express that a tensor is read-only"):
        ffi.convert(read_only(np.ones(2))).__dlpack__()
    with pytest.raises(BufferError, match="cannot express that a tensor is padded"):
        make(ffi, dtype="int4", flags=PADDED).__dlpack__()


@capsules
@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_copies(ffi: Any, x: Any) -> None:
    tensor = ffi.convert(x)
    for options in ({}, {"max_version": (1, 1)}):
        copied = ffi.from_dlpack(tensor.__dlpack__(copy=True, **options), writable=True)
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
    describe = get_testing_function(ffi, "describe")
    for tensor in (
        make(ffi, dtype="int4", flags=PADDED | READ_ONLY),
        make(ffi, dtype="float8_e4m3fnx2", byte_offset=8, strides=(1, 2), device=Device("cuda:1")),
        make(ffi, (), "code200_3"),
        make(ffi, (0, 3)),
    ):
        twin = ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0)))
        assert not twin.same_as(tensor)
        assert describe(twin) == describe(tensor)
        for ask in (operator.attrgetter("device", "dtype", "shape", "strides"), ffi.Tensor.data_ptr):
            assert ask(twin) == ask(tensor)


@capsules
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((2**62,), "float64"), ((2**40, 2**40), "int8"), ((2**60, 1, 2), "float32x4"), ((2**62, 8), "int4")],
)
def test_shapes_that_no_memory_has_are_refused(ffi: Any, shape: Any, dtype: str) -> None:
    """Even if strides of 0 repeat one element, since consumers multiply the extents."""
    tensor = make(ffi, shape, dtype, strides=(0,) * len(shape))
    for form in (Exporter, OldExporter):
        for convert in (
            ffi.convert,
            ffi.from_dlpack,
            get_testing_function(ffi, "nop"),
            lambda x: ffi.List([x]),
        ):
            with pytest.raises(ValueError, match="the shape has too many elements$"):
                convert(form(tensor))
    for shape, dtype in (((2**60 - 1, 1), "float64"), ((2**62, 0), "float64"), ((2**62,), "int4")):
        tensor = make(ffi, shape, dtype, strides=(0,) * len(shape))
        assert ffi.from_dlpack(Exporter(tensor)).shape == shape


def test_requirements(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert ffi.from_dlpack(x, require_alignment=8, require_contiguous=True).shape == (2, 3)
    with pytest.raises(ValueError, match="not contiguous in row-major order"):
        ffi.from_dlpack(x.T, require_contiguous=True)
    with pytest.raises(ValueError, match="not aligned to 64 bytes"):
        ffi.from_dlpack(np.zeros(200, "u1")[(8 - address(np.zeros(1))) % 64 :][1:], require_alignment=64)
    for bad in (5, "x", [1.0], None, np.float64(1)):
        with pytest.raises(TypeError, match=f"or a capsule of DLPack, got {type(bad).__name__}"):
            ffi.from_dlpack(bad)


@pytest.mark.skipif(FREE_THREADED, reason="without the GIL each backend only finds its own wrappers")
def test_both_backends_share_tensors(both: Any) -> None:
    for one, other in (both, both[::-1]):
        x = np.arange(3.0)
        tensor = one.convert(x)
        assert other.convert(tensor) is tensor
        assert other.from_dlpack(tensor) is tensor
        assert get_testing_function(other, "tensor.sum")(tensor) == 3
        assert get_testing_function(other, "describe")(tensor) == cases.describe(x)
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
                outcomes.append(get_testing_function(ffi, "describe")(x))
            except Exception as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "bad", [3, "x", (1,), (1, 2, 3), ("a", 0), (1.5, 0), (None, None), {}, np.int64(1)], ids=repr
)
def test_other_values_than_pairs_of_ints_are_refused(ffi: Any, bad: Any) -> None:
    tensor = ffi.from_dlpack(np.arange(3.0))
    for name in ("max_version", "dl_device"):
        with pytest.raises(
            TypeError, match=f"^{name} must be a tuple of two ints, not {re.escape(repr(bad))}$"
        ):
            tensor.__dlpack__(**{name: bad})
    assert tensor.__dlpack__(max_version=(np.int64(1), True), dl_device=[1, 0]) is not None
