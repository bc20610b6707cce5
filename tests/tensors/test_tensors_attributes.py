"""Attributes of tensors: how Python sees them, with receivers of other classes, and which objects are shared."""

from __future__ import annotations

import inspect
import pickle
import sys
from typing import Any

import anyffi
import numpy as np
import pytest
from anyffi import Device
from tensors import CPYTHON, PADDED, capsules, make

PROPERTIES = ("shape", "strides", "ndim", "dtype", "device")
METHODS = ("size", "numel", "data_ptr", "is_contiguous", "__dlpack_device__", "__dlpack__")


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties(ffi: Any, name: str) -> None:
    found = inspect.getattr_static(ffi.Tensor, name)
    assert type(found) is property
    assert inspect.getdoc(found)
    tensor = ffi.convert(np.zeros((2, 3)))
    with pytest.raises(AttributeError):
        setattr(tensor, name, None)

    class Named(ffi.Tensor):  # type: ignore[misc]
        __slots__ = ()

    setattr(Named, name, property(lambda self: "own"))
    assert getattr(Named(), name) == "own"
    for other in (3, [], np.zeros(1), ffi.List(), ffi.Tensor):
        with pytest.raises(
            TypeError,
            match=f"^descriptor '_anyffi_{name}' for 'anyffi.Tensor' objects doesn't apply to a '.*' object$",
        ):
            found.__get__(other)
    with pytest.raises(ValueError, match="this Tensor is empty: __init__ was not called"):
        getattr(ffi.Tensor(), name)


@pytest.mark.parametrize("name", METHODS)
def test_methods(ffi: Any, name: str) -> None:
    method = getattr(ffi.Tensor, name)
    assert method.__name__ == name
    assert method.__qualname__ == f"Tensor.{name}"
    with pytest.raises(ValueError, match="this Tensor is empty: __init__ was not called"):
        method(ffi.Tensor(), *([0] if name == "size" else []))
    with pytest.raises((TypeError, AttributeError)):
        method(3)
    if not name.startswith("__"):
        assert inspect.getdoc(method)


def test_len_of_other_objects(ffi: Any) -> None:
    with pytest.raises(TypeError, match="'__len__' requires a 'anyffi.Tensor' object but received a 'int'"):
        ffi.Tensor.__len__(3)
    with pytest.raises(ValueError, match="is empty"):
        len(ffi.Tensor())


def test_the_method_dlpack(ffi: Any) -> None:
    method = ffi.Tensor.__dlpack__
    assert str(inspect.signature(method)) == (
        "(self, /, *, stream=None, max_version=None, dl_device=None, copy=None)"
    )
    assert inspect.getdoc(method).startswith("Return a DLPack capsule, for the ``from_dlpack`` of another")
    for other in (3, ffi.List(), None):
        with pytest.raises(
            TypeError, match="^descriptor '__dlpack__' for 'anyffi.Tensor' objects doesn't apply to a '"
        ):
            method(other)


@capsules
def test_keywords_of_dlpack(ffi: Any) -> None:
    tensor = ffi.convert(np.zeros(3))
    old, new = '"dltensor"', '"dltensor_versioned"'
    # A keyword that is not interned, as one from a dict may be.
    name = "MAX_VERSION".lower()

    class Version(tuple):  # type: ignore[type-arg]
        __slots__ = ()

    for options, wanted in (
        ({}, old),
        ({"stream": None, "dl_device": None, "copy": None, "max_version": None}, old),
        ({"max_version": (1, 0)}, new),
        ({name: (1, 3), "copy": False}, new),
        ({"max_version": (0, 8)}, old),
        ({"max_version": (-1, 2**70)}, old),
        ({"max_version": (2**70, 0)}, new),
        ({"max_version": [1, 0]}, new),
        ({"max_version": Version((1, 0))}, new),
        ({"max_version": (np.int64(1), True)}, new),
        ({"max_version": (True, 0)}, new),
        ({"dl_device": (1, 0)}, old),
        ({"copy": True, "max_version": (1, 0)}, new),
        ({"copy": [], "max_version": (1, 0)}, new),
    ):
        assert wanted in repr(tensor.__dlpack__(**options)), options
    for options, error, text in (
        ({"max_version": 1}, TypeError, "max_version must be a tuple of two ints, not 1"),
        ({"max_version": (1,)}, TypeError, "max_version must be a tuple of two ints"),
        ({"max_version": (1.0, 0)}, TypeError, "max_version must be a tuple of two ints"),
        ({"dl_device": "cpu"}, TypeError, "dl_device must be a tuple of two ints, not 'cpu'"),
        ({"dl_device": (2, 0)}, BufferError, "a tensor on cpu:0 cannot be exported to cuda:0"),
        ({"stream": 1}, BufferError, "1 is no stream of cpu:0"),
        ({"other": 1}, TypeError, "__dlpack__\\(\\) got an unexpected keyword argument 'other'"),
        ({"coy": None}, TypeError, "__dlpack__\\(\\) got an unexpected keyword argument 'coy'"),
        ({"straem": None}, TypeError, "__dlpack__\\(\\) got an unexpected keyword argument 'straem'"),
    ):
        with pytest.raises(error, match=text):
            tensor.__dlpack__(**options)
    with pytest.raises(TypeError, match="__dlpack__\\(\\) takes 1 positional argument but 2 were given"):
        tensor.__dlpack__(None)
    with pytest.raises(ZeroDivisionError):
        tensor.__dlpack__(copy=Undecided())


class Undecided:
    """Has no truth value."""

    def __bool__(self) -> bool:
        raise ZeroDivisionError


def test_dtypes_and_devices_are_shared(ffi: Any) -> None:
    one, other = ffi.convert(np.zeros(3)), ffi.convert(np.ones((2, 2)))
    assert one.dtype is other.dtype
    assert one.device is other.device
    assert make(ffi, dtype="float32x4").dtype is not make(ffi, dtype="float32x4").dtype
    assert make(ffi, dtype="code200_8").dtype is not make(ffi, dtype="code200_8").dtype
    places = [Device("cuda:15"), Device("cuda:16"), Device("ext_dev", -1), Device(31, 1), Device(32, 1)]
    for place, is_shared in zip(places, (True, False, False, True, False)):
        found = [make(ffi, device=place).device for _ in range(2)]
        assert found == [place, place]
        assert (found[0] is found[1]) is is_shared
        assert found[0] is not place
    assert {make(ffi, dtype=name, flags=4).dtype for name in ("int1", "int255", "float8_e8m0fnu")} == {
        *map(anyffi.dtype, ("int1", "int255", "float8_e8m0fnu"))
    }


def test_a_shared_device_cannot_change(ffi: Any) -> None:
    place = ffi.convert(np.zeros(3)).device
    with pytest.raises(TypeError, match="^Device is already initialized$"):
        place.__init__("cuda:1")
    assert str(place) == "cpu:0"
    assert pickle.loads(pickle.dumps(place)) == place


def test_numbers_of_any_size(ffi: Any) -> None:
    for shape in ((), (0,), (2**62, 4, 0), (2**62, 4), (2**62, 2**62, 3)):
        tensor = make(ffi, shape, "int8", strides=(0,) * len(shape))
        product = 1
        for extent in shape:
            product *= extent
        assert tensor.numel() == product
        assert tensor.shape == shape
        assert tensor.size(-1) == shape[-1] if shape else tensor.ndim == 0
    assert make(ffi, (2, 2), strides=(-(2**63), 2**63 - 1)).strides == (-(2**63), 2**63 - 1)


def test_sizes_in_bytes(ffi: Any) -> None:
    x = np.zeros((3, 4), "f4")
    empty = ffi.convert(np.zeros((0, 5))).__sizeof__()
    for array, spanned in (
        (x, 48),
        (x[:, ::2], 44),
        (x[::-1], 48),
        (x[0, 0], 4),
        (np.broadcast_to(x[0], (9, 4)), 16),
    ):
        tensor = ffi.convert(np.asarray(array))
        assert tensor.nbytes == array.nbytes
        assert tensor.__sizeof__() == empty + spanned
        assert not CPYTHON or sys.getsizeof(tensor) >= tensor.__sizeof__()
    assert make(ffi, (3,), "int4").nbytes == 2
    assert make(ffi, (3,), "int4", flags=PADDED).nbytes == 3
    assert make(ffi, (3,), "float32x4").nbytes == 48
    assert make(ffi, (2**40, 2**40), "float32", strides=(0, 0)).nbytes == 2**82
    with pytest.raises(AttributeError):
        tensor.nbytes = 1
