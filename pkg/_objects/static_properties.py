"""Static properties of C++ classes: attributes of the classes themselves, read and written by C++."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["ClassWithStatic", "StaticProperty", "set_member"]


class StaticProperty(property):
    """An attribute of a C++ class and its objects, read each time with functions that take no object."""

    def __init__(self, owner: str, name: str, get: Any, put: Any) -> None:
        super().__init__(get, put)
        self.__doc__ = get.__doc__
        self._owner = owner
        self._name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        get: Any = self.fget
        return get()

    def __set__(self, instance: Any, value: Any) -> None:
        put: Any = self.fset
        if put is None:
            raise AttributeError(f"static property {self._name!r} has no setter")
        try:
            put(value)
        except Exception as exception:
            _name_attribute(exception, put, f"{self._owner}.{self._name}")
            raise

    def __delete__(self, instance: Any) -> None:
        raise AttributeError(f"static property {self._name!r} cannot be deleted")

    @property
    def type_name(self) -> str | None:
        """The annotation of its value."""
        get: Any = self.fget
        info = get._anyffi_info()
        found: str | None = info and info[5]
        return found


class ClassWithStatic(type):
    """The metaclass of classes with static properties: an assignment calls the property's setter."""

    def __setattr__(cls, name: str, value: Any) -> None:
        found = _find(cls, name)
        if found is None:
            super().__setattr__(name, value)
        else:
            found.__set__(None, value)

    def __delattr__(cls, name: str) -> None:
        found = cls.__dict__.get(name)
        if isinstance(found, StaticProperty):
            found.__delete__(None)
        super().__delattr__(name)


def set_member(cls: type, name: str, value: Any) -> None:
    """Set an attribute of a class itself, even if it replaces a static property."""
    type.__setattr__(cls, name, value)


def _name_attribute(exception: Exception, put: Any, place: str) -> None:
    """Let an exception about the value name the property, as for other attributes, not the setter's call."""
    start = f"{put._anyffi_runtime.function_signature(put)}: argument 0 (value)"
    args = exception.args
    if len(args) == 1 and type(args[0]) is str and args[0].startswith(start):
        exception.args = (place + args[0][len(start) :],)


def _find(cls: type, name: str) -> StaticProperty | None:
    """Return the static property with a name; None for another attribute."""
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            return found if isinstance(found, StaticProperty) else None
    return None
