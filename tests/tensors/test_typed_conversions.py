"""Parameters with `.convert()`: typed tensors made of lists, and of arrays of other types and orders."""

from __future__ import annotations

import array
import collections
import inspect
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import Build, needs_compilers
from tensors import Exporter, capsules, make, ml_dtypes
from typed_tensors import CUBE, X, refusal, typed, unaligned

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
TYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def converted(ffi: Any, dtype: str, x: Any) -> Any:
    return np.asarray(typed(ffi, "to_" + dtype)(x))


# ---- elements of arrays ------------------------------------------------------------------------------------


def expected_of(x: Any, dtype: str) -> Any:
    """Return the array of what each element converts to as a scalar argument; None if one is refused."""
    order = [["b"], ["i", "u"], ["f"], ["c"]]
    rank = {kind: i for i, kinds in enumerate(order) for kind in kinds}
    to = np.dtype(dtype)
    if to.kind == "b":
        return x.astype(to) if x.dtype.kind in "biu" and np.isin(x, [0, 1]).all() else None
    if rank[x.dtype.kind] > rank[to.kind]:
        return None
    with np.errstate(over="ignore"):
        made = x.astype(to)
    if to.kind in "iu":
        return made if [int(i) for i in made.flat] == [int(i) for i in x.flat] else None
    lost = np.isfinite(x) & ~np.isfinite(made)
    return None if lost.any() else made


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_types(ffi: Any, source: str, to: str) -> None:
    kind = np.dtype(source).kind
    values: list[Any] = [0, 1]
    if kind != "b":
        values += [2, 100, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1]
    if kind in "uf":
        values += [2**63, 2**64 - 1]
    if kind in "ifc":
        values += [-1, -128, -129, -(2**31), -(2**63)]
    if kind in "fc":
        values += [
            0.5,
            -0.0,
            1e-7,
            6e-8,
            65504.0,
            65519.0,
            65520.0,
            1e30,
            3.5e38,
            1e300,
            math.inf,
            -math.inf,
            math.nan,
        ]
    if kind == "c":
        values += [1j, 1 - 2.5j, complex(math.nan, math.inf)]
    seen = 0
    for value in values:
        info = np.iinfo(source) if kind in "iu" else None
        if info and not info.min <= value <= info.max:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            x = np.array([0, value]).astype(source) if kind in "bfc" else np.array([0, value], source)
        expected = expected_of(x, to)
        if expected is None:
            with pytest.raises((TypeError, OverflowError, ValueError)) as caught:
                converted(ffi, to, x)
            if isinstance(caught.value, OverflowError):
                assert "argument 0 (x), at [1]: " in str(caught.value)
                assert str(caught.value).endswith(f" does not fit {to}")
            continue
        made = converted(ffi, to, x)
        assert made.dtype == to
        assert np.array_equal(made, expected, equal_nan=np.dtype(to).kind in "fc"), (x, made, expected)
        assert np.array_equal(np.signbit(made.real), np.signbit(expected.real)) or np.isnan(x[1])
        seen += 1
    assert seen or (kind in "fc" and np.dtype(to).kind in "biuf")


def test_many_elements(ffi: Any) -> None:
    x = np.arange(1000).reshape(10, 100)
    for view in (x, x.T, x[::-1, ::3], x[:, 5:5], np.broadcast_to(x[0], (3, 100))):
        for to in ("int16", "float32", "float64", "complex64"):
            made = converted(ffi, to, view)
            assert (made == view).all()
            assert made.shape == view.shape
    x[7, 42] = 40000
    with pytest.raises(OverflowError, match=r"argument 0 \(x\), at \[7\]\[42\]: 40000 does not fit int16$"):
        converted(ffi, "int16", x)
    with pytest.raises(OverflowError, match=r"at \[42\]\[7\]: 40000 does not fit int16$"):
        converted(ffi, "int16", x.T)
    line = np.zeros(1000)
    line[777] = 1e39
    with pytest.raises(OverflowError, match=r"at \[777\]: 1e\+39 does not fit float32$"):
        converted(ffi, "float32", line)


def _to_bfloat16(x: float) -> float:
    """Return the closest bfloat16, rounded once; ml_dtypes rounds to float32 first."""
    if math.isnan(x) or math.isinf(x):
        return x
    near = int(np.float32(min(abs(x), float(np.finfo(np.float32).max))).view(np.uint32)) >> 16
    # The first one beyond the finite numbers stands for infinity.
    bits = [n for n in (near - 1, near, near + 1, 0x7F7F, 0x7F80) if 0 <= n <= 0x7F80]
    values = {n: 2.0**128 if n == 0x7F80 else float(np.uint32(n << 16).view(np.float32)) for n in bits}
    # Of two as close, the one whose last bit is zero.
    best = min(bits, key=lambda n: (abs(Fraction(values[n]) - Fraction(abs(x))), n & 1))
    return math.copysign(math.inf if best == 0x7F80 else values[best], x)


@pytest.mark.skipif(ml_dtypes is None, reason="needs ml_dtypes")
@given(x=st.floats(width=64))
@example(x=1 + 2**-8 + 2**-40)  # by way of float32, it is between two bfloat16, and rounds down
@example(x=1 + 2**-8)
@example(x=2.0**128 - 2.0**119)
@example(x=2.0**-134)
def test_rounding(ffi: Any, x: float) -> None:
    for to, dtype in (("float16", np.float16), ("bfloat16", None), ("float32", np.float32)):
        with np.errstate(over="ignore"):
            expected = _to_bfloat16(x) if dtype is None else np.array(x).astype(dtype)
        if math.isfinite(x) and not math.isfinite(float(expected)):
            with pytest.raises(OverflowError, match=f"does not fit {to}$"):
                typed(ffi, "to_" + to)(x)
            continue
        made = float(np.asarray(typed(ffi, "to_" + to)(x)))
        assert made == float(expected) or (math.isnan(made) and math.isnan(x))
        assert math.copysign(1, made) == math.copysign(1, float(expected))


@pytest.mark.skipif(ml_dtypes is None, reason="needs ml_dtypes")
def test_sixteen_bits(ffi: Any) -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    for name, dtype in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
        x = bits.view(dtype)
        made = converted(ffi, "float64", x)
        with np.errstate(invalid="ignore"):
            expected = x.astype(np.float64)
        assert np.array_equal(made, expected, equal_nan=True)
        again = converted(ffi, name, made)
        is_number = ~np.isnan(expected)
        assert np.array_equal(again.view(np.uint16)[is_number], bits[is_number])
        assert np.isnan(again[~is_number].astype(np.float64)).all()


def test_refused_types(ffi: Any) -> None:
    assert (
        refusal(typed(ffi, "to_int8"), X) == "expected a tensor of int8, got one of float64 with shape (2, 3)"
    )
    assert refusal(typed(ffi, "to_float64"), X + 1j) == (
        "expected a tensor of float64, got one of complex128 with shape (2, 3)"
    )
    if ml_dtypes is not None:
        x = np.zeros(3, ml_dtypes.float8_e5m2)
        assert refusal(typed(ffi, "to_float64"), x).endswith("got one of float8_e5m2 with shape (3,)")


# ---- order, alignment, memory ------------------------------------------------------------------------------


def test_what_fits_is_not_copied(ffi: Any) -> None:
    keep = typed(ffi, "keep")
    x = X[0].copy()
    for view in (x, x[::-1], x[::2], x[:0]):
        assert np.asarray(keep(view)).__array_interface__["data"] == view.__array_interface__["data"]
    tensor = ffi.convert(x)
    assert keep(tensor) is tensor
    x.flags.writeable = False
    assert np.shares_memory(np.asarray(keep(x)), x)
    made = np.asarray(keep(x.astype("f4")))
    assert made.tolist() == x.tolist()
    assert made.flags.writeable


def test_orders(ffi: Any) -> None:
    for x in (X, X.T.copy(), X[::-1], X[:, ::-1], X[:1], X[:0], X.astype("f4"), X.astype("i8").T.copy().T):
        if x.shape[1] == 3:
            assert typed(ffi, "to_rows")(x) == x.ravel().tolist()
        assert typed(ffi, "to_columns")(x) == x.T.ravel().tolist()
    assert typed(ffi, "to_columns")([[1, 2], [3, 4]]) == [1.0, 3.0, 2.0, 4.0]
    assert refusal(typed(ffi, "to_rows"), X.T) == (
        "expected a row-major tensor of float64 with shape (*, 3), got one of float64 with shape (3, 2)"
    )


def test_alignment(ffi: Any) -> None:
    for dtype in ("float64", "int16", "complex128"):
        x = unaligned((2, 3), dtype)
        for to in ("float64", "complex128"):
            if np.can_cast(dtype, to):
                assert converted(ffi, to, x).tolist() == x.tolist()


@capsules
def test_devices(ffi: Any) -> None:
    from anyffi import Device

    x = make(ffi, (2, 3), "float32", device=Device("cuda:1"))
    assert "float32" in refusal(typed(ffi, "to_float64"), x)
    with pytest.raises(TypeError):
        typed(ffi, "to_float64")([x])
    with pytest.raises(TypeError, match="got one of float32 with shape"):
        typed(ffi, "to_float64")(Exporter(x))


# ---- nested sequences --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        [[1, 2], [3, 4]],
        ((1, 2.5), [True, 2**60]),
        [np.array([1.0, 2.0]), (3, 4)],
        [np.array([1, 2], "i2"), np.array([3, 4], "f4")[::-1]],
        [[np.float32(1.5), np.int8(2)], [np.array(3), np.array(4.5)]],
        [[]],
        [[], []],
        [],
        [[0.1]],
        [[2**63, 2**64 - 1], [-(2**63), 2**100]],
    ],
)
def test_nested(ffi: Any, x: Any) -> None:
    made = np.asarray(typed(ffi, "matrix")(x))
    assert made.dtype == np.float64
    assert made.tolist() == [[float(item) for item in row] for row in x]
    assert np.asarray(typed(ffi, "matrix")(ffi.convert(x))).tolist() == made.tolist()
    assert np.asarray(typed(ffi, "matrix")(tuple(x))).tolist() == made.tolist()


class Rows(Sequence[Any]):
    """A sequence that is written in Python."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]


class Series(Rows):
    def to_numpy(self) -> Any:
        return np.array(self.items)


def test_sequences_of_python(ffi: Any) -> None:
    matrix, keep = typed(ffi, "matrix"), typed(ffi, "keep")
    for x in (range(3), range(5, -5, -2), array.array("i", [1, 2]), collections.deque([1, 2.5]), Rows(1, 2), Rows(),
              {1: 2}.values(), [np.float32(1.5), 2]):  # fmt: skip
        assert np.asarray(keep(x)).tolist() == [float(item) for item in x]
    for rows in (
        [range(2), Rows(3, 4)],
        Rows((1, 2), np.array([3, 4])),
        (array.array("d", [1, 2]),),
        Rows(Rows(1)),
    ):
        assert np.asarray(matrix(rows)).tolist() == [[float(item) for item in row] for row in rows]
        assert np.asarray(matrix(ffi.List(rows))).tolist() == np.asarray(matrix(rows)).tolist()
    assert converted(ffi, "float64", [range(2), Rows(3, 4)]).tolist() == [[0, 1], [3, 4]]
    assert (
        converted(ffi, "uint8", b"abc").tolist()
        == converted(ffi, "uint8", bytearray(b"abc")).tolist()
        == [97, 98, 99]
    )
    assert converted(ffi, "uint8", bytes(range(256))).tolist() == list(range(256))
    for bad, reason in (
        (
            Rows(1, 2),
            "expected a tensor of float64 with shape (*, *), got tests.tensors.test_typed_conversions.Rows",
        ),
        ({1, 2}, "expected a tensor of float64 with shape (*, *), got set"),
        (iter([1]), f"expected a tensor of float64 with shape (*, *), got {type(iter([1])).__name__}"),
        (
            Series(1),
            "expected a tensor of float64 with shape (*, *), got tests.tensors.test_typed_conversions.Series; pass its .to_numpy()",
        ),
        (b"abc", "expected a tensor of float64 with shape (*, *), got bytes"),
    ):
        assert refusal(matrix, bad) == reason
    assert refusal(typed(ffi, "list1"), Series(1)).endswith(
        "got tests.tensors.test_typed_conversions.Series; pass its .to_numpy()"
    )
    with pytest.raises(TypeError, match=r"at \[1\]\[0\]: expected float, got str$"):
        matrix([range(1), Rows("x")])
    with pytest.raises(ValueError, match=r"at \[1\]: nested sequences must have equal lengths, got "):
        matrix([range(2), Rows(1)])


def test_sequences_that_misbehave(ffi: Any) -> None:
    matrix = typed(ffi, "matrix")

    class Failing(Rows):
        def __getitem__(self, index: Any) -> Any:
            raise LookupError("nothing here")

    class Lying(Rows):
        def __len__(self) -> int:
            return 5

    for bad, error in ((Failing(1), LookupError), ([Failing(1)], LookupError), ([Lying(1)], ValueError)):
        with pytest.raises(error):
            matrix(bad)

    shared = ffi.List([0, Rows(1, 2)])

    class Changing(Rows):
        def __getitem__(self, index: Any) -> Any:
            shared.clear()
            shared.extend([5] * 100)
            return super().__getitem__(index)

    shared[0] = Changing(3, 4)
    assert np.asarray(matrix(shared)).tolist() == [[3, 4], [1, 2]]
    shared.clear()
    deep: Any = [1.0]
    for _ in range(60):
        deep = [deep, deep]
    for name in ("matrix", "keep"):
        with pytest.raises((TypeError, ValueError)):
            typed(ffi, name)(deep)
    with pytest.raises((TypeError, MemoryError)):
        typed(ffi, "to_float64")(deep)


def test_shapes(ffi: Any) -> None:
    f = typed(ffi, "to_float64")
    for x in (3, 2.5, True, [1, 2], [[1], [2]], [[[1, 2]], [[3, 4]]], [], [[], []], CUBE.tolist()):
        expected = np.array(x, "f8")
        assert f(x).shape == expected.shape
        assert np.asarray(f(x)).tolist() == expected.tolist()
    assert typed(ffi, "to_rows")([]) == []
    assert np.asarray(typed(ffi, "matrix")([])).shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "x", "error", "reason"),
    [
        ("to_rows", [[1, 2]], TypeError,
         ": expected a row-major tensor of float64 with shape (*, 3), got list with shape (1, 2)"),
        ("to_rows", [1, 2, 3], TypeError,
         ": expected a row-major tensor of float64 with shape (*, 3), got list with shape (3,)"),
        ("to_rows", ((1, 2, 3), (1, 2)), ValueError,
         ", at [1]: nested sequences must have equal lengths, got (1, 2)"),
        ("to_rows", [[1, 2, 3], 4], TypeError, ", at [1]: expected Sequence, got int"),
        ("to_rows", [[1, 2, [3]]], TypeError, ", at [0][2]: expected float, got list"),
        ("to_rows", [[1, 2, "x"]], TypeError, ", at [0][2]: expected float, got str"),
        ("to_rows", [[1, 2, 3j]], TypeError, ", at [0][2]: expected float, got complex"),
        ("to_rows", [[1, 2, None]], TypeError, ", at [0][2]: expected float, got NoneType"),
        ("to_rows", [[1, 2, Fraction(1)]], TypeError, ", at [0][2]: expected float, got fractions.Fraction"),
        ("to_rows", 5, TypeError, ": expected a row-major tensor of float64 with shape (*, 3), got int"),
        ("to_rows", None, TypeError, ": expected a row-major tensor of float64 with shape (*, 3), got NoneType"),
        ("to_rows", "abc", TypeError, ": expected a row-major tensor of float64 with shape (*, 3), got str"),
        ("to_rows", {1: 2}, TypeError, ": expected a row-major tensor of float64 with shape (*, 3), got dict"),
        ("to_rows", [X[0], X], ValueError, ", at [1]: nested sequences must have equal lengths, got "),
        ("to_int8", [1, 300], OverflowError, ", at [1]: 300 does not fit int8"),
        ("to_int8", [1, 2**70], OverflowError, f", at [1]: {2**70} does not fit int8"),
        ("to_uint64", [-1], OverflowError, ", at [0]: -1 does not fit uint64"),
        ("to_uint64", -1, OverflowError, ": -1 does not fit uint64"),
        ("to_int8", [[1.0]], TypeError, ", at [0][0]: expected int, got float"),
        ("to_float32", [1e39], OverflowError, ", at [0]: 1e+39 does not fit float32"),
        ("to_complex64", [1, 1e39j], OverflowError, ", at [1]: 1e+39j does not fit complex64"),
        ("to_bool", [0, 1, 2], ValueError, ", at [2]: an int given as a bool must be 0 or 1, got 2"),
        ("to_bool", np.array([0, 2]), ValueError, ", at [1]: an int given as a bool must be 0 or 1, got 2"),
        ("to_int8", np.array([0, 2**63], "u8"), OverflowError, f", at [1]: {2**63} does not fit int8"),
        ("to_int8", [np.array([1, 2]), np.array([1, -300])], OverflowError, ", at [1][1]: -300 does not fit int8"),
        ("to_int8", [np.array([1, 2]), np.array([1.0, 2.0])], TypeError,
         ", at [1]: expected int, got a tensor of float64 with shape (2,)"),
        ("to_float64", [2**2000], OverflowError, None),
    ],
)  # fmt: skip
def test_refused(ffi: Any, name: str, x: Any, error: type[Exception], reason: str | None) -> None:
    f = typed(ffi, name)
    for _ in range(2):
        with pytest.raises(error) as caught:
            f(x)
        if reason is not None:
            assert str(caught.value).partition("argument 0 (x)")[2].startswith(reason)


def test_hostile(ffi: Any) -> None:
    cycle = ffi.List([])
    cycle.append(cycle)
    with pytest.raises(TypeError, match="expected a tensor of float64"):
        typed(ffi, "to_float64")(cycle)
    cycle.clear()
    deep: Any = 1.0
    for _ in range(100):
        deep = [deep]
    with pytest.raises(TypeError, match="expected a tensor of float64, got list"):
        typed(ffi, "to_float64")(deep)
    for x in (np.zeros((2**40, 0)), np.zeros((0, 2**62), "i1")):
        assert typed(ffi, "to_float64")(x).shape == x.shape
    huge = np.broadcast_to(np.int8(0), (2**31, 2**31))
    with pytest.raises((MemoryError, ValueError)):
        typed(ffi, "to_float64")(huge)
    assert (
        typed(ffi, "size")(np.lib.stride_tricks.as_strided(np.zeros(1, "i1"), (2**31, 2**31), (0, 0)))
        == 2**62
    )


@pytest.mark.parametrize("stride", [-(2**63), 2**63 - 1, 2**62])
@pytest.mark.parametrize("dtype", ["i1", "i2", "f4", "f8", "c16"])
def test_the_stride_of_an_axis_with_one_element_is_any_number(ffi: Any, dtype: str, stride: int) -> None:
    """No address is calculated with it: the sanitizers would report an overflow."""
    x = np.lib.stride_tricks.as_strided(np.full(1, 7, dtype), (1,), (stride,))
    column = np.lib.stride_tricks.as_strided(np.full(3, 7, dtype), (3, 1), (0, stride))
    assert [complex(each) for each in ffi.List(x)] == [7]
    for to in ("float64", "complex128"):
        if to == "float64" and dtype == "c16":
            continue
        assert np.asarray(converted(ffi, to, x)).tolist() == [7]
        assert np.asarray(converted(ffi, to, column)).tolist() == [[7]] * 3


# ---- with other features -----------------------------------------------------------------------------------


def test_overloads(ffi: Any) -> None:
    f = typed(ffi, "converting")
    assert f(np.zeros(2)) == "float64"
    assert f(np.zeros(2, "f4")) == "float32"
    # No overload takes these as they are: the first that converts them does.
    assert f(np.zeros(2, "i4")) == "float32"
    assert f([1.0]) == f((1,)) == f(x=[1]) == "float32"
    assert f("x") == "str"
    assert f((1, "x"), 3) == "two"
    assert f([1e39]) == "float64"
    with pytest.raises(TypeError) as caught:
        f(np.zeros((2, 2)))
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert "expected a tensor of float32 with shape (*,), got one of float64 with shape (2, 2)" in lines[1]


def test_defaults(ffi: Any) -> None:
    assert typed(ffi, "with_default")() == 6.0
    assert typed(ffi, "with_default")([4, 5]) == 9.0
    assert typed(ffi, "keep")(x=[1, 2]).shape == (2,)
    with pytest.raises(ValueError, match=r"^only 1\.0$"):
        typed(ffi, "keep")([1, 2], scale=2.0)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts are CPython's")
def test_references(ffi: Any) -> None:
    x = X[0].copy()
    items = [1.5, x[:1], 2]
    for f, argument in ((typed(ffi, "keep"), x), (typed(ffi, "keep"), items), (typed(ffi, "matrix"), [x])):
        before = sys.getrefcount(x), sys.getrefcount(items)
        for _ in range(5):
            try:
                f(argument)
            except ValueError:
                pass
        assert (sys.getrefcount(x), sys.getrefcount(items)) == before


class Column:
    """An array of another library than NumPy, like a Series of pandas or a data set of h5py."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype, subok=True)

    def to_numpy(self) -> Any:
        raise AssertionError("never called")


def test_arrays_of_other_libraries(ffi: Any) -> None:
    rows = typed(ffi, "to_rows")
    assert rows(Column([[1, 2, 3.5]])) == [1, 2, 3.5]
    assert rows(Column(X)) == X.ravel().tolist()
    with pytest.raises(TypeError, match="dtype object has no DLPack code"):
        rows(Column([[object()] * 3]))
    for wrong, layout in (
        ([1, 2, 3], ""),
        ([[1, 2]], r", of shape \(1, 2\)"),
        ([[1j] * 3], r", of shape \(1, 3\)"),
    ):
        with pytest.raises(TypeError, match=rf"with shape \(\*, 3\), got .*Column of \w+{layout}$"):
            rows(Column(wrong))
    with pytest.raises(TypeError, match="masked"):
        rows(Column(np.ma.array([[1.0] * 3], mask=True)))
    with pytest.raises(ZeroDivisionError):
        rows(Raising())


class Raising:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ZeroDivisionError


OPTIONAL = r"""
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>
using anyffi::arg;
using Numbers = anyffi::TypedView<const double, 1>;
using Table = anyffi::TypedView<const double, 2>;

ANYFFI_EXPORT(weigh, [](const Numbers& x, const std::optional<Numbers>& weights) {
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i) sum += x[i] * (weights ? (*weights)[i] : 1.0);
  return sum;
}, arg("x").convert(), anyffi::kw_only(), arg("weights").convert() = std::nullopt);
ANYFFI_EXPORT(which, [](std::optional<Numbers> x) { return x ? "numbers" : "none"; }, arg("x").convert())
    .def([](std::optional<Table> x) { return x ? "table" : "no table"; }, arg("x").convert())
    .def([](int64_t) { return "int"; }, arg("x"));
ANYFFI_EXPORT(keep, [](std::optional<anyffi::TypedTensor<const double, 1>> x) { return x; }, arg("x").convert());
ANYFFI_EXPORT(flat, [](const Table& x) { return std::vector<double>(x.begin(), x.end()); }, arg("x"));
ANYFFI_EXPORT(largest, [](const Numbers& x) { return *std::max_element(x.begin(), x.end()); }, arg("x"));
"""


@needs_compilers
@pytest.mark.slow("compiling")
@pytest.mark.keeps_live("a module stays loaded")
def test_optional_arrays(ffi: Any, build: Build) -> None:
    optional = ffi.load_module(build("optional_arrays.cc", OPTIONAL))
    ints = np.arange(6, dtype="i4")[::2]
    assert optional.weigh([1, 2]) == optional.weigh([1, 2], weights=None) == 3.0
    assert optional.weigh([1, 2], weights=[10, 0.5]) == 11.0
    assert optional.weigh(ints, weights=ints) == 20.0
    assert optional.keep(None) is None
    assert np.asarray(optional.keep(range(3))).tolist() == [0.0, 1.0, 2.0]
    x = np.arange(3.0)
    assert np.shares_memory(np.asarray(optional.keep(x)), x)
    answers = [optional.which(x) for x in (None, [1.0], x, [[1.0]], ints, ints[None], 3)]
    assert answers == ["none", "numbers", "numbers", "table", "numbers", "table", "int"]
    for words, weights in (
        (r"argument 1 \(weights\), at \[1\]: expected float, got str", [1, "x"]),
        (r"argument 1 \(weights\): expected a tensor of float64 with shape \(\*,\), got str", "x"),
    ):
        with pytest.raises(TypeError, match=words):
            optional.weigh([1, 2], weights=weights)
    assert str(inspect.signature(optional.weigh).parameters["weights"]) == (
        "weights: 'float64[:] | Sequence[float] | None' = None"
    )
    # Elements between iterators, for algorithms of the standard library.
    assert optional.flat(X[:, ::-2]) == X[:, ::-2].ravel().tolist()
    assert optional.largest(np.array([9.0, 3, 8, 5])[::-2]) == 5.0
