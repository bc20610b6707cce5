"""Classes and values that the table of values uses."""

from __future__ import annotations

import array
import collections
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import operator
import pathlib
import types
import typing
import uuid

import anyffi
import anyffi.testing
import numpy as np

__all__ = [
    "Collection",
    "Color",
    "Data",
    "Exported",
    "Flags",
    "IndexLike",
    "MyBytes",
    "MyDict",
    "MyFloat",
    "MyInt",
    "MyList",
    "MySet",
    "MyStr",
    "MyTuple",
    "NdSub",
    "OwnList",
    "Pair",
    "Plain",
    "Slotted",
    "Text",
    "Valued",
    "anyffi",
    "array",
    "collections",
    "ctypes",
    "datetime",
    "decimal",
    "fractions",
    "functools",
    "identity",
    "np",
    "operator",
    "pathlib",
    "types",
    "uuid",
]


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyStr(str):
    __slots__ = ()


class MyBytes(bytes):
    pass


class MyTuple(tuple[object, ...]):
    __slots__ = ()


class MyList(list[object]):
    pass


class MyDict(dict[object, object]):
    pass


class MySet(set[object]):
    pass


class OwnList(anyffi.List[object]):
    pass


class NdSub(np.ndarray):
    pass


class Color(enum.IntEnum):
    RED = 1


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Text(str, enum.Enum):
    A = "a"


class Pair(typing.NamedTuple):
    first: int
    second: float


class Plain:
    def method(self, x: object) -> object:
        return x


class Slotted:
    __slots__ = ("x",)


@dataclasses.dataclass
class Data:
    x: int = 1


class IndexLike:
    def __index__(self) -> int:
        return 7


class Valued:
    def __anyffi_value__(self) -> int:
        return 7


class Exported:
    """Exports an array by DLPack only."""

    def __init__(self) -> None:
        self._array = np.zeros(8)

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__(**options)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> object:
        return self._array.__dlpack_device__()


class Collection(collections.abc.Mapping[str, int]):
    """A mapping that is not a dict."""

    def __getitem__(self, key: str) -> int:
        return {"one": 1, "two": 2}[key]

    def __iter__(self) -> typing.Iterator[str]:
        return iter(("one", "two"))

    def __len__(self) -> int:
        return 2


def identity(x: object) -> object:
    return x
