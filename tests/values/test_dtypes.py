"""`anyffi.dtype` and `anyffi.Device`: spellings, equality, and conversion in calls."""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
import types
from typing import Any

import anyffi
import cases
import numpy as np
import pytest
from anyffi import Device, DLDeviceType, dtype
from hypothesis import given
from hypothesis import strategies as st
from support import CPYTHON, CPYTHON_313T

if CPYTHON and not CPYTHON_313T:
    import ml_dtypes
else:
    ml_dtypes = None

#: Names of DLPack's type codes, with code and bits.
NAMES = {
    **cases.DLPACK,
    "int4": (0, 4),
    "uint1": (1, 1),
    "float128": (2, 128),
    "handle": (3, 64),
    "handle32": (3, 32),
    "bfloat16": (4, 16),
    "complex32": (5, 32),
    "bool1": (6, 1),
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
    "float6_e2m3fn": (15, 6),
    "float6_e3m2fn": (16, 6),
    "float4_e2m1fn": (17, 4),
}
#: Malformed names, and the position of the error.
MALFORMED = {
    "": 0,
    "floot32": 0,
    "x4": 0,
    " int8": 0,
    "\u0661nt8": 0,
    "FLOAT32": 0,
    "int8 ": 4,
    "int8\n": 4,
    "int8\0": 4,
    "int\u0668": 3,
    "int": 3,
    "float": 5,
    "float0": 5,
    "int08": 3,
    "int256": 3,
    "int" + "9" * 10_000: 3,
    "int8_e4m3": 5,
    "float8_e9": 7,
    "float8_": 7,
    "float16_e4m3": 8,
    "float32y4": 7,
    "float32x": 8,
    "float32x0": 8,
    "float32x04": 8,
    "float32x65536": 8,
    "float32x4x4": 9,
    "int32xvscalex4": 6,
    "code300_8": 4,
    "code3_256": 6,
    "code_8": 4,
    "int8\udc80": 4,
}
FOREIGN = [
    (np.dtype(">f4"), ">f4"),
    (np.dtype("O"), "object"),
    (np.dtype("S3"), r"\|S3"),
    (np.dtype("U3"), "<U3"),
    (np.dtype("M8[s]"), r"datetime64\[s\]"),
    (np.dtype("m8[s]"), r"timedelta64\[s\]"),
    (np.dtype([("a", "f4")]), r"\[\('a', '<f4'\)\]"),
    (np.dtype(("f4", (2,))), r"\('<f4', \(2,\)\)"),
    (np.dtype("V4"), r"\|V4"),
    (np.dtype("g"), np.dtype("g").name),
    (np.dtype("G"), np.dtype("G").name),
    (np.str_, "<U0"),
    (np.object_, "object"),
    (np.datetime64, "datetime64"),
    (np.longdouble, np.dtype("g").name),
]


def triple(x: dtype) -> tuple[int, int, int]:
    return x.type_code, x.bits, x.lanes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lanes", [1, 4, 65535])
def test_names(name: str, lanes: int) -> None:
    spelled = name if lanes == 1 else f"{name}x{lanes}"
    made = dtype(spelled)
    assert type(made) is dtype
    assert triple(made) == (*NAMES[name], lanes)
    assert str(made) == made == spelled
    assert hash(made) == hash(spelled)
    assert repr(made) == f"anyffi.dtype({spelled!r})"
    assert made.itemsize == (NAMES[name][1] * lanes + 7) // 8
    assert dtype.from_dlpack_data_type((*NAMES[name], lanes)) == made
    assert dtype(made) == made
    assert dtype(name).with_lanes(lanes) == made
    assert made != dtype("int3")
    assert {made: 1}[spelled] == 1  # type: ignore[index]


def test_longer_spellings() -> None:
    assert dtype("bool8") == "bool"
    assert dtype("handle64") == "handle"
    assert dtype("float32x1") == "float32"
    assert dtype("code2_32") == "float32"
    assert triple(dtype("code10_16")) == (10, 16, 1)
    assert triple(dtype("code200_3x2")) == (200, 3, 2)


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_name_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ValueError, match=rf" at position {MALFORMED[text]}\Z"):
        dtype(text)


@given(st.text(st.sampled_from("intfloabfx_0148em\u0661")))
def test_any_text_is_a_dtype_or_a_value_error(text: str) -> None:
    try:
        made = dtype(text)
    except ValueError:
        return
    assert dtype(str(made)) == made


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65535))
def test_everything_that_fits_the_struct_has_a_name(code: int, bits: int, lanes: int) -> None:
    made = dtype.from_dlpack_data_type((code, bits, lanes))
    assert triple(dtype(str(made))) == triple(made) == (code, bits, lanes)


@pytest.mark.parametrize("bad", [(256, 8, 1), (-1, 8, 1), (0, 256, 1), (0, 8, 65536), (0, 8, -1)])
def test_what_does_not_fit_is_refused(bad: Any) -> None:
    with pytest.raises(OverflowError, match="does not fit"):
        dtype.from_dlpack_data_type(bad)


@pytest.mark.parametrize("x", [None, 5, 1.5, float, b"int8", (2, 32, 1)], ids=repr)
def test_what_is_no_dtype_is_refused(x: Any) -> None:
    with pytest.raises(TypeError, match=f"got {type(x).__name__}"):
        dtype(x)
    with pytest.raises(TypeError):
        dtype.from_dlpack_data_type((2.0, 32, 1))  # type: ignore[arg-type]


def numpy_pairs() -> Any:
    for name in cases.DLPACK:
        yield name, np.dtype(name)
        yield name, np.dtype(name).type
    if ml_dtypes is not None:
        for name in sorted(set(NAMES) | {"int2", "uint2", "uint4"}):
            if hasattr(ml_dtypes, name):
                yield name, np.dtype(getattr(ml_dtypes, name))
                yield name, getattr(ml_dtypes, name)


@pytest.mark.parametrize(("name", "theirs"), list(numpy_pairs()), ids=lambda x: str(x))
def test_numpy_and_ml_dtypes(ffi: Any, name: str, theirs: Any) -> None:
    ours = dtype(name)
    assert ours == theirs
    assert theirs == ours
    assert (ours != theirs) is False
    assert ours.with_lanes(2) != theirs
    assert dtype("int3") != theirs
    assert dtype(theirs) == ours
    echoed = ffi.get_global_func("testing.echo")(theirs)
    assert type(echoed) is dtype
    assert triple(echoed) == triple(ours)
    code, bits, lanes = triple(ours)
    assert ffi.get_global_func("testing.describe")(theirs) == f"DataType({code}, {bits}, {lanes})"
    assert np.zeros(1, dtype=ours).dtype == np.dtype(theirs)


@pytest.mark.parametrize(("theirs", "name"), FOREIGN, ids=lambda x: str(x))
def test_dtypes_that_dlpack_cannot_name(ffi: Any, theirs: Any, name: str) -> None:
    for call in (dtype, ffi.get_global_func("testing.echo"), ffi.convert):
        with pytest.raises(TypeError, match=f"dtype {name} has no DLPack code"):
            call(theirs)
    assert dtype("float32") != theirs
    assert theirs != dtype("float32")


def test_each_error_names_the_argument(ffi: Any) -> None:
    for bad in (np.dtype("O"), np.object_):
        for _ in range(2):  # the second time, the decision for the class is remembered
            for name in ("List", "Array", "convert"):
                with pytest.raises(
                    TypeError, match=rf"^anyffi.{name}\(\): argument 0, at \[1\]: dtype object has"
                ):
                    getattr(ffi, name)([1, bad])
            with pytest.raises(TypeError, match=r"^anyffi.List.append\(\): argument 0: dtype object has"):
                ffi.List([1]).append(bad)


class TorchDtype:
    """As PyTorch's: without a constructor, and equal to itself alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


def test_dtypes_of_torch(ffi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = ffi.get_global_func("testing.echo")
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(dtype=TorchDtype))
    for name in ("float32", "bfloat16", "bool", "complex32", "float8_e4m3fn", "int4", "float4_e2m1fn_x2"):
        theirs = TorchDtype(name)
        ours = dtype(name.replace("_x2", "x2"))
        assert ours == theirs
        assert theirs == ours
        for result in (dtype(theirs), echo(theirs), echo([theirs])[0]):
            assert type(result) is dtype
            assert triple(result) == triple(ours)
    for call in (dtype, echo, ffi.convert):
        with pytest.raises(TypeError, match=r"dtype torch.qint8 has no DLPack code$"):
            call(TorchDtype("qint8"))
    assert dtype("int8") != TorchDtype("qint8")


@pytest.mark.skipif(ml_dtypes is None, reason="ml_dtypes only supports CPython")
def test_a_swapped_dtype_of_ml_dtypes_is_refused(ffi: Any) -> None:
    complex_ = [ml_dtypes.bcomplex32] if hasattr(ml_dtypes, "bcomplex32") else []  # absent from old versions
    for theirs in (np.dtype(ml_dtypes.bfloat16).newbyteorder(), *complex_):
        with pytest.raises(TypeError, match="has no DLPack code"):
            ffi.convert(theirs)


def test_abstract_and_foreign_classes_are_callables(ffi: Any) -> None:
    class Own(np.float64):
        pass

    echo = ffi.get_global_func("testing.echo")
    for x in (np.number, np.generic, np.floating, Own, float, int):
        assert echo(x) is x


@pytest.mark.parametrize("x", [*map(dtype, NAMES), dtype("float32x4"), dtype("code200_0x0")], ids=str)
def test_dtypes_as_arguments(ffi: Any, x: dtype) -> None:
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    for result in (echo(x), echo([x])[0], ffi.convert(x), ffi.get_global_func("testing.apply")(echo, x)):
        assert type(result) is dtype
        assert triple(result) == triple(x)
    assert seen(x) == "DataType({}, {}, {})".format(*triple(x))
    assert echo({x: 1})[x] == 1


def test_a_subclass_is_a_dtype_too(ffi: Any) -> None:
    class Own(dtype):
        type_code = bits = lanes = property(lambda self: 1 / 0)  # type: ignore[assignment]

        def __str__(self) -> str:
            raise AssertionError("an override was called")

    result = ffi.get_global_func("testing.echo")(Own("float32x4"))
    assert type(result) is dtype
    assert triple(result) == (2, 32, 4)


def test_subclasses_compare_by_their_methods() -> None:
    class Own(dtype):
        def __eq__(self, other: object) -> Any:
            return "own"

        __hash__ = dtype.__hash__

    class Text(str):
        def __eq__(self, other: object) -> Any:
            return "text"

        __hash__ = str.__hash__

    plain = dtype("int8")
    assert (Own("int8") == plain, plain == Own("int8"), plain != Own("int8")) == ("own", "own", False)
    assert (plain == Text("int8"), Text("int8") == plain, plain == dtype("int16")) == (True, "text", False)


def test_a_dtype_that_was_never_parsed_is_refused(ffi: Any) -> None:
    with pytest.raises(ValueError, match="unknown name 'nonsense' at position 0"):
        ffi.convert(str.__new__(dtype, "nonsense"))


def test_the_runtime_spells_dtypes_alike(ffi: Any) -> None:
    """The runtime's own messages spell dtypes and devices as Python's `repr` does."""
    widths = {bits for _, bits in NAMES.values()} | {0, 3}
    text = ffi.get_global_func("anyffi.value.repr")
    for code, bits, lanes in itertools.product(range(20), widths, (0, 1, 4)):
        x = dtype.from_dlpack_data_type((code, bits, lanes))
        assert text(x) == repr(x)
    for number, index in itertools.product(range(-1, 30), (-1, 0, 3)):
        assert text(Device(number, index)) == repr(Device(number, index))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "x", [dtype("float32x4"), dtype("code200_0"), Device("cuda:3"), Device(77, -2)], ids=str
)
def test_pickle_and_copy(x: Any, protocol: int) -> None:
    for back in (pickle.loads(pickle.dumps(x, protocol)), copy.copy(x), copy.deepcopy(x)):
        assert type(back) is type(x)
        assert back == x
        assert hash(back) == hash(x)


# ---- devices --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "number", "index", "text"),
    [
        (("cpu",), DLDeviceType.kDLCPU, 0, "cpu:0"),
        (("cuda", 0), DLDeviceType.kDLCUDA, 0, "cuda:0"),
        (("cuda:3",), DLDeviceType.kDLCUDA, 3, "cuda:3"),
        (("metal", 2), DLDeviceType.kDLMetal, 2, "metal:2"),
        (("ext_dev:0", None), DLDeviceType.kDLExtDev, 0, "ext_dev:0"),
        (("trn:3", None), DLDeviceType.kDLTrn, 3, "trn:3"),
        ((DLDeviceType.kDLMetal, 2), DLDeviceType.kDLMetal, 2, "metal:2"),
        ((2,), DLDeviceType.kDLCUDA, 0, "cuda:0"),
        ((np.int32(1), np.int64(1)), DLDeviceType.kDLCPU, 1, "cpu:1"),
        ((99, -1), 99, -1, "type99:-1"),
        (("type99:5",), 99, 5, "type99:5"),
    ],
)
def test_devices(ffi: Any, args: Any, number: int, index: int, text: str) -> None:
    made = Device(*args)
    assert made == anyffi.device(*args)
    assert made.dlpack_device_type() == number
    assert made.index == index
    assert made.type == text.partition(":")[0]
    assert str(made) == text
    assert repr(made) == f"anyffi.Device({text!r})"
    assert Device(text) == made
    assert hash(Device(text)) == hash(made)
    assert made != Device(number, index + 1)
    assert made != Device(number + 1, index)
    assert made != text
    echo, seen = map(ffi.get_global_func, ("testing.echo", "testing.describe"))
    for result in (echo(made), echo((made,))[0], ffi.convert(made)):
        assert type(result) is Device
        assert result == made
    assert seen(made) == f"Device({int(number)}, {index})"
    assert echo({made: 1})[made] == 1


@pytest.mark.parametrize("name", NAMES)
def test_kinds_of_numbers(name: str) -> None:
    for made in (dtype(name), dtype(name + "x4")):
        found = made.is_bool, made.is_integer, made.is_float, made.is_handle
        kinds = "bool", ("int", "uint"), ("float", "bfloat"), "handle"
        assert found == tuple(name.startswith(kind) for kind in kinds)


def test_kinds_of_numbers_without_a_name() -> None:
    made = dtype("code99_8")
    assert not any((made.is_bool, made.is_integer, made.is_float, made.is_handle))
    assert dtype("code2_0").is_float


@pytest.mark.parametrize("number", DLDeviceType)
def test_every_type_of_device_has_a_name(number: DLDeviceType) -> None:
    name = Device(number).type
    assert name.isidentifier()
    assert not name.startswith("type")
    assert Device(name).dlpack_device_type() == number


@pytest.mark.parametrize(
    ("args", "error", "match"),
    [
        (("cpu:0:0",), ValueError, "at position 4"),
        (("cpu:?",), ValueError, "at position 4"),
        (("cpu:",), ValueError, "at position 4"),
        (("cpu: 1",), ValueError, "at position 4"),
        (("cuda:1\n",), ValueError, "at position 5"),
        (("cuda:\u0661",), ValueError, "at position 5"),
        (("cuda:" + "9" * 5000,), ValueError, "at position 5"),
        (("",), ValueError, "unknown type '' at position 0"),
        (("gpu",), ValueError, "unknown type 'gpu' at position 0"),
        (("cuda:1", 1), ValueError, "has an index already"),
        (("cpu", "?"), TypeError, "str"),
        (("cpu", 1.0), TypeError, "float"),
        ((None,), TypeError, "NoneType"),
        (("cpu", 2**31), OverflowError, "does not fit"),
        ((-(2**31) - 1,), OverflowError, "does not fit"),
        (("cuda:9999999999",), OverflowError, "does not fit"),
    ],
)
def test_bad_devices(args: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Device(*args)


def test_an_empty_device_is_refused(ffi: Any) -> None:
    with pytest.raises(ValueError, match="empty"):
        ffi.convert(Device.__new__(Device))
