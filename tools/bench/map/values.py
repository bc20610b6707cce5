"""The table of Python values."""

from __future__ import annotations

from typing import NamedTuple

SETUP = "from bench.map.samples import *"


class Value(NamedTuple):
    """A value, the expression that makes it, and the C++ types that accept it.

    The first type is nanobind's parameter if our function takes any value; without types only type-erased
    contenders take it.
    """

    name: str
    code: str
    types: str = ""
    size: int = 0


def sized(kind: str, code: str, types: str, sizes: tuple[int, ...] = (0, 3, 1000)) -> list[Value]:
    """Make a value of each size, which is `n` in `code`."""
    return [Value(f"{kind}, {size:,}", f"(lambda n: {code})({size})", types, size) for size in sizes]


NUMBERS = [
    Value("None", "None", "optional_int optional_str"),
    Value("True", "True", "bool int float"),
    Value("int 0", "0", "int int32 uint64 float optional_int variant"),
    Value("int 7", "7", "int"),
    Value("int 1000", "1000", "int int32 float BigInt"),
    Value("int -1", "-1", "int"),
    Value("int 2**40", "2**40", "int uint64 float"),
    Value("int 2**62", "2**62", "int"),
    Value("int 2**63", "2**63", "uint64 BigInt float"),
    Value("int 2**70", "2**70", "BigInt float"),
    Value("int 2**700", "2**700", "BigInt"),
    Value("float", "1.5", "float float32 duration variant complex"),
    Value("float nan", "float('nan')", "float"),
    Value("complex", "1 + 2j", "complex"),
    Value("subclass of int", "MyInt(7)", "int"),
    Value("subclass of float", "MyFloat(1.5)", "float"),
    Value("IntEnum", "Color.RED", "int"),
    Value("IntFlag", "Flags.A | Flags.B", "int"),
    Value("object with __index__", "IndexLike()", "int"),
]

NUMPY_INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMPY_SCALARS = [
    *(Value(f"np.{name}", f"np.{name}(1)", "int") for name in NUMPY_INTS),
    Value("np.uint64 of 2**63", "np.uint64(2**63)", "uint64"),
    *(Value(f"np.{name}", f"np.{name}(1.5)", "float") for name in ("float16", "float32", "float64")),
    Value("np.bool_", "np.bool_(True)"),
    *(Value(f"np.{name}", f"np.{name}(1j)", "complex") for name in ("complex64", "complex128")),
    Value("np.str_", "np.str_('mystr')", "str"),
    Value("np.bytes_", "np.bytes_(b'mystr')", "Bytes"),
    Value("np.longdouble", "np.longdouble(1.5)"),
    Value("np.datetime64", "np.datetime64('2024-01-01')"),
    Value("np.timedelta64", "np.timedelta64(1, 's')"),
    Value("np.dtype", "np.dtype('float32')"),
    Value("np.float32, the class", "np.float32"),
]

TEXT_TYPES = "str str_by_value str_view String c_str"
TEXTS = [
    *(sized("ASCII str", "'x' * n", "str", (0, 1))),
    Value("str 'mystr'", "'mystr'", TEXT_TYPES + " optional_str variant"),
    *(sized("ASCII str", "'x' * n", "str", (11, 12))),
    *(sized("ASCII str", "'x' * n", TEXT_TYPES, (64, 1_000, 100_000, 1_000_000))),
    *(sized("Latin-1 str", "chr(0xe9) * n", "str String", (5, 64, 10_000))),
    *(sized("UCS-2 str", "chr(0x4e00) * n", "str String", (5, 64, 10_000))),
    *(sized("UCS-4 str", "chr(0x20000) * n", "str String", (2, 64, 10_000))),
    *(sized("bytes", "b'x' * n", "Bytes", (0, 5, 12, 64, 10_000, 1_000_000, 100_000_000))),
    *(sized("bytearray", "bytearray(n)", "", (5, 10_000))),
    *(sized("memoryview", "memoryview(bytes(n))", "", (5, 10_000))),
    Value("subclass of str", "MyStr('mystr')", "str String"),
    Value("str enum", "Text.A", "str"),
    Value("subclass of bytes", "MyBytes(b'mystr')", "Bytes"),
]

INDICES = [
    Value("slice", "slice(0, 100, 2)", "Slice"),
    Value("slice of None", "slice(None)", "Slice"),
    Value("Ellipsis", "..."),
    Value("tuple of indices", "(None, ..., slice(0, 100, 2))"),
    Value("tuple of slices", "(slice(1), slice(2, 3), 4)"),
]

SEQUENCE_INT = "ints ListInt ArrayInt"
SEQUENCES = [
    *sized("list of ints", "list(range(1000, 1000 + n))", SEQUENCE_INT + " ListAny"),
    *sized("tuple of ints", "tuple(range(1000, 1000 + n))", "ints ArrayInt Shape"),
    *sized("list of floats", "[i + 0.5 for i in range(n)]", "floats ListFloat", (3, 1000)),
    *sized("list of bools", "[i % 2 == 0 for i in range(n)]", "bools", (3, 1000)),
    *sized("list of str", "[f'key{i}' for i in range(n)]", "strs ListString ArrayString", (3, 1000)),
    *sized(
        "list of long str", "[f'a longer text, number {i}' for i in range(n)]", "strs ListString", (3, 1000)
    ),
    *sized("tuple of str", "tuple(f'key{i}' for i in range(n))", "strs", (3, 1000)),
    *sized("list of bytes", "[b'key%d' % i for i in range(n)]", "", (3, 1000)),
    *sized("list of None", "[None for i in range(n)]", "optional_ints", (3, 1000)),
    *sized(
        "list of int, float, str", "[(i, i + 0.5, 'key')[i % 3] for i in range(n)]", "variants", (3, 1000)
    ),
    *sized("list of complex", "[i + 2j for i in range(n)]", "complexes", (3, 1000)),
    *sized("list of big ints", "[2**70 + i for i in range(n)]", "", (3, 1000)),
    *sized("list of pairs", "[(i, i + 1) for i in range(n)]", "pairs", (3, 1000)),
    *sized("list of lists", "[[i, i + 1, i + 2] for i in range(n)]", "rows ListList", (3, 1000)),
    *sized("list of dicts", "[{'one': i, 'two': 2} for i in range(n)]", "maps", (3, 1000)),
    *sized("list of np.float64", "list(np.arange(n))", "floats", (3, 1000)),
    *sized("list of np.int64", "list(np.arange(n, dtype='int64'))", "ints", (3, 1000)),
    *sized("list of ndarrays", "[np.zeros(8) for _ in range(n)]", "ArrayTensor", (3, 1000)),
    *sized("list of objects", "[Plain() for _ in range(n)]", "", (3, 1000)),
    *sized("list of IntEnum", "[Color.RED for _ in range(n)]", "ints", (3, 1000)),
    *sized("range", "range(1000, 1000 + n)", "ints", (3, 1000)),
    *sized("deque of ints", "collections.deque(range(1000, 1000 + n))", "ints", (3, 1000)),
    *sized("UserList of ints", "collections.UserList(range(1000, 1000 + n))", "ints", (3, 1000)),
    *sized("array.array of ints", "array.array('q', range(n))", "ints", (3, 1000)),
    *sized("array.array of floats", "array.array('d', range(n))", "floats", (3, 1000)),
    Value("list nested 20 deep", "functools.reduce(lambda x, _: [x], range(20), [])"),
    Value("pair", "(1, 2.5)", "pair"),
    Value("list of three floats", "[1.5, 2.5, 3.5]", "array_float"),
    *sized("list of triples", "[(1.5, i, 0.0) for i in range(n)]", "arrays", (3, 1000)),
    Value("tuple of int, float, str", "(1, 2.5, 'mystr')", "tuple"),
    Value("named tuple", "Pair(1, 2.5)", "pair"),
    Value("subclass of tuple", "MyTuple((1, 2, 3))", "ints"),
    Value("subclass of list", "MyList([1, 2, 3])", "ints ListInt"),
    Value("self-shared lists", "[[1, 2, 3]] * 3", "rows"),
]

MAPPING_STR = "hash_map_str map_str DictStringInt MapStringInt"
MAPPINGS = [
    *sized("dict of str to int", "{f'key{i}': i for i in range(n)}", MAPPING_STR),
    *sized("dict of int to int", "{i: i for i in range(n)}", "hash_map_int DictIntInt", (3, 1000)),
    *sized("dict of str to float", "{f'key{i}': i + 0.5 for i in range(n)}", "hash_map_floats", (3, 1000)),
    *sized("dict of str to str", "{f'key{i}': f'value{i}' for i in range(n)}", "hash_map_strs", (3, 1000)),
    *sized(
        "dict of str to list",
        "{f'key{i}': [i, 2, 3] for i in range(n)}",
        "hash_map_ints DictStringList",
        (3, 1000),
    ),
    *sized("dict of str to dict", "{f'key{i}': {'one': i} for i in range(n)}", "", (3, 1000)),
    *sized("dict of tuple to int", "{(i, i + 1): i for i in range(n)}", "", (3, 1000)),
    *sized("mappingproxy", "types.MappingProxyType({f'key{i}': i for i in range(n)})", "", (3, 1000)),
    Value("subclass of dict", "MyDict(one=1, two=2)", "hash_map_str"),
    Value("OrderedDict", "collections.OrderedDict(one=1, two=2)", "hash_map_str"),
    Value("defaultdict", "collections.defaultdict(int, one=1, two=2)", "hash_map_str"),
    Value("Counter", "collections.Counter('mystr')", "hash_map_str"),
    Value("ChainMap", "collections.ChainMap({'one': 1}, {'two': 2})"),
    Value("mapping", "Collection()"),
]

SETS = [
    *sized("set of ints", "set(range(1000, 1000 + n))", "hash_set_int set_int SetInt"),
    *sized("set of str", "{f'key{i}' for i in range(n)}", "hash_set_str SetString", (3, 1000)),
    *sized("frozenset of ints", "frozenset(range(1000, 1000 + n))", "FrozenSetInt", (3, 1000)),
    Value("subclass of set", "MySet({1, 2, 3})", "hash_set_int"),
]

DTYPES = (
    "float64",
    "float32",
    "float16",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "complex128",
)
ARRAYS = [
    *(Value(f"ndarray of {name}", f"np.zeros(8, '{name}')", "TensorView Tensor") for name in DTYPES),
    *(
        Value(f"ndarray of rank {rank}", f"np.zeros((2,) * {rank})", "TensorView Tensor")
        for rank in (0, 2, 3, 4, 6)
    ),
    Value("ndarray of a type and rank", "np.zeros(8)", "VectorView Vector"),
    Value("ndarray of points", "np.zeros((4, 3), 'float32')", "PointsView"),
    *sized("ndarray of ints", "np.arange(n)", "ints", (3, 1000)),
    *sized("ndarray of floats", "np.arange(float(n))", "floats", (3, 1000)),
    Value("ndarray, empty", "np.zeros(0)", "TensorView VectorView"),
    Value("ndarray of 1,000,000", "np.zeros(1_000_000)", "TensorView Tensor VectorView"),
    Value("ndarray, transposed", "np.zeros((4, 5)).T", "TensorView"),
    Value("ndarray, every other", "np.zeros(8)[::2]", "TensorView VectorView"),
    Value("subclass of ndarray", "np.zeros(8).view(NdSub)", "TensorView Tensor"),
    Value("object with __dlpack__", "Exported()", "TensorView"),
]

OURS = [
    Value("anyffi.Tensor", "anyffi.convert(np.zeros(8))", "TensorView Tensor VectorView Vector"),
    Value("anyffi.Function", "anyffi.testing.nop", "Function"),
    Value("anyffi.convert(function)", "anyffi.convert(identity)", "Function"),
    Value("anyffi.dtype", "anyffi.dtype('float32')"),
    Value("anyffi.Device", "anyffi.device('cpu', 0)"),
    Value("anyffi.Shape", "anyffi.Shape((2, 3))", "Shape"),
]

#: Containers of the runtime that are passed again, and the typed parameters that accept them. They cost as
#: much as an object of a class, whatever their size.
AGAIN = [
    *sized("List of ints", "anyffi.List(range(n))", "ListInt ListAny ArrayInt ints", (3, 1000)),
    *sized("subclass of List", "OwnList(range(n))", "ListInt", (3, 1000)),
    *sized("Array of ints", "anyffi.Array(range(n))", "ArrayInt ints", (3, 1000)),
    *sized("List of str", "anyffi.List(map(str, range(n)))", "ListString strs", (3, 1000)),
    *sized("Array of str", "anyffi.Array(map(str, range(n)))", "ArrayString", (3, 1000)),
    *sized("Array of Tensors", "anyffi.Array([np.zeros(8) for _ in range(n)])", "ArrayTensor", (3, 1000)),
    *sized("List of Lists", "anyffi.List([[1, 2, 3] for _ in range(n)])", "ListList rows", (3, 1000)),
    *sized(
        "Dict of str to int",
        "anyffi.Dict({f'key{i}': i for i in range(n)})",
        "DictStringInt map_str",
        (3, 1000),
    ),
    *sized(
        "Dict of str to List", "anyffi.Dict({f'key{i}': [i] for i in range(n)})", "DictStringList", (3, 1000)
    ),
    *sized("Map of str to int", "anyffi.Map({f'key{i}': i for i in range(n)})", "MapStringInt", (3, 1000)),
    *sized("Set of ints", "anyffi.Set(range(n))", "SetInt", (3, 1000)),
    *sized("FrozenSet of ints", "anyffi.FrozenSet(range(n))", "FrozenSetInt", (3, 1000)),
]

OBJECTS = [
    Value("function", "identity", "Function std_function"),
    Value("lambda", "lambda x: x", "Function std_function"),
    Value("builtin function", "len", "Function"),
    Value("bound method", "Plain().method", "Function std_function"),
    Value("class", "Plain", "Function"),
    Value("functools.partial", "functools.partial(identity, 1)", "Function"),
    Value("plain object", "Plain()", "any"),
    Value("object with slots", "Slotted()", "any"),
    Value("object()", "object()", "any"),
    Value("dataclass", "Data()", "any"),
    Value("datetime", "datetime.datetime(2024, 1, 1)", "time"),
    Value("timedelta", "datetime.timedelta(seconds=1)", "duration"),
    Value("path", "pathlib.Path('a/b')", "path"),
    Value("Decimal", "decimal.Decimal('1.5')", "any"),
    Value("Fraction", "fractions.Fraction(1, 2)", "any"),
    Value("UUID", "uuid.UUID(int=1)", "any"),
    Value("module", "operator", "any"),
    Value("exception", "ValueError('x')", "any"),
    Value("object with __anyffi_value__", "Valued()"),
    Value("c_void_p", "ctypes.c_void_p(8)"),
]

#: By group, in the order of the report.
VALUES = {
    "numbers": NUMBERS,
    "NumPy scalars": NUMPY_SCALARS,
    "text": TEXTS,
    "indices": INDICES,
    "sequences": SEQUENCES,
    "mappings": MAPPINGS,
    "sets": SETS,
    "arrays": ARRAYS,
    "runtime objects": OURS,
    "passed again": AGAIN,
    "objects": OBJECTS,
}
