"""Fields of the runtime's objects, as properties of their Python classes."""

from __future__ import annotations

from .._typing import Any
from .runtime import Runtime

__all__ = ["Field", "add_fields"]


class Field(property):
    """A property that reads a field of the object."""

    def __init__(self, runtime: Runtime, name: str, type_name: str | None, doc: str | None) -> None:
        super().__init__(runtime.field_getter(name, lambda self: runtime.object_get_field(self, name)))
        # The `doc` of a property is hidden by the docstring of a derived class.
        self.__doc__ = doc
        self.type_name = type_name


def add_fields(runtime: Runtime, cls: Any, type_code: int) -> None:
    """Add properties for the fields of a type, except for names that the class has already."""
    for name, type_name, doc in runtime.type_fields(type_code):
        if not hasattr(cls, name):
            setattr(cls, name, Field(runtime, name, type_name, doc))
