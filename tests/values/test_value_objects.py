"""Data types, devices, pointers, memory views and users' hooks: passed repeatedly, and refused.

The compiled marshaller caches how their classes convert, and reads most of these values itself.
"""

from __future__ import annotations

import ctypes
import traceback
from typing import Any, Callable

import anyffi
import numpy as np
import pytest
from support import cpython_only
from tensors import VERSIONED

_TIMES = 3


def _echo(ffi: Any) -> Any:
    return ffi.get_global_func("testing.echo")


def _forms(x: Any) -> list[Any]:
    """A value as an argument and inside of containers."""
    return [x, [x], (x,), {"key": x}]


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (np.dtype("float32"), "float32"),
        (np.float32, "float32"),
        (np.dtype("int8"), "int8"),
        (np.bool_, "bool"),
        (anyffi.dtype("float32"), "float32"),
        (anyffi.dtype("float32x4"), "float32x4"),
        (type("Own", (anyffi.dtype,), {})("int16"), "int16"),
    ],
    ids=str,
)
def test_data_types(ffi: Any, given: Any, seen: str) -> None:
    echo = _echo(ffi)
    for _ in range(_TIMES):
        for form in _forms(given):
            read = ffi.to_python(echo(form))
            while type(read) in (list, tuple, dict):
                read = read["key"] if type(read) is dict else read[0]
            assert type(read) is anyffi.dtype
            assert read == seen


def test_data_types_that_cannot_be_passed(ffi: Any) -> None:
    echo = _echo(ffi)
    for given in (np.dtype("U4"), np.dtype([("a", "i4")]), np.dtype(">f4"), np.str_, np.object_):
        for _ in range(_TIMES):
            with pytest.raises(TypeError, match="has no DLPack code"):
                echo(given)
    for cls in (np.generic, np.floating, int):
        assert all(echo(cls) is cls for _ in range(_TIMES))


def test_devices(ffi: Any) -> None:
    class Own(anyffi.Device):
        type = property(lambda self: 1 / 0)  # type: ignore[assignment]

    echo = _echo(ffi)
    for device in (
        anyffi.device("cpu"),
        anyffi.device("cuda", 40),
        anyffi.Device(-5, -7),
        anyffi.Device(True),
    ):
        for _ in range(_TIMES):
            assert echo(device) == device
            assert echo([device])[0] == device
    assert echo(Own("cuda:3")) == anyffi.device("cuda", 3)
    for _ in range(_TIMES):
        with pytest.raises(ValueError, match="this Device is empty"):
            echo(anyffi.Device.__new__(anyffi.Device))


def test_pointers(ffi: Any) -> None:
    class Own(ctypes.c_void_p):
        value = property(lambda self: 1 / 0)  # type: ignore[assignment]

    echo = _echo(ffi)
    for address in (None, 0, 8, 2**64 - 1):
        for cls in (ctypes.c_void_p, Own):
            for _ in range(_TIMES):
                read = echo(cls(address))
                assert type(read) is ctypes.c_void_p
                assert read.value == (address or None)
                assert echo([cls(address)])[0].value == (address or None)


def test_memory_views(ffi: Any) -> None:
    echo = _echo(ffi)
    data = bytearray(range(200))
    views = [
        memoryview(data),
        memoryview(data)[::2],
        memoryview(data)[::-1],
        memoryview(data)[:0],
        memoryview(data).cast("i"),
        memoryview(data).cast("B", (20, 10)),
        memoryview(np.arange(6, dtype="int16").reshape(2, 3).T),
        memoryview(np.array(7)),
    ]
    for view in views:
        for _ in range(_TIMES):
            assert echo(view) == view.tobytes()
            assert echo((view,))[0] == view.tobytes()
    seen = echo(views[0])
    data[0] = 99
    assert seen[0] == 0
    released = memoryview(data)
    released.release()
    for _ in range(_TIMES):
        with pytest.raises(ValueError, match="released"):
            echo(released)


def _hooks() -> dict[str, Callable[[Any], Any]]:
    class Hook:
        def __call__(self) -> str:
            return "called"

    return {
        "function": lambda self: "value",
        "static": staticmethod(lambda: "value"),  # type: ignore[dict-item]
        "class": classmethod(lambda cls: cls.__name__),  # type: ignore[dict-item]
        "property": property(lambda self: lambda: "value"),  # type: ignore[dict-item]
        "object": Hook(),  # type: ignore[dict-item]
    }


@pytest.mark.parametrize("kind", _hooks())
def test_kinds_of_hooks(ffi: Any, kind: str) -> None:
    x = type("Valued", (), {"__anyffi_value__": _hooks()[kind]})()
    expected = {"class": "Valued", "object": "called"}.get(kind, "value")
    for _ in range(_TIMES):
        assert _echo(ffi)(x) == expected
        assert list(_echo(ffi)([x, x])) == [expected, expected]


def test_what_hooks_return(ffi: Any) -> None:
    class Valued:
        def __init__(self, value: Any) -> None:
            self.value = value
            self.calls = 0

        def __anyffi_value__(self) -> Any:
            self.calls += 1
            return self.value

    class Unvalued:
        __anyffi_value__ = None

    echo = _echo(ffi)
    unvalued, wrapper = Unvalued(), ffi.List([1])
    for value in (None, 7, 1.5, "text", "a text that is too long for a cell", unvalued, wrapper):
        for _ in range(_TIMES):
            x = Valued(value)
            assert echo(x) == value
            assert echo(Valued(Valued(value))) == value
            assert x.calls == 1
    assert echo(Valued(wrapper)) is wrapper
    assert ffi.to_python(echo(Valued([1, (2, Valued(3))]))) == [1, (2, 3)]
    shared = Valued([1])
    first, second = echo([shared, shared])
    assert first is second
    assert shared.calls == 1
    for _ in range(_TIMES):
        endless = Valued(None)
        endless.value = endless
        with pytest.raises(RecursionError, match="200 times"):
            echo(endless)
        assert endless.calls == 200
        inside = Valued(None)
        inside.value = [inside]
        with pytest.raises(RecursionError):
            echo(inside)


def test_errors_of_hooks(ffi: Any) -> None:
    def fail(self: Any, **options: Any) -> Any:
        raise error

    error = LookupError("of the hook")
    for name in ("__anyffi_value__", "__dlpack__"):
        x = type("Failing", (), {name: fail})()
        for _ in range(_TIMES):
            for form in _forms(x):
                with pytest.raises(LookupError) as raised:
                    _echo(ffi)(form)
                assert raised.value is error
                assert traceback.extract_tb(error.__traceback__)[-1].name == "fail"
                error.__traceback__ = None


@cpython_only("PyPy's NumPy has no capsules")
def test_exporters(ffi: Any) -> None:
    array = np.arange(6)
    seen: list[dict[str, Any]] = []

    class New:
        def __dlpack__(self, **options: Any) -> Any:
            seen.append(options)
            return array.__dlpack__(**options)

    class Old:
        def __dlpack__(self) -> Any:
            return array.__dlpack__()

    class Bound:
        __dlpack__ = property(lambda self: array.__dlpack__)

    class Wrong:
        def __dlpack__(self, **options: Any) -> Any:
            return "no capsule"

    for cls in (New, Old, Bound):
        for _ in range(_TIMES):
            for form in _forms(cls()):
                read = ffi.to_python(_echo(ffi)(form))
                while type(read) in (list, tuple, dict):
                    read = read["key"] if type(read) is dict else read[0]
                assert type(read) is ffi.Tensor
                assert np.asarray(read).tolist() == array.tolist()
    # An exporter that refuses `max_version` is called again without it.
    asked = [["max_version"]] if VERSIONED else [["max_version"], []]
    assert all(list(options) in asked for options in seen)
    messages = set()
    for _ in range(_TIMES):
        with pytest.raises(Exception) as raised:  # noqa: PT011
            _echo(ffi)(Wrong())
        messages.add(f"{type(raised.value).__name__}: {raised.value}")
    assert len(messages) == 1
