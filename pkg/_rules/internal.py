"""Values that never leave the package."""

from __future__ import annotations

from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MISSING", "Elements", "Memory"]


class _Missing:
    """The only instance stands for an argument that a keyword call left out."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Elements:
    """What a set of the runtime is to hold, in this order; Python's own sets keep none."""

    __slots__ = ("distinct", "frozen")

    def __init__(self, distinct: Iterable[Any], frozen: bool) -> None:
        self.distinct = distinct
        self.frozen = frozen


class Memory:
    """Memory on the CPU that is to become a compact Tensor, and the object that keeps it alive."""

    __slots__ = ("address", "element", "flags", "owner", "shape")

    def __init__(
        self, address: int, element: tuple[int, int, int], shape: tuple[int, ...], flags: int, owner: Any
    ) -> None:
        self.address = address
        self.element = element
        self.shape = shape
        self.flags = flags
        self.owner = owner
