"""Values that users never see."""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FREE_THREADED", "MISSING", "ON_PYPY", "Elements", "Memory", "Opaque"]


class _Missing:
    """The class of MISSING, which stands for an argument that a call with keywords omits."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()

ON_PYPY = sys.implementation.name == "pypy"
#: Builds without the GIL (abiflags of PEP 703).
FREE_THREADED = "t" in getattr(sys, "abiflags", "")


class Elements:
    """The elements for a set of the runtime, in order; Python's own sets have none."""

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
    """An object that stays itself in the runtime, whatever values of its class are converted to."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
