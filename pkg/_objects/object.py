"""Methods of every object of the runtime."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules.containers import checks_self
from .._typing import TYPE_CHECKING, Any
from .methods import bind_overrides
from .runtime import Runtime

__all__ = ["ObjectMethods", "is_shown"]


def is_shown(name: str) -> bool:
    """Return whether `dir` lists a name; private names differ between backends."""
    return not name.startswith("_") or (name.startswith("__") and name not in ("__slots__", "__weakref__"))


@checks_self("anyffi.Object", only=("same_as",))
class ObjectMethods:
    """An object of the runtime; the base class of all wrappers.

    Python has at most one wrapper for an object at a time, so `is` compares objects.

    Examples
    --------
    >>> isinstance(anyffi.List(), anyffi.Object)
    True
    """

    __slots__ = ()

    # Annotations would be inherited by users' classes.
    if TYPE_CHECKING:
        _anyffi_runtime: Runtime
        _anyffi_address: int
        _anyffi_classes: Any
        _anyffi_move_from: Any

    _anyffi_bind_overrides = bind_overrides

    @classmethod
    def _anyffi_take(cls, made: Any) -> Any:
        """Move a new C++ object into a new instance, without running its `__init__`."""
        other = object.__new__(cls)
        other._anyffi_move_from(made)
        other._anyffi_bind_overrides()
        return other

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        classes = getattr(cls, "_anyffi_classes", None)
        # None while the package's own classes are created.
        if classes is not None:
            classes.note_subclass(cls)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if is_shown(name)]

    def same_as(self, /, other: Any) -> bool:
        """Return whether both are the same object of the runtime."""
        return issubclass(type(other), ObjectMethods) and bool(self._anyffi_address == other._anyffi_address)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"cannot pickle '{type(self).__qualname__}' object: C++ does not say what of it to store. "
            "Describe its class with pickle() in C++, or copyable() for copies alone, or register a Python "
            "class for its type with anyffi.register_object, whose __reduce__ names a function that makes it "
            "again"
        )
