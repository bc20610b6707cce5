"""Results of type `Native<T>`: the runtime's containers as Python's own, and tensors as NumPy arrays."""

from __future__ import annotations

import gc
import sys
import types
from typing import Any

import cases
import numpy as np
import pytest
from support import CPYTHON, run

LONG = "a text that is stored apart"


@pytest.fixture
def results(ffi: Any) -> Any:
    return lambda name: ffi.get_global_func("testing.results." + name)


def test_native_is_deep(ffi: Any, results: Any) -> None:
    array = np.arange(3.0)
    for x in (
        [1, {"a": (1, {2}), "b": [types.MappingProxyType({"c": frozenset({1})})]}, slice([1], None)],
        (),
        {"x": []},
        1,
        LONG,
        None,
    ):
        assert cases.same(results("native")(x), x)
    deep = results("native")({"a": [array, (array,)]})
    assert type(deep) is dict
    for found in (deep["a"][0], deep["a"][1][0], results("native")(array)):
        assert type(found) is np.ndarray
        assert np.shares_memory(found, array)
    shared = ffi.List([1])
    twice = results("native")([shared, shared])
    assert twice == [[1], [1]]
    assert twice[0] is twice[1]
    cyclic = ffi.List()
    cyclic.append(cyclic)
    with pytest.raises(RecursionError):
        results("native")(cyclic)
    cyclic.clear()


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("native_list", [[1], []]),
        ("native_array", ("a", LONG)),
        ("native_dict", {"a": [1]}),
        ("native_map", types.MappingProxyType({"a": 1})),
        ("native_set", {"a"}),
        ("native_frozen_set", frozenset({1})),
        ("native_tuple", (1, [2])),
    ],
)
def test_native_of_each_class(ffi: Any, results: Any, name: str, x: Any) -> None:
    assert cases.same(results(name)(x), x)
    shared = ffi.convert(x)
    assert cases.same(results(name)(shared), x)
    assert results(name)(shared) is not shared
    assert shared == x


def test_native_leaves_the_original(ffi: Any, results: Any) -> None:
    kept = results("kept")()
    made = results("native_kept")()
    assert cases.same(made, [1, 2])
    made.append(3)
    assert kept == [1, 2]


def test_tensors_as_arrays(ffi: Any, results: Any) -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::-1]
    found = results("native_tensor")(array)
    assert type(found) is np.ndarray
    assert found.strides == array.strides
    found[0, 0] = 9.0
    assert array[0, 0] == 9.0
    one, two, three, tensor = results("native_tensors")(array)
    for each in (one, two, *three):
        assert type(each) is np.ndarray
        assert np.shares_memory(each, array)
    assert type(tensor) is ffi.Tensor
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert not results("native_tensor")(frozen).flags.writeable
    assert results("native_tensor")(np.array(5)).shape == ()
    memory = results("native_tensor")(np.zeros(1000))
    gc.collect()
    assert memory.sum() == 0.0


@pytest.mark.parametrize("name", cases.DLPACK)
def test_arrays_are_numpys_own(ffi: Any, results: Any, name: str) -> None:
    for shape in ((), (3,), (2, 3), (2, 0, 3), (1, 3)):
        array = np.zeros(shape, name)
        for given in (array, array.view()):
            found = results("native_tensor")(given)
            assert type(found) is np.ndarray
            assert found.dtype == array.dtype
            assert found.dtype.num == array.dtype.num
            assert found.shape == shape
            assert found.strides == array.strides or not array.size
            assert found.flags.num & ~0x4 == given.flags.num & ~0x4  # it never owns its memory
            if CPYTHON:
                assert type(found.base) is ffi.Tensor
            array.flags.writeable = False


def test_arrays_of_other_layouts(ffi: Any, results: Any) -> None:
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    for given in (array.T, array[:, ::2], array[:, :, ::-1], array[1:], array[:0], np.zeros((1,) * 33)):
        found = results("native_tensor")(given)
        assert np.array_equal(found, given)
        assert found.shape == given.shape
        assert found.strides == given.strides or not given.size
        assert np.shares_memory(found, given) == (given.size > 0)


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import anyffi, anyffi.testing
try:
    anyffi.get_global_func("testing.results.native_tensor")(anyffi.get_global_func("testing.tensor.empty")((2,), anyffi.dtype("float32")))
except ImportError as error:
    print(error)
"""


def test_without_numpy(ffi: Any) -> None:
    done = run([sys.executable, "-c", WITHOUT_NUMPY], FFI_MODE=ffi.ffi_mode)
    assert done.stdout == "NumPy is needed to make an array of a tensor: pip install numpy\n", done.stderr
