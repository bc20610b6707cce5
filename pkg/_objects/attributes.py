"""The attributes that classes of Python add to objects of C++ and to containers, in copies and pickles."""

from __future__ import annotations

from collections.abc import Iterator

from .._builtins import *  # noqa: F403
from .._rules.values import find_on_type
from .._typing import Any
from .methods import MethodMethods

__all__ = ["set_state", "state_of"]


def state_of(x: Any) -> Any:
    """Return the attributes of an instance of a subclass, as its `__getstate__` does."""
    slots = {}
    for base, name in _own_attributes(type(x)):
        if name == "__getstate__":
            return base.__dict__[name](x)
        if hasattr(x, name):
            slots[name] = getattr(x, name)
    state = getattr(x, "__dict__", None) or None
    return (state, slots) if slots else state


def set_state(made: Any, state: Any) -> None:
    """Give a copy the attributes that `state_of` returned."""
    if state is None:
        return
    if find_on_type(type(made), "__setstate__") is not None:
        made.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    if attributes:
        made.__dict__.update(attributes)
    for name, value in slots.items():
        setattr(made, name, value)


def _own_attributes(cls: type) -> Iterator[tuple[type, str]]:
    """Iterate over slots and `__getstate__` of the classes that are not anyffi's, without that of C++."""
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
