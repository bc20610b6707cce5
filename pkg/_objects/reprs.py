"""The `repr` of a container that contains itself."""

from __future__ import annotations

import functools
from threading import get_ident

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["recursive_repr"]


def recursive_repr(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a `__repr__` that is `...` for an object that it shows already.

    That of `reprlib` shows an object so for ever, and others with its address later, if a signal handler
    raises an exception, or memory ends, right after it has begun.
    """
    shown: set[tuple[int, int]] = set()

    @functools.wraps(show)
    def __repr__(self: Any) -> str:
        key = id(self), get_ident()
        if key in shown:
            return "..."
        try:
            # Here: without memory to grow, a set raises the error and has the element.
            shown.add(key)
            return show(self)
        finally:
            shown.discard(key)

    return __repr__
