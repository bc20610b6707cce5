"""Arrays whose library offers DLPack's C exchange API: outcomes are the same as without it."""

from __future__ import annotations

import ctypes
import gc
import io
import weakref
from typing import Any

import anyffi
import numpy as np
import pytest
from anyffi import Device
from support import frees_classes, get_testing_function
from tensors import CPYTHON, address, make

pytestmark = pytest.mark.skipif(not CPYTHON, reason="the table is for C code over CPython's objects")


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""


Table._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("former", ctypes.POINTER(Table)),
    *((name, ctypes.c_void_p) for name in ("allocate", "export", "adopt", "describe", "stream")),
]

if CPYTHON:
    EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
    _api = ctypes.pythonapi
    _new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", _api)
    )
    _pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", _api)
    )
    _rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))

#: Keeps the names of capsules alive.
TABLE, FRESH, USED = b"dlpack_exchange_api", b"dltensor_versioned", b"used_dltensor_versioned"
#: Tables live as long as the process, as DLPack requires.
_kept: list[Any] = []


def export(x: Any, out: int) -> int:
    """The export function of the table: returns the array's tensor, or an error."""
    x.by_table += 1
    if x.fails:
        return -1
    try:
        capsule = x.tensor.__dlpack__(max_version=(1, 0))
    except MemoryError:
        return -1
    ctypes.c_void_p.from_address(out).value = _pointer(capsule, FRESH)
    _rename(capsule, USED)
    return 0


def table(major: int = 1, former: Any = None, exports: bool = True) -> Any:
    body = EXPORT(export)
    made = Table(major, 3, former)
    if exports:
        made.export = ctypes.cast(body, ctypes.c_void_p).value
    _kept.extend((body, made))
    return made


def capsule(of: Any, name: bytes = TABLE) -> Any:
    return _new(ctypes.addressof(of), name, None)


class Base:
    """An array of another library."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.by_table = self.by_method = 0
        self.fails = False


def method(x: Any, **options: Any) -> Any:
    x.by_method += 1
    return x.tensor.__dlpack__(**options)


def array_class(offered: Any, *bases: type, **more: Any) -> Any:
    namespace = {"__dlpack__": method, "__dlpack_c_exchange_api__": offered, **more}
    return type("Array", (Base, *bases), namespace)


def counts(ffi: Any, x: Any, calls: int = 3) -> tuple[int, int]:
    """Convert an array repeatedly; return how often the table and the method were called."""
    x.by_table = x.by_method = 0
    for _ in range(calls):
        assert get_testing_function(ffi, "describe")(x) == get_testing_function(ffi, "describe")(x.tensor)
    tensor = get_testing_function(ffi, "echo")([x, x])[0]
    assert tensor.data_ptr() == x.tensor.data_ptr()
    assert not tensor.same_as(x.tensor)
    assert x.by_table + x.by_method >= calls + 1
    return x.by_table, x.by_method


def test_the_table_serves_once_the_class_is_known(ffi: Any) -> None:
    x = array_class(capsule(table()))(ffi.convert(np.arange(6.0).reshape(2, 3)[:, ::-2]))
    by_table, by_method = counts(ffi, x)
    if ffi.ffi_mode == "cython":
        assert by_table > 0
        assert by_method == 1
    else:
        assert by_table == 0


def test_memory_is_released(ffi: Any) -> None:
    gc.collect()
    before = anyffi.testing.live_blocks()
    data = np.arange(4.0)
    x = array_class(capsule(table()))(ffi.convert(data))
    tensors = [get_testing_function(ffi, "echo")(x) for _ in range(3)]
    del x
    assert [tensor.data_ptr() for tensor in tensors] == [address(data)] * 3
    assert np.asarray(tensors.pop()).tolist() == [0, 1, 2, 3]
    del tensors
    gc.collect()
    assert anyffi.testing.live_blocks() == before


@pytest.mark.unrecorded("each backend has allocations of its own")
def test_each_allocation_fails_in_turn(ffi: Any) -> None:
    x = array_class(capsule(table()))(make(ffi))
    describe, fail = get_testing_function(ffi, "describe"), get_testing_function(ffi, "fail_allocation")
    expected = describe(x)
    before, failures, result = anyffi.testing.live_blocks(), 0, None
    while result is None:
        fail(failures)
        try:
            result = describe(x)
        except MemoryError:
            failures += 1
        finally:
            fail(-1)
        gc.collect()
        assert anyffi.testing.live_blocks() == before
    assert result == expected
    assert failures > 0


@pytest.mark.parametrize(
    "offer",
    [
        lambda: capsule(table(2)),
        lambda: capsule(table(), b"another_name"),
        lambda: capsule(table(exports=False)),
        lambda: None,
        lambda: 5,
        lambda: "dlpack_exchange_api",
    ],
    ids=["newer", "other capsule", "empty", "None", "int", "str"],
)
def test_invalid_tables_are_ignored(ffi: Any, offer: Any) -> None:
    Array = array_class(offer())
    assert counts(ffi, Array(make(ffi)))[0] == 0


def test_an_older_table_is_found_behind_a_newer_one(ffi: Any) -> None:
    newer = table(3, ctypes.pointer(table(2, ctypes.pointer(table()), exports=False)), exports=False)
    x = array_class(capsule(newer))(make(ffi))
    assert (counts(ffi, x)[0] > 0) is (ffi.ffi_mode == "cython")


def test_the_method_explains_what_the_table_cannot_export(ffi: Any) -> None:
    class Failing(Base):
        __dlpack_c_exchange_api__ = capsule(table())

        def __dlpack__(self, **options: Any) -> Any:
            if self.fails:
                raise BufferError("not now")
            return self.tensor.__dlpack__(**options)

    x = Failing(make(ffi))
    get_testing_function(ffi, "nop")(x)
    x.fails = True
    with pytest.raises(BufferError, match="not now"):
        get_testing_function(ffi, "nop")(x)
    x.fails = False
    assert get_testing_function(ffi, "echo")(x).data_ptr() == x.tensor.data_ptr()


def test_device_memory_is_exported_by_the_method(ffi: Any) -> None:
    """The method synchronises with the device's stream; the table does not."""
    x = array_class(capsule(table()))(make(ffi, device=Device("cuda")))
    before = anyffi.testing.live_blocks()
    assert counts(ffi, x)[1] == 5
    assert anyffi.testing.live_blocks() == before


def test_a_subclass_may_override_its_export(ffi: Any) -> None:
    Array = array_class(capsule(table()))
    other = make(ffi)

    class Own(Array):  # type: ignore[misc]
        def __dlpack__(self, **options: Any) -> Any:
            return other.__dlpack__(**options)

    class Same(Array):  # type: ignore[misc]
        pass

    for _ in range(2):
        assert get_testing_function(ffi, "echo")(Array(make(ffi))).data_ptr() != other.data_ptr()
        assert get_testing_function(ffi, "echo")(Own(make(ffi))).data_ptr() == other.data_ptr()
    assert counts(ffi, Same(make(ffi)))[0] == 0


def test_other_conversions_precede_the_table(ffi: Any) -> None:
    offered = {"__dlpack__": method, "__dlpack_c_exchange_api__": capsule(table())}
    number = type("Number", (int,), offered)(7)
    stands = type("Stands", (), {**offered, "__anyffi_value__": lambda self: 8})()
    disabled = type("Disabled", (), {**offered, "__dlpack__": None, "__index__": lambda self: 9})()
    for _ in range(2):
        assert [get_testing_function(ffi, "echo")(x) for x in (number, stands, disabled)] == [7, 8, 9]


def test_a_class_that_changes_is_inspected_again(ffi: Any) -> None:
    Array = array_class(capsule(table()))
    x, other = Array(make(ffi)), make(ffi)
    echo = get_testing_function(ffi, "echo")
    for _ in range(2):
        assert echo(x).data_ptr() == x.tensor.data_ptr()
    Array.__dlpack__ = lambda self, **options: other.__dlpack__(**options)
    del Array.__dlpack_c_exchange_api__
    assert echo(x).data_ptr() == other.data_ptr()
    Array.__anyffi_value__ = lambda self: 5
    assert echo(x) == 5


@frees_classes
def test_classes_are_not_kept_alive(ffi: Any) -> None:
    for _ in range(20):
        Array = array_class(capsule(table()))
        x = Array(make(ffi))
        assert get_testing_function(ffi, "echo")([x, x])[1].data_ptr() == x.tensor.data_ptr()
        gone = weakref.ref(Array)
        del x, Array
        gc.collect()
        assert gone() is None


#: A property and methods implemented in C, as those of PyTorch's tensors are.
CLOSED, IS_TTY, READABLE = (getattr(io.BytesIO, name) for name in ("closed", "isatty", "readable"))


@pytest.mark.parametrize("is_neg", [IS_TTY, READABLE])
def test_an_array_that_may_be_more_than_its_memory(ffi: Any, is_neg: Any) -> None:
    """Like PyTorch's conjugated or negated tensors: their method checks for this, their table does not."""
    questions = {"requires_grad": CLOSED, "is_conj": READABLE, "is_neg": is_neg}
    x = array_class(capsule(table()), io.BytesIO, **questions)(make(ffi))
    # `is_conj` would say yes, but is not called: real numbers have no conjugates.
    is_plain = is_neg is IS_TTY and ffi.ffi_mode == "cython"
    assert (counts(ffi, x)[1] <= 1) is is_plain
    x.close()
    by_table, by_method = counts(ffi, x)
    assert by_table == 0 < by_method


@pytest.mark.parametrize("name", ["requires_grad", "is_conj", "is_neg"])
def test_an_array_with_methods_that_cannot_be_called_directly(ffi: Any, name: str) -> None:
    """Python functions, or C functions of another class, cannot be called without the interpreter."""
    questions = {"requires_grad": CLOSED, "is_conj": IS_TTY, "is_neg": IS_TTY}
    for other in (lambda self: False, False, vars(bytes)["isupper"]):
        x = array_class(capsule(table()), io.BytesIO, **{**questions, name: other})(make(ffi))
        assert counts(ffi, x)[0] == 0
    assert counts(ffi, array_class(capsule(table()), **questions)(make(ffi)))[0] == 0
