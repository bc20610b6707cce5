"""Stubs for type checkers and editors, of functions that are found at run time."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from .._backend import active
from .._objects.submodules import Submodule, find_member
from .._public import Function
from .source import Source
from .stub import Stub

__all__ = ["StubError", "generate", "import_from"]

_LIBRARY_SUFFIXES = (".so", ".dylib", ".dll")


class StubError(Exception):
    """No stub can be written; the message has the reason and a remedy."""


def generate(source: str, load: Sequence[str] = (), prefix: str | None = None) -> str:
    """Return the text of a stub.

    Parameters
    ----------
    source : str
        The path of a shared library, the name of a module that can be imported, or a prefix of names in the
        global registry.
    load : sequence of str
        Modules to import, and shared libraries to load, first.
    prefix : str, optional
        Of global functions that a shared library registers, to declare beside those that it exports.

    Raises
    ------
    StubError
        The source does not exist, or cannot be loaded.
    """
    for name in load:
        _load(name)
    if _is_path(source):
        library = _load(source)
        members = {name: _member_of(library, name) for name in _names_of(library)}
        if prefix is not None:
            members.update(_registered(prefix))
        return _text(os.path.basename(source), members)
    if prefix is not None:
        raise StubError(f"a prefix belongs to the path of a library, and {source!r} is none")
    if _can_be_imported(source):
        module = _load(source)
        return _text(source, None, module)
    functions = _registered(source)
    if not functions:
        raise StubError(
            f"{source!r} is neither a module to import nor a prefix of registered functions: --load loads "
            f"what registers them. The path of a library ends in {', '.join(_LIBRARY_SUFFIXES)}"
        )
    return _text(source, functions)


def import_from(folder: str) -> None:
    """Look in a folder for modules first: before installed ones, editable installs included."""

    class Finder:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
            return importlib.machinery.PathFinder.find_spec(name, [folder], target) if path is None else None

    sys.meta_path.insert(0, Finder)


def _text(title: str, members: dict[str, Any] | None, module: types.ModuleType | None = None) -> str:
    try:
        source = Source(module)
        if members is None:
            members = _members(module, title, source)
        return Stub(title, members, source, module).text()
    except (SyntaxError, ValueError) as error:
        raise StubError(f"{title} cannot be described: the stub would be no Python: {error}") from error
    except Exception as error:
        # Reading an attribute may run any code.
        raise StubError(f"{title} cannot be described: {type(error).__name__}: {error}") from error


def _registered(prefix: str) -> dict[str, Any]:
    """Return the global functions with a prefix by the rest of their names, as `init_ffi_api` does."""
    start = len(prefix) + 1
    names = [name for name in active.list_global_func_names() if name.startswith(prefix + ".")]
    return {name[start:]: active.get_global_func(name) for name in names if "." not in name[start:]}


def _is_path(name: str) -> bool:
    return os.sep in name or name.endswith(_LIBRARY_SUFFIXES)


def _can_be_imported(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    # A folder without `__init__.py`, such as that of a project's sources, would be an empty module.
    return spec is not None and (spec.origin is not None or spec.submodule_search_locations is None)


def _load(name: str) -> Any:
    try:
        return active.load_module(name) if _is_path(name) else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise StubError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error


def _names_of(library: Any) -> Iterator[str]:
    for name in dir(library):
        if not name.startswith("__") and not hasattr(type(library), name):
            yield name


def _member_of(library: Any, name: str) -> Any:
    """Return the function, class or submodule of a name."""
    return find_member(library, name)


def _members(module: Any, module_name: str, source: Source) -> dict[str, Any]:
    """Return the runtime's functions in a module, and its other public names."""
    values = vars(module)
    listed = values.get("__all__")
    if not isinstance(listed, (list, tuple)):
        listed = None

    def is_offered(name: Any, value: Any) -> bool:
        if type(name) is not str:
            return False
        if name.startswith("__") and name.endswith("__"):
            return name in ("__version__", "__getattr__") and name in source.defined
        if listed is not None and name in listed:
            return True
        if isinstance(value, Function):
            return True
        if isinstance(value, Submodule):
            return listed is None and not name.startswith("_")
        if isinstance(value, types.ModuleType) or name in source.imported:
            return False
        is_defined = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))
        # The module of a class of C++ is the first part of its key, whatever module of Python offers it.
        is_defined = is_defined and "_anyffi_type_key" not in vars(value)
        at_home = not is_defined or value.__module__ == module_name
        return listed is None and at_home and not name.startswith("_")

    return {name: value for name, value in values.items() if is_offered(name, value)}
