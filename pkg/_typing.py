"""The names of `typing` that annotations use, without its import, which takes a sixth of this package's.

Annotations are never evaluated. Type checkers read `_typing.pyi` instead.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["TYPE_CHECKING", "Any", "Callable", "Literal", "NoReturn", "Optional", "TypeVar", "overload"]

TYPE_CHECKING = False
Any = Literal = NoReturn = object


class Optional:
    """What takes a type, in aliases."""

    def __class_getitem__(cls, item: object) -> object:
        return item


def TypeVar(*args: object, **kwargs: object) -> None:
    """Nothing: only annotations use it."""


def overload(function: object) -> object:
    """The function as it is: the next definition of its name takes its place."""
    return function
