"""Runs: items of a single class, whose recipe is written in a fifth of the time of one by one."""

from __future__ import annotations

import struct
import sys
from array import array
from itertools import chain

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform
from .scalars import INLINE_BYTES, MAX_BORROWED, RECIPE
from .wrapper import memory_of, write_wrapper
from .writers import find_writer

__all__ = ["ONCE", "create_object", "pointer_to", "write_items", "write_run", "write_run_of"]

_value = VALUE.pack
#: Marks a container of an argument that has occurred once so far.
ONCE = 1
_INT, _FLOAT, _ARRAY = code.INT, code.FLOAT, code.ARRAY
#: Read the content of the container at `pointer_to(x)`, as host_values.py describes; None if the runtime
#: cannot.
write_items, create_object = platform.value_readers(library)
_value_in = platform.value_in
_pack_pointer = struct.Struct("=Q").pack


def pointer_to(x: Any) -> bytes:
    """Return memory that contains the address of an object.

    A declared parameter would take as long, and raise an ArgumentError if memory is exhausted.
    """
    return _pack_pointer(id(x))


def write_run(items: tuple[Any, ...], met: dict[int, Any] | None = None) -> bytes | None:
    """Return the values of items that all have one class; None otherwise."""
    cls = type(items[0])
    is_known = id(cls) in _runs or cls is tuple
    convert = None if is_known else _rules.find_converter(cls)
    is_wrapper = not is_known and convert is None and find_writer(cls) is write_wrapper
    if not is_known and convert is None and not is_wrapper:
        return None
    for item in items:
        if type(item) is not cls:
            return None
    if cls is tuple:
        return _write_rows(items, met)
    if is_wrapper:
        return _write_objects(items)
    return write_run_of(items if convert is None else tuple(map(convert, items)))


def write_run_of(items: tuple[Any, ...]) -> bytes | None:
    """Return the values of items that are known to have one class; None if they are not scalars."""
    if write_items is not None:
        values = platform.memory(VALUE_SIZE * len(items) + VALUE_SIZE)
        return values[:-VALUE_SIZE] if write_items(pointer_to(items), 0, values) == 1 else None
    write = _runs.get(id(type(items[0])))
    return None if write is None else write(items)


def _write_objects(wrappers: tuple[Any, ...]) -> bytes | None:
    """Return the borrowed objects of wrappers of one class; None if one is empty or another backend's."""
    try:
        return b"".join(map(_value_in, map(memory_of, wrappers)))
    except (AttributeError, TypeError):
        return None


def _write_rows(rows: tuple[Any, ...], met: dict[int, Any] | None) -> bytes | None:
    """Return the recipe of distinct tuples of one length, with scalars of one class; None for others."""
    count, width = len(rows), len(rows[0])
    distinct = set(map(id, rows))
    if (
        not width
        or len(distinct) < count
        or {*map(len, rows)} != {width}
        or (met and not distinct.isdisjoint(met))
    ):
        return None
    flat = tuple(chain.from_iterable(rows))
    run = None if type(flat[0]) is tuple else write_run(flat)
    if run is None:
        return None
    if met is not None:
        met.update(dict.fromkeys(distinct, ONCE))
    values, step = array("q", run), array("q", _value(_ARRAY, RECIPE, width))
    # Two words for each value, and for the step after each tuple.
    words = array("q", bytes(VALUE_SIZE * count * (width + 1)))
    stride = 2 * (width + 1)
    for word in range(2 * width):
        words[word::stride] = values[word :: 2 * width]
    words[2 * width :: stride] = step[:1] * count
    words[2 * width + 1 :: stride] = step[1:] * count
    return words.tobytes()


_AN_INT, _A_FLOAT = _value(_INT, 0, 0), _value(code.FLOAT, 0, 0)


def _write_ints(items: tuple[int, ...]) -> bytes | None:
    try:
        if len(items) <= _FEW:
            parts = [_INT, 0, 0] * len(items)
            parts[2::3] = items
            return _few_ints[len(items)](*parts)
        return _fill(_AN_INT, struct.pack(f"{len(items)}q", *items))
    except struct.error:
        # One of them needs a BigInt.
        return None


#: Up to this many numbers are packed with one call of `struct`.
_FEW = 16
_few_ints, _few_floats = (
    [struct.Struct(f"={each * n}").pack for n in range(_FEW + 1)] for each in ("iIq", "iId")
)


def _write_floats(items: tuple[float, ...]) -> bytes:
    if len(items) <= _FEW:
        parts: list[Any] = [_FLOAT, 0, 0.0] * len(items)
        parts[2::3] = items
        return _few_floats[len(items)](*parts)
    return _fill(_A_FLOAT, struct.pack(f"{len(items)}d", *items))


def _fill(value: bytes, payloads: bytes) -> bytes:
    """Repeat a value with different payloads of eight bytes each."""
    halves = array("q", value * (len(payloads) // 8))
    halves[1::2] = array("q", payloads)
    return halves.tobytes()


#: The bytes before inline ASCII text and, by length, those after it.
_HEAD = _value(code.STR, 0, 0)[:4].decode("latin-1")
_TAILS = ["\0" * spare + chr(spare) for spare in range(INLINE_BYTES, -1, -1)]


def _write_texts(items: tuple[str, ...]) -> bytes | None:
    parts = [_HEAD] * (3 * len(items))
    parts[1::3] = items
    try:
        parts[2::3] = map(_TAILS.__getitem__, map(len, items))
    except IndexError:
        return _borrow_texts(items)
    return "".join(parts).encode("latin-1") if "".join(items).isascii() else None


def _borrow_texts(items: tuple[str, ...]) -> bytes | None:
    """Borrow ASCII texts, none of them short, from the items; None for others."""
    lengths = array("q", map(len, items))
    is_usual = _ASCII and min(lengths) > INLINE_BYTES and max(lengths) <= MAX_BORROWED
    if not is_usual or not all(map(str.isascii, items)):
        return None
    values = array("q", _AN_ASCII_VIEW * len(items))
    values[::2] = array("q", [_VIEW_HEAD + (length << _LENGTH_SHIFT) for length in lengths])
    values[1::2] = array("q", map(_ASCII.__add__, map(id, items)))
    return values.tobytes()


_ASCII = platform.ascii_offset
_AN_ASCII_VIEW = _value(code.STR_VIEW, 0, 0)
#: The first word of a view of ASCII text, and the position of the length in it.
_VIEW_HEAD = struct.unpack("=qq", _AN_ASCII_VIEW)[0]
_LENGTH_SHIFT = 34 if sys.byteorder == "little" else 2
_A_BOOL = _value(code.BOOL, 0, 0)


def _write_bools(items: tuple[bool, ...]) -> bytes:
    return _fill(_A_BOOL, struct.pack(f"{len(items)}q", *items))


_runs: dict[int, Callable[[Any], bytes | None]] = {
    id(bool): _write_bools,
    id(int): _write_ints,
    id(float): _write_floats,
    id(str): _write_texts,
}
