"""Methods of `Module`: a shared library that exports functions, or the program itself."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_module, unpickle_program
from .._typing import TYPE_CHECKING, Any
from .object import is_shown
from .submodules import first_names, keep_attribute, read_member

if TYPE_CHECKING:
    from .bound import BoundClasses
    from .runtime import Runtime

__all__ = ["ModuleMethods"]


class ModuleMethods:
    """A shared library; its functions, classes and constants, and those of its imports, are attributes."""

    __slots__ = ()

    # Annotations would be inherited by users' classes.
    if TYPE_CHECKING:
        _anyffi_runtime: Runtime
        _anyffi_classes: BoundClasses
        _anyffi_by_name: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        # Cached as an attribute, so that Python finds it without this call. It stays valid: libraries are
        # never unloaded, and modules imported later are searched last.
        found = read_member(self, name)
        keep_attribute(self, name, found)
        return found

    def __getitem__(self, name: str) -> Any:
        try:
            return self._anyffi_by_name[name]
        except (AttributeError, KeyError, TypeError):
            pass
        function = self.get_function(name)
        # Separate from the attributes, to which users may assign. A subclass of str may compare equal to
        # other names.
        if type(name) is str:
            try:
                self._anyffi_by_name[name] = function
            except (AttributeError, TypeError):  # TypeError: of a subclass with another `__getattr__`
                object.__setattr__(self, "_anyffi_by_name", {name: function})
        return function

    def get_function(self, name: str) -> Any:
        """Return the function `name` of the module, or of one that it imports.

        Raises
        ------
        AttributeError
            There is none; the message suggests similar names.
        """
        return self._anyffi_runtime.module_get_function(self, name)

    def import_module(self, module: Any) -> None:
        """Make functions of another module available that this one does not have.

        Parameters
        ----------
        module : Module
            Searched after the modules imported before. Importing it again has no effect.

        Raises
        ------
        ValueError
            It is this module, or imports it directly or indirectly.
        """
        self._anyffi_runtime.module_import(self, module)

    @property
    def imports(self) -> list[Any]:
        """The modules that this one imports, in the order of search."""
        return list(self._anyffi_runtime.module_imports(self))

    def __dir__(self) -> list[str]:
        own = filter(is_shown, object.__dir__(self))
        return sorted({*own, *first_names(self)})

    # Each load returns a new module with its own imports; modules of the same library compare equal.
    def __eq__(self, other: object) -> Any:
        return (
            self._anyffi_runtime.value_equal(self, other)
            if issubclass(type(other), ModuleMethods)
            else NotImplemented
        )

    def __hash__(self) -> int:
        return int(self._anyffi_runtime.value_hash(self))

    #: Otherwise `iter` would call `__getitem__` with 0, 1 and so on.
    __iter__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        prefix = self._anyffi_runtime.module_prefix(self)
        if prefix is not None:
            return unpickle_program, (prefix, *self.imports)
        return unpickle_module, (self.__file__, *self.imports)

    @property
    def __file__(self) -> str:
        path: str | None = self._anyffi_runtime.module_path(self)
        if path is None:
            raise AttributeError("the program itself was loaded from no path")
        return path

    def __repr__(self) -> str:
        path = self._anyffi_runtime.module_path(self)
        return "<anyffi.Module of the program>" if path is None else f"<anyffi.Module {path!r}>"
