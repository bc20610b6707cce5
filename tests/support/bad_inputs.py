"""Inputs that no function accepts: values that contain themselves, nest too deep, or have no C++ counterpart."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from odd_classes import (
    OwnValue,
    SizedMapping,
)

MAX_NESTING = 200


@dataclass(frozen=True)
class Bad:
    """An input that no function accepts."""

    name: str
    make: Callable[[], Any]
    raises: type[BaseException]
    match: str | None = None


def nested(levels: int, wrap: Callable[[Any], Any], x: Any = None) -> Any:
    for _ in range(levels):
        x = wrap(x)
    return x


def self_list() -> Any:
    x: Any = []
    x.append(x)
    return x


def self_dict() -> Any:
    x: Any = {}
    x["self"] = x
    return x


def self_tuple() -> Any:
    x: Any = ([],)
    x[0].append(x)
    return x


def self_value() -> Any:
    x: Any = OwnValue(None)
    x.value = x
    return x


def self_value_in_a_list() -> Any:
    x: Any = OwnValue([])
    x.value.append(x)
    return x


class EndlessValue:
    def __anyffi_value__(self) -> Any:
        return EndlessValue()


def self_slice() -> Any:
    x: Any = []
    x.append(slice(x))
    return x


def array_bads() -> Iterator[Bad]:
    """Return arrays whose elements DLPack cannot name."""
    for element, name in ((">f4", ">f4"), (">i2", ">i2"), (object, "object"), ("S3", "S3"), ("U3", "U3"),
                        ("M8[s]", "datetime64"), ("m8[D]", "timedelta64"), ([("a", "f4"), ("b", "u1")], "'a'"),
                        ("V5", "V5"), ("g", "float|longdouble"), ("G", "complex|clongdouble")):  # fmt: skip
        make = functools.partial(np.zeros, 2, element)
        yield Bad(f"array of {np.dtype(element)}", make, TypeError, f"dtype .*{name}.* has no DLPack code")
    packed = np.dtype([("a", "u1"), ("b", "f4")])
    yield Bad(
        "array between elements", lambda: np.zeros(3, packed)["b"], BufferError, "multiples of the 4 bytes"
    )


def released_memoryview() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


# ---- the table ----------------------------------------------------------------------------------


DEEP = tuple(
    Bad(f"{name} nested too deep", functools.partial(nested, MAX_NESTING + 1, wrap), RecursionError)
    for name, wrap in (
        ("tuple", lambda x: (x,)),
        ("list", lambda x: [x]),
        ("dict", lambda x: {"k": x}),
        ("proxy", lambda x: types.MappingProxyType({"k": x})),
        ("slice", lambda x: slice(x)),
        ("mixed", lambda x: ({"k": [x]},)),
        ("own mapping", lambda x: SizedMapping({"k": x})),
        ("frozenset", lambda x: frozenset({x})),
        ("own value", lambda x: OwnValue([x])),
    )
)
