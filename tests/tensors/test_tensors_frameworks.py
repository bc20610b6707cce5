"""Arrays of PyTorch, JAX and Arrow, where these are installed: values, memory, and what is refused."""

from __future__ import annotations

import gc
from typing import Any

import anyffi
import numpy as np
import pytest
from programs import run_program
from support import get_testing_function
from tensors import CPYTHON

pytestmark = pytest.mark.skipif(not CPYTHON, reason="these libraries only support CPython")


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)


@pytest.fixture
def torch() -> Any:
    return library("torch")


@pytest.fixture
def jax() -> Any:
    return library("jax")


@pytest.fixture
def arrow() -> Any:
    return library("pyarrow")


def twice(ffi: Any, x: Any) -> list[Any]:
    """Convert an array by each entry point; repeatedly, since call paths are cached."""
    echo = get_testing_function(ffi, "echo")
    return [echo(x), ffi.convert(x), ffi.from_dlpack(x), echo([x])[0], echo(x)]


# ---- PyTorch -------------------------------------------------------------------------------------------------


def layouts(torch: Any) -> dict[str, Any]:
    x = torch.arange(24.0).reshape(2, 3, 4)
    return {
        "plain": x,
        "transposed": x.permute(2, 0, 1),
        "sliced": x[:, ::2, 1::2],
        "repeated": x[:1].expand(5, 3, 4),
        "offset": x[1, 1:],
        "0-d": torch.tensor(3.0),
        "empty": torch.zeros(0, 3),
        "detached": x.clone().requires_grad_().detach(),
        "resolved": torch.tensor([1 + 2j]).conj().resolve_conj().imag.resolve_neg(),
    }


def test_tensors_of_torch_in_any_layout(ffi: Any, torch: Any) -> None:
    for name, x in layouts(torch).items():
        for tensor in twice(ffi, x):
            assert tensor.shape == tuple(x.shape), name
            assert tensor.data_ptr() == x.data_ptr(), name
            assert np.array_equal(np.asarray(tensor), x.numpy()), name
            if x.numel() > 1:
                assert tensor.strides == x.stride(), name


DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_of_torch_of_any_dtype(ffi: Any, torch: Any, name: str) -> None:
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"this PyTorch has no {name}")
    raw = (
        torch.arange(1, 33, dtype=torch.uint8) % 2
        if name == "bool"
        else torch.arange(1, 33, dtype=torch.uint8)
    )
    x = raw.view(dtype)
    for tensor in twice(ffi, x):
        assert tensor.dtype == name
        assert tensor.data_ptr() == x.data_ptr()
        back = torch.from_dlpack(tensor)
        assert back.dtype == dtype
        assert back.data_ptr() == x.data_ptr()
        assert back.view(torch.uint8).tolist() == raw.tolist()
        if name != "complex32":
            assert np.asarray(tensor).tobytes() == bytes(raw.tolist())


def test_torch_tensors_that_are_not_exported(ffi: Any, torch: Any) -> None:
    """Every entry point refuses them, also once the class is cached."""
    plain = torch.arange(2.0)
    pairs = torch.tensor([1 + 2j, 3 + 4j])
    refused = {
        "require gradient": plain.clone().requires_grad_(),
        "gradient": torch.nn.Parameter(plain),
        "conjugate bit": pairs.conj(),
        "negative bit": pairs.conj().imag,
        "meta": torch.ones(2, device="meta"),
        "layout": torch.eye(2).to_sparse(),
    }
    for match, x in refused.items():
        for call in (
            get_testing_function(ffi, "echo"),
            ffi.convert,
            ffi.from_dlpack,
            lambda x: get_testing_function(ffi, "echo")([x]),
        ):
            get_testing_function(ffi, "nop")(plain)
            with pytest.raises(BufferError, match=match):
                call(x)


def test_writes_are_visible_in_torch(ffi: Any, torch: Any) -> None:
    x = torch.zeros(2, 3, dtype=torch.float64)
    get_testing_function(ffi, "tensor.fill")(x[:, ::2], 2.0)
    assert x.tolist() == [[2, 0, 2], [2, 0, 2]]
    tensor = get_testing_function(ffi, "echo")(x)
    back = torch.from_dlpack(tensor)
    back += 1
    assert get_testing_function(ffi, "tensor.sum")(tensor) == 14
    assert torch.utils.dlpack.from_dlpack(tensor.__dlpack__()).data_ptr() == x.data_ptr()
    assert torch.asarray(tensor).data_ptr() == x.data_ptr()


def test_the_last_holder_keeps_the_memory_of_torch(ffi: Any, torch: Any) -> None:
    live = anyffi.testing.live_blocks
    gc.collect()
    before = live()
    x = torch.arange(1000.0)
    hold, held = get_testing_function(ffi, "hold"), get_testing_function(ffi, "held")
    hold({"k": [x]})
    tensor = held()["k"][0]
    hold(None)
    del x
    back = torch.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert live() > before
    assert back.tolist() == list(range(1000))
    del back
    gc.collect()
    assert live() == before


def test_a_subclass_of_torch_overrides_its_export(ffi: Any, torch: Any) -> None:
    class Own(torch.Tensor):  # type: ignore[misc]
        def __dlpack__(self, **options: Any) -> Any:
            return torch.zeros(7).__dlpack__(**options)

    x = torch.arange(3.0).as_subclass(Own)
    for _ in range(3):
        get_testing_function(ffi, "nop")(torch.arange(3.0))
        assert get_testing_function(ffi, "echo")(x).shape == (7,)


def test_from_dlpack_of_torch(ffi: Any, torch: Any) -> None:
    x = torch.arange(3.0)
    assert ffi.from_dlpack(x, device="cpu", copy=False).data_ptr() == x.data_ptr()
    copied = ffi.from_dlpack(x, copy=True)
    assert copied.data_ptr() != x.data_ptr()
    assert np.asarray(copied).tolist() == [0, 1, 2]


# ---- JAX -----------------------------------------------------------------------------------------------------


def test_arrays_of_jax(ffi: Any, jax: Any) -> None:
    for name in ("bool", "int8", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"):
        x = jax.numpy.arange(6).reshape(2, 3).astype(name)
        for tensor in twice(ffi, x):
            assert tensor.dtype == name
            assert tensor.shape == (2, 3)
            assert np.array_equal(np.asarray(tensor), np.asarray(x))
        back = jax.numpy.from_dlpack(tensor)
        assert back.dtype == x.dtype
        assert np.array_equal(np.asarray(back), np.asarray(x))


def test_arrays_of_jax_are_not_copied(ffi: Any, jax: Any) -> None:
    x = jax.numpy.arange(1000.0)
    assert {tensor.data_ptr() for tensor in twice(ffi, x)} == {x.unsafe_buffer_pointer()}
    assert ffi.from_dlpack(x, copy=True).data_ptr() != x.unsafe_buffer_pointer()
    tensor = ffi.convert(x)
    del x
    gc.collect()
    assert np.asarray(tensor).tolist() == list(range(1000))
    for shape in ((), (0, 3)):
        assert get_testing_function(ffi, "echo")(jax.numpy.zeros(shape)).shape == shape


# NumPy before 2.4 accepts our dtypes there, with a warning.
@pytest.mark.filterwarnings("ignore:in the future the `.dtype` attribute:DeprecationWarning")
def test_jax_makes_arrays_of_tensors(ffi: Any, jax: Any) -> None:
    for name in ("bool", "int32", "bfloat16", "float32"):
        tensor = ffi.convert(jax.numpy.arange(3).astype(name))
        made = jax.numpy.asarray(tensor)
        assert made.dtype == name
        assert np.array_equal(np.asarray(made), np.asarray(tensor))


# ---- Arrow ---------------------------------------------------------------------------------------------------


def test_arrays_of_arrow(ffi: Any, arrow: Any) -> None:
    for name in ("int8", "uint16", "int64", "float16", "float32", "float64"):
        x = arrow.array(np.arange(6).astype(name))
        for given, expected in ((x, [0, 1, 2, 3, 4, 5]), (x[2:5], [2, 3, 4])):
            for tensor in twice(ffi, given):
                assert tensor.dtype == name
                assert np.asarray(tensor).tolist() == expected
                assert tensor.data_ptr() == given.buffers()[1].address + given.offset * tensor.dtype.itemsize


def test_arrow_arrays_that_are_not_exported(ffi: Any, arrow: Any) -> None:
    for x in (
        arrow.array([1, None]),
        arrow.array(["text"]),
        arrow.array([True, False]),
        arrow.array([[1], [2, 3]]),
    ):
        errors = []
        for call in (
            x.__dlpack__,
            lambda x=x: get_testing_function(ffi, "echo")(x),
            lambda x=x: ffi.from_dlpack(x),
        ):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - whichever Arrow raises
                call()
            errors.append((type(caught.value), str(caught.value)))
        assert len(set(errors)) == 1


def test_memory_of_arrow_outlives_the_array(ffi: Any, arrow: Any) -> None:
    gc.collect()
    before = arrow.total_allocated_bytes()
    x = arrow.array(range(10_000))
    tensor = get_testing_function(ffi, "echo")([x])[0]
    del x
    gc.collect()
    assert arrow.total_allocated_bytes() > before
    assert np.asarray(tensor)[-1] == 9999
    del tensor
    gc.collect()
    assert arrow.total_allocated_bytes() <= before


# ---- at the end of the interpreter ---------------------------------------------------------------------------

PROGRAM = """
import anyffi, anyffi.testing
import numpy as np
import torch

for _ in range(2):
    shared, own = torch.from_numpy(np.arange(1000.0)), torch.arange(1000.0)
    kept = [anyffi.testing.echo(shared), anyffi.testing.echo(own), anyffi.convert(own).__dlpack__()]
    kept += [torch.from_dlpack(tensor) for tensor in kept[:2]]
    anyffi.testing.hold([shared, own, {"k": own}])
cycle = [kept]
cycle.append(cycle)
print("done")
"""


@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_tensors_of_torch_at_the_end_of_the_interpreter(mode: str, request: Any, torch: Any) -> None:
    if mode not in request.config.getoption("--modes").split(","):
        pytest.skip("the mode is not tested")
    assert run_program(PROGRAM, mode) == "done\n"
