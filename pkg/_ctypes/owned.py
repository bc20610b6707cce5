"""Owned values: 16 bytes of memory that own the AnyffiValue in them, and release it when they are destroyed.

A signal handler may raise between any two steps of Python, so no reference is ever held by an address alone.
The runtime writes an owned value to such memory, copies it, or moves it out, each in one call. An owned value
is exact bytes if there is nothing to release, else an `OwnedValue`.

The frame that created one should still release it as soon as possible: finalizers run late on PyPy, and may
fail at the recursion limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from ctypes import c_char

from .._builtins import *  # noqa: F403
from .._typing import Any
from .abi import VALUE_SIZE, library, platform

__all__ = ["OwnedValue", "cells", "move_into", "release", "release_all"]

#: Release the value in an `OwnedValue`, or at an address, and leave None there.
release = platform.plain(library.value_release)

#: `OwnedValue(VALUE_SIZE)` holds None.
OwnedValue = platform.memory_class(release, library.value_finalize)
#: A free list of memory into which single elements are read: creating it takes a fifth of the time of reading
#: an int. It holds inline values only.
cells: deque[Any] = deque(maxlen=8)


def release_all(values: Iterable[Any]) -> None:
    """Release the values that are owned.

    For exception handlers: if a signal handler raises at certain steps of a loop inside of one, CPython 3.14
    does not end the handler, and its exception remains the one being handled.
    """
    for value in values:
        if type(value) is OwnedValue:
            release(value)


#: Takes a quarter of the time of `memmove`.
_value_at = (c_char * VALUE_SIZE).from_address


def move_into(value: Any, place: int) -> None:
    """Move an owned value into memory of the runtime."""
    if type(value) is bytes:
        _value_at(place).raw = value
    else:
        library.value_move(value, place)
