"""Values through the C ABI: created and read through the header's structs only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import anyffi
from c_abi import CODES, Value, c, check, lib, made, make_str, read_bytes, read_text

ROWS = {code: row for row, code in CODES.items()}


@dataclass(frozen=True)
class Plain:
    """The result of `read` for a value without its own Python class: the row of its code, and its parts."""

    row: str
    parts: Any = ()


def exact(x: Any) -> Any:
    """Return a key that distinguishes 1, 1.0 and True, and 0.0 from -0.0."""
    return type(x), repr(x)


# ---- reading --------------------------------------------------------------------------------------------


def read(at: Any) -> Any:
    """Read a value from memory, as the header describes it."""
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
    # The fields of a Python exception are filled on demand.
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
        assert bytes(key) == bytes(value) == bytes(16)  # both references were stolen
    return mapping


def tensor_data(shape: list[int], strides: list[int], memory: Any) -> Any:
    """Make a DLTensor of float32 on the CPU; the caller keeps both results alive."""
    data = c.new("AnyffiTensorData*")
    data.data = memory
    data.device = {"type": 1, "index": 0}
    data.dtype = {"code": 2, "bits": 32, "lanes": 1}
    data.ndim = len(shape)
    extents = c.new("int64_t[]", shape + strides)
    data.shape, data.strides = extents, extents + len(shape)
    return data, extents


#: The owners that functions and tensors have released.
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
