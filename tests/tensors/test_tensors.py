"""Tensors: attributes, and reading and writing by functions."""

from __future__ import annotations

from typing import Any

import anyffi
import numpy as np
import pytest
from anyffi import Device
from support import get_testing_function
from tensors import ARRAYS, IDS, address, read_only

# ---- attributes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_attributes(ffi: Any, x: Any) -> None:
    tensor = get_testing_function(ffi, "echo")(x)
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
    assert ffi.get_global_func("anyffi.value.repr")(tensor) == repr(tensor)
    with pytest.raises(IndexError):
        tensor.size(plain.ndim)
    if plain.ndim:
        assert len(tensor) == get_testing_function(ffi, "size")(tensor) == len(plain)
    else:
        with pytest.raises(TypeError, match="unsized"):
            len(tensor)
        with pytest.raises(TypeError, match="unsized"):
            get_testing_function(ffi, "size")(tensor)


@pytest.mark.parametrize("x", ARRAYS, ids=IDS)
def test_cpp_sees_the_same(ffi: Any, x: Any) -> None:
    tensor = ffi.convert(x)
    for given in (x, tensor):
        dtype, device, shape, strides, read_only, contiguous, numel, place = get_testing_function(
            ffi, "tensor.ask"
        )(given)
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
    echo = get_testing_function(ffi, "echo")
    assert echo({one: 1})[one] == 1
    assert get_testing_function(ffi, "equal")(one, one) is True
    assert get_testing_function(ffi, "equal")(one, other) is False
    assert one.same_as(echo([one])[0])


def test_a_tensor_without_axes_is_a_number(ffi: Any) -> None:
    """Even if the memory, read as text, would be the digits of another number."""
    assert int(ffi.convert(np.array(49, "u1"))) == 49
    assert float(ffi.convert(np.array(2.5))) == 2.5
    assert int(ffi.convert(np.array(-2.5, "f4"))) == -2
    assert complex(ffi.convert(np.array(1j))) == 1j
    for cls in (int, float, complex):
        with pytest.raises(TypeError, match=rf"only a tensor without axes converts to {cls.__name__}, not"):
            cls(ffi.convert(np.array([49, 50], "u1")))
    with pytest.raises(TypeError):
        float(ffi.convert(np.array(1j)))


# ---- the same memory -----------------------------------------------------------------------------------------


def test_writes_are_visible_everywhere(ffi: Any) -> None:
    x = np.arange(6.0).reshape(2, 3)
    tensor = get_testing_function(ffi, "echo")(x)
    back = np.asarray(tensor)
    assert np.shares_memory(x, back)
    get_testing_function(ffi, "tensor.fill")(tensor, 7.0)
    assert (x == 7).all()
    assert (back == 7).all()
    back[0, 0] = 1
    assert get_testing_function(ffi, "tensor.sum")(x) == get_testing_function(ffi, "tensor.sum")(tensor) == 36


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
        assert get_testing_function(ffi, "tensor.sum")(part) == part.sum()
    get_testing_function(ffi, "tensor.fill")(x[:, ::-2, 1::2], -1.0)
    assert (x[:, [0, 2], 1::2] == -1).all()
    assert (x == -1).sum() == 8
    assert (x[:, 1] != -1).all()


def test_out_arguments(ffi: Any) -> None:
    a, b, c = np.arange(3.0), np.ones(6)[::2], np.empty(3)
    add = get_testing_function(ffi, "tensor.add")
    result = add(a, b, out=c)
    assert type(result) is ffi.Tensor
    assert result.data_ptr() == address(c)
    assert c.tolist() == [1, 2, 3]
    tensor = ffi.convert(c)
    assert add(a, b, out=tensor) is tensor
    assert add(a, a, tensor) is tensor
    assert c.tolist() == [0, 2, 4]


def test_round_trip_of_tensors(ffi: Any) -> None:
    tensor = ffi.convert(np.zeros(2))
    echo, hold, held = (get_testing_function(ffi, name) for name in ("echo", "hold", "held"))
    assert ffi.convert(tensor) is tensor
    assert ffi.from_dlpack(tensor) is tensor
    assert echo(tensor) is tensor
    assert echo([tensor])[0] is tensor
    assert get_testing_function(ffi, "typed.tensor")(tensor) is tensor
    assert get_testing_function(ffi, "apply")(lambda x: x, tensor) is tensor
    hold({"k": tensor})
    assert held()["k"] is tensor
    hold(None)


def test_a_callback_gets_a_tensor(ffi: Any) -> None:
    x = np.arange(3)
    seen = []
    result = get_testing_function(ffi, "apply")(lambda t: seen.append(t) or t, x)
    assert type(seen[0]) is ffi.Tensor
    assert seen[0].data_ptr() == address(x)
    assert seen[0] is result


def test_a_container_of_arrays(ffi: Any) -> None:
    x = np.zeros(2)
    result = get_testing_function(ffi, "echo")({"a": [x, (x,)], "b": slice(x)})
    assert {result["a"][0].data_ptr(), result["a"][1][0].data_ptr(), result["b"].stop.data_ptr()} == {
        address(x)
    }
    assert get_testing_function(ffi, "typed.array_tensor")([x, x])[1].data_ptr() == address(x)


# ---- read-only -----------------------------------------------------------------------------------------------


def test_read_only_memory_is_not_written(ffi: Any) -> None:
    for x in (read_only(np.ones(2)), np.broadcast_to(1.0, (2, 2)), np.frombuffer(read_only(np.ones(2)))):
        tensor = ffi.convert(x)
        assert not np.asarray(tensor).flags.writeable
        assert get_testing_function(ffi, "describe")(tensor).endswith("read-only)")
        assert get_testing_function(ffi, "tensor.sum")(tensor) == x.size
        for given in (x, tensor):
            with pytest.raises(ValueError, match="read-only"):
                get_testing_function(ffi, "tensor.fill")(given, 2.0)
        assert (x == 1).all()


def test_the_read_only_flag_is_current(ffi: Any) -> None:
    x = np.ones(2)
    tensor = ffi.convert(x)
    x.flags.writeable = False
    assert np.asarray(tensor).flags.writeable
    assert not np.asarray(ffi.convert(x)).flags.writeable


def test_typed_access_is_checked(ffi: Any) -> None:
    total = get_testing_function(ffi, "tensor.sum")
    for x in (np.zeros(2, "f4"), np.zeros(2, "i8"), np.zeros(2, "c16"), np.zeros(2, "?")):
        with pytest.raises(TypeError, match=f"expected a tensor of float64, got one of {x.dtype}"):
            total(x)
    raw = np.zeros(17, "u1")
    with pytest.raises(ValueError, match="not aligned to 8 bytes"):
        total(raw[1:].view("f8"))
    for x in ([1.0], 1.0, None, "x", np.float64(1)):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected Tensor, got"):
            total(x)


# ---- borrowed tensors ----------------------------------------------------------------------------------------


def test_a_view_passes_its_tensor_on(ffi: Any) -> None:
    """A callback gets a reference to the memory, which it may keep."""
    call, tensor = get_testing_function(ffi, "tensor.call"), ffi.convert(np.ones(3))
    for f in (lambda x: x, get_testing_function(ffi, "echo"), get_testing_function(ffi, "typed.tensor")):
        assert call(f, tensor) is tensor
    kept: list[Any] = []
    for x in (np.arange(3.0), tensor):
        assert call(kept.append, x) is None
        assert get_testing_function(ffi, "tensor.call_std")(lambda x: np.asarray(x).sum(), x) == 3
    assert kept[1] is tensor
    assert np.asarray(kept[0]).tolist() == [0, 1, 2]
    call(get_testing_function(ffi, "hold"), kept.pop(0))
    assert get_testing_function(ffi, "hold")(None) is None


def test_a_view_of_memory_without_a_tensor_cannot_be_kept(ffi: Any) -> None:
    call = get_testing_function(ffi, "tensor.call_raw")
    assert call(get_testing_function(ffi, "tensor.sum")) == 5
    for f in (
        lambda x: None,
        get_testing_function(ffi, "hold"),
        get_testing_function(ffi, "echo"),
        get_testing_function(ffi, "typed.tensor"),
    ):
        with pytest.raises(TypeError, match="borrows its memory for one call: it cannot be stored"):
            call(f)


def test_a_shape_of_many_axes(ffi: Any) -> None:
    empty = get_testing_function(ffi, "tensor.empty")
    for shape in ((), (2,), (1, 2) * 4, (1, 2, 1) * 3, (0, 1) * 8):
        assert empty(shape, anyffi.dtype("int8")).shape == shape


def test_a_view_can_be_used(ffi: Any) -> None:
    call = get_testing_function(ffi, "tensor.call")
    for x in (np.ones(3), read_only(np.ones((2, 2)))):
        tensor = ffi.convert(x)
        assert call(get_testing_function(ffi, "tensor.sum"), x) == x.sum()
        assert call(get_testing_function(ffi, "describe"), tensor) == get_testing_function(ffi, "describe")(
            tensor
        )
        assert call(get_testing_function(ffi, "typed.tensor_view"), x) == x.ndim
        assert call(get_testing_function(ffi, "size"), x) == len(x)
    with pytest.raises(ValueError, match="read-only"):
        call(get_testing_function(ffi, "tensor.fill"), read_only(np.ones(2)))
