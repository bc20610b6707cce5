"""The table of test cases: one row per value type, used by all tests.

A row has example values, a Hypothesis strategy, what the callee must see of a value (the text of
`testing.describe`, computed here from the Python value alone), the expected result, and bad inputs. A new value
type needs one row. Names imported `as` themselves are re-exported for tests, which only import this module.
"""

from __future__ import annotations

import array
import collections
import contextlib
import ctypes
import datetime
import decimal
import fractions
import functools
import operator
import pathlib
import struct
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from anyffi import Device, dtype
from bad_inputs import (
    DEEP,
    Bad,
    EndlessValue,
    array_bads,
    nested,
    released_memoryview,
    self_dict,
    self_list,
    self_slice,
    self_tuple,
    self_value,
    self_value_in_a_list,
)
from bad_inputs import MAX_NESTING as MAX_NESTING
from expected import (
    DLPACK,
    describe_array,
    describe_bytes,
    describe_complex,
    describe_float,
    describe_int,
    describe_str,
)
from expected import normal as normal
from expected import same as same
from hypothesis import strategies as st
from odd_classes import (
    REFUSED,
    ArraySubclass,
    BytesSubclass,
    Callable_,
    CallableError,
    Colour,
    ComplexSubclass,
    DictSubclass,
    DictWithValue,
    ErrorWithValue,
    FloatSubclass,
    FrozenSetSubclass,
    Getattr,
    Indexable,
    IntSubclass,
    IntWithValue,
    ListSubclass,
    Named,
    OwnMapping,
    OwnValue,
    Plain,
    SetSubclass,
    StrSubclass,
    TupleSubclass,
    Unhashable,
)
from odd_classes import ErrorWithIndex as ErrorWithIndex
from strategies import arrays, binaries, complexes, floats, ints, keys, pointers, read_only, scalars, texts
from strategies import hashable_scalars as hashable_scalars
from strategies import values as values

#: CPython's messages about an `__index__` that returns no int; the second one from 3.15 on.
NO_INDEX = r"__index__ returned non-int|__index__\(\) must return an int"


@dataclass(frozen=True)
class Row:
    """A value type.

    `describe(x, top)` describes what the callee sees of `x`, as an argument (`top`) or inside a container.
    `plain(x)` is the expected `to_python(echo(x))`; `echoed` the name of the `anyffi` class of `echo(x)`, None
    if that is `plain(x)` itself.
    """

    name: str
    types: tuple[type, ...]
    examples: tuple[Any, ...]
    describe: Callable[[Any, bool], str]
    plain: Callable[[Any], Any]
    strategy: st.SearchStrategy[Any] | None = None
    echoed: str | None = None
    bad: tuple[Bad, ...] = ()


# ---- what the callee sees -----------------------------------------------------------------------


def describe(x: Any, top: bool = True) -> str:
    """Return the text of `testing.describe(x)`."""
    return row_of(x).describe(x, top)


def _describe_items(open_: str, close: str, items: Iterator[Any]) -> str:
    return open_ + ", ".join(describe(item, False) for item in items) + close


def _describe_entries(name: str, entries: Any) -> str:
    return name + "{" + ", ".join(f"{describe(k, False)}: {describe(v, False)}" for k, v in entries) + "}"


def _describe_slice(x: slice, top: bool) -> str:
    return _describe_items("Slice(", ")", iter((x.start, x.stop, x.step)))


def _entries(x: Any) -> Any:
    if isinstance(x, collections.OrderedDict):
        return list(collections.OrderedDict.items(x))
    # Not `list(...)`, which on PyPy calls the overrides of the mapping.
    return [pair for pair in dict.items(x)] if isinstance(x, dict) else [(key, x[key]) for key in x]  # noqa: C416


# ---- what comes back ----------------------------------------------------------------------------


def plain(x: Any) -> Any:
    """Return the expected `to_python(echo(x))`."""
    return row_of(x).plain(x)


def itself(x: Any) -> Any:
    return x


# ---- the table ----------------------------------------------------------------------------------


_TEXTS = tuple(
    char * length
    for char in "a\0\x7f\x80\xff\u0100\ud800\uffff\U00010000\U0010ffff"
    for length in (1, 2, 3, 5, 6, 10, 11, 12, 13)
) + (
    "",
    "\ud83d\ude00",  # two lone surrogates: never one character
    "a" * 10 + "\xff",
    "a" * 11 + "\xff",
    "aaaa\u0100",
    "aaaaa\u0100",
    "a\U0001f600",
    "aa\U0001f600",
    "\udcff\ud800" * 7,
    "x" * 100_000,
    "\u4e2d\u6587" * 3000,
)


ROWS: tuple[Row, ...] = (
    Row("none", (type(None),), (None,), lambda x, top: "None", itself, st.none()),
    Row("bool", (bool, np.bool_), (True, False, np.True_, np.False_), lambda x, top: f"Bool({bool(x)})", bool,
        st.booleans()),
    Row("int", (int, np.integer, Indexable),
        (0, 1, -1, 255, 256, 257, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), IntSubclass(7), Colour.RED,
         np.int8(-5), np.uint8(250), np.int64(-(2**63)), np.uint64(2**63 - 1), Indexable(41),
         2**63, -(2**63) - 1, 2**64 - 1, 2**64, -(2**64), 2**127, -(2**128), 10**400, -(10**4299), 10**4300, 1 - 10**5000,
         1 << 1_000_000, IntSubclass(2**63), IntSubclass(-(2**200)), np.uint64(2**64 - 1), Indexable(2**70)),
        lambda x, top: describe_int(_int(x)), lambda x: _int(x), ints,
        bad=(Bad("__index__ raises", lambda: Indexable(ZeroDivisionError("index")), ZeroDivisionError, "^index$"),
             Bad("__index__ gives a str", lambda: Indexable("5"), TypeError, NO_INDEX))),
    Row("float", (float, np.floating),
        (0.0, -0.0, 1.5, 1e308, 5e-324, float("inf"), -float("inf"), float("nan"), FloatSubclass(2.5),
         struct.unpack("d", struct.pack("Q", 0xFFF8000000000123))[0], np.float64(0.1), np.float32(0.1), np.float16(0.1)),
        lambda x, top: describe_float(float.__add__(x, 0.0) if isinstance(x, FloatSubclass) else float(x)),
        lambda x: float.__add__(x, 0.0) if isinstance(x, FloatSubclass) else float(x), floats),
    Row("complex", (complex, np.complexfloating),
        (0j, -0j, complex(-0.0, -0.0), 1.5 - 2j, complex("inf"), complex(1, float("-inf")), complex(float("nan"), -1.0),
         complex(struct.unpack("d", struct.pack("Q", 0xFFF8000000000123))[0], 5e-324), ComplexSubclass(1, 2),
         np.complex128(0.1 + 0.2j), np.complex64(0.1 - 0.2j)),
        lambda x, top: describe_complex(_complex(x)), lambda x: _complex(x), complexes),
    Row("str", (str,), (*_TEXTS, StrSubclass("short"), StrSubclass("longer than in place"), np.str_("abc")),
        describe_str, lambda x: str.__add__(x, ""), texts),
    Row("bytes", (bytes, bytearray, memoryview),
        (b"", b"\0", b"\xff" * 11, b"\xff" * 12, b"\0" * 5000, bytearray(b"ab"), bytearray(b"twelve bytes"),
         bytearray(), memoryview(b"ab"), memoryview(b"twelve bytes or so")[::2], memoryview(array.array("i", [1, 2, 3, 4])),
         memoryview(bytearray(b"a mutable buffer")), BytesSubclass(b"ab"), BytesSubclass(b"longer than in place")),
        lambda x, top: describe_bytes(_bytes(x), top and type(x) is bytes), lambda x: _bytes(x), binaries,
        bad=(Bad("released memoryview", released_memoryview, ValueError, "released memoryview"),)),
    Row("tuple", (tuple,),
        ((), (1,), (1, "two", 3.0, None), ((), ((),)), TupleSubclass((1, 2)), Named(1, [2]), nested(60, lambda x: (x,))),
        lambda x, top: _describe_items("Array[", "]", tuple.__iter__(x)),
        lambda x: tuple(plain(item) for item in tuple.__iter__(x)),
        st.lists(scalars, max_size=8).map(tuple), "Array",
        bad=(Bad("tuple that contains itself", self_tuple, RecursionError),)),
    Row("list", (list,),
        ([], [1], [1, "two", 3.0, None, b"four"], [[], [[]]], list(range(1000)), ListSubclass([1, 2]),
         ["long enough for the heap"] * 3, nested(60, lambda x: [x])),
        lambda x, top: _describe_items("List[", "]", list.__iter__(x)),
        lambda x: [plain(item) for item in list.__iter__(x)],
        st.lists(scalars, max_size=8), "List",
        bad=(Bad("list that contains itself", self_list, RecursionError),
             Bad("slice of itself", self_slice, RecursionError), *DEEP)),
    Row("dict", (dict, collections.abc.Mapping),
        ({}, {"a": 1}, {1: 2, "k": [3], None: ..., (1, "t"): {}}, {i: str(i) for i in range(300)}, DictSubclass(a=1),
         collections.OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(list, k=[1]), collections.Counter("aab"),
         collections.UserDict({"u": 1}), collections.ChainMap({"x": 1}, {"y": 2}), OwnMapping({"m": (1,)}),
         {Plain: 1}, nested(60, lambda x: {"k": x})),
        lambda x, top: _describe_entries("Dict", _entries(x)),
        lambda x: {plain(k): plain(v) for k, v in _entries(x)},
        st.dictionaries(keys, scalars, max_size=8), "Dict",
        bad=(Bad("dict that contains itself", self_dict, RecursionError),
             Bad("two NaN keys", lambda: {float("nan"): 1, -float("nan"): 2}, ValueError, "nan.*nan"),
             Bad("keys that become equal", lambda: {StrSubclass("same"): 1, StrSubclass("same"): 2}, ValueError,
                 "'same'.*'same'"),
             Bad("__getitem__ raises", lambda: OwnMapping({1: 2}, LookupError("no")), LookupError, "^no$"))),
    Row("mappingproxy", (types.MappingProxyType,),
        (types.MappingProxyType({}), types.MappingProxyType({"b": 1, "a": [2]}),
         types.MappingProxyType({i: i for i in range(100)}), vars(Colour)["_member_map_"] and types.MappingProxyType({1: ()})),
        lambda x, top: _describe_entries("Map", x.items()),
        lambda x: types.MappingProxyType({plain(k): plain(v) for k, v in x.items()}),
        st.dictionaries(keys, scalars, max_size=8).map(types.MappingProxyType), "Map"),
    Row("set", (set,),
        (set(), {1}, {3, "two", 1.5, None, b"four", ..., 2**70, 1j, (1, "t"), frozenset({1})}, set(range(1000)),
         SetSubclass([1, "two"]), {Plain, len}),
        lambda x, top: _describe_items("Set{", "}", set.__iter__(x)),
        lambda x: {plain(item) for item in set.__iter__(x)},
        st.sets(keys, max_size=8), "Set",
        bad=(Bad("set of two NaNs", lambda: {float("nan"), -float("nan")}, ValueError, "elements nan and nan"),
             Bad("elements that become equal", lambda: {StrSubclass("same"), StrSubclass("same")}, ValueError,
                 "elements 'same' and 'same'"),
             Bad("refused element", lambda: {1, REFUSED}, ZeroDivisionError, "refused"))),
    Row("frozenset", (frozenset,),
        (frozenset(), frozenset({1}), frozenset({3, "two", 1.5, None, b"four"}), frozenset(range(300)),
         FrozenSetSubclass([1, (2, "x")]), nested(60, lambda x: frozenset({x}))),
        lambda x, top: _describe_items("FrozenSet{", "}", frozenset.__iter__(x)),
        lambda x: frozenset(plain(item) for item in frozenset.__iter__(x)),
        st.frozensets(keys, max_size=8), "FrozenSet",
        bad=(Bad("frozenset of two NaNs", lambda: frozenset({float("nan"), -float("nan")}), ValueError, "elements nan"),)),
    Row("slice", (slice,),
        (slice(None), slice(0, 100, 2), slice("a", None, 1.5), slice("a string on the heap", [1], slice(1))),
        _describe_slice, lambda x: slice(plain(x.start), plain(x.stop), plain(x.step)),
        st.builds(slice, scalars, scalars, scalars)),
    Row("ellipsis", (type(...),), (...,), lambda x, top: "Ellipsis", itself, st.just(...)),
    Row("pointer", (ctypes.c_void_p,), tuple(map(ctypes.c_void_p, (None, 1, 2**63, 2**64 - 1))),
        lambda x, top: f"Pointer({x.value or 0:#x})", itself, pointers),
    Row("dtype", (dtype, np.dtype),
        (dtype("float32"), dtype("float8_e4m3fnx4"), dtype("code200_0"), *map(np.dtype, DLPACK)),
        lambda x, top: "DataType({0.type_code}, {0.bits}, {0.lanes})".format(dtype(x)), dtype,
        st.builds(lambda *triple: dtype.from_dlpack_data_type(triple), st.integers(0, 255), st.integers(0, 255),
                  st.integers(0, 65535)),
        bad=tuple(Bad(f"dtype {name}", functools.partial(np.dtype, name), TypeError, f"dtype {name} has no DLPack code")
                  for name in (">f4", "object", "datetime64"))),
    Row("device", (Device,), (Device("cpu"), Device("cuda:1"), Device(99, -1)),
        lambda x, top: f"Device({x.dlpack_device_type()}, {x.index})", lambda x: x,
        st.builds(Device, st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))),
    Row("tensor", (np.ndarray,),
        (np.arange(6).reshape(2, 3), np.arange(6.0)[::-2], np.array(1.5), np.zeros((0, 3)), np.zeros((2, 0, 3), "c8")[:, :, ::2],
         np.arange(12, dtype="u2").reshape(3, 4).T, np.broadcast_to(np.float32(2), (2, 5)), np.asfortranarray(np.ones((3, 2))),
         np.arange(24).reshape(2, 3, 4)[:, 1:, ::-1], read_only(np.zeros(3)), np.zeros((1,) * 32),
         np.arange(4).view(ArraySubclass), np.ma.masked_array([1.0, 2.0]),
         *(np.zeros(2, dtype) for dtype in DLPACK)),
        lambda x, top: describe_array(x), lambda x: x, arrays, bad=tuple(array_bads())),
    Row("exception", (BaseException,),
        (ValueError("no"), KeyError("k"), Exception(), KeyboardInterrupt(), SystemExit(3), CallableError("x"),
         UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), OSError(2, "no such file")),
        lambda x, top: f"Error({type(x).__name__})", itself),
    Row("callable", (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial, type, Callable_,
                     operator.itemgetter),
        (lambda x: x, len, [].append, functools.partial(int, base=2), int, Plain, ValueError, Callable_(),
         operator.itemgetter(1)),
        lambda x, top: "Function(host)", itself),
    Row("own value", (OwnValue, IntWithValue, DictWithValue, ErrorWithValue),
        (OwnValue(None), OwnValue(5), OwnValue("in place"), OwnValue("on the heap of the runtime"), OwnValue(b"b" * 20),
         OwnValue([1, OwnValue("x")]), OwnValue((OwnValue(2**70),)), OwnValue({OwnValue(1): OwnValue({2})}), OwnValue(len),
         OwnValue(OwnValue(OwnValue(1.5))), OwnValue(Indexable(3)), OwnValue(np.float32(1)),
         OwnValue(slice(OwnValue(1), None)), OwnValue(ctypes.c_void_p(5)), IntWithValue(3), DictWithValue(a=1),
         ErrorWithValue()),
        lambda x, top: describe(x.value, False), lambda x: plain(x.value),
        bad=(Bad("own value raises", lambda: OwnValue(ZeroDivisionError("own")), ZeroDivisionError, "^own$"),
             Bad("own value of nothing allowed", lambda: OwnValue({float("nan"), -float("nan")}), ValueError, "elements nan"),
             Bad("own value is itself", self_value, RecursionError, "__anyffi_value__ returned another"),
             Bad("own value never ends", EndlessValue, RecursionError, "__anyffi_value__ returned another"),
             Bad("own value holds itself", self_value_in_a_list, RecursionError, "a list that contains itself"))),
    Row("opaque", (object,),
        (object(), Plain(), Getattr(), Unhashable(), range(3), collections.deque([1]), {}.keys(), {1: 2}.items(),
         array.array("i", [1]), decimal.Decimal(1), fractions.Fraction(1, 2), datetime.timedelta(1), pathlib.PurePath("a"),
         iter([]), types.SimpleNamespace(a=1), contextlib, np.datetime64(1, "D"), np.timedelta64(1, "D"),
         np.longdouble(1), np.clongdouble(1), NotImplemented, weird := type("Weird", (), {"__class__": property(lambda self: int)})()),
        lambda x, top: "PyObject", itself),
)  # fmt: skip


def _int(x: Any) -> int:
    return int.__add__(x, 0) if isinstance(x, int) else operator.index(x)


def _complex(x: Any) -> complex:
    return complex.__pos__(x) if isinstance(x, complex) else complex(x)


def _bytes(x: Any) -> bytes:
    return bytes.__getitem__(x, slice(None)) if isinstance(x, bytes) else bytes(x)


def row_of(x: Any) -> Row:
    """Find the row of a value, by the precedence of the conversion rules: exact builtins first."""
    cls = type(x)
    for row in ROWS:
        if cls in row.types:
            return row
    if cls in (np.longdouble, np.clongdouble, np.timedelta64, np.datetime64):
        return ROWS[-1]
    return next(row for row in ROWS if issubclass(cls, row.types))


def _ids(pairs: Any) -> Any:
    return [f"{row.name}-{i}" for row, i in pairs]


_PAIRS = [(row, i) for row in ROWS for i in range(len(row.examples))]
#: Every example of every row, for `pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)`.
EXAMPLES = [row.examples[i] for row, i in _PAIRS]
EXAMPLE_IDS = _ids(_PAIRS)
#: A few examples of each row, for tests that combine every example with every other.
FEW = [
    x
    for row in ROWS
    for x in row.examples[:: max(1, len(row.examples) // 8)]
    if not isinstance(x, str) or len(x) < 100
]
BAD = [bad for row in ROWS for bad in row.bad]
BAD_IDS = [bad.name.replace(" ", "-") for bad in BAD]
