"""What every value type is tested with: one row per type, used by all tests.

A row has example values, a Hypothesis strategy, what the callee must see of a value (the text of
`testing.describe`, computed here from the Python value alone), what must come back, and bad inputs. Adding
a value type adds one row.
"""

from __future__ import annotations

import array
import collections
import contextlib
import ctypes
import datetime
import decimal
import enum
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
from hypothesis import strategies as st

INLINE_BYTES = 11
MAX_NESTING = 200


@dataclass(frozen=True)
class Bad:
    """An input that no function takes."""

    name: str
    make: Callable[[], Any]
    raises: type[BaseException]
    match: str | None = None


@dataclass(frozen=True)
class Row:
    """A value type.

    `describe(x, top)` is what the callee sees of `x`, as an argument (`top`) or inside of a container.
    `plain(x)` is what `to_python(echo(x))` gives; `echoed` the class of the `anyffi` set that `echo(x)`
    gives, None where that is `plain(x)` itself.
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
    """The text of `testing.describe(x)`."""
    return row_of(x).describe(x, top)


def _storage(size: int, top: bool) -> str:
    return "in place" if size <= INLINE_BYTES else "borrowed" if top else "heap"


def describe_str(x: str, top: bool) -> str:
    points = [ord(c) for c in str.__iter__(x)]
    widest = max(points, default=0)
    kind, width = (
        ("ascii", 1) if widest < 0x80
        else ("latin1", 1) if widest < 0x100
        else ("ucs2", 2) if widest < 0x10000
        else ("ucs4", 4)
    )  # fmt: skip
    # A subclass is read into a string of its own, which nobody else keeps.
    storage = _storage(len(points) * width, top and type(x) is str)
    return f"Str({storage}, {kind}, {len(points)}, [{' '.join(f'{p:x}' for p in points)}])"


def describe_bytes(x: Any, top: bool) -> str:
    data = bytes(x)
    # Only exact bytes cannot change while they are borrowed.
    storage = _storage(len(data), top and type(x) is bytes)
    return f"Bytes({storage}, {len(data)}, [{data.hex(' ')}])"


def describe_int(x: int) -> str:
    if -(2**63) <= x < 2**63:
        return f"Int({x})"
    # Beyond so many digits Python refuses to write decimal text.
    return f"BigInt({x:#x})" if abs(x) >= 10**4300 else f"BigInt({x})"


def describe_float(x: float, top: bool = True) -> str:
    return f"Float({struct.pack('>d', x).hex()})"


def describe_complex(x: complex) -> str:
    return f"Complex({struct.pack('>d', x.real).hex()}, {struct.pack('>d', x.imag).hex()})"


def _describe_items(open_: str, close: str, items: Iterator[Any]) -> str:
    return open_ + ", ".join(describe(item, False) for item in items) + close


def _describe_entries(name: str, entries: Any) -> str:
    return name + "{" + ", ".join(f"{describe(k, False)}: {describe(v, False)}" for k, v in entries) + "}"


def _describe_slice(x: slice, top: bool) -> str:
    return _describe_items("Slice(", ")", iter((x.start, x.stop, x.step)))


def describe_array(x: Any) -> str:
    x = np.asarray(x)
    code, bits = DLPACK[x.dtype.name]
    # Steps along an axis that has no two elements are of no meaning; NumPy has whole elements all the same.
    strides = [stride // x.itemsize for stride in x.strides]
    access = "writable" if x.flags.writeable else "read-only"
    return f"Tensor(Device(1, 0), DataType({code}, {bits}, 1), shape {list(x.shape)}, strides {strides}, {access})"


#: DLPack's code and bits by NumPy's name of a dtype.
DLPACK = {
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "complex64": (5, 64),
    "complex128": (5, 128),
    "bool": (6, 8),
}


def _entries(x: Any) -> Any:
    if isinstance(x, collections.OrderedDict):
        return list(collections.OrderedDict.items(x))
    # Walked, because PyPy's `list` would ask the mapping itself.
    return [pair for pair in dict.items(x)] if isinstance(x, dict) else [(key, x[key]) for key in x]  # noqa: C416


# ---- what comes back ----------------------------------------------------------------------------


def plain(x: Any) -> Any:
    """What `to_python(echo(x))` gives."""
    return row_of(x).plain(x)


def itself(x: Any) -> Any:
    return x


def same(got: Any, expected: Any) -> bool:
    """Equal, and of equal exact types all the way down; floats by their bits; others by identity.

    A tensor is the same as the array on whose memory it lies.
    """
    cls = type(expected)
    if issubclass(cls, np.ndarray):
        return type(got).__qualname__ == "Tensor" and _memory(np.asarray(got)) == _memory(
            np.asarray(expected)
        )
    if type(got) is not cls:
        return False
    if cls is float:
        return struct.pack("d", got) == struct.pack("d", expected)
    if cls is complex:
        return same((got.real, got.imag), (expected.real, expected.imag))
    if cls in (tuple, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if cls in (set, frozenset):
        found = {item: item for item in expected}
        return len(got) == len(expected) and all(item in found and same(item, found[item]) for item in got)
    if cls in (dict, types.MappingProxyType):
        return same(tuple(got.items()), tuple(expected.items()))
    if cls is slice:
        return same((got.start, got.stop, got.step), (expected.start, expected.stop, expected.step))
    if cls is ctypes.c_void_p:
        return bool(got.value == expected.value)
    if cls in (int, bool, str, bytes, type(None), Device, dtype):
        return bool(got == expected)
    return got is expected


def _memory(x: Any) -> Any:
    return x.dtype, x.shape, x.strides, x.__array_interface__["data"]


def normal(x: Any, ffi: Any) -> Any:
    """A form of any result that can be compared between two sets of classes."""
    cls = type(x)
    if issubclass(cls, ffi.Tensor):
        return cls.__qualname__, _memory(np.asarray(x))
    if issubclass(cls, ffi.Object):
        content = ffi.to_python(x)
        return cls.__qualname__, None if content is x else normal(content, ffi)
    if cls is float:
        return "float", struct.pack("d", x)
    if cls is complex:
        return "complex", normal(x.real, ffi), normal(x.imag, ffi)
    if cls in (tuple, list, set, frozenset):
        return cls.__qualname__, [normal(item, ffi) for item in x]
    if cls in (dict, types.MappingProxyType):
        return cls.__qualname__, [(normal(k, ffi), normal(v, ffi)) for k, v in x.items()]
    if cls is slice:
        return "slice", [normal(part, ffi) for part in (x.start, x.stop, x.step)]
    if cls is ctypes.c_void_p:
        return "c_void_p", x.value
    if cls in (int, bool, str, bytes, type(None), Device, dtype):
        return cls.__qualname__, x
    return cls.__qualname__, id(x)


# ---- classes that try to be something else ------------------------------------------------------


class IntSubclass(int):
    def __add__(self, other: Any) -> int:
        raise AssertionError("an override was called")

    __int__ = __index__ = __add__  # type: ignore[assignment]


class FloatSubclass(float):
    def __float__(self) -> float:
        raise AssertionError("an override was called")

    __pos__ = __float__


class ComplexSubclass(complex):
    def __complex__(self) -> complex:
        raise AssertionError("an override was called")

    __pos__ = __complex__
    real = imag = property(__complex__)  # type: ignore[assignment]


class StrSubclass(str):
    def __str__(self) -> str:
        raise AssertionError("an override was called")

    def __len__(self) -> int:
        return 1000

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class BytesSubclass(bytes):
    def __len__(self) -> int:
        return 1000

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("an override was called")

    def __bytes__(self) -> bytes:
        raise AssertionError("an override was called")


class TupleSubclass(tuple):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("an override was called")

    __len__ = __getitem__ = __iter__


class ListSubclass(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("an override was called")

    __len__ = __getitem__ = __iter__


class DictSubclass(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise AssertionError("an override was called")

    keys = values = __iter__ = __len__ = items

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("an override was called")


class SetSubclass(set):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("an override was called")

    __len__ = __contains__ = __iter__


class FrozenSetSubclass(frozenset):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("an override was called")

    __len__ = __contains__ = __hash__ = __iter__


class Colour(enum.IntEnum):
    RED = 3


class Named(collections.namedtuple("Named", "left right")):
    __slots__ = ()


class Indexable:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> int:
        if isinstance(self.value, BaseException):
            raise type(self.value)(*self.value.args)  # a new one: a traceback keeps arguments alive
        return self.value  # type: ignore[no-any-return]

    def __call__(self) -> None:
        """Being callable comes after being an index."""


#: A value that cannot cross: asking what it is raises ZeroDivisionError.
REFUSED = Indexable(ZeroDivisionError("refused"))


class OwnMapping(collections.abc.Mapping):  # type: ignore[type-arg]
    def __init__(self, entries: Any, fail: BaseException | None = None) -> None:
        self.entries = dict(entries)
        self.fail = fail

    def __getitem__(self, key: Any) -> Any:
        if self.fail is not None:
            raise type(self.fail)(*self.fail.args)
        return self.entries[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries)

    def __len__(self) -> int:
        return 10**6


class ArraySubclass(np.ndarray):  # type: ignore[type-arg]
    @property
    def dtype(self) -> Any:
        raise AssertionError("an override was called")

    shape = strides = itemsize = __array_interface__ = dtype  # type: ignore[assignment]


class OwnValue:
    """What it is to C++ it says itself, whatever else it could be."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __anyffi_value__(self) -> Any:
        if isinstance(self.value, BaseException):
            raise type(self.value)(*self.value.args)
        return self.value

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("taken for a callable")

    __index__ = __dlpack__ = keys = __call__


class IntWithValue(int):
    value = "not an int"

    def __anyffi_value__(self) -> str:
        return self.value


class DictWithValue(dict):  # type: ignore[type-arg]
    value = (1, [2])

    def __anyffi_value__(self) -> Any:
        return self.value


class ErrorWithValue(Exception):
    value = None

    def __anyffi_value__(self) -> None:
        """Being an exception comes after having a value."""


class Callable_:
    def __call__(self, *args: Any) -> Any:
        return args


class Plain:
    """Only its instances have `__index__`, `__call__`, `keys`: protocols are looked up on types."""

    def __init__(self) -> None:
        self.__dict__.update(
            {name: lambda *args: 1 for name in ("__index__", "__call__", "keys", "__dlpack__")}
        )


class CallableError(Exception):
    def __call__(self) -> None:
        """Being an exception comes before being callable."""


class ErrorWithIndex(Exception):
    def __index__(self) -> int:
        return 5


class Getattr:
    def __getattr__(self, name: str) -> Any:
        return lambda *args: 1


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


# ---- bad inputs ---------------------------------------------------------------------------------


def nested(levels: int, wrap: Callable[[Any], Any], x: Any = None) -> Any:
    for _ in range(levels):
        x = wrap(x)
    return x


def _self_list() -> Any:
    x: Any = []
    x.append(x)
    return x


def _self_dict() -> Any:
    x: Any = {}
    x["self"] = x
    return x


def _self_tuple() -> Any:
    x: Any = ([],)
    x[0].append(x)
    return x


def _self_value() -> Any:
    x: Any = OwnValue(None)
    x.value = x
    return x


def _self_value_in_a_list() -> Any:
    x: Any = OwnValue([])
    x.value.append(x)
    return x


class _EndlessValue:
    def __anyffi_value__(self) -> Any:
        return _EndlessValue()


def _self_slice() -> Any:
    x: Any = []
    x.append(slice(x))
    return x


def _read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def _array_bads() -> Iterator[Bad]:
    """Arrays whose elements DLPack cannot name."""
    for element, name in ((">f4", ">f4"), (">i2", ">i2"), (object, "object"), ("S3", "S3"), ("U3", "U3"),
                        ("M8[s]", "datetime64"), ("m8[D]", "timedelta64"), ([("a", "f4"), ("b", "u1")], "'a'"),
                        ("V5", "V5"), ("g", "float|longdouble"), ("G", "complex|clongdouble")):  # fmt: skip
        make = functools.partial(np.zeros, 2, element)
        yield Bad(f"array of {np.dtype(element)}", make, TypeError, f"dtype .*{name}.* has no DLPack code")
    packed = np.dtype([("a", "u1"), ("b", "f4")])
    yield Bad(
        "array between elements", lambda: np.zeros(3, packed)["b"], BufferError, "multiples of the 4 bytes"
    )


def _released_memoryview() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


# ---- strategies ---------------------------------------------------------------------------------

int64s = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.sampled_from(
        [s * 2**n + d for n in (7, 8, 15, 16, 31, 32, 53, 62) for s in (1, -1) for d in (-1, 0, 1)]
    ),
)
ints = st.one_of(
    int64s,
    st.builds(
        operator.add,
        st.sampled_from([s * 2**n for n in (63, 64, 65, 127, 128, 1000) for s in (1, -1)]),
        st.integers(-3, 3),
    ),
    st.builds(operator.lshift, st.integers(), st.integers(0, 300)),
)
floats = st.floats(width=64, allow_nan=True, allow_infinity=True)
complexes = st.builds(complex, floats, floats)
#: Every code point, lone surrogates included, around the lengths at which storage changes.
texts = st.one_of(
    *(
        st.text(st.characters(min_codepoint=0, max_codepoint=widest), max_size=size)
        for widest in (0x7F, 0xFF, 0xFFFF, 0x10FFFF)
        for size in (13, 40)
    ),
    st.text(st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=8),
)
binaries = st.binary(max_size=40)
scalars = st.one_of(st.none(), st.booleans(), ints, floats, complexes, texts, binaries, st.just(...))
#: NaN equals nothing, so a dict may hold it twice and the runtime may not.
hashable_scalars = st.one_of(
    st.none(),
    st.booleans(),
    ints,
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    texts,
    binaries,
    st.just(...),
)
keys = st.recursive(
    hashable_scalars,
    lambda inner: st.tuples(inner, inner) | st.tuples(inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
pointers = st.integers(0, 2**64 - 1).map(ctypes.c_void_p)


@st.composite
def _arrays(draw: Any) -> Any:
    """Any layout: steps of any sign, transposed, repeated along an axis, read-only."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    x = np.arange(np.prod(shape, dtype=int)).astype(draw(st.sampled_from(sorted(DLPACK)))).reshape(shape)
    # With the Ellipsis, what has no axes stays an array.
    x = x[(*(slice(None, None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape), ...)]
    x = x.transpose(draw(st.permutations(range(x.ndim))))
    if draw(st.booleans()):
        x = np.broadcast_to(x, (2, *x.shape))
    return _read_only(x) if draw(st.booleans()) else x


arrays = _arrays()


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dicts = st.dictionaries(keys, inner, max_size=6)
    return st.one_of(
        st.lists(inner, max_size=6),
        st.lists(inner, max_size=6).map(tuple),
        dicts,
        dicts.map(types.MappingProxyType),
        st.sets(keys, max_size=6),
        st.frozensets(keys, max_size=6),
        st.builds(slice, inner, inner, inner),
    )


#: Anything nested in anything.
values = st.recursive(st.one_of(scalars, pointers, arrays), _containers, max_leaves=25)


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

_DEEP = tuple(
    Bad(f"{name} nested too deep", functools.partial(nested, MAX_NESTING + 1, wrap), RecursionError)
    for name, wrap in (
        ("tuple", lambda x: (x,)),
        ("list", lambda x: [x]),
        ("dict", lambda x: {"k": x}),
        ("proxy", lambda x: types.MappingProxyType({"k": x})),
        ("slice", lambda x: slice(x)),
        ("mixed", lambda x: ({"k": [x]},)),
        ("own mapping", lambda x: OwnMapping({"k": x})),
        ("frozenset", lambda x: frozenset({x})),
        ("own value", lambda x: OwnValue([x])),
    )
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
             Bad("__index__ gives a str", lambda: Indexable("5"), TypeError, "__index__ returned non-int"))),
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
        bad=(Bad("released memoryview", _released_memoryview, ValueError, "released memoryview"),)),
    Row("tuple", (tuple,),
        ((), (1,), (1, "two", 3.0, None), ((), ((),)), TupleSubclass((1, 2)), Named(1, [2]), nested(60, lambda x: (x,))),
        lambda x, top: _describe_items("Array[", "]", tuple.__iter__(x)),
        lambda x: tuple(plain(item) for item in tuple.__iter__(x)),
        st.lists(scalars, max_size=8).map(tuple), "Array",
        bad=(Bad("tuple that contains itself", _self_tuple, RecursionError),)),
    Row("list", (list,),
        ([], [1], [1, "two", 3.0, None, b"four"], [[], [[]]], list(range(1000)), ListSubclass([1, 2]),
         ["long enough for the heap"] * 3, nested(60, lambda x: [x])),
        lambda x, top: _describe_items("List[", "]", list.__iter__(x)),
        lambda x: [plain(item) for item in list.__iter__(x)],
        st.lists(scalars, max_size=8), "List",
        bad=(Bad("list that contains itself", _self_list, RecursionError),
             Bad("slice of itself", _self_slice, RecursionError), *_DEEP)),
    Row("dict", (dict, collections.abc.Mapping),
        ({}, {"a": 1}, {1: 2, "k": [3], None: ..., (1, "t"): {}}, {i: str(i) for i in range(300)}, DictSubclass(a=1),
         collections.OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(list, k=[1]), collections.Counter("aab"),
         collections.UserDict({"u": 1}), collections.ChainMap({"x": 1}, {"y": 2}), OwnMapping({"m": (1,)}),
         {Plain: 1}, nested(60, lambda x: {"k": x})),
        lambda x, top: _describe_entries("Dict", _entries(x)),
        lambda x: {plain(k): plain(v) for k, v in _entries(x)},
        st.dictionaries(keys, scalars, max_size=8), "Dict",
        bad=(Bad("dict that contains itself", _self_dict, RecursionError),
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
         np.arange(24).reshape(2, 3, 4)[:, 1:, ::-1], _read_only(np.zeros(3)), np.zeros((1,) * 32),
         np.arange(4).view(ArraySubclass), np.ma.masked_array([1.0, 2.0]),
         *(np.zeros(2, dtype) for dtype in DLPACK)),
        lambda x, top: describe_array(x), lambda x: x, arrays, bad=tuple(_array_bads())),
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
             Bad("own value is itself", _self_value, RecursionError, "__anyffi_value__ gave another"),
             Bad("own value never ends", _EndlessValue, RecursionError, "__anyffi_value__ gave another"),
             Bad("own value holds itself", _self_value_in_a_list, RecursionError, "a list that contains itself"))),
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
    """The row that a value belongs to, by the precedence of the rules: exact builtins first."""
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
#: A few of each row, where every one against everything would take too long.
FEW = [
    x
    for row in ROWS
    for x in row.examples[:: max(1, len(row.examples) // 8)]
    if not isinstance(x, str) or len(x) < 100
]
BAD = [bad for row in ROWS for bad in row.bad]
BAD_IDS = [bad.name.replace(" ", "-") for bad in BAD]
