"""Values as text in messages."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from ctypes import c_void_p
from typing import Any

from .._builtins import *  # noqa: F403
from .._ctypes.abi import VALUE, VALUE_SIZE, library
from .._rules.codes import code
from .._rules.device import Device
from .._rules.dtype import dtype
from .memory import BORROWED, HOLDERS, WIDTHS, Content, contents, read_borrowed

__all__ = ["render", "show", "show_all"]

_FLOAT = struct.Struct("=d")
#: The classes that are shown by `repr`, by identity.
_SHOWN = frozenset(
    map(id, (float, complex, str, bytes, bool, type(None), type(...), dtype, Device, c_void_p))
)
_args_of = BaseException.__dict__["args"].__get__
_BYTE_ORDER = "le" if sys.byteorder == "little" else "be"
_ENCODINGS = ("ascii", "latin-1", f"utf-16-{_BYTE_ORDER}", f"utf-32-{_BYTE_ORDER}")
_INLINE = struct.Struct("=i11sB")
_INLINE_BYTES = 11  # ANYFFI_INLINE_BYTES
_MOVABLE = 1  # ANYFFI_MOVABLE
#: Limits of what is shown: levels, values of a container, characters.
_LEVELS, _ITEMS, _CHARACTERS = 4, 12, 120


def show(x: Any) -> str:
    """Show a Python value with its type; runs no users' code."""
    cls = type(x)
    if cls is int:
        # Python refuses to write long ones in decimal digits.
        return f"int {x if abs(x) < 2**128 else _shorten(hex(x))}"
    if id(cls) in _SHOWN:
        return f"{cls.__name__} {_shorten(repr(x))}"
    if issubclass(cls, BaseException):
        return f"{cls.__name__}({_shorten(', '.join(map(show, _args_of(x))))})"
    if cls is slice:
        return f"slice({show(x.start)}, {show(x.stop)}, {show(x.step)})"
    return object.__repr__(x)


def show_all(values: Iterable[Any]) -> str:
    """Show arguments."""
    return f"({', '.join(map(show, values))})"


def _shorten(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."


def render(value: bytes, follow: bool = True, levels: int = _LEVELS) -> str:
    """Show an AnyffiValue: the name of its type code, which implies its storage, and its content.

    Parameters
    ----------
    value : bytes
        An AnyffiValue.
    follow : bool
        Whether to read what it points to.
    levels : int
        How many levels of nested containers to show.
    """
    type_code, aux, payload = VALUE.unpack(value)
    info = library.type_get_info(type_code)
    name = info.contents.type_key.decode() if info else f"code {type_code}"
    if type_code in (code.BOOL, code.INT):
        return f"{name}({payload})"
    if type_code == code.FLOAT:
        return f"{name}({_FLOAT.unpack(value[8:])[0]!r}, {payload % 2**64:016x})"
    if type_code in (code.STR, code.BYTES):
        return f"{name}({_inline_text(value)})"
    if type_code in BORROWED and follow:
        return f"{name}({_facts_text(type_code, read_borrowed(type_code, aux, payload))})"
    movable = " movable" if type_code > 0 and aux & _MOVABLE else ""
    if type_code > 0 and follow and type_code in contents:
        return f"{name}{_content_text(type_code, contents[type_code](payload), levels)}{movable}"
    if type_code in (code.NONE, code.ELLIPSIS, code.MISSING):
        return name
    return f"{name}({payload % 2**64:#x}){movable}"


def _content_text(type_code: int, content: Content, levels: int) -> str:
    facts, values = content
    if not values and type_code not in HOLDERS:
        return f"({_facts_text(type_code, facts)})"
    if levels == 0:
        return "[...]"
    size = len(values) // VALUE_SIZE
    shown = [values[VALUE_SIZE * i : VALUE_SIZE * (i + 1)] for i in range(min(size, _ITEMS))]
    texts = [render(value, True, levels - 1) for value in shown]
    return f"[{', '.join(texts)}{', ...' if size > _ITEMS else ''}]"


def _facts_text(type_code: int, facts: tuple[Any, ...]) -> str:
    if type_code in (code.STR_VIEW, code.STR_OBJECT, code.BYTES_VIEW, code.BYTES_OBJECT):
        encoding, data = facts
        return _text(encoding, data[: -WIDTHS[encoding]], type_code in (code.STR_VIEW, code.STR_OBJECT))
    if type_code in (code.FUNCTION, code.ERROR, code.PY_OBJECT):
        return f"handle {facts[-1] or 0:#x}"
    return ", ".join(f"{fact:#x}" if isinstance(fact, int) else str(fact) for fact in facts)


def _inline_text(value: bytes) -> str:
    type_code, data, last = _INLINE.unpack(value)
    encoding, spare = divmod(last, 16)
    size = (_INLINE_BYTES - spare) * WIDTHS[encoding % 4]
    return _text(encoding % 4, data[:size], type_code == code.STR)


def _text(encoding: int, data: bytes, is_str: bool) -> str:
    if not is_str:
        return _shorten(repr(data))
    text = data.decode(_ENCODINGS[encoding], "surrogatepass" if encoding > 1 else "backslashreplace")
    return f"{_ENCODINGS[encoding]}, {_shorten(ascii(text))}"
