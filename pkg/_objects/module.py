"""What modules of the runtime can do: shared libraries that export functions, or the program itself."""

from __future__ import annotations

from .._pickling import unpickle_module, unpickle_program
from .._typing import Any
from .object import is_shown
from .runtime import Runtime

__all__ = ["ModuleMethods"]


class ModuleMethods:
    """The functions of a shared library, and of the modules that it imports, as attributes."""

    __slots__ = ()

    _runtime: Runtime

    def __getattr__(self, name: str) -> Any:
        return self.get_function(name)

    def __getitem__(self, name: str) -> Any:
        return self.get_function(name)

    def get_function(self, name: str) -> Any:
        """The function `name`, of the module or of what it imports.

        Raises
        ------
        AttributeError
            There is none; the message names the nearest.
        """
        return self._runtime.module_get_function(self, name)

    def import_module(self, module: Any) -> None:
        """Look in another module, too, for functions that this one has not itself.

        Parameters
        ----------
        module : Module
            It comes after those that were imported before. Importing it again changes nothing.

        Raises
        ------
        ValueError
            It is this module, or imports it, itself or by way of others.
        """
        self._runtime.module_import(self, module)

    @property
    def imports(self) -> list[Any]:
        """The modules that this one imports, in the order that they are looked in."""
        return list(self._runtime.module_imports(self))

    def __dir__(self) -> list[str]:
        own = filter(is_shown, object.__dir__(self))
        return sorted({*own, *self._runtime.module_list(self)})

    # The same library twice is equal: each load gives a module of its own, with imports of its own.
    def __eq__(self, other: object) -> Any:
        return self._runtime.value_equal(self, other) if isinstance(other, ModuleMethods) else NotImplemented

    def __hash__(self) -> int:
        return int(self._runtime.value_hash(self))

    #: Else Python would ask for functions by the names 0, 1 and so on.
    __iter__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        prefix = self._runtime.module_prefix(self)
        if prefix is not None:
            return unpickle_program, (prefix, *self.imports)
        return unpickle_module, (self.__file__, *self.imports)

    @property
    def __file__(self) -> str:
        path: str | None = self._runtime.module_path(self)
        if path is None:
            raise AttributeError("the program itself was loaded from no path")
        return path

    def __repr__(self) -> str:
        path = self._runtime.module_path(self)
        return "<anyffi.Module of the program>" if path is None else f"<anyffi.Module {path!r}>"
