"""The global registry."""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._objects.bound import BoundClasses
from .._objects.runtime import Runtime
from .._objects.submodules import attribute_of
from .._rules.codes import FIRST_DYNAMIC_TYPE
from .._typing import TYPE_CHECKING, Any, Callable, Literal, TypeVar, overload

if TYPE_CHECKING:
    from .._public import Function, Object

__all__ = ["RegistryApi"]

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound="type[Object]")


class RegistryApi:
    """Functions by name, and classes by type key, with one backend."""

    _core: Any
    _runtime: Runtime
    _classes: BoundClasses
    Object: Any
    #: The type keys of the classes that `register_object` was given.
    _type_keys: dict[type, str]

    def _did_you_mean(self, name: str, known: list[str]) -> str:
        """Return the end of a message about an unknown name."""
        found = ", ".join(map(repr, self._runtime.names_suggest(name, known)))
        return f"; did you mean {found}?" if found else ""

    @overload
    def register_global_func(
        self, func_name: str, f: None = None, override: bool = ...
    ) -> Callable[[_F], _F]: ...
    @overload
    def register_global_func(self, func_name: str, f: _F, override: bool = ...) -> _F: ...
    @overload
    def register_global_func(self, func_name: _F, f: None = None, override: bool = ...) -> _F: ...
    def register_global_func(
        self,
        func_name: str | Callable[..., Any],
        f: Callable[..., Any] | None = None,
        override: bool = False,
    ) -> Any:
        """Register a function for the whole process, C++ included.

        Parameters
        ----------
        func_name : str or callable
            The name; or the function itself, which is then registered under its `__name__`.
        f : callable, optional
            The function. Without it this is a decorator.
        override : bool
            Replace an existing function with this name.

        Raises
        ------
        ValueError
            The name is taken, and `override` is false.

        Examples
        --------
        >>> @anyffi.register_global_func("example.twice")
        ... def twice(x):
        ...     return 2 * x
        >>> anyffi.get_global_func("example.twice")(21)
        42
        """
        if not isinstance(func_name, str):
            if not callable(func_name):
                raise TypeError(f"expected a name or a callable, got {type(func_name).__name__}")
            name, f = func_name.__name__, func_name
        else:
            name = func_name

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if not callable(function):
                raise TypeError(f"expected a callable, got {type(function).__name__}")
            self._runtime.registry_set(name, self._core.to_object(function), override)
            return function

        return register if f is None else register(f)

    @overload
    def get_global_func(self, name: str, allow_missing: Literal[False] = False) -> Function: ...
    @overload
    def get_global_func(self, name: str, allow_missing: bool) -> Function | None: ...
    def get_global_func(self, name: str, allow_missing: bool = False) -> Function | None:
        """Return a registered function, as an `anyffi.Function`.

        Parameters
        ----------
        name : str
            The name under which it was registered.
        allow_missing : bool
            Return None for an unknown name.

        Raises
        ------
        ValueError
            There is no such function; the message suggests similar names.
        """
        function: Function | None = self._core.get_function(name)
        if function is None and not allow_missing:
            hint = self._did_you_mean(name, self.list_global_func_names())
            raise ValueError(f"no function {name!r} is registered{hint}")
        return function

    def remove_global_func(self, name: str) -> None:
        """Remove a function from the registry; ValueError for an unknown name."""
        if not self._runtime.registry_remove(name):
            hint = self._did_you_mean(name, self.list_global_func_names())
            raise ValueError(f"no function {name!r} is registered{hint}")

    def list_global_func_names(self) -> list[str]:
        """Return the names of all registered functions, sorted."""
        return list(self._runtime.registry_list())

    def init_ffi_api(self, namespace: str, target_module_name: str | None = None) -> None:
        """Add the functions with a prefix to a Python module, and the values of constants among them.

        `help` of the module shows only those that its ``__all__`` lists, as for imported names.

        Parameters
        ----------
        namespace : str
            The prefix: ``"_npi"`` adds ``_npi.zeros`` as ``zeros``.
        target_module_name : str, optional
            The module, which must be imported already; by default that named `namespace`.

        Raises
        ------
        ImportError
            There is no such module.
        """
        target_name = target_module_name or namespace
        target = sys.modules.get(target_name) if isinstance(target_name, str) else None
        if target is None:
            raise ImportError(
                f"no module named {target_name!r} was imported; pass the name of one, as in __name__"
            )
        prefix = namespace + "."
        for name in self.list_global_func_names():
            tail = name[len(prefix) :]
            if name.startswith(prefix) and "." not in tail:
                setattr(target, tail, attribute_of(self.get_global_func(name)))

    def _find_type(self, key: str) -> int:
        """Return the code of a type; raise ValueError for an unknown key."""
        type_code: int | None = self._runtime.type_find(key)
        if type_code is None:
            hint = self._did_you_mean(key, [row[1] for row in self._runtime.type_table()])
            raise ValueError(f"no type {key!r} is registered{hint}")
        return type_code

    def _class_of_key(self, key: str) -> Any:
        """Return the class of the type with a key; not for the runtime's own types."""
        type_code = self._find_type(key)
        if type_code < FIRST_DYNAMIC_TYPE:
            raise ValueError(f"type {key!r} of the runtime has no class for its objects alone")
        return self._classes.class_of(type_code)

    @overload
    def register_object(self, type_key: _C) -> _C: ...
    @overload
    def register_object(self, type_key: str | None = None) -> Callable[[_C], _C]: ...
    def register_object(self, type_key: str | type | None = None) -> Any:
        """Register a Python class for objects of a runtime type: a class decorator.

        The fields, methods and constructors of the type become attributes of the class, unless it has
        attributes with these names or belongs to this package. Objects from C++ get the class without a call
        of its `__new__` or `__init__`.

        Parameters
        ----------
        type_key : str, optional
            The type's key in the runtime; by default the class's name. The decorator may also be used without
            arguments.

        Raises
        ------
        TypeError
            The class does not derive from `anyffi.Object`.
        ValueError
            There is no such type; the message suggests similar names.
        """
        if isinstance(type_key, type):
            return self.register_object()(type_key)

        def register(cls: _C) -> _C:
            if not (isinstance(cls, type) and issubclass(cls, self.Object)):
                raise TypeError(f"a class derived from anyffi.Object is needed, not {cls!r}")
            key = type_key or cls.__name__
            self._classes.register(self._find_type(key), cls)
            self._type_keys[cls] = key
            return cls

        return register
