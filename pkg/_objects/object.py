"""What every object of the runtime can do in Python."""

from __future__ import annotations

from .._typing import Any
from .runtime import Runtime

__all__ = ["ObjectMethods", "is_shown"]


def is_shown(name: str) -> bool:
    """Whether users are shown a name; which others there are is the backend's own business."""
    return not name.startswith("_") or (name.startswith("__") and name not in ("__slots__", "__weakref__"))


class ObjectMethods:
    """An object of the runtime; the base of every class that stands for one.

    The same object is the same Python object for as long as Python holds it.
    """

    __slots__ = ()

    _runtime: Runtime
    _address: int

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if is_shown(name)]

    def same_as(self, other: object) -> bool:
        """Whether both are the same object of the runtime."""
        return isinstance(other, ObjectMethods) and self._address == other._address

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle {type(self).__qualname__!r} object")
