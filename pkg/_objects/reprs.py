"""The `repr` of a container that contains itself."""

from __future__ import annotations

import functools
from threading import get_ident

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["recursive_repr"]


def recursive_repr(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a `__repr__` that shows `...` for an object inside of itself.

    If a signal handler raises an exception or memory is exhausted right after the start, `reprlib`'s version
    would show the object as `...` forever, and later others at its address.
    """
    shown: set[tuple[int, int]] = set()

    @functools.wraps(show)
    def __repr__(self: Any) -> str:
        key = id(self), get_ident()
        if key in shown:
            return "..."
        try:
            # Inside the `try`: if a set cannot grow, it raises MemoryError although the element is in it.
            shown.add(key)
            return show(self)
        finally:
            shown.discard(key)

    return __repr__
