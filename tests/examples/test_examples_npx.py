"""The example npx does what NumPy does: creation, and operators element by element."""

from __future__ import annotations

from typing import Any

import anyffi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npx_cases import COMPLEX, DTYPES, FEW, FLOATS, REAL, WHOLE, agree, arrays, broadcastable, outcome, same

# ---- creation --------------------------------------------------------------------------------------------

DTYPE = (
    st.sampled_from(DTYPES) | st.sampled_from(DTYPES).map(np.dtype) | st.sampled_from(DTYPES).map(np.dtype)
)
LENGTH = st.integers(-1, 4) | st.sampled_from([2**62, 2**63, -(2**70)])
SHAPE = st.lists(LENGTH, max_size=4) | st.lists(st.integers(0, 4), max_size=4).map(tuple) | st.integers(0, 4)
NUMBER = (
    st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from([2**63, -(2**63), 2**64])
    | st.floats(-4, 4)
    | st.complex_numbers(max_magnitude=4)
)


@given(shape=SHAPE, dtype=DTYPE)
def test_zeros_and_ones(npx: Any, shape: Any, dtype: Any) -> None:
    agree(npx.zeros, np.zeros, shape, dtype)
    agree(npx.ones, np.ones, shape, dtype=dtype)


@given(shape=st.lists(st.integers(0, 3), max_size=3), value=NUMBER, dtype=st.sampled_from(DTYPES))
def test_full(npx: Any, shape: Any, value: Any, dtype: str) -> None:
    if dtype == "bool" and isinstance(value, int):
        value = value > 0  # NumPy also refuses values here that do not fit int64
    kind = np.dtype(dtype).kind
    if kind in "iu" and type(value) is int and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        with pytest.raises(OverflowError):  # older versions of NumPy wrap it
            npx.full(shape, value, dtype)
        return
    if isinstance(value, complex) and kind in "iuf":
        # NumPy drops the imaginary part, with a warning.
        with pytest.raises(TypeError, match="not complex"):
            npx.full(shape, value, dtype)
        return
    agree(npx.full, np.full, shape, value, dtype)


@pytest.mark.parametrize("value", [True, 3, -1, 2.5, 1j])
def test_the_value_chooses_a_dtype(npx: Any, value: Any) -> None:
    agree(npx.full, np.full, (2, 2), value)


@given(array=arrays(), dtype=st.none() | st.sampled_from(DTYPES))
def test_likes(npx: Any, array: Any, dtype: Any) -> None:
    agree(npx.zeros_like, np.zeros_like, array, dtype=dtype)
    agree(npx.ones_like, np.ones_like, array, dtype)
    agree(npx.full_like, np.full_like, array, True, dtype=dtype)


@given(
    rows=st.integers(-1, 5),
    columns=st.none() | st.integers(-1, 5),
    k=st.integers(-7, 7) | st.sampled_from([2**62, -(2**63)]),
    dtype=st.sampled_from(DTYPES),
)
def test_matrices(npx: Any, rows: int, columns: int | None, k: int, dtype: str) -> None:
    agree(npx.eye, np.eye, rows, columns, k, dtype)
    agree(npx.identity, np.identity, rows, dtype)
    if rows >= 0 and (columns is None or columns >= 0) and abs(k) < 2**62:
        agree(npx.tri, np.tri, rows, columns, k, dtype)


STEP = st.integers(-5, 5) | st.floats(-2, 2).filter(lambda step: step == 0 or abs(step) > 0.01)


@given(
    start=st.integers(-20, 20) | st.floats(-20, 20),
    stop=st.none() | st.integers(-20, 20) | st.floats(-20, 20),
)
def test_arange(npx: Any, start: Any, stop: Any) -> None:
    agree(npx.arange, np.arange, start, stop)


@given(
    start=st.integers(-20, 20) | st.floats(-20, 20), stop=st.integers(-20, 20) | st.floats(-20, 20), step=STEP
)
def test_arange_with_step(npx: Any, start: Any, stop: Any, step: Any) -> None:
    agree(npx.arange, np.arange, start, stop, step)


@given(size=st.integers(0, 100), dtype=st.sampled_from([*WHOLE[1:], *DTYPES[9:]]))
def test_arange_of_dtypes(npx: Any, size: int, dtype: str) -> None:
    agree(npx.arange, np.arange, size, dtype=dtype)


@given(
    start=st.integers(-20, 20) | st.floats(-20, 20),
    stop=st.integers(-20, 20) | st.floats(-20, 20),
    num=st.integers(-1, 300),
    endpoint=st.booleans(),
    dtype=st.none() | st.sampled_from([*WHOLE[1:5], *DTYPES[9:]]),
)
def test_linspace(npx: Any, start: Any, stop: Any, num: int, endpoint: bool, dtype: Any) -> None:
    agree(npx.linspace, np.linspace, start, stop, num, endpoint=endpoint, dtype=dtype)
    agree(npx.logspace, np.logspace, start / 9, stop / 9, num, endpoint=endpoint, exact=False, base=2.0)


@given(shape=st.lists(st.integers(-1, 4), max_size=3), dtype=st.none() | st.sampled_from(REAL[1:]))
def test_indices(npx: Any, shape: Any, dtype: Any) -> None:
    agree(npx.indices, np.indices, shape, **({} if dtype is None else {"dtype": dtype}))


@given(size=st.integers(-1, 40))
def test_windows(npx: Any, size: int) -> None:
    for name in ("hanning", "hamming", "blackman"):
        agree(getattr(npx, name), getattr(np, name), size, exact=False)


# ---- operators of two arrays -----------------------------------------------------------------------------

#: Names, dtypes to test with, and whether results equal NumPy's to the last bit.
EXACT = {
    **dict.fromkeys(("add", "subtract", "multiply"), REAL),
    **dict.fromkeys(("divide", "true_divide", "floor_divide", "remainder", "mod"), REAL),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"), WHOLE),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "copysign"), REAL),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), REAL),
}
TAME = {
    **dict.fromkeys(("add", "subtract", "multiply", "maximum", "minimum", "divide"), COMPLEX),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), COMPLEX),
    **dict.fromkeys(("arctan2", "hypot", "power"), REAL),
}


@st.composite
def pairs(draw: Any, dtypes: Any, tame: bool = False) -> list[Any]:
    return [draw(arrays(dtypes, st.just(shape), tame)) for shape in draw(broadcastable(2))]


@pytest.mark.parametrize("name", EXACT)
@FEW
@given(data=st.data())
def test_operators(npx: Any, name: str, data: Any) -> None:
    agree(getattr(npx, name), getattr(np, name), *data.draw(pairs(EXACT[name])))


@given(data=st.data())
def test_extremes(npx: Any, data: Any) -> None:
    x, y = data.draw(pairs(REAL))
    # In NumPy it depends on the machine which zero is greater.
    x, y = (np.where(array == 0, np.zeros_like(array), array) for array in (x, y))
    agree(npx.maximum, np.maximum, x, y)
    agree(npx.minimum, np.minimum, x, y)


@pytest.mark.parametrize("name", TAME)
@FEW
@given(data=st.data())
def test_operators_within_rounding(npx: Any, name: str, data: Any) -> None:
    x, y = data.draw(pairs(TAME[name], tame=True))
    if name == "divide":
        y = np.where(
            y == 0, np.ones_like(y), y
        )  # NumPy does not define to which infinities a complex number overflows
    agree(getattr(npx, name), getattr(np, name), x, y, exact=False)


@given(array=arrays(), number=st.integers(-130, 300) | st.booleans() | st.floats(-4, 4) | st.just(2j))
def test_numbers_adapt_to_arrays(npx: Any, array: Any, number: Any) -> None:
    exact = array.dtype.kind != "c" and not isinstance(number, complex)
    agree(npx.add, np.add, array, number, exact=exact)
    agree(npx.subtract, np.subtract, number, array, exact=exact)


@pytest.mark.parametrize("numbers", [(1, 2), (True, 2), (1.5, 2), (1j, True), (True, True)])
def test_numbers_alone(npx: Any, numbers: tuple[Any, Any]) -> None:
    agree(npx.add, np.add, *numbers)


def test_an_int_beyond_the_dtype(npx: Any) -> None:
    agree(npx.add, np.add, np.zeros(2, np.uint64), 2**63)
    for array, number in (
        (np.zeros(2, np.uint8), 256),
        (np.zeros(2, np.uint8), -1),
        (np.zeros(2, int), 2**63),
    ):
        with pytest.raises(OverflowError):
            npx.add(array, number)


@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_out(npx: Any, data: Any, dtype: str) -> None:
    shape, *shapes = data.draw(broadcastable(3))
    x, y = (data.draw(arrays(DTYPES, st.just(shape), tame=True)) for shape in shapes)
    ours, theirs = (np.full(shape, 1, dtype) for _ in range(2))

    def into(function: Any, out: Any) -> Any:
        before = out.copy()
        result = function(x, y, out=out)
        assert np.asarray(result).shape == before.shape
        return out

    def numpy_in_full(x: Any, y: Any, out: Any) -> Any:
        # npx does not repeat a result over a larger output.
        if np.broadcast_shapes(x.shape, y.shape) != out.shape:
            raise ValueError
        return np.add(x, y, out=out)

    agree(lambda: into(npx.add, ours), lambda: into(numpy_in_full, theirs), exact=False)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_out_overlaps_an_argument(npx: Any, shift: int, step: int) -> None:
    def run(add: Any) -> Any:
        memory = np.arange(700)
        add(memory[100:600], memory[::step][100:600], out=memory[100 + shift : 600 + shift])
        return memory

    same(run(npx.add), run(np.add))


def test_out_is_returned(ffi: Any, npx: Any) -> None:
    array = np.zeros((2, 2))
    result = npx.add(np.ones((2, 2)), 1, out=array)
    assert type(result) is ffi.Tensor
    assert np.shares_memory(np.asarray(result), array)
    assert npx.add(1.0, 1.0, npx.zeros(())).shape == ()
    out = npx.zeros((2, 2))
    assert npx.add(array, array, out=out) is out
    same(out, array + array)


def test_out_that_does_not_fit(npx: Any) -> None:
    x = np.ones(3)
    read_only = np.ones(3)
    read_only.flags.writeable = False
    for out in (np.zeros(2), np.zeros(()), read_only, np.zeros(3, int), [0, 0, 0], 1):
        agree(npx.add, np.add, x, x, out=out)


def test_other_objects_than_arrays(npx: Any) -> None:
    for x in (None, "a", object(), np.zeros(2, "U1"), np.zeros(2, ">i4"), np.zeros(2, "M8[s]")):
        with pytest.raises(TypeError):
            npx.add(x, 1)
    with pytest.raises(TypeError, match="no arrays of dtype bfloat16"):
        npx.zeros(2, anyffi.dtype("bfloat16"))
    with pytest.raises(TypeError, match="no dtype is called nonsense"):
        npx.zeros(2, "nonsense")
    with pytest.raises(ValueError, match="64 dimensions"):
        npx.zeros((1,) * 65)


# ---- functions of one array ------------------------------------------------------------------------------

UNARY_EXACT = {
    **dict.fromkeys(("negative", "abs", "absolute", "sign", "isnan", "isinf", "isfinite"), REAL),
    **dict.fromkeys(("rint", "isposinf", "isneginf", "sqrt"), REAL),
    **dict.fromkeys(("floor", "ceil", "trunc", "fix"), FLOATS),
    "logical_not": DTYPES,
    "bitwise_not": WHOLE,
    "square": (*WHOLE[1:], *FLOATS),
    "reciprocal": FLOATS,
}
EVERYWHERE = ("exp", "expm1", "sin", "cos", "arctan", "sinh", "tanh", "arcsinh", "cosh", "tan")
UNARY_TAME = {
    **dict.fromkeys(EVERYWHERE, (*REAL, *COMPLEX)),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "arcsin", "arccos", "arccosh", "arctanh"), REAL),
    **dict.fromkeys(("cbrt", "degrees", "radians"), REAL),
    **dict.fromkeys(("negative", "abs", "square"), COMPLEX),
}


@pytest.mark.parametrize("name", UNARY_EXACT)
@FEW
@given(data=st.data())
def test_functions(npx: Any, name: str, data: Any) -> None:
    # NumPy 2.5 warns of `fix`, its other name for `trunc`.
    reference = getattr(np, "trunc" if name == "fix" else name)
    agree(getattr(npx, name), reference, data.draw(arrays(UNARY_EXACT[name])))


@pytest.mark.parametrize("name", UNARY_TAME)
@FEW
@given(data=st.data())
def test_functions_within_rounding(npx: Any, name: str, data: Any) -> None:
    array = data.draw(arrays(UNARY_TAME[name], tame=True))
    agree(getattr(npx, name), getattr(np, name), array, exact=False)


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p", "sqrt", "reciprocal", "arcsin", "arctanh"])
def test_functions_of_complex_numbers(npx: Any, name: str) -> None:
    array = np.array([0.5 + 0.25j, -0.5 + 0.75j, 2 - 1j, -1.5 - 0.5j])
    agree(getattr(npx, name), getattr(np, name), array, exact=False)


@pytest.mark.parametrize(
    "name", ["floor", "rint", "cbrt", "degrees", "arctan2", "gcd", "bitwise_and", "remainder"]
)
def test_not_for_complex_numbers(npx: Any, name: str) -> None:
    arrays = [np.ones(2, complex)] * (1 if name in ("floor", "rint", "cbrt", "degrees") else 2)
    if name != "rint":
        with pytest.raises(TypeError, match=f"npx.{name} is not defined for complex128"):
            getattr(npx, name)(*arrays)
    agree(getattr(npx, name), getattr(np, name), *arrays)


@given(array=arrays(("float32",)), dtype=st.sampled_from(DTYPES))
def test_functions_with_out(npx: Any, array: Any, dtype: str) -> None:
    ours, theirs = (np.ones(array.shape, dtype) for _ in range(2))
    agree(npx.sqrt, np.sqrt, array, out=ours, exact=False)
    assert outcome(np.sqrt, array, out=theirs) is not None
    same(ours, theirs, exact=False)
