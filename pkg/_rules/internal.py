"""Values that users never see."""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FREE_THREADED", "MISSING", "ON_PYPY", "Elements", "Memory", "Opaque"]


class _Missing:
    """The class of MISSING, which represents an argument omitted in a call with keywords."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()

ON_PYPY = sys.implementation.name == "pypy"
#: Whether this build has no GIL (abiflags of PEP 703).
FREE_THREADED = "t" in getattr(sys, "abiflags", "")


class Elements:
    """Represents the elements for a set of the runtime, in order; Python's own sets have no order."""

    __slots__ = ("distinct", "frozen")

    def __init__(self, distinct: Iterable[Any], frozen: bool) -> None:
        self.distinct = distinct
        self.frozen = frozen


class Memory:
    """Memory on the CPU for a compact Tensor, and the object that keeps it alive."""

    __slots__ = ("address", "element", "flags", "owner", "shape")

    def __init__(
        self, address: int, element: tuple[int, int, int], shape: tuple[int, ...], flags: int, owner: Any
    ) -> None:
        self.address = address
        self.element = element
        self.shape = shape
        self.flags = flags
        self.owner = owner


class Opaque:
    """Represents an object that is passed as itself, even if values of its class would be converted."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
