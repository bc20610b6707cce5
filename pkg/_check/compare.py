"""Compares the results of two marshallers for a value, down to the last byte."""

from __future__ import annotations

import struct
import sys
from ctypes import c_void_p
from typing import Any, NamedTuple, Optional

from .._builtins import *  # noqa: F403
from .._ctypes.abi import VALUE, VALUE_SIZE
from .._rules.codes import code
from .._rules.device import Device
from .._rules.dtype import dtype
from .memory import BORROWED, contents, read_borrowed, read_counts
from .text import render

__all__ = ["Difference", "find_difference", "same", "same_exception"]

_FLOAT = struct.Struct("=d")
#: The classes that are compared with `==`; a set of ids, since hashing or comparing a class may run code of
#: its metaclass.
_COMPARED = frozenset(map(id, (int, str, bytes, bool, dtype, Device)))
_args_of = BaseException.__dict__["args"].__get__


class Difference(NamedTuple):
    """The path to the first difference, and both values there as text."""

    path: str
    by_cython: str
    by_ctypes: str


# ---- values of Python --------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    """Return whether two values have exactly the same type and are indistinguishable; runs no users' code."""
    cls = type(one)
    if one is other:
        return True
    if cls is not type(other):
        return False
    if id(cls) in _COMPARED:
        return bool(one == other)
    if cls is float:
        return _FLOAT.pack(one) == _FLOAT.pack(other)
    if cls is complex:
        return same((one.real, one.imag), (other.real, other.imag))
    if cls is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    if cls is slice:
        return same((one.start, one.stop, one.step), (other.start, other.stop, other.step))
    if cls is c_void_p:
        return bool(one.value == other.value)
    # Two arrays on the memory of one tensor.
    is_array = cls is getattr(sys.modules.get("numpy"), "ndarray", None)
    return is_array and bool(
        one.__array_interface__ == other.__array_interface__ and one.dtype == other.dtype
    )


def same_exception(one: BaseException, other: BaseException) -> bool:
    """Return whether two exceptions have the same class and arguments."""
    return one is other or (type(one) is type(other) and same(_args_of(one), _args_of(other)))


# ---- values of the runtime ---------------------------------------------------------------------------

#: The path to a value: the path to its container, the container's type code, and the position in it.
_Path = Optional[tuple[Any, int, int]]
#: The size of type code and aux.
_HEAD = 8


def find_difference(by_cython: bytes, by_ctypes: bytes, copied: dict[int, int]) -> Difference | None:
    """Compare two values down to the last byte.

    Objects created by the marshallers are compared by content, others by identity. If one value contains an
    object twice, so must the other.

    Parameters
    ----------
    by_cython, by_ctypes : bytes
        An AnyffiValue each.
    copied : dict
        Maps addresses of DLPack structs in `by_ctypes` to the addresses of their originals.
    """
    waiting: list[tuple[bytes, bytes, _Path]] = [(by_cython, by_ctypes, None)]
    there: dict[int, int] = {}
    back: dict[int, int] = {}
    while waiting:
        one, other, path = waiting.pop()
        if one == other:
            continue
        type_code, aux, address = VALUE.unpack(one)
        other_code, other_aux, other_address = VALUE.unpack(other)
        if type_code != other_code or aux != other_aux:
            return _difference(path, one, other)
        if type_code in BORROWED:
            if read_borrowed(type_code, aux, address) != read_borrowed(type_code, aux, other_address):
                return _difference(path, one, other)
            continue
        read = contents.get(type_code)
        if read is None:
            return _difference(path, one, other)
        met, other_met = address in there, other_address in back
        if met or other_met:
            if there.get(address) != other_address:
                return _difference(path, one, other, f"met before: {met}", f"met before: {other_met}")
            continue
        there[address], back[other_address] = other_address, address
        facts, values = read(address)
        other_facts, other_values = read(other_address)
        counts, other_counts = read_counts(address), read_counts(other_address)
        if counts != other_counts:
            return _difference(path, one, other, f"counts {counts}", f"counts {other_counts}")
        if type_code == code.TENSOR:
            owner = other_facts[-1]
            other_facts = (*other_facts[:-1], copied.get(owner, owner))
        if len(values) != len(other_values):
            return _difference(path, one, other)
        inner = []
        for at in range(0, len(values) if values != other_values else 0, VALUE_SIZE):
            value, other_value = values[at : at + VALUE_SIZE], other_values[at : at + VALUE_SIZE]
            if value != other_value:
                inner.append((value, other_value, (path, type_code, at // VALUE_SIZE)))
        if facts != other_facts:
            # A difference between elements is more informative than one between type masks.
            inner = [found for found in inner if found[0][:_HEAD] != found[1][:_HEAD]]
            return _difference(*inner[0][2:], *inner[0][:2]) if inner else _difference(path, one, other)
        # A stack: the last one is compared first.
        waiting.extend(reversed(inner))
    return None


def _difference(path: _Path, one: bytes, other: bytes, *remarks: str) -> Difference:
    # If only one of them is an object, its address may be invalid.
    follow = (VALUE.unpack(one)[0] > 0) == (VALUE.unpack(other)[0] > 0)
    texts = render(one, follow), render(other, follow)
    if texts[0] == texts[1]:
        texts = tuple(f"{text} ({item.hex()})" for text, item in zip(texts, (one, other)))  # type: ignore[assignment]
    if remarks:
        texts = tuple(f"{text}, {remark}" for text, remark in zip(texts, remarks))  # type: ignore[assignment]
    return Difference(_path_text(path), *texts)


def _path_text(path: _Path) -> str:
    steps = []
    while path is not None:
        path, type_code, place = path
        if type_code in (code.DICT, code.MAP, code.SET, code.FROZEN_SET):
            number, is_value = divmod(place, 2)
            steps.append(f".values[{number}]" if is_value else f".keys[{number}]")
        else:
            steps.append(f"[{place}]")
    return "".join(reversed(steps))
