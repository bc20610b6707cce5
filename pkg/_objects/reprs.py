"""The `repr` of containers that contain themselves, and of dataclasses that define it."""

from __future__ import annotations

import functools
from threading import get_ident

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["defines_repr", "recursive_repr", "repr_of"]


def defines_repr(cls: type) -> bool:
    """Return whether a dataclass's `__repr__` comes neither from the standard library nor from C++."""
    base = next(base for base in cls.__mro__ if "__repr__" in base.__dict__)
    members = base.__dict__
    is_of_cpp = "_anyffi_type_key" in members and "_anyffi_record" not in members
    generated = members.get("_anyffi_generated_repr")
    is_generated = generated is not None and members["__repr__"] is generated
    return base is not object and not is_of_cpp and not is_generated


def repr_of(x: Any) -> str | None:
    """Return the `repr` of an object whose class defines it; None for another object."""
    return repr(x) if defines_repr(type(x)) else None


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
