"""Loading of shared libraries that export functions."""

from __future__ import annotations

import errno
import os

from .._builtins import *  # noqa: F403
from .._objects.bound import BoundClasses, begin_permanent
from .._objects.runtime import Runtime
from .._rules.errors import BUILTIN_KINDS
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._public import Module

__all__ = ["ModuleApi", "loaded_paths"]

#: The classes from which exceptions of C++ may derive. One str, so that each load packs a single value.
_EXCEPTIONS = " ".join(BUILTIN_KINDS)

#: The paths of the loaded libraries, in order of loading.
loaded_paths: dict[str, None] = {}


def _find_meant(path: str) -> str | None:
    """Return the library that was probably meant by a name with a wrong prefix or suffix."""
    folder, name = os.path.split(os.fsdecode(path))
    names = (name, name + ".so", os.path.splitext(name)[0] + ".so")
    paths = [os.path.join(folder, prefix + x) for x in names for prefix in ("", "lib")]
    return next((x for x in paths if os.path.isfile(x)), None)


class ModuleApi:
    """Loading of modules with one backend."""

    _runtime: Runtime
    _classes: BoundClasses

    def load_module(
        self, path: str | bytes | os.PathLike[str] | os.PathLike[bytes], override: bool = False
    ) -> Module:
        """Load a shared library that exports functions; it stays loaded until the process ends.

        If the file was replaced by a new version since it was loaded, as a linker does it, the new version is
        loaded in addition. Global functions and object types that it registers replace those of the old
        version; existing references to old functions and objects stay valid.

        Parameters
        ----------
        path : str, bytes or path-like
            The path of the library.
        override : bool
            Also replace global functions that other libraries or Python registered.

        Returns
        -------
        Module
            Its functions are attributes. It equals every other module of the same library.

        Raises
        ------
        OSError, ImportError, ValueError
            The file does not exist or cannot be loaded, was built for another ABI version, or registers a
            name that is already taken.
        """
        name = os.fsdecode(path)
        if not name:  # which would become the working directory
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        name = os.path.abspath(name)
        try:
            return self._load(name, "", override)
        except FileNotFoundError as error:
            meant = None if os.path.exists(name) else _find_meant(name)
            if meant is None:
                raise
            reason = f"{error.strerror}, but there is {os.path.basename(meant)!r}"
        raise FileNotFoundError(errno.ENOENT, reason, name)

    def _load(self, path: str, library: str, override: bool) -> Module:
        """Load a version of a library that is identified by a name, or by its path if that is empty."""
        end = begin_permanent()
        module: Module = self._runtime.module_load(path, library, bool(override), _EXCEPTIONS)
        loaded_paths[os.fsdecode(path)] = None
        for name in self._runtime.module_list_classes(module):
            self._classes.refresh(self._runtime.module_find_class(module, name))
        self._classes.find_nested()
        end()
        return module

    def system_lib(self, symbol_prefix: str = "") -> Module:
        """Return the program itself as a module: it and the libraries with global symbols.

        These are the libraries that the program was linked with, and those loaded through ``LD_PRELOAD`` or
        with `ctypes.RTLD_GLOBAL`; not those loaded by `load_module`.

        Parameters
        ----------
        symbol_prefix : str
            The prefix of the functions' symbols, which is not part of their names.

        Returns
        -------
        Module
            A new one; it also finds functions of libraries that are loaded later.
        """
        module: Module = self._runtime.module_get_program(symbol_prefix)
        return module
