"""Functions that catch what is raised before their first line or after their last, where ctypes swallows it.

When C code calls a function, the interpreter runs handlers of signals at once. From Python 3.11 on the first
instruction raises what they raise, and no `try` covers it, even if that is the first statement. Before, no
handler runs ahead of SETUP_FINALLY, but it does ahead of its prefix: if the `try` is longer than 255 bytes.

Python 3.9 runs them between any two instructions, so also between the end of the `try` and the return.
"""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, TypeVar

__all__ = ["catches_entry"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Numbers in the table of exceptions: six bits a byte, the highest first; a bit says that another follows.
_BITS, _FOLLOWED, _FIRST = 0x3F, 0x40, 0x80


def _read(table: bytes, at: int) -> tuple[int, int]:
    """Return a number and the place behind it."""
    number = table[at] & _BITS
    while table[at] & _FOLLOWED:
        at += 1
        number = number << 6 | table[at] & _BITS
    return number, at + 1


def _write(number: int) -> bytes:
    more = _write(number >> 6) if number > _BITS else b""
    return bytes(byte | _FOLLOWED for byte in more) + bytes((number & _BITS,))


def _starting_at_once(table: bytes) -> bytes:
    """Return a table of exceptions whose first row begins with the first instruction."""
    start, at = _read(table, 0)
    size, at = _read(table, at)
    return bytes((_FIRST,)) + _write(start + size) + table[at:]


def _returning_inside(code: bytes) -> bytes:
    """Return instructions that do not leave the outermost `try` before they return.

    A frame ends with all of its blocks, whether or not they were left (debug builds of CPython assert that).
    """
    from opcode import opmap

    made = bytearray(code)
    returning = bytes((opmap["RETURN_VALUE"],))
    for at in range(0, len(made), 2):
        behind = made[at + 2 :: 2]
        if made[at] == opmap["POP_BLOCK"]:
            is_last = behind[:1] == returning
            is_last_but_constant = behind[:1] == bytes((opmap["LOAD_CONST"],)) and behind[1:2] == returning
            if is_last or is_last_but_constant:
                made[at] = opmap["NOP"]
    return bytes(made)


def catches_entry(function: _Function) -> _Function:
    """Have the `try` that a function begins and ends with catch what is raised before or after it, too.

    The handler finds no local variable but the parameters.
    """
    patched: Any = function
    code = patched.__code__
    if sys.version_info >= (3, 11):
        patched.__code__ = code.replace(co_exceptiontable=_starting_at_once(code.co_exceptiontable))
    elif sys.version_info < (3, 10) and not hasattr(sys, "gettotalrefcount"):
        patched.__code__ = code.replace(co_code=_returning_inside(code.co_code))
    return function
