"""One row for every kind of value: how C makes it, and how C reads it back, by the header's structs alone."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Callable

import anyffi
from c_abi import CODES, Value, c, check, lib, made, make_str, read_bytes, read_text

ROWS = {code: row for row, code in CODES.items()}


@dataclass(frozen=True)
class Plain:
    """What `read` gives for a value that Python's classes do not tell apart: the row of its code, and its parts."""

    row: str
    parts: Any = ()


@dataclass(frozen=True)
class Kind:
    """A value: the row of its code, what makes an owned one, and what `read` gives of it."""

    name: str
    row: str
    make: Callable[[], Value]
    value: Any
    #: What `anyffi_value_repr` gives; None where an address is in it.
    text: str | None = None
    #: `len(x)`, where there is one.
    size: int | None = None
    hashable: bool = True
    #: The same in Python, made with the classes of a backend; None where Python has none.
    python: Callable[[Any], Any] | None = None


def exact(x: Any) -> Any:
    """What tells 1, 1.0 and True apart, and 0.0 from -0.0."""
    return type(x), repr(x)


# ---- reading --------------------------------------------------------------------------------------------


def read(at: Any) -> Any:
    """A value as Python has it, from the memory that the header describes."""
    code = at.type_code
    row = ROWS[code]
    if code <= 0:
        assert at.aux == 0 or row in ("STR", "BYTES")
        return _READ_INLINE[row](at)
    assert at.aux == 0
    assert at.as_object.type_code == code
    assert at.as_object.strong_count >= 1
    name, read_object = _READ_OBJECT[row]
    return read_object(c.cast(f"{name}*", at.as_object), at)


def read_data_type(data_type: Any) -> tuple[int, int, int]:
    return data_type.code, data_type.bits, data_type.lanes


_READ_INLINE: dict[str, Callable[[Any], Any]] = {
    "NONE": lambda at: {0: None}[at.as_int],
    "BOOL": lambda at: {0: False, 1: True}[at.as_int],
    "INT": lambda at: at.as_int,
    "FLOAT": lambda at: at.as_float,
    "STR": read_text,
    "BYTES": read_bytes,
    "ELLIPSIS": lambda at: {0: ...}[at.as_int],
    "MISSING": lambda at: {0: Plain("MISSING")}[at.as_int],
    "POINTER": lambda at: Plain("POINTER", int(c.cast("intptr_t", at.as_pointer))),
    "DATA_TYPE": lambda at: Plain("DATA_TYPE", read_data_type(at.as_data_type)),
    "DEVICE": lambda at: Plain("DEVICE", (at.as_device.type, at.as_device.index)),
}


def _read_big_int(number: Any, at: Any) -> int:
    assert number.words[number.size - 1] != 0
    magnitude = int.from_bytes(c.buffer(number.words, 8 * number.size), "little")
    return -magnitude if number.negative else magnitude


def _check_summary(kinds: int, codes: list[int]) -> None:
    for code in codes:
        assert kinds >> (-code if code <= 0 else min(code + 15, 63)) & 1


def _read_sequence(sequence: Any, at: Any) -> Plain:
    _check_summary(sequence.type_mask, [sequence.data[i].type_code for i in range(sequence.size)])
    assert sequence.size <= sequence.capacity
    return Plain(ROWS[at.type_code], [read(sequence.data + i) for i in range(sequence.size)])


def _read_mapping(mapping: Any, at: Any) -> Plain:
    entries = [mapping.entries[i] for i in range(mapping.used)]
    live = [entry for entry in entries if entry.key.type_code != CODES["UNSET"]]
    assert len(live) == mapping.size <= mapping.capacity
    _check_summary(mapping.key_type_mask, [entry.key.type_code for entry in live])
    _check_summary(mapping.value_type_mask, [entry.value.type_code for entry in live])
    hashed = c.new("int64_t*")
    for entry in live:
        check(lib.anyffi_value_hash(c.addressof(entry, "key"), hashed))
        assert hashed[0] == entry.hash
    pairs = [(read(c.addressof(entry, "key")), read(c.addressof(entry, "value"))) for entry in live]
    return Plain(ROWS[at.type_code], pairs)


def read_tensor_data(tensor: Any) -> tuple[Any, ...]:
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    strides = [tensor.strides[i] for i in range(tensor.ndim)]
    return read_data_type(tensor.dtype), shape, strides, (tensor.device.type, tensor.device.index)


def _parts(*names: str) -> Callable[[Any, Any], Plain]:
    return lambda x, at: Plain(ROWS[at.type_code], [read(c.addressof(x, name)) for name in names])


def _read_error(error: Any, at: Any) -> Plain:
    # Python's exceptions tell what they are when they are asked.
    lib.anyffi_error_fill(at.as_object)
    return _parts("kind", "message")(error, at)


_READ_OBJECT: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "BOX": ("AnyffiBox", _parts("value")),
    "STR_OBJECT": ("AnyffiStrObject", lambda x, at: read_text(at)),
    "BYTES_OBJECT": ("AnyffiBytesObject", lambda x, at: read_bytes(at)),
    "BIG_INT": ("AnyffiBigInt", _read_big_int),
    "COMPLEX": ("AnyffiComplex", lambda x, at: complex(x.real, x.imag)),
    "SLICE": ("AnyffiSlice", _parts("start", "stop", "step")),
    "ERROR": ("AnyffiError", _read_error),
    "FUNCTION": ("AnyffiFunction", lambda x, at: Plain("FUNCTION", x.call != c.NULL)),
    "MODULE": ("AnyffiObject", lambda x, at: Plain("MODULE")),
    **dict.fromkeys(("ARRAY", "LIST", "SHAPE"), ("AnyffiSequence", _read_sequence)),
    **dict.fromkeys(("MAP", "DICT", "FROZEN_SET", "SET"), ("AnyffiMapping", _read_mapping)),
    "TENSOR": ("AnyffiTensor", lambda x, at: Plain("TENSOR", read_tensor_data(x.tensor))),
}


# ---- making ---------------------------------------------------------------------------------------------


def make_bytes(data: bytes) -> Value:
    return made(lib.anyffi_bytes_create, c.from_buffer(data), len(data))


def make_int(number: int) -> Value:
    words = (number.bit_length() + 63) // 64
    magnitude = c.new("uint64_t[]", [abs(number) >> 64 * i & 2**64 - 1 for i in range(words)])
    return made(lib.anyffi_big_int_create, magnitude, words, int(number < 0))


def make_slice(*parts: int | None) -> Value:
    values = [Value() if part is None else Value(CODES["INT"], as_int=part) for part in parts]
    return made(lib.anyffi_slice_create, *(value.at for value in values))


def make_sequence(row: str, *elements: Callable[[], Value]) -> Value:
    sequence = made(lib.anyffi_sequence_create, CODES[row], 0)
    for i, make in enumerate(elements):
        with make() as element:
            check(lib.anyffi_sequence_insert(sequence.at.as_object, i, element.at))
    return sequence


def make_mapping(row: str, *entries: tuple[Callable[[], Value], Callable[[], Value]]) -> Value:
    mapping = made(lib.anyffi_mapping_create, CODES[row], 0)
    existed = c.new("int32_t*")
    for make_key, make_value in entries:
        key, value = make_key(), make_value()
        check(lib.anyffi_mapping_set(mapping.at.as_object, key.at, value.at, existed))
        assert existed[0] == 0
        assert bytes(key) == bytes(value) == bytes(16)  # both were taken over
    return mapping


def tensor_data(shape: list[int], strides: list[int], memory: Any) -> Any:
    """A DLTensor of float32 on the CPU; whoever uses it keeps what it returns."""
    data = c.new("AnyffiTensorData*")
    data.data = memory
    data.device = {"type": 1, "index": 0}
    data.dtype = {"code": 2, "bits": 32, "lanes": 1}
    data.ndim = len(shape)
    extents = c.new("int64_t[]", shape + strides)
    data.shape, data.strides = extents, extents + len(shape)
    return data, extents


#: What functions and tensors own, counted when it is given back.
released: list[Any] = []


@c.callback("void(void*)")  # type: ignore[untyped-decorator]
def release_owner(owner: Any) -> None:
    released.append(c.from_handle(owner))


_memory = c.new("float[]", [0, 1, 2, 3, 4, 5])
OWNER = c.new_handle("the owner")


def make_tensor() -> Value:
    data, _ = tensor_data([2, 3], [1, 2], _memory)
    return made(lib.anyffi_tensor_create, data, 0, OWNER, release_owner)


def make_error() -> Value:
    with make_str("ValueError") as kind, make_str("a message on the heap") as message:
        return made(lib.anyffi_error_create, kind.at, message.at, c.NULL)


@c.callback("AnyffiCall")  # type: ignore[untyped-decorator]
def _answer(self: Any, args: Any, num_args: int, result: Any) -> int:
    result.type_code = CODES["INT"]
    result.as_int = num_args
    return 0


def make_function() -> Value:
    return made(lib.anyffi_function_create, _answer, OWNER, release_owner, c.NULL)


def make_module() -> Value:
    with make_str(anyffi.find_library("anyffi_testing")) as path:
        return made(lib.anyffi_module_load, path.at)


# ---- the rows -------------------------------------------------------------------------------------------


def in_place(row: str, **fields: Any) -> Callable[[], Value]:
    return lambda: Value(CODES[row], **fields)


def _same(x: Any) -> Callable[[Any], Any]:
    return lambda ffi: x


def _text_kinds() -> list[Kind]:
    found = []
    for width, point in (("ascii", "a"), ("latin1", "\xe9"), ("ucs2", "\u0141"), ("ucs4", "\U0001f600")):
        most = {"ucs2": 5, "ucs4": 2}.get(width, 11)
        for length in (most, most + 1, 300):
            text = point * length
            row = "STR" if length <= most else "STR_OBJECT"
            make = functools.partial(make_str, text)
            found.append(
                Kind(f"{width} of {length}", row, make, text, repr(text), length, python=_same(text))
            )
    for name, text in (("empty", ""), ("NUL", "a\0b"), ("lone surrogates", "\ud83d\ude00")):
        make = functools.partial(make_str, text)
        found.append(Kind(f"{name} text", "STR", make, text, repr(text), len(text), python=_same(text)))
    for length in (0, 11, 12, 300):
        data = bytes(range(256))[:length].ljust(length, b"x")
        row = "BYTES" if length <= 11 else "BYTES_OBJECT"
        make = functools.partial(make_bytes, data)
        found.append(Kind(f"bytes of {length}", row, make, data, repr(data), length, python=_same(data)))
    return found


def _int_kinds() -> list[Kind]:
    numbers = (0, 1, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, -(2**200) + 12345)
    return [
        Kind(
            f"int {x:#x}",
            "INT" if -(2**63) <= x < 2**63 else "BIG_INT",
            functools.partial(make_int, x),
            x,
            repr(x),
            python=_same(x),
        )
        for x in numbers
    ]


_A, _LONG = functools.partial(make_str, "a"), functools.partial(make_str, "long enough for the heap")
_ONE, _BIG = functools.partial(make_int, 1), functools.partial(make_int, 2**80)
_ELEMENTS = (_A, _ONE, _BIG, _LONG, Value)
_VALUES = ["a", 1, 2**80, "long enough for the heap", None]
_ENTRIES = tuple((make, _BIG) for make in _ELEMENTS)
_PAIRS = [(value, 2**80) for value in _VALUES]
_SINGLE = [(value, None) for value in _VALUES]

_ITEMS = ", ".join(map(repr, _VALUES))
_ENTRIES_TEXT = ", ".join(f"{k!r}: {v!r}" for k, v in _PAIRS)

KINDS = [
    Kind("none", "NONE", Value, None, "None", python=_same(None)),
    Kind("true", "BOOL", in_place("BOOL", as_int=1), True, "True", python=_same(True)),
    Kind("false", "BOOL", in_place("BOOL"), False, "False", python=_same(False)),
    *_int_kinds(),
    Kind("float", "FLOAT", in_place("FLOAT", as_float=1.5), 1.5, "1.5", python=_same(1.5)),
    Kind("whole float", "FLOAT", in_place("FLOAT", as_float=1), 1.0, "1.0", python=_same(1.0)),
    Kind("-0.0", "FLOAT", in_place("FLOAT", as_float=-0.0), -0.0, "-0.0", python=_same(-0.0)),
    *_text_kinds(),
    Kind("ellipsis", "ELLIPSIS", in_place("ELLIPSIS"), ..., "Ellipsis", python=_same(...)),
    Kind("missing", "MISSING", in_place("MISSING"), Plain("MISSING"), "MISSING", hashable=False),
    Kind(
        "pointer",
        "POINTER",
        in_place("POINTER", as_pointer=c.cast("void*", 0x1234)),
        Plain("POINTER", 0x1234),
        "c_void_p(4660)",
    ),
    Kind(
        "dtype",
        "DATA_TYPE",
        in_place("DATA_TYPE", as_data_type=[2, 32, 4]),
        Plain("DATA_TYPE", (2, 32, 4)),
        "anyffi.dtype('float32x4')",
        python=_same(anyffi.dtype("float32x4")),
    ),
    Kind(
        "device",
        "DEVICE",
        in_place("DEVICE", as_device=[2, 3]),
        Plain("DEVICE", (2, 3)),
        "anyffi.Device('cuda:3')",
        python=_same(anyffi.Device("cuda", 3)),
    ),
    Kind(
        "complex",
        "COMPLEX",
        lambda: made(lib.anyffi_complex_create, 1.5, -2.0),
        1.5 - 2j,
        "(1.5-2j)",
        python=_same(1.5 - 2j),
    ),
    Kind(
        "slice",
        "SLICE",
        functools.partial(make_slice, 1, None, -2),
        Plain("SLICE", [1, None, -2]),
        "slice(1, None, -2)",
        python=_same(slice(1, None, -2)),
        # What is hashable is for the host to say.
        hashable=isinstance(slice(0), Hashable),
    ),
    *(
        Kind(
            row.lower(),
            row,
            functools.partial(make_sequence, row, *_ELEMENTS),
            Plain(row, _VALUES),
            f"({_ITEMS})" if row == "ARRAY" else f"[{_ITEMS}]",
            len(_VALUES),
            hashable=row == "ARRAY",
            python=lambda ffi, name=name: getattr(ffi, name)(_VALUES),
        )
        for row, name in (("ARRAY", "Array"), ("LIST", "List"))
    ),
    Kind(
        "empty list",
        "LIST",
        functools.partial(make_sequence, "LIST"),
        Plain("LIST", []),
        "[]",
        0,
        hashable=False,
    ),
    Kind(
        "shape",
        "SHAPE",
        functools.partial(make_sequence, "SHAPE", _ONE, _ONE),
        Plain("SHAPE", [1, 1]),
        "(1, 1)",
        2,
        python=lambda ffi: ffi.Shape([1, 1]),
    ),
    *(
        Kind(
            row.lower(),
            row,
            functools.partial(make_mapping, row, *_ENTRIES),
            Plain(row, _PAIRS),
            f"{{{_ENTRIES_TEXT}}}",
            len(_PAIRS),
            hashable=False,
            python=lambda ffi, name=name: getattr(ffi, name)(_PAIRS),
        )
        for row, name in (("MAP", "Map"), ("DICT", "Dict"))
    ),
    *(
        Kind(
            row.lower(),
            row,
            functools.partial(make_mapping, row, *((make, Value) for make in _ELEMENTS)),
            Plain(row, _SINGLE),
            f"frozenset({{{_ITEMS}}})" if row == "FROZEN_SET" else f"{{{_ITEMS}}}",
            len(_SINGLE),
            hashable=row == "FROZEN_SET",
            python=lambda ffi, name=name: getattr(ffi, name)(_VALUES),
        )
        for row, name in (("FROZEN_SET", "FrozenSet"), ("SET", "Set"))
    ),
    Kind(
        "tensor",
        "TENSOR",
        make_tensor,
        Plain("TENSOR", ((2, 32, 1), [2, 3], [1, 2], (1, 0))),
        "anyffi.Tensor(shape=(2, 3), dtype='float32', device='cpu:0')",
        2,
    ),
    Kind(
        "error",
        "ERROR",
        make_error,
        Plain("ERROR", ["ValueError", "a message on the heap"]),
        "ValueError('a message on the heap')",
    ),
    Kind("function", "FUNCTION", make_function, Plain("FUNCTION", True)),
    Kind("module", "MODULE", make_module, Plain("MODULE")),
]
