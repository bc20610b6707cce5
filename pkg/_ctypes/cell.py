"""Cells: 16 bytes of memory that own the value in them.

A signal handler may raise between any two steps of Python. So no reference is ever held by a number alone:
the runtime leaves it in a cell, copies it or moves it out of one, each in one call, and a cell that goes
gives back what it still holds. A value in Python is exact bytes, where there is nothing to give back, or a
cell.

All the same a cell is emptied by hand as soon as it has served, in the frame that made it: finalizers run
late on PyPy, and at the recursion limit they may fail, while a C function that was let in there once is let
in again.
"""

from __future__ import annotations

from ctypes import memmove

from .._typing import Any
from .abi import VALUE_SIZE, library, platform

__all__ = ["Cell", "empty", "hand_over"]

#: Gives back what a cell holds, and leaves None there.
empty = platform.plain(library.value_release)

#: `Cell(VALUE_SIZE)` holds None.
Cell = platform.memory_class(empty, library.value_finalize)


def hand_over(value: Any, place: int) -> None:
    """Writes an owned value to memory of the runtime, which owns it from then on."""
    if type(value) is bytes:
        memmove(place, value, VALUE_SIZE)
    else:
        library.value_move(value, place)
