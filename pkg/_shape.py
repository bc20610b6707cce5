"""What makes a Shape other than an Array: it holds ints alone."""

from __future__ import annotations

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._runtime import Runtime

__all__ = ["ShapeMethods"]


class ShapeMethods:
    """The extents of something: an `Array` of ints within 64 bits, which C++ functions need not check.

    It goes wherever an `Array` goes, and does what a tuple of ints does.

    Parameters
    ----------
    iterable : iterable of int
        The extents. TypeError, or OverflowError, for one that is no such int.

    Examples
    --------
    >>> anyffi.Shape([2, 3])
    anyffi.Shape((2, 3))
    """

    __slots__ = ()

    _runtime: Runtime

    def _new(self, items: tuple[Any, ...]) -> Any:
        return self._runtime.shape_create(items)
