"""Device memory that the CPU cannot read, streams, and the `device` and `copy` arguments of exporters."""

from __future__ import annotations

from typing import Any

import anyffi
import numpy as np
import pytest
from anyffi import Device, DLDeviceType
from support import get_testing_function
from tensors import COPIED, Exporter, OldExporter, address, capsules, make

#: Devices whose memory the CPU cannot read.
DEVICES = [Device("cuda:1"), Device("rocm"), Device("ext_dev:2"), Device("metal"), Device("type99:7")]


class OfDevice:
    """An array of another library on a device, which can be copied to the CPU."""

    def __init__(self, ffi: Any, device: Device) -> None:
        self.tensor = make(ffi, (2, 3), device=device)
        self.on_cpu = make(ffi, (2, 3), flags=COPIED)
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()  # type: ignore[no-any-return]

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        self.asked.append({"stream": stream, "dl_device": dl_device, "copy": copy})
        is_moved = dl_device is not None and tuple(dl_device) != self.__dlpack_device__()
        if is_moved and (copy is False or tuple(dl_device) != (1, 0)):
            raise BufferError("this can only be copied, to the CPU")
        source = self.on_cpu if is_moved else self.tensor
        return source.__dlpack__(max_version=max_version)


# ---- devices -----------------------------------------------------------------------------------------------


def test_devices_of_a_name_are_shared() -> None:
    assert anyffi.device("cuda", 1) is anyffi.device("cuda:1")
    assert anyffi.device("cpu") is anyffi.device("cpu", 0)
    # An equal index of another type is still refused.
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        anyffi.device("cuda", 1.0)  # type: ignore[arg-type]


def test_subclasses_of_devices_compare_by_their_methods() -> None:
    class Own(Device):
        def __eq__(self, other: object) -> Any:
            return "own"

        __hash__ = Device.__hash__

    class Other(Device):
        __slots__ = ()

    plain = Device("cuda:1")
    assert (Own("cuda:1") == plain, plain == Own("cuda:1"), plain == Other("cuda:1")) == ("own", "own", True)
    assert (Other("cuda:1") == plain, Other("cuda:1") != plain, plain == Other("cuda:2")) == (
        True,
        False,
        False,
    )
    assert hash(plain) == hash(Other("cuda:1")) == hash(Own("cuda:1"))
    with pytest.raises(ValueError, match="this Device is empty: __init__ was not called"):
        hash(Device.__new__(Device))
    with pytest.raises(ValueError, match="this Device is empty: __init__ was not called"):
        assert plain == Device.__new__(Device)
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Device' and 'Device'"):
        assert plain < plain  # type: ignore[operator]


@capsules
@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_device_memory_passes_unread(ffi: Any, device: Device) -> None:
    x = OfDevice(ffi, device)
    echo, hold, held = (get_testing_function(ffi, name) for name in ("echo", "hold", "held"))
    hold({"k": [x]})
    kept = held()["k"][0]
    hold(None)
    for tensor in (echo(x), ffi.convert(x), ffi.from_dlpack(x), ffi.from_dlpack(x, device=device), kept):
        assert tensor.device == device
        assert tensor.data_ptr() == x.tensor.data_ptr()
        assert tensor.__dlpack_device__() == x.__dlpack_device__()
        assert get_testing_function(ffi, "describe")(tensor) == get_testing_function(ffi, "describe")(
            x.tensor
        )
        twin = ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0), dl_device=x.__dlpack_device__()))
        assert twin.data_ptr() == tensor.data_ptr()
        assert twin.device == device
    # Without a stream the exporter uses its default one.
    assert {asked["stream"] for asked in x.asked} == {None}


@capsules
@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_cpu_does_not_read_device_memory(ffi: Any, device: Device) -> None:
    x = OfDevice(ffi, device)
    for given in (x, ffi.convert(x)):
        for f in ("sum", "fill"):
            with pytest.raises(BufferError, match=f"the memory of the tensor is on {device}, not on the CPU"):
                get_testing_function(ffi, f"tensor.{f}")(given)
    tensor = ffi.convert(x)
    with pytest.raises(TypeError, match=f"a tensor on {device} is not in memory that NumPy can read"):
        np.asarray(tensor)
    with pytest.raises(BufferError, match=f"a tensor on {device} cannot be copied by the CPU"):
        ffi.from_dlpack(tensor, copy=True)
    with pytest.raises(BufferError, match=f"a tensor on {device} cannot be exported to cpu:0"):
        tensor.__dlpack__(dl_device=(1, 0))


def test_memory_that_the_cpu_shares_with_a_device_is_read(ffi: Any) -> None:
    for kind in (DLDeviceType.kDLCUDAHost, DLDeviceType.kDLROCMHost, DLDeviceType.kDLCUDAManaged):
        assert get_testing_function(ffi, "tensor.sum")(make(ffi, device=Device(kind))) == 0


# ---- streams -----------------------------------------------------------------------------------------------


@capsules
@pytest.mark.parametrize(
    ("device", "taken", "refused"),
    [
        ("cpu", [], [-1, 0, 1, "s"]),
        ("cuda_host", [], [-1, 0, 1]),
        ("rocm_host", [], [-1, 0, 1]),
        ("cuda:1", [-1, 1, 2, 3, 2**63], [0, -2, "s", 1.5]),
        ("cuda_managed", [-1, 1, 2], [0, -2]),
        ("rocm", [-1, 0, 3, 2**63], [1, 2, -2, None.__class__]),
        ("ext_dev", [-1, 0, 5, "s", ()], []),
    ],
)
def test_streams_are_those_of_the_device(ffi: Any, device: str, taken: list[Any], refused: list[Any]) -> None:
    tensor = make(ffi, device=Device(device))
    for stream in (None, *taken):
        capsule = tensor.__dlpack__(stream=stream, max_version=(1, 3))
        assert ffi.from_dlpack(capsule).data_ptr() == tensor.data_ptr()
    for stream in refused:
        with pytest.raises(BufferError, match=f"is no stream of {tensor.device}"):
            tensor.__dlpack__(stream=stream, max_version=(1, 3))


# ---- arguments of from_dlpack ------------------------------------------------------------------------------


@capsules
def test_the_device_is_requested_from_the_exporter(ffi: Any) -> None:
    x = OfDevice(ffi, Device("cuda"))
    for asked in ("cpu", "cpu:0", Device("cpu")):
        tensor = ffi.from_dlpack(x, device=asked)
        assert tensor.device == Device("cpu")
        assert tensor.data_ptr() == x.on_cpu.data_ptr()
        assert x.asked[-1]["dl_device"] == (1, 0)
    with pytest.raises(BufferError, match="only be copied"):
        ffi.from_dlpack(x, device="cpu", copy=False)
    with pytest.raises(BufferError, match="only be copied"):
        ffi.from_dlpack(x, device="rocm")


def test_memory_that_cannot_move_is_refused(ffi: Any) -> None:
    x = np.arange(3.0)
    for given in (x, ffi.convert(x)):
        assert ffi.from_dlpack(given, device="cpu").data_ptr() == address(x)
        with pytest.raises(BufferError, match="a tensor on cpu:0 cannot become one on cuda:1"):
            ffi.from_dlpack(given, device="cuda:1")


@capsules
def test_old_exporters_without_device_and_copy(ffi: Any) -> None:
    """Without `dl_device` and `copy`, the exported device is compared, and the copy made here."""
    x = np.arange(3.0)
    capsule = ffi.convert(x).__dlpack__()
    for given in (OldExporter(x), capsule):
        with pytest.raises(BufferError, match="a tensor on cpu:0 cannot become one on cuda:0"):
            ffi.from_dlpack(given, device="cuda")
    for given in (OldExporter(x), ffi.convert(x).__dlpack__()):
        copied = ffi.from_dlpack(given, device="cpu", copy=True)
        assert copied.data_ptr() != address(x)
        assert np.asarray(copied).tolist() == [0, 1, 2]
    assert ffi.from_dlpack(OldExporter(x), copy=False).data_ptr() == address(x)


@pytest.mark.parametrize("device", [5, 1.5, (1, 0), b"cpu"], ids=repr)
def test_a_device_is_a_device(ffi: Any, device: Any) -> None:
    with pytest.raises(TypeError, match=f"expected a Device or its name, got {type(device).__name__}"):
        ffi.from_dlpack(np.zeros(1), device=device)
    with pytest.raises(ValueError, match="unknown type 'nowhere'"):
        ffi.from_dlpack(np.zeros(1), device="nowhere")


def test_copies_and_references(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    tensor = ffi.convert(x)
    for given in (x, tensor):
        for copy in (None, False):
            assert ffi.from_dlpack(given, copy=copy).data_ptr() == address(x)
        copied = ffi.from_dlpack(given, copy=True, require_contiguous=True)
        assert not np.shares_memory(np.asarray(copied), x)
        assert np.array_equal(np.asarray(copied), x)
    assert ffi.from_dlpack(tensor, copy=False) is tensor


@capsules
def test_the_copy_is_requested_from_the_exporter(ffi: Any) -> None:
    for copy, asked in ((None, {}), (False, {"copy": False}), (True, {"copy": True})):
        exporter = Exporter(ffi.convert(np.arange(3)))
        made = ffi.from_dlpack(exporter, copy=copy)
        assert exporter.asked == [{"max_version": (1, 3), **asked}]
        assert (made.data_ptr() == exporter.array.data_ptr()) is not bool(copy)
        assert np.asarray(made).tolist() == [0, 1, 2]
