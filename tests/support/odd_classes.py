"""Classes that test the precedence of conversion rules: overrides that raise, and several protocols at once."""

from __future__ import annotations

import collections
import enum
from collections.abc import Iterator
from typing import Any

import numpy as np


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
        """Not called: `__index__` precedes being callable."""


#: A value that cannot be converted: its `__index__` raises ZeroDivisionError.
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


class SizedMapping(OwnMapping):
    """Has its true length: a wrong one costs 8 MB for each level of a nested mapping."""

    def __len__(self) -> int:
        return len(self.entries)


class ArraySubclass(np.ndarray):  # type: ignore[type-arg]
    @property
    def dtype(self) -> Any:
        raise AssertionError("an override was called")

    shape = strides = itemsize = __array_interface__ = dtype  # type: ignore[assignment]


class OwnValue:
    """An object whose `__anyffi_value__` precedes every other protocol."""

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
        """An exception with `__anyffi_value__`, which precedes being an exception."""


class Callable_:
    def __call__(self, *args: Any) -> Any:
        return args


class Plain:
    """Has the methods of protocols on its instances only; protocols are looked up on types."""

    def __init__(self) -> None:
        self.__dict__.update(
            {name: lambda *args: 1 for name in ("__index__", "__call__", "keys", "__dlpack__")}
        )


class CallableError(Exception):
    def __call__(self) -> None:
        """Not called: being an exception precedes being callable."""


class ErrorWithIndex(Exception):
    def __index__(self) -> int:
        return 5


class Getattr:
    def __getattr__(self, name: str) -> Any:
        return lambda *args: 1


class Unhashable:
    __hash__ = None  # type: ignore[assignment]
