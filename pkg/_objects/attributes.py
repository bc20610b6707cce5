"""Copies and pickles the attributes that Python subclasses add to C++ objects and containers."""

from __future__ import annotations

from collections.abc import Iterator
from types import MethodType

from .._builtins import *  # noqa: F403
from .._rules.values import find_on_type
from .._typing import Any
from .methods import MethodMethods

__all__ = ["Restore", "set_state", "state_of"]


def state_of(x: Any) -> Any:
    """Return the attributes of an instance of a subclass, as its `__getstate__` does.

    Raises
    ------
    TypeError
        `__getstate__` returned something other than attributes, and there is no `__setstate__` that accepts
        it.
    """
    slots = {}
    for base, name in _own_attributes(type(x)):
        if name == "__getstate__":
            return _require_state(x, base.__dict__[name](x))
        if hasattr(x, name):
            slots[name] = getattr(x, name)
    state = getattr(x, "__dict__", None) or None
    return (state, slots) if slots else state


def set_state(made: Any, state: Any) -> None:
    """Give a copy the attributes that `state_of` returned."""
    if state is None:
        return
    if _has_own_setter(type(made)):
        made.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    if attributes:
        made.__dict__.update(attributes)
    for name, value in zip(slots, slots.values()):
        setattr(made, name, value)


def _own_attributes(cls: type) -> Iterator[tuple[type, str]]:
    """Iterate over slots and `__getstate__` of the classes outside of anyffi, leaving out that of C++."""
    for base in cls.__mro__:
        if base.__module__ == "anyffi":
            return
        if not isinstance(base.__dict__.get("__getstate__"), (MethodMethods, type(None))):
            yield base, "__getstate__"
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            private = name.startswith("__") and not name.endswith("__")
            yield base, f"_{base.__name__.lstrip('_')}{name}" if private else name


def _has_own_setter(cls: type) -> bool:
    found = find_on_type(cls, "__setstate__")
    return found is not None and not isinstance(found, Restore)


def _require_state(x: Any, state: Any) -> Any:
    """Raise TypeError for a state that unpickling could not restore."""
    attributes = state if isinstance(state, tuple) and len(state) == 2 else (state,)
    if _has_own_setter(type(x)) or all(part is None or isinstance(part, dict) for part in attributes):
        return state
    raise TypeError(
        f"{type(x).__qualname__}.__getstate__ returned {type(state).__name__}: without a __setstate__ in "
        "Python it returns the attributes, a dict. Its content in C++ is stored beside them"
    )


class Restore:
    """The `__setstate__` of a class with `pickle()`, for Python subclasses that override it.

    Other classes have none, because pickle would call it for their attributes.
    """

    def __init__(self, cls: type, restore: Any) -> None:
        self._class = cls
        self._restore = restore

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if not _has_own_setter(type(instance)):
            raise AttributeError(f"'{type(instance).__name__}' object has no attribute '__setstate__'")
        return MethodType(self, instance)

    def __call__(self, instance: Any, state: Any, /) -> None:
        """Create the C++ object anew from the result of its class's `__getstate__`."""
        cls: Any = self._class
        if not isinstance(instance, cls):
            raise TypeError(
                f"descriptor '__setstate__' requires a '{cls.__module__}.{cls.__qualname__}' object "
                f"but received a '{type(instance).__name__}'"
            )
        made = self._restore(instance._anyffi_runtime.to_plain(state))
        if instance._anyffi_address:
            former = object.__new__(cls)
            former._anyffi_move_from(instance)
            try:
                # A method of the former object may still be running.
                instance._anyffi_runtime.object_keep_alive(made, former)
            except BaseException:
                instance._anyffi_move_from(former)
                raise
        instance._anyffi_move_from(made)
        instance._anyffi_bind_overrides()
