"""`zeros` of docs/examples is `np.zeros`, in memory of the runtime."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Callable

import anyffi
import example_programs
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import collect

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
NAMELESS = (
    *("O", "U3", "S2", "V4", "M8[s]", "m8[ns]", "g", "G"),
    *(np.dtype(code).newbyteorder() for code in ("i4", "f8", "c8")),
    np.dtype([("a", "i4"), ("b", "f4")]),
)
SPELLINGS: tuple[Callable[[str], Any], ...] = (
    str,
    np.dtype,
    lambda name: np.dtype(name).type,
    lambda name: np.dtype(name).char,
    anyffi.dtype,
)
LENGTHS = st.lists(st.integers(0, 4), max_size=5)
SHAPES = (
    LENGTHS
    | LENGTHS.map(tuple)
    | LENGTHS.map(lambda lengths: tuple(map(np.int16, lengths)))
    | st.integers(0, 100)
    | st.integers(0, 100).map(np.uint8)
)


@pytest.fixture(scope="session")
def zeros(ffi: Any) -> Iterator[Any]:
    with example_programs.loaded(ffi, "zeros") as programs:
        yield programs["zeros"].zeros


@given(
    shape=SHAPES, name=st.sampled_from(DTYPES), spell=st.sampled_from(SPELLINGS), order=st.sampled_from("CF")
)
def test_equals_numpy(zeros: Any, shape: Any, name: str, spell: Callable[[str], Any], order: Any) -> None:
    array = np.asarray(zeros(shape, spell(name), order))
    expected = np.zeros(shape, name, order)
    assert type(array) is np.ndarray
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    assert array.flags.writeable
    assert array.flags.c_contiguous == expected.flags.c_contiguous
    assert array.flags.f_contiguous == expected.flags.f_contiguous
    assert array.strides == expected.strides or not expected.size
    assert array.tobytes() == expected.tobytes()


@given(shape=SHAPES)
def test_defaults(ffi: Any, zeros: Any, shape: Any) -> None:
    tensor = zeros(shape)
    assert type(tensor) is ffi.Tensor
    assert tensor.dtype == "float64"
    assert tensor.shape == np.zeros(shape).shape
    assert tensor.device == anyffi.Device("cpu")
    assert np.asarray(tensor).flags.c_contiguous


@pytest.mark.parametrize("builtin", [bool, int, float, complex])
def test_python_class_as_dtype(zeros: Any, builtin: type) -> None:
    assert np.asarray(zeros(2, builtin)).dtype == np.dtype(builtin)


@pytest.mark.parametrize("dtype", NAMELESS, ids=str)
def test_dtype_without_a_dlpack_code(zeros: Any, dtype: Any) -> None:
    with pytest.raises(TypeError) as caught:
        zeros(2, dtype)
    assert str(np.dtype(dtype)) in str(caught.value)


def test_no_dtype_at_all(zeros: Any) -> None:
    with pytest.raises(TypeError, match="nonsense"):
        zeros(2, "nonsense")


def raised(function: Callable[[], Any]) -> type | None:
    """Return the builtin class of the exception of a call; None without one."""
    try:
        function()
    except Exception as error:
        return next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")
    return None


# Either small or beyond any machine's address space.
LENGTH = st.integers(-3, 3) | st.sampled_from([2**56, 2**62, 2**63 - 1, -(2**63)])
NO_LENGTH = st.sampled_from(
    [1.5, np.float32(2), "2", "ab", b"x", None, (1,), [2], {}, ..., True, np.bool_(False), 1j, object()]
)


@given(shape=st.lists(LENGTH | NO_LENGTH, max_size=4) | st.lists(LENGTH, max_size=4).map(tuple))
@example(shape=[1] * 64)
@example(shape=[1] * 65)
@example(shape=[1.5] * 65)
@example(shape=(2**63,))
@example(shape=(0, 2**64))
@example(shape=(0, 2**62, 2**62))
@example(shape=(2**40, -1, 2**40))
def test_bad_shapes_raise_as_numpy(zeros: Any, shape: Any) -> None:
    assert raised(lambda: zeros(shape)) is raised(lambda: np.zeros(shape))


NO_SHAPES = (
    *(-1, 2**63, -(2**63) - 1, 2**62, 2**56, 1.5, np.float64(2), 1j, True, np.bool_(True)),
    *("ab", {}, {1: 2}, ..., slice(2)),
)


@pytest.mark.parametrize("shape", NO_SHAPES, ids=repr)
def test_bad_numbers_raise_as_numpy(zeros: Any, shape: Any) -> None:
    expected = raised(lambda: np.zeros(shape))
    assert expected is not None
    assert raised(lambda: zeros(shape)) is expected


def test_none_is_no_shape(zeros: Any) -> None:
    # Older versions of NumPy took it for ().
    with pytest.raises(TypeError, match="expected int, got NoneType"):
        zeros(None)


@pytest.mark.parametrize("order", ["K", "A", "c", "f", "", "CF", "\ud800", None, 1], ids=ascii)
def test_other_orders(zeros: Any, order: Any) -> None:
    with pytest.raises(NotImplementedError):
        zeros((2, 2), order=order)


def test_other_contexts(zeros: Any) -> None:
    with pytest.raises(NotImplementedError, match="cpu"):
        zeros(2, ctx="gpu")


@pytest.mark.parametrize("name", ["float32x4", "int4", "uint1"])
def test_a_dtype_that_numpy_lacks(zeros: Any, name: str) -> None:
    tensor = zeros((2, 3), anyffi.dtype(name))
    assert tensor.dtype == name
    with pytest.raises(TypeError, match=name):
        np.asarray(tensor)


# ---- memory ----------------------------------------------------------------------------------------------


@pytest.fixture
def counts(ffi: Any) -> types.SimpleNamespace:
    names = ("live_blocks", "total_blocks", "total_bytes")
    return types.SimpleNamespace(**{name: ffi.get_global_func(f"testing.{name}") for name in names})


def test_memory_is_shared_and_writable(zeros: Any) -> None:
    tensor = zeros((3, 4), np.int32)
    first, second = np.asarray(tensor), np.asarray(tensor)
    first[1, 2] = 7
    assert second[1, 2] == 7
    assert np.shares_memory(first, second)
    assert second.sum() == 7


def test_memory_is_allocated_once(zeros: Any, counts: Any) -> None:
    def allocated(size: int) -> tuple[int, int]:
        before = counts.total_blocks(), counts.total_bytes()
        array = np.asarray(zeros(size, np.uint8))
        array[:] = 1
        return counts.total_blocks() - before[0], counts.total_bytes() - before[1]

    allocated(1_000)  # The small blocks come from the thread's free lists from here on.
    (blocks, size), (more_blocks, more) = allocated(1_000), allocated(1_000_000)
    assert more_blocks == blocks
    assert more - size == 999_000


@pytest.mark.parametrize("gone", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_memory_lives_as_long_as_the_last_view(zeros: Any, counts: Any, gone: tuple[int, ...]) -> None:
    collect()
    before = counts.live_blocks()
    tensor = zeros((4, 5))
    array = np.asarray(tensor)
    held: list[Any] = [tensor, array, array[1:, ::2].T]
    del tensor, array
    collect()
    made = counts.live_blocks()
    assert made > before
    for index in gone[:2]:
        held[index] = None
        collect()
        assert counts.live_blocks() == made
        if isinstance(held[2], np.ndarray):
            held[2][:] += 1
            assert held[2].min() == held[2].max() >= 1
    held[gone[2]] = None
    collect()
    assert counts.live_blocks() == before


def test_out_of_memory(ffi: Any, zeros: Any, counts: Any) -> None:
    fail_allocation = ffi.get_global_func("testing.fail_allocation")
    zeros((2, 2))
    collect()
    before = counts.live_blocks()
    for after in range(100):
        fail_allocation(after)
        try:
            zeros((2, 2))
        except MemoryError:
            continue
        finally:
            fail_allocation(-1)
            collect()
            assert counts.live_blocks() == before
        break
    else:
        pytest.fail("no number of allocations is enough")
    assert after > 0
