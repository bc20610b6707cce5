"""Lifetime of the memory of tensors."""

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
from programs import run_program
from support import get_testing_function
from tensors import CPYTHON, Exporter, OldExporter, capsules, cpython_only, make


class Watched(np.ndarray):  # type: ignore[type-arg]
    """An array with weak references."""


def watched() -> tuple[Any, weakref.ref[Any]]:
    x = np.arange(4.0).view(Watched)
    return x, weakref.ref(x)


@cpython_only
def test_a_call_keeps_nothing(ffi: Any) -> None:
    x = np.arange(4.0)
    before = sys.getrefcount(x)
    nop, echo, total = (get_testing_function(ffi, name) for name in ("nop", "echo", "tensor.sum"))
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
            get_testing_function(ffi, "tensor.fill")(x, "no number")
    assert sys.getrefcount(x) == before


@cpython_only
def test_the_tensor_keeps_the_array(ffi: Any) -> None:
    x, alive = watched()
    tensor = ffi.convert(x)
    del x
    assert alive() is not None
    assert get_testing_function(ffi, "tensor.sum")(tensor) == 6
    del tensor
    assert alive() is None


@cpython_only
@pytest.mark.parametrize("order", ["tensor first", "array first"])
def test_the_last_holder_keeps_the_memory(ffi: Any, order: str) -> None:
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
        assert get_testing_function(ffi, "tensor.sum")(tensor) == 6
        del tensor
    assert alive() is None


@cpython_only
def test_cpp_keeps_the_array(ffi: Any) -> None:
    x, alive = watched()
    hold, held = get_testing_function(ffi, "hold"), get_testing_function(ffi, "held")
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
def test_memory_is_released_on_any_thread(ffi: Any, wrap: Any) -> None:
    x, alive = watched()
    tensor = ffi.convert(wrap(x))
    hold, drop = get_testing_function(ffi, "hold"), get_testing_function(ffi, "drop_in_thread")
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
def test_an_unused_capsule_releases_the_memory(ffi: Any) -> None:
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
def test_a_consumer_that_fails_releases_the_memory(ffi: Any) -> None:
    """The capsule dies while the consumer's exception propagates."""
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
    kept += [memoryview(kept[0]), np.asarray(memoryview(kept[0]))[::2]]
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
