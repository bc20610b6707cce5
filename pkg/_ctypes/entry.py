"""Makes functions catch exceptions raised before their first line or after their last, which ctypes swallows.

When C code calls a function, the interpreter runs pending signal handlers at once. From Python 3.11 on, their
exceptions are raised at the first instruction, which no `try` covers, even as the first statement. In older
versions no handler runs before SETUP_FINALLY, but one may run before its prefix, which it has if the `try` is
longer than 255 bytes.

Python 3.9 runs handlers between any two instructions, so also between the end of the `try` and the return.
"""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, TypeVar

__all__ = ["catches_entry"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Encoding of numbers in the exception table: six bits per byte, the highest first; one bit marks that
#: another byte follows.
_BITS, _FOLLOWED, _FIRST = 0x3F, 0x40, 0x80


def _read(table: bytes, at: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    number = table[at] & _BITS
    while table[at] & _FOLLOWED:
        at += 1
        number = number << 6 | table[at] & _BITS
    return number, at + 1


def _write(number: int) -> bytes:
    more = _write(number >> 6) if number > _BITS else b""
    return bytes(byte | _FOLLOWED for byte in more) + bytes((number & _BITS,))


def _starting_at_once(table: bytes) -> bytes:
    """Return an exception table whose first row begins at the first instruction."""
    start, at = _read(table, 0)
    size, at = _read(table, at)
    return bytes((_FIRST,)) + _write(start + size) + table[at:]


def _returning_inside(code: bytes) -> bytes:
    """Return bytecode that does not leave the outermost `try` before it returns.

    The frame's end ends all of its blocks (debug builds of CPython assert that).
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
    """Make the `try` that spans a function also catch what is raised before it or after it.

    In the handler, only the parameters are certain to be set among the local variables.
    """
    patched: Any = function
    code = patched.__code__
    if sys.version_info >= (3, 11):
        patched.__code__ = code.replace(co_exceptiontable=_starting_at_once(code.co_exceptiontable))
    elif sys.version_info < (3, 10) and not hasattr(sys, "gettotalrefcount"):
        patched.__code__ = code.replace(co_code=_returning_inside(code.co_code))
    return function
