"""Imports of the package after its modules were removed from `sys.modules`: they return the same modules.

The runtime holds objects of the package's classes, so that a process can have each class once only. This is
the first module that an import executes.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ._typing import Any

__all__ = ["keep", "restore"]

#: The attribute of `sys`: the package by the path of its file. It is outside of what can be removed.
_KEPT = "_anyffi_packages"


def _submodules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the modules of a package that were imported, at all levels, by their full names."""
    found = {}
    for name, value in list(vars(package).items()):
        full = f"{package.__name__}.{name}"
        if isinstance(value, ModuleType) and value.__name__ == full:
            found[full] = value
            found.update(_submodules(value))
    return found


def restore() -> None:
    """Put the package back into `sys.modules`, with its modules, if it was imported before.

    Modules with a state call it before they have one: any of them may be missing, and this one not.
    """
    path = str(sys.modules[__package__].__file__)
    kept: dict[str, Any] = vars(sys).get(_KEPT, {})
    if path in kept:
        package, modules = kept[path]
        # The import system takes what `sys.modules` has after a module was executed.
        sys.modules.update({package.__name__: package, **modules, **_submodules(package)})


def keep(package: ModuleType) -> None:
    """Remember the package until the interpreter ends, or restore the one that was imported before."""
    kept = vars(sys).setdefault(_KEPT, {})
    path = str(package.__file__)
    if path not in kept:
        # A name of the package may hide a module, so those that are imported by now are listed.
        prefix = f"{package.__name__}."
        modules = {name: module for name, module in sys.modules.items() if name.startswith(prefix)}
        kept[path] = package, modules
    elif kept[path][0] is not package:
        restore()
