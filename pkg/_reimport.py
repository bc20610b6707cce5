"""Repeated imports of the package, after its modules were removed from `sys.modules`: they return the same
modules.

The runtime holds objects of the package's classes, so a process can have each class only once. This is the
first module that an import executes.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ._typing import Any

__all__ = ["keep", "restore"]

#: The attribute of `sys` that keeps the package, by the path of its file: it cannot be removed with the
#: modules.
_KEPT = "_anyffi_packages"


def _submodules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the imported modules of a package, at all levels, by their full names."""
    found = {}
    for name, value in list(vars(package).items()):
        full = f"{package.__name__}.{name}"
        if isinstance(value, ModuleType) and value.__name__ == full:
            found[full] = value
            found.update(_submodules(value))
    return found


def restore() -> None:
    """Put the package and its modules back into `sys.modules`, if it was imported before.

    Modules with state call it first: any of them may have been removed while this one was not.
    """
    path = str(sys.modules[__package__].__file__)
    kept: dict[str, Any] = vars(sys).get(_KEPT, {})
    if path in kept:
        package, modules = kept[path]
        # The import system uses the entry of `sys.modules` after it has executed a module.
        sys.modules.update({package.__name__: package, **modules, **_submodules(package)})


def keep(package: ModuleType) -> None:
    """Keep the package until the interpreter ends, or restore the one imported before."""
    kept = vars(sys).setdefault(_KEPT, {})
    path = str(package.__file__)
    if path not in kept:
        # Lists the modules imported so far, because an attribute of the package may hide a module.
        prefix = f"{package.__name__}."
        modules = {name: module for name, module in sys.modules.items() if name.startswith(prefix)}
        kept[path] = package, modules
    elif kept[path][0] is not package:
        restore()
