"""Submodules: functions, classes and constants of a library whose names have a common prefix."""

from __future__ import annotations

import sys
from types import ModuleType

from .._builtins import *  # noqa: F403
from .._rules.keywords import is_constant
from .._typing import Any

__all__ = ["Submodule", "attribute_of", "find_member", "first_names", "keep_attribute", "read_member"]

#: The constant that documents a submodule.
_DOC = "__doc__"


def attribute_of(function: Any) -> Any:
    """Return a module's attribute for a function: the function, or its result for a constant."""
    return function() if is_constant(function._anyffi_info()) else function


def first_names(module: Any, prefix: str = "") -> set[str]:
    """Return the names of functions, classes and submodules that a module, or its submodule, has itself."""
    return _first_names(module, prefix) - {_DOC}


def _first_names(module: Any, prefix: str) -> set[str]:
    names = (*module._anyffi_runtime.module_list(module), *module._anyffi_runtime.module_list_classes(module))
    tails = (name[len(prefix) :] for name in names if name.startswith(prefix))
    return {tail.partition(".")[0] for tail in tails}


def find_member(module: Any, name: str) -> Any:
    """Return a function (also for a constant), class or submodule; raise AttributeError if there is none."""
    try:
        return module.get_function(name)
    except AttributeError:
        type_code = module._anyffi_runtime.module_find_class(module, name)
        if type_code is not None:
            return module._anyffi_classes.class_of(type_code)
        # One that is declared may be empty but for its documentation.
        if _first_names(module, name + "."):
            return Submodule(module, name)
        raise


def read_member(module: Any, name: str) -> Any:
    """Return the attribute of a module with a name, which contains dots for a member of a submodule."""
    found = find_member(module, name)
    return found if isinstance(found, (type, Submodule)) else attribute_of(found)


def keep_attribute(module: Any, name: str, found: Any) -> None:
    """Store an attribute where the interpreter finds it fastest.

    CPython 3.14 only specializes the attributes of instances whose `__dict__` was never accessed, and every
    version only those with interned names, as names in code are.
    """
    object.__setattr__(module, sys.intern(name) if type(name) is str else name, found)


class Submodule:
    """A submodule of a library."""

    # Appears as a module. It does not derive from that class, because CPython would not specialize its
    # attributes.
    __class__ = ModuleType  # type: ignore[assignment]

    def __init__(self, owner: Any, path: str) -> None:
        try:
            doc = owner.get_function(f"{path}.{_DOC}")()
        except AttributeError:
            doc = None
        self.__name__ = path
        self.__doc__ = doc
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(first_names(self._owner, self.__name__ + "."))
        found = read_member(self._owner, f"{self.__name__}.{name}")
        keep_attribute(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return [name for name in {*super().__dir__(), *self.__all__} if name != "_owner"]

    def __reduce__(self) -> tuple[Any, ...]:
        outer, _, name = self.__name__.rpartition(".")
        return getattr, (Submodule(self._owner, outer) if outer else self._owner, name)

    def __repr__(self) -> str:
        return f"<submodule {self.__name__!r} of {self._owner!r}>"
