"""All layouts of CPython's objects on which ctypes mode relies; each is checked at import.

docs/interpreters.md lists them with their sources. Offsets count bytes from an object's address.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from ctypes import c_int, c_ssize_t, c_uint, c_ulong, c_void_p, string_at

from .._builtins import *  # noqa: F403
from .._rules.internal import FREE_THREADED
from .._typing import Any

__all__ = [
    "ASCII",
    "BF_GETBUFFER",
    "BYTES",
    "COMPACT",
    "COUNT",
    "COUNT_SIZE",
    "FREE_THREADED",
    "IS_COMPACT",
    "KIND",
    "LENGTH",
    "LIST",
    "NDARRAY_DATA",
    "POINTER",
    "SIZE",
    "STATE",
    "TP_CLEAR",
    "TP_FINALIZE",
    "TP_TRAVERSE",
    "TUPLE",
    "TYPE",
    "TYPE_FLAGS",
    "TYPE_HAS_GC",
    "TYPE_IS_BASE",
    "VERSION_TAG",
    "Slot",
    "Spec",
    "make_immutable",
    "offset_of_slot",
    "require",
    "version_of",
]

#: The versions known to have these layouts. For newer ones, only the checks decide.
_OLDEST, _NEWEST = (3, 9), (3, 15)
POINTER = ctypes.sizeof(c_void_p)
_ORDER = "le" if sys.byteorder == "little" else "be"

#: `ob_type` is the last field of the object header, in every build (Include/object.h).
TYPE = object.__basicsize__ - POINTER
#: The refcount is the word before it; from 3.14 on, only its lower 32 bits.
COUNT_SIZE = 4 if sys.version_info >= (3, 14) else POINTER
COUNT = TYPE - POINTER + (4 if COUNT_SIZE == 4 and sys.byteorder == "big" else 0)
#: `ob_size` follows the header in PyVarObject (Include/object.h).
SIZE = object.__basicsize__
#: `ob_item` of a tuple, an array, is the last field of PyTupleObject (Include/cpython/tupleobject.h); that of
#: a list, a pointer, follows `ob_size` (Include/cpython/listobject.h).
TUPLE, LIST = tuple.__basicsize__, SIZE + POINTER
#: `ob_sval`, a char[1], is the last field of PyBytesObject (Include/cpython/bytesobject.h).
BYTES = bytes.__basicsize__ - 1
#: ASCII text follows the struct PyASCIIObject and ends in NUL (Include/cpython/unicodeobject.h).
ASCII = sys.getsizeof("") - 1
#: Other text follows the struct PyCompactUnicodeObject. The size of a new string includes no UTF-8.
COMPACT = sys.getsizeof("".join(map(chr, (0x20AC, 0x20AC)))) - 6
#: `length` and `state` in PyASCIIObject; `hash` is between them.
LENGTH = object.__basicsize__
STATE = LENGTH + 2 * POINTER
#: `data` follows the object header in PyArrayObject since NumPy 1.7 (numpy/ndarraytypes.h). ndarray.py checks
#: it for the first array of each layout.
NDARRAY_DATA = object.__basicsize__

#: Numbers of the stable ABI (Include/typeslots.h).
BF_GETBUFFER, TP_CLEAR, TP_TRAVERSE, TP_FINALIZE = 1, 51, 71, 80
#: Py_TPFLAGS_DEFAULT, BASETYPE and HAVE_GC (Include/object.h, stable ABI).
TYPE_FLAGS, TYPE_IS_BASE, TYPE_HAS_GC = 1 << 18, 1 << 10, 1 << 14
#: `tp_flags` and `tp_version_tag` in PyTypeObject, whose fields before them are all words
#: (Include/cpython/object.h).
_FLAGS = object.__basicsize__ + 19 * POINTER
VERSION_TAG = object.__basicsize__ + 46 * POINTER
#: Py_TPFLAGS_VALID_VERSION_TAG, without which the tag is invalid before 3.11.
_HAS_VERSION = 1 << 19
#: Py_TPFLAGS_IMMUTABLETYPE, since 3.10.
_IS_IMMUTABLE = 1 << 8


class Version:
    """The version of a class: a number that changes when the class or a base changes; 0 if it has none."""

    __slots__ = ("_flags", "_tag")

    def __init__(self, cls: type) -> None:
        self._flags = c_ulong.from_address(id(cls) + _FLAGS)
        self._tag = c_uint.from_address(id(cls) + VERSION_TAG)

    @property
    def value(self) -> int:
        return self._tag.value if self._flags.value & _HAS_VERSION else 0


def make_immutable(cls: type) -> None:
    """Make a class immutable. It must have no subclasses yet. CPython 3.9 has no such flag."""
    if sys.version_info >= (3, 10):
        c_ulong.from_address(id(cls) + _FLAGS).value |= _IS_IMMUTABLE


def version_of(cls: type) -> Any:
    """Return an object whose attribute `value` is the version of a class, which must never be destroyed."""
    with suppress(AttributeError):
        # A lookup assigns the version. No class has this attribute.
        type.__getattribute__(cls, "__anyffi_version__")
    return Version(cls) if sys.version_info < (3, 11) else c_uint.from_address(id(cls) + VERSION_TAG)


class Slot(ctypes.Structure):
    """PyType_Slot of the stable ABI."""

    _fields_ = (("id", c_int), ("function", c_void_p))


class Spec(ctypes.Structure):
    """PyType_Spec of the stable ABI."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basic_size", c_int),
        ("item_size", c_int),
        ("flags", c_uint),
        ("slots", ctypes.POINTER(Slot)),
    )


def _pointer_at(address: int) -> int | None:
    return c_void_p.from_address(address).value


def require(fits: bool, what: str) -> None:
    """Raise ImportError if an assumption does not hold."""
    if fits:
        return
    version = sys.version.partition(" ")[0]
    is_known = _OLDEST <= sys.version_info[:2] <= _NEWEST
    known = "one of" if is_known else "none of"
    raise ImportError(
        f"anyffi's ctypes mode does not know how this Python ({version}) stores {what}; it is {known} the "
        f"known versions, {_OLDEST[0]}.{_OLDEST[1]} to {_NEWEST[0]}.{_NEWEST[1]}. Install "
        "a newer anyffi, or set FFI_MODE=cython"
    )


def offset_of_slot(cls: type, name: str) -> int:
    """Return the offset of one of the `__slots__` of a class.

    Stores an object in a new instance, and searches the instance's memory for its address.
    """
    instance: Any = cls()
    slot = cls.__dict__[name]
    probe = object()
    slot.__set__(instance, probe)
    count = cls.__basicsize__ // POINTER
    words = (c_void_p * count).from_address(id(instance))[:]
    slot.__delete__(instance)
    found = [i for i, word in enumerate(words) if word == id(probe)]
    require(len(found) == 1, f"the slot {name} of {cls.__name__}")
    return found[0] * POINTER


def _texts() -> list[tuple[str, int]]:
    """Return strings with the widths of their code points."""
    found = [("".join(map(chr, (highest, 97, highest))), width) for highest, width in _HIGHEST]
    return [*found, *((sys.intern(text + "interned"), width) for text, width in found)]


def _state_of(text: str) -> int:
    return c_uint.from_address(id(text) + STATE).value


def _find_kind() -> int:
    """Return the lowest of the three bits of `state` that hold the width of a code point.

    Their position depends on the version: they follow the bits of `interned`.
    """
    states = [(_state_of(text), width) for text, width in _texts()]
    found = [at for at in range(30) if all(state >> at & 7 == width for state, width in states)]
    require(len(found) == 1, "the width of text")
    return found[0]


_HIGHEST = ((0xE9, 1), (0x20AC, 2), (0x1F600, 4))
KIND = _find_kind()
#: The next bit is set if the code points follow the struct, and the one after it for ASCII text.
IS_COMPACT, _IS_ASCII = 1 << (KIND + 3), 1 << (KIND + 4)


def _check_count() -> None:
    if FREE_THREADED:
        return  # nothing reads it there
    counted = object()
    count = (c_uint if COUNT_SIZE == 4 else c_ssize_t).from_address(id(counted) + COUNT)
    for references in (1, 2, 3):
        require(count.value == references, "a refcount")
        _counted.append(counted)
    _counted.clear()


#: The object to which `_check_count` adds references.
_counted: list[object] = []


#: No object has a lower address on any system.
_LEAST_POINTER = 1 << 12


def _check_items() -> None:
    """Compare the stored items of a tuple and of a list with what Python returns."""
    items = (object(), object(), b"three")
    for stored, at in ((items, id(items) + TUPLE), (found := [*items], _pointer_at(id(found) + LIST) or 0)):
        require(c_ssize_t.from_address(id(stored) + SIZE).value == len(items), "the size of a sequence")
        is_pointer = at > _LEAST_POINTER and at % POINTER == 0
        found_items = (c_void_p * len(items)).from_address(at)[:] if is_pointer else []
        require(found_items == [*map(id, items)], "the items of a sequence")
    require(c_ssize_t.from_address(id(items[2]) + SIZE).value == len(items[2]), "the size of bytes")


def _check() -> None:
    """Compare the memory at each offset with the values that Python returns."""
    for x in (object(), b"", ctypes.Structure):
        require(_pointer_at(id(x) + TYPE) == id(type(x)), "an object's type")
    _check_count()
    for data in (b"", b"content of bytes"):
        require(string_at(id(data) + BYTES, len(data) + 1) == data + b"\0", "the content of bytes")
    for text in ("", "text that is all ASCII"):
        require(string_at(id(text) + ASCII, len(text) + 1) == text.encode() + b"\0", "ASCII text")
        require(bool(_state_of(text) & _IS_ASCII), "ASCII text")
    _check_items()
    for text, width in _texts():
        encoded = text.encode({1: "latin-1", 2: f"utf-16-{_ORDER}", 4: f"utf-32-{_ORDER}"}[width])
        require(string_at(id(text) + COMPACT, len(encoded)) == encoded, "text")
        state = _state_of(text)
        require(bool(state & IS_COMPACT) and not state & _IS_ASCII, "the state of text")
        require(c_ssize_t.from_address(id(text) + LENGTH).value == len(text), "the length of text")
    changing = type("changing", (), {})
    require(c_ulong.from_address(id(changing) + _FLAGS).value == changing.__flags__, "the flags of a class")
    former = version_of(changing).value
    changing.attribute = None  # type: ignore[attr-defined]
    require(former == 0 or version_of(changing).value != former, "the version of a class")
    make_immutable(changing)
    try:
        changing.attribute = 1  # type: ignore[attr-defined]
    except TypeError:
        return
    require(sys.version_info < (3, 10), "the flag of immutable classes")


_check()
