"""Typed parameters convert without loss or refuse: numbers, text, objects."""

from __future__ import annotations

import ctypes
import math
import struct
from typing import Any

import cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed import typed

HUGE = float(2**53)


# ---- numbers ------------------------------------------------------------------------------------


_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


@pytest.mark.parametrize("name", _RANGES)
def test_integers_take_their_range(ffi: Any, name: str) -> None:
    function = typed(ffi, name)
    low, high = _RANGES[name]

    @given(cases.ints)
    def check(x: int) -> None:
        if low <= x <= high:
            assert cases.same(function(x), x)
        else:
            with pytest.raises(OverflowError, match=name):
                function(x)

    check()
    for x in (low, high, 0, 1):
        assert function(x) == x
    for x in (low - 1, high + 1, 2**64, -(2**64), 10**400, -(1 << 100_000)):
        with pytest.raises(OverflowError, match=name):
            function(x)
    assert cases.same(function(True), 1)
    assert cases.same(function(False), 0)
    assert function(cases.Indexable(5)) == 5


@pytest.mark.parametrize("name", [*_RANGES, "box_int"])
@pytest.mark.parametrize(
    ("bad", "got"),
    [(1.0, "float"), (1.5, "float"), ("1", "str"), (b"1", "bytes"), (None, "NoneType"), ([1], "list"), ((1,), "tuple"),
     ({}, "dict"), (..., "ellipsis"), (object(), "object"), (len, type(len).__name__), (slice(1), "slice"),
     (ctypes.c_void_p(1), "ctypes.c_void_p")],
)  # fmt: skip
def test_integers_refuse_all_else(ffi: Any, name: str, bad: Any, got: str) -> None:
    with pytest.raises(TypeError) as caught:
        typed(ffi, name)(bad)
    text = str(caught.value)
    assert text.startswith(f"testing.typed.{name}(x: int) -> int: argument 0 (x): expected int, got {got}")


def test_an_integer_of_any_size(ffi: Any) -> None:
    function = typed(ffi, "big_int")

    @given(cases.ints | st.booleans())
    def check(x: Any) -> None:
        assert cases.same(function(x), int(x))

    check()
    for bad, got in ((1.0, "float"), ("1", "str"), (None, "NoneType"), ([2**70], "list")):
        with pytest.raises(TypeError, match=f"expected int, got {got}"):
            function(bad)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_floats(ffi: Any, name: str) -> None:
    function = typed(ffi, name)
    narrow = name == "float32"

    def expected(x: Any) -> float | None:
        try:
            return struct.unpack("<f", struct.pack("<f", float(x)))[0] if narrow else float(x)
        except OverflowError:
            return None

    @given(cases.floats | cases.ints | st.booleans())
    def check(x: Any) -> None:
        wanted = expected(x)
        if wanted is None:
            with pytest.raises(OverflowError, match="does not fit float(32|64)"):
                function(x)
        elif math.isnan(wanted):
            assert math.isnan(function(x))
        else:
            assert cases.same(function(x), wanted)

    check()
    for x in (0.0, -0.0, math.inf, -math.inf, 1.5, 3, -7, True):
        assert cases.same(function(x), float(x))
    if not narrow:
        assert function(2**53 + 1) == HUGE
        assert function(2**63 - 1) == 2.0**63
        assert function(2**64 + 2**11) == 2.0**64
        assert function(2**64 + 2**11 + 1) == 2.0**64 + 2**12
    else:
        with pytest.raises(OverflowError, match="float32"):
            function(1e39)
    for bad in ("1.5", None, b"1", [1.0], object(), ...):
        with pytest.raises(TypeError, match="expected float, got"):
            function(bad)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers(ffi: Any, name: str) -> None:
    function = typed(ffi, name)

    def expected(x: Any) -> complex | None:
        try:
            number = complex(x)
            parts = number.real, number.imag
            return complex(
                *(struct.unpack("<f", struct.pack("<f", part))[0] for part in parts)
                if name == "complex64"
                else parts
            )
        except OverflowError:
            return None

    @given(cases.complexes | cases.floats | cases.ints | st.booleans())
    def check(x: Any) -> None:
        wanted = expected(x)
        if wanted is None:
            with pytest.raises(OverflowError, match="does not fit complex(64|128)"):
                function(x)
        else:
            # Narrowing may lose the payload of a NaN.
            assert str(function(x)) == str(wanted)

    check()
    assert cases.same(function(2), 2 + 0j)
    assert cases.same(function(complex(-0.0, -0.0)), complex(-0.0, -0.0))
    for bad in ("1j", None, b"1", [1j], object(), ...):
        with pytest.raises(TypeError, match="expected complex, got"):
            function(bad)
    for real in ("float64", "int64", "bool"):
        with pytest.raises(TypeError, match="got complex"):
            typed(ffi, real)(1 + 0j)


def test_bool(ffi: Any) -> None:
    function = typed(ffi, "bool")
    for x in (True, False):
        assert function(x) is x
    assert function(1) is True
    assert function(0) is False
    assert function(cases.Indexable(1)) is True
    for bad in (2, -1, 2**40, 2**64, 10**400):
        with pytest.raises(ValueError, match="0 or 1"):
            function(bad)
    for bad in (1.0, "true", None, [], b""):
        with pytest.raises(TypeError, match="expected bool, got"):
            function(bad)


# ---- text and the rest --------------------------------------------------------------------------


def test_text_types_take_text_only(ffi: Any) -> None:
    for text in ("", "short", "x" * 100, "\u4e2d\u6587" * 20, "\ud800"):
        assert typed(ffi, "str")(text) == text
    for data in (b"", b"short", b"x" * 100, bytearray(b"ab"), memoryview(b"abc")):
        assert typed(ffi, "bytes")(data) == bytes(data)
    assert typed(ffi, "c_str")("a\u4e2d") == 4
    for name, bad in (
        ("str", b"b"),
        ("str", 5),
        ("str", None),
        ("bytes", "s"),
        ("bytes", 5),
        ("c_str", b"b"),
        ("c_str", None),
    ):
        with pytest.raises(TypeError, match=f"expected {name.replace('c_', '')}, got"):
            typed(ffi, name)(bad)


def test_c_strings_refuse_an_inner_nul(ffi: Any) -> None:
    for bad in ("\0", "a\0b", "x" * 50 + "\0", "\u4e2d\0", "nul at the end of it\0"):
        with pytest.raises(ValueError, match="embedded null character"):
            typed(ffi, "c_str")(bad)


def test_other_types(ffi: Any) -> None:
    assert typed(ffi, "none")(None) is None
    assert typed(ffi, "ellipsis")(...) is ...
    assert typed(ffi, "slice")(slice(1, 2)) == slice(1, 2)
    assert typed(ffi, "function")(len) is len
    assert typed(ffi, "pointer")(ctypes.c_void_p(16)).value == 16
    assert typed(ffi, "pointer")(None).value is None
    x = object()
    assert typed(ffi, "object")(x) is x
    assert typed(ffi, "any")(x) is x
    assert typed(ffi, "view")(x) is x
    for name, expected in (("none", "None"), ("ellipsis", "ellipsis"), ("slice", "slice"), ("function", "Function"),
                           ("pointer", "c_void_p")):  # fmt: skip
        with pytest.raises(TypeError, match=f"expected {expected}, got str"):
            typed(ffi, name)("nonsense")


def test_an_object_ref_takes_none_only_if_optional(ffi: Any) -> None:
    function, optional = typed(ffi, "object"), typed(ffi, "optional_object")
    with pytest.raises(TypeError, match="expected Object, got NoneType"):
        function(None)
    assert optional(None) is None
    for x in (
        5,
        True,
        1.5,
        "short",
        b"short",
        "x" * 50,
        ...,
        [1],
        (1,),
        {"k": 1},
        object(),
        len,
        ctypes.c_void_p(3),
    ):
        for f in (function, optional):
            got = f(x)
            assert cases.same(ffi.to_python(got), cases.plain(x)) or got.value == x.value
    assert typed(ffi, "optional_int")(None) is None
    assert typed(ffi, "optional_int")(5) == 5
    with pytest.raises(TypeError, match=r"expected int \| None, got str"):
        typed(ffi, "optional_int")("x")


def test_opaque_objects_never_turn_into_values(ffi: Any) -> None:
    class Pretender:
        def __float__(self) -> float:
            return 1.0

        def __str__(self) -> str:
            return "text"

        def __bool__(self) -> bool:
            return True

        def __bytes__(self) -> bytes:
            return b""

        def __iter__(self) -> Any:
            return iter(())

        def __len__(self) -> int:
            return 0

    for name in ("bool", "int64", "float64", "str", "bytes", "array", "list", "map", "dict", "none"):
        with pytest.raises(TypeError, match="got Pretender"):
            typed(ffi, name)(Pretender())
