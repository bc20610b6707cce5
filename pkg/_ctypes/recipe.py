"""Recipes: arguments described for one call, which creates all their objects.

A container of exact builtins and NumPy arrays becomes a run of values, each container after its parts, which
`anyffi_function_call_recipe` turns into objects. That takes a third of the time of a call for each object.
Packing such a container runs no users' code and never fails, so it may be created after all arguments are
packed. pack.py packs all other values.
"""

from __future__ import annotations

import struct
from array import array
from itertools import chain

from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE
from .scalars import INLINE_BYTES, NONE, borrow_bytes, borrow_str, scalar_packers
from .stepping import is_stepping

__all__ = [
    "RECIPE",
    "SCALARS",
    "other_writers",
    "read_container",
    "set_reader",
    "write_container",
    "write_exact",
    "write_slice",
]

RECIPE = 2  # ANYFFI_RECIPE
_packer_of = scalar_packers.get
_value = VALUE.pack
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT, _ARRAY, _LIST, _DICT, _SLICE = code.INT, code.ARRAY, code.LIST, code.DICT, code.SLICE
_WITH_KEYS = (_DICT, code.SET, code.FROZEN_SET)
#: The classes, by identity, of keys that are distinct as values if they are as objects.
_KEYS = frozenset(map(id, (str, int, bool, bytes, type(None))))


def read_container(x: Any) -> tuple[int, Any] | None:
    """Return type code and parts of an exact container: items, or keys and values in turn; or None."""
    cls = type(x)
    if cls is list:
        return _LIST, tuple(x)
    if cls is tuple:
        return _ARRAY, x
    if cls is dict:
        return _DICT, tuple(chain.from_iterable(list(x.items())))
    if cls is slice:
        return _SLICE, (x.start, x.stop, x.step)
    return None


_read_container: Callable[[Any], tuple[int, Any] | None] = read_container


def set_reader(read: Callable[[Any], tuple[int, Any] | None]) -> None:
    """Read containers by another function; see hooks.py."""
    global _read_container
    _read_container = read


def write_container(x: Any, keep: list[Any], met: set[int] | None = None, depth: int = 1) -> bytes | None:
    """Return the recipe of a container; None if it holds other than exact builtins and arrays, or one twice.

    None also where somebody steps through the conversion. `met` has the identities of the containers of this
    argument so far, unless this is the outermost.
    """
    if depth == 1 and is_stepping():
        return None
    opened = _read_container(x) or _read_other(x)
    if opened is None or depth > _rules.MAX_DEPTH:
        return None
    type_code, items = opened
    if type_code in _WITH_KEYS and not _KEYS.issuperset(map(id, map(type, items[::2]))):
        return None
    # Text is borrowed from the items, and their identities are not reused while they are alive.
    keep.append(items)
    run = _write_run(items) if len(items) > _SHORT else None
    if run is not None:
        return run + _value(type_code, RECIPE, len(items))
    steps: list[Any] = []
    for item in items:
        cls = type(item)
        if cls is int and _INT64_MIN <= item <= _INT64_MAX:
            steps.append(_value(_INT, 0, item))
            continue
        if item is None:
            steps.append(NONE)
            continue
        packer = _packer_of(id(cls))
        if cls is str:
            step = borrow_str(item, keep)
        elif cls is bytes:
            step = borrow_bytes(item, keep)
        elif packer is not None:
            step = packer(item)
        elif cls is slice:
            step = write_slice(item, keep)
        elif (convert := _rules.find_converter(cls)) is not None:
            exact = convert(item)
            step = scalar_packers[id(type(exact))](exact)
        elif id(cls) in other_writers:
            step = other_writers[id(cls)](item, keep)
        else:
            if met is None:
                met = {id(x)}
            if id(item) in met:
                return None
            met.add(id(item))
            step = write_container(item, keep, met, depth + 1)
        if type(step) is not bytes:
            return None
        steps.append(step)
    steps.append(_value(type_code, RECIPE, len(items)))
    return b"".join(steps)


def _read_other(x: Any) -> tuple[int, Any] | None:
    """Read an exact set, or an instance of a remembered subclass of tuple, list or dict; None for others.

    None in check mode, which replays what `lower` returns for these.
    """
    cls = type(x)
    if _read_container is not read_container:
        return None
    if cls is set or cls is frozenset:
        items = [None] * (2 * len(x))
        items[::2] = tuple(x)
        return (code.SET if cls is set else code.FROZEN_SET), tuple(items)
    read = _rules.find_opener(cls)
    if read is None:
        return None
    type_code, parts = read(x)
    return type_code, tuple(chain.from_iterable(parts)) if type_code == _DICT else parts


#: Functions that write other values as `write_container` does, by the identity of the class.
other_writers: dict[int, Callable[[Any, list[Any]], bytes | None]] = {}

_MADE_SLICE = _value(_SLICE, RECIPE, 3)


def write_slice(x: slice, keep: list[Any]) -> bytes | None:
    """Return the recipe of a slice of ints and None; None if it has other parts."""
    keep.append(x)
    steps = []
    for part in (x.start, x.stop, x.step):
        if part is None:
            steps.append(NONE)
        elif type(part) is int and _INT64_MIN <= part <= _INT64_MAX:
            steps.append(_value(_INT, 0, part))
        else:
            return None
    steps.append(_MADE_SLICE)
    return b"".join(steps)


# ---- items of one class: packed together, in a fifth of the time --------------------------------------

#: Up to this many items are packed faster one by one.
_SHORT = 4


def _write_run(items: tuple[Any, ...]) -> bytes | None:
    """Return the values of items that are all of one class; None if they are not."""
    cls = type(items[0])
    write = _runs.get(id(cls))
    convert = None if write is not None else _rules.find_converter(cls)
    if write is None and convert is None:
        return None
    for item in items:
        if type(item) is not cls:
            return None
    if convert is not None:
        items = tuple(map(convert, items))
        write = _runs.get(id(type(items[0])))
    return None if write is None else write(items)


def write_exact(items: Any, keep: list[Any]) -> bytes | None:
    """Return the values of a list or tuple of exact scalars; None if it holds others. `keep` as above."""
    items = tuple(items)
    keep.append(items)
    cls = type(items[0]) if len(items) > _SHORT else None
    if id(cls) in _runs and (run := _write_run(items)) is not None:
        return run
    if not SCALARS.issuperset(map(id, map(type, items))):
        return None
    steps: list[Any] = []
    for item in items:
        cls = type(item)
        if cls is int:
            if not _INT64_MIN <= item <= _INT64_MAX:
                return None
            steps.append(_value(_INT, 0, item))
        elif cls is str:
            steps.append(borrow_str(item, keep))
        elif cls is bytes:
            steps.append(borrow_bytes(item, keep))
        else:
            steps.append(scalar_packers[id(cls)](item))
    if not _EXACT_BYTES.issuperset(map(id, map(type, steps))):
        return None
    return b"".join(steps)


#: Exact scalars by the identity of the class.
SCALARS = frozenset(map(id, (int, float, bool, str, bytes, type(None))))
_EXACT_BYTES = frozenset((id(bytes),))

_AN_INT, _A_FLOAT = _value(_INT, 0, 0), _value(code.FLOAT, 0, 0)


def _write_ints(items: tuple[int, ...]) -> bytes | None:
    try:
        return _fill(_AN_INT, struct.pack(f"{len(items)}q", *items))
    except struct.error:
        # One of them needs a BigInt.
        return None


def _write_floats(items: tuple[float, ...]) -> bytes:
    return _fill(_A_FLOAT, struct.pack(f"{len(items)}d", *items))


def _fill(value: bytes, payloads: bytes) -> bytes:
    """Repeat a value with other payloads, of eight bytes each."""
    halves = array("q", value * (len(payloads) // 8))
    halves[1::2] = array("q", payloads)
    return halves.tobytes()


#: The bytes before inline ASCII text and, by its length, those after it.
_HEAD = _value(code.STR, 0, 0)[:4].decode("latin-1")
_TAILS = ["\0" * spare + chr(spare) for spare in range(INLINE_BYTES, -1, -1)]


def _write_texts(items: tuple[str, ...]) -> bytes | None:
    parts = [_HEAD] * (3 * len(items))
    parts[1::3] = items
    try:
        parts[2::3] = map(_TAILS.__getitem__, map(len, items))
    except IndexError:
        return None
    return "".join(parts).encode("latin-1") if "".join(items).isascii() else None


_runs: dict[int, Callable[[Any], bytes | None]] = {
    id(int): _write_ints,
    id(float): _write_floats,
    id(str): _write_texts,
}
