"""Finds names that a module imports only for type checkers, and uses in annotations."""

from __future__ import annotations

import ast
import sys
from functools import lru_cache

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["find_import", "find_object", "is_being_imported"]


def find_import(module: ModuleType | None, name: str) -> str | None:
    """Return the source of a name imported under ``if TYPE_CHECKING:``, such as ``"module.Name"``."""
    path = getattr(module, "__file__", None)
    if module is None or not isinstance(path, str):
        return None
    import linecache

    source = "".join(linecache.getlines(path, vars(module)))
    package = getattr(module, "__package__", None) or ""
    return _read_imports(source, package).get(name) if "TYPE_CHECKING" in source else None


def find_object(place: str) -> Any:
    """Return the object with a qualified name, or None. Imports nothing, to avoid import cycles."""
    owner_name, _, name = place.rpartition(".")
    module = sys.modules.get(place)
    if module is not None or not owner_name:
        return module
    owner = find_object(owner_name)
    return None if owner is None else getattr(owner, name, None)


def is_being_imported(x: Any) -> bool:
    """Return whether an object is a module that is still being executed, and so may get more attributes."""
    return isinstance(x, type(sys)) and bool(getattr(x.__spec__, "_initializing", False))


@lru_cache(maxsize=1)  # for all classes of one module
def _read_imports(source: str, package: str) -> dict[str, str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}  # The file is not the one that was imported.
    found: dict[str, str] = {}
    for node in tree.body:
        if not isinstance(node, ast.If):
            continue
        test = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", "")
        if test == "TYPE_CHECKING":
            for statement in node.body:
                found.update(_read_statement(statement, package))
    return found


def _read_statement(statement: ast.stmt, package: str) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.Import):
        for each in statement.names:
            # `import a.b` binds `a`.
            first = each.name.partition(".")[0]
            yield (each.asname, each.name) if each.asname else (first, first)
    elif isinstance(statement, ast.ImportFrom):
        parents = package.split(".")[: 1 - statement.level or None] if statement.level else []
        module = ".".join([*parents, *filter(None, [statement.module])])
        for each in statement.names:
            yield each.asname or each.name, f"{module}.{each.name}"
