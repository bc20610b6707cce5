"""The names of `typing` that annotations use, without its import, which takes a sixth of this package's.

Annotations are never evaluated. Type checkers read `_typing.pyi` instead.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["TYPE_CHECKING", "Any", "Callable", "Literal", "NoReturn", "Optional", "TypeVar", "overload"]

TYPE_CHECKING = False
Any = Literal = NoReturn = object


class Optional:
    """A stand-in for `typing.Optional`, in aliases."""

    def __class_getitem__(cls, item: object) -> object:
        return item


def TypeVar(*args: object, **kwargs: object) -> None:
    """Return None: only annotations use the result."""


def overload(function: object) -> object:
    """Return the function: the next definition of its name replaces it."""
    return function
