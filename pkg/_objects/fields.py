"""Fields of the runtime's objects, as properties of the classes that stand for them."""

from __future__ import annotations

from .._typing import Any
from .runtime import Runtime

__all__ = ["Field", "add_fields"]


class Field(property):
    """A field: it reads what the object has under the name."""

    def __init__(self, runtime: Runtime, name: str, type_name: str | None, doc: str | None) -> None:
        super().__init__(lambda self: runtime.object_get_field(self, name))
        # What a property is given as its documentation is hidden by that of a class derived from it.
        self.__doc__ = doc
        self.type_name = type_name


def add_fields(runtime: Runtime, cls: Any, type_code: int) -> None:
    """Give a class the fields of a type, but for names that it or a base has already."""
    for name, type_name, doc in runtime.type_fields(type_code):
        if not hasattr(cls, name):
            setattr(cls, name, Field(runtime, name, type_name, doc))
