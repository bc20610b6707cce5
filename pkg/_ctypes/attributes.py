"""Reads and sets all attributes of a dataclass's instance at once."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["create_record", "get_attributes", "set_attributes"]

_ABSENT = object()


def create_record(cls: type) -> Any:
    """Do nothing: the `__new__` in Python creates the objects."""


def get_attributes(x: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a dict of the given attributes that an object has."""
    found = {}
    for name in names:
        value = getattr(x, name, _ABSENT)
        if value is not _ABSENT:
            found[name] = value
    return found


def set_attributes(x: Any, attributes: dict[str, Any], fields: dict[str, Any]) -> None:
    """Set attributes as `object.__setattr__` does, but use the `set` of those in `fields`."""
    for name, value in zip(attributes, attributes.values()):
        if name in fields:
            fields[name].set(x, value)
        else:
            object.__setattr__(x, name, value)
