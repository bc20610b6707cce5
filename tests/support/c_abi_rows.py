"""One row for each type code: how C creates such a value, and what C reads back."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Callable

import anyffi
from c_abi import CODES, Value, c, lib, made, make_str
from c_abi_values import (
    Plain,
    make_bytes,
    make_error,
    make_function,
    make_int,
    make_mapping,
    make_module,
    make_sequence,
    make_slice,
    make_tensor,
)


@dataclass(frozen=True)
class Sample:
    """A value: the row of its code, a factory of owned ones, and the result of `read`."""

    name: str
    row: str
    make: Callable[[], Value]
    value: Any
    #: The result of `anyffi_value_repr`; None if it contains an address.
    text: str | None = None
    #: The length, if it has one.
    size: int | None = None
    hashable: bool = True
    #: The same value in Python, made with the classes of a backend; None if Python has no such value.
    python: Callable[[Any], Any] | None = None


def inline(row: str, **fields: Any) -> Callable[[], Value]:
    return lambda: Value(CODES[row], **fields)


def _same(x: Any) -> Callable[[Any], Any]:
    return lambda ffi: x


def _texts() -> list[Sample]:
    found = []
    for width, point in (("ascii", "a"), ("latin1", "\xe9"), ("ucs2", "\u0141"), ("ucs4", "\U0001f600")):
        most = {"ucs2": 5, "ucs4": 2}.get(width, 11)
        for length in (most, most + 1, 300):
            text = point * length
            row = "STR" if length <= most else "STR_OBJECT"
            make = functools.partial(make_str, text)
            found.append(
                Sample(f"{width} of {length}", row, make, text, repr(text), length, python=_same(text))
            )
    for name, text in (("empty", ""), ("NUL", "a\0b"), ("lone surrogates", "\ud83d\ude00")):
        make = functools.partial(make_str, text)
        found.append(Sample(f"{name} text", "STR", make, text, repr(text), len(text), python=_same(text)))
    for length in (0, 11, 12, 300):
        data = bytes(range(256))[:length].ljust(length, b"x")
        row = "BYTES" if length <= 11 else "BYTES_OBJECT"
        make = functools.partial(make_bytes, data)
        found.append(Sample(f"bytes of {length}", row, make, data, repr(data), length, python=_same(data)))
    return found


def _ints() -> list[Sample]:
    numbers = (0, 1, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, -(2**200) + 12345)
    return [
        Sample(
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

SAMPLES = [
    Sample("none", "NONE", Value, None, "None", python=_same(None)),
    Sample("true", "BOOL", inline("BOOL", as_int=1), True, "True", python=_same(True)),
    Sample("false", "BOOL", inline("BOOL"), False, "False", python=_same(False)),
    *_ints(),
    Sample("float", "FLOAT", inline("FLOAT", as_float=1.5), 1.5, "1.5", python=_same(1.5)),
    Sample("whole float", "FLOAT", inline("FLOAT", as_float=1), 1.0, "1.0", python=_same(1.0)),
    Sample("-0.0", "FLOAT", inline("FLOAT", as_float=-0.0), -0.0, "-0.0", python=_same(-0.0)),
    *_texts(),
    Sample("ellipsis", "ELLIPSIS", inline("ELLIPSIS"), ..., "Ellipsis", python=_same(...)),
    Sample("missing", "MISSING", inline("MISSING"), Plain("MISSING"), "MISSING", hashable=False),
    Sample(
        "pointer",
        "POINTER",
        inline("POINTER", as_pointer=c.cast("void*", 0x1234)),
        Plain("POINTER", 0x1234),
        "c_void_p(4660)",
    ),
    Sample(
        "dtype",
        "DATA_TYPE",
        inline("DATA_TYPE", as_data_type=[2, 32, 4]),
        Plain("DATA_TYPE", (2, 32, 4)),
        "anyffi.dtype('float32x4')",
        python=_same(anyffi.dtype("float32x4")),
    ),
    Sample(
        "device",
        "DEVICE",
        inline("DEVICE", as_device=[2, 3]),
        Plain("DEVICE", (2, 3)),
        "anyffi.Device('cuda:3')",
        python=_same(anyffi.Device("cuda", 3)),
    ),
    Sample(
        "complex",
        "COMPLEX",
        lambda: made(lib.anyffi_complex_create, 1.5, -2.0),
        1.5 - 2j,
        "(1.5-2j)",
        python=_same(1.5 - 2j),
    ),
    Sample(
        "slice",
        "SLICE",
        functools.partial(make_slice, 1, None, -2),
        Plain("SLICE", [1, None, -2]),
        "slice(1, None, -2)",
        python=_same(slice(1, None, -2)),
        # Depends on the version of Python.
        hashable=isinstance(slice(0), Hashable),
    ),
    *(
        Sample(
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
    Sample(
        "empty list",
        "LIST",
        functools.partial(make_sequence, "LIST"),
        Plain("LIST", []),
        "[]",
        0,
        hashable=False,
    ),
    Sample(
        "shape",
        "SHAPE",
        functools.partial(make_sequence, "SHAPE", _ONE, _ONE),
        Plain("SHAPE", [1, 1]),
        "(1, 1)",
        2,
        python=lambda ffi: ffi.Shape([1, 1]),
    ),
    *(
        Sample(
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
        Sample(
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
    Sample(
        "tensor",
        "TENSOR",
        make_tensor,
        Plain("TENSOR", ((2, 32, 1), [2, 3], [1, 2], (1, 0))),
        "anyffi.Tensor(shape=(2, 3), dtype='float32', device='cpu:0')",
        2,
    ),
    Sample(
        "error",
        "ERROR",
        make_error,
        Plain("ERROR", ["ValueError", "a message on the heap"]),
        "ValueError('a message on the heap')",
    ),
    Sample("function", "FUNCTION", make_function, Plain("FUNCTION", True)),
    Sample("module", "MODULE", make_module, Plain("MODULE")),
]
