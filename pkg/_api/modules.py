"""Modules of users: shared libraries that export functions."""

from __future__ import annotations

import errno
import os

from .._objects.runtime import Runtime
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._public import Module

__all__ = ["ModuleApi"]


class ModuleApi:
    """Loading of modules, over one backend."""

    _runtime: Runtime

    def load_module(self, path: str | os.PathLike[str]) -> Module:
        """Load a shared library that exports functions; it stays loaded until the process ends.

        Parameters
        ----------
        path : str or path-like
            Where it lies.

        Returns
        -------
        Module
            The functions are its attributes. It equals every other module of the same library.

        Raises
        ------
        OSError, ImportError, ValueError
            There is no such file, it cannot be loaded, it was built for another ABI version, or what it
            registers is taken.
        """
        path = os.fspath(path)
        if not path:  # which would become the working directory
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        module: Module = self._runtime.module_load(os.path.abspath(path))
        return module

    def system_lib(self, symbol_prefix: str = "") -> Module:
        """The program itself as a module: what is linked into it, and the libraries that it sees as a whole.

        Those are the ones that it was linked with, and what was loaded for all to see, as ``LD_PRELOAD`` and
        `ctypes.RTLD_GLOBAL` do; not what `load_module` loads.

        Parameters
        ----------
        symbol_prefix : str
            What the names of the functions begin with, which they are called without then.

        Returns
        -------
        Module
            A new one, which finds what is loaded later too.
        """
        module: Module = self._runtime.module_get_program(symbol_prefix)
        return module
