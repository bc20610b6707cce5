"""Values at every boundary: numbers at the edge of a parameter, long text and bytes, very many arguments."""

from __future__ import annotations

import struct
import sys
from typing import Any

import cases
import numpy as np
import pytest
from support import cpython_only

LONG = "a string that is long enough"


def echoed(ffi: Any, x: Any) -> Any:
    return ffi.to_python(ffi.get_global_func("testing.echo")(x))


# ---- boundaries -----------------------------------------------------------------------------------------


_BITS = (7, 8, 15, 16, 31, 32, 53, 63, 64, 127)
EDGES = sorted({sign * 2**bits + step for bits in _BITS for sign in (1, -1) for step in (-1, 0, 1)})
RANGES = {
    **{f"int{bits}": range(-(2 ** (bits - 1)), 2 ** (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": range(2**bits) for bits in (8, 16, 32, 64)},
}


@pytest.mark.parametrize("name", RANGES)
def test_integers_at_every_edge_of_a_parameter(ffi: Any, name: str) -> None:
    function = ffi.get_global_func("testing.typed." + name)
    for x in EDGES:
        if x in RANGES[name]:
            assert cases.same(function(x), x)
        else:
            with pytest.raises(OverflowError):
                function(x)


@pytest.mark.parametrize("bits", [*range(58, 260), 300, 1919, 1920, 1921, 1949, 4096, 10_000])
def test_integers_of_every_length_come_back(ffi: Any, bits: int) -> None:
    for x in (2**bits - 1, 2**bits, 2**bits + 1, 2**bits // 3, (1 << bits) | (1 << bits // 2)):
        for number in (x, -x):
            found = echoed(ffi, [number, {number: number}])
            assert cases.same(found, [number, {number: number}])
            # Not only equal: also normalized as the interpreter's own ints are.
            assert hash(found[0]) == hash(number)
            assert found[0] - number == 0
            assert str(found[0] >> bits - 20) == str(number >> bits - 20)


def test_integers_at_every_edge_come_back(ffi: Any) -> None:
    seen = ffi.get_global_func("testing.describe")
    for x in EDGES:
        for form in (x, cases.IntSubclass(x), cases.Indexable(x)):
            assert seen(form) == cases.describe_int(x)
            assert cases.same(echoed(ffi, [form]), [x])
        assert ffi.convert({x: x})[float(x) if float(x) == x else x] == x


def test_special_floats_keep_their_bits(ffi: Any) -> None:
    patterns = (0x0, 0x1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001,
                0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF)  # fmt: skip
    for bits in (sign << 63 | pattern for sign in (0, 1) for pattern in patterns):
        x = struct.unpack("d", struct.pack("Q", bits))[0]
        for form in (x, np.float64(x), cases.FloatSubclass(x)):
            assert cases.same(echoed(ffi, form), x)
        assert cases.same(echoed(ffi, (complex(x, -x),)), (complex(x, -x),))
        assert cases.same(ffi.get_global_func("testing.typed.float64")(x), x)
        assert cases.same(ffi.get_global_func("testing.apply")(lambda y: y, x), x)


# ---- text and bytes -------------------------------------------------------------------------------------


def test_adjacent_surrogates_are_never_one_character(ffi: Any) -> None:
    seen, apply, size = map(ffi.get_global_func, ("testing.describe", "testing.apply", "testing.size"))
    for length in range(1, 14):
        for start in range(2):
            text = ("\ud83d\ude00" * 7)[start : start + length]
            for x in (text, text + "\0", "\xe9" + text, text + "\U0001f600"):
                assert cases.same(echoed(ffi, [x]), [x])
                assert seen(x) == cases.describe(x)
                assert apply(lambda got, x=x: got == x, x) is True
                assert size(x) == len(x)


@cpython_only("PyPy holds text as UTF-8 and needs several times the memory")
@pytest.mark.parametrize("unit", ["a", "\u4e2d", "\U0010ffff", b"\0"], ids=ascii)
@pytest.mark.slow("large values")
def test_256_megabytes(ffi: Any, unit: Any) -> None:
    x = unit * (2**28 // (sys.getsizeof(unit * 3) - sys.getsizeof(unit * 2)))
    size, echo = map(ffi.get_global_func, ("testing.size", "testing.echo"))
    assert size(x) == len(x)
    assert echo(x) == x


def test_views_of_memory_are_read_as_bytes_reads_them(ffi: Any) -> None:
    block = bytes(range(24))
    views = [
        memoryview(block)[::2],
        memoryview(block)[::-1],
        memoryview(block)[20:2:-3],
        memoryview(block)[5:5],
        memoryview(bytearray(block)).toreadonly(),
        memoryview(block).cast("I")[::-2],
        memoryview(block).cast("B", (2, 3, 4)),
        memoryview(np.arange(24, dtype="u1").reshape(4, 6).T),
        memoryview(np.arange(24, dtype="u1").reshape(4, 6)[::-1, ::2]),
        memoryview(np.array(1.5, "f4")),
    ]
    for view in views:
        assert cases.same(echoed(ffi, [view]), [view.tobytes()])
        assert ffi.get_global_func("testing.typed.bytes")(view) == view.tobytes()


def test_a_view_that_is_released_during_the_call(ffi: Any) -> None:
    nop = ffi.get_global_func("testing.nop")
    for arguments in (lambda first, view: (first, view), lambda first, view: ([first, [view]],)):
        view = memoryview(bytearray(b"more than eleven bytes"))

        class Releases:
            def __index__(self, view: Any = view) -> int:
                view.release()
                return 1

        with pytest.raises(ValueError, match="released memoryview"):
            nop(*arguments(Releases(), view))


# ---- arguments ------------------------------------------------------------------------------------------


def test_ten_thousand_arguments(ffi: Any) -> None:
    apply, describe, nop = map(ffi.get_global_func, ("testing.apply", "testing.describe", "testing.nop"))
    args: list[Any] = [[i, LONG] if i % 3 else object() for i in range(10_000)]
    got = apply(lambda *got: [len(got), got[1], got[-1]], *args)
    assert got[:2] == [10_000, [1, LONG]]
    assert got[2] is args[-1]
    assert describe(*args).count("\n") == 9_999
    args[7_000] = cases.REFUSED
    with pytest.raises(ZeroDivisionError):
        nop(*args)
