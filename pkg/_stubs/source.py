"""What the source of a Python module declares and imports."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Union

__all__ = ["Assignment", "Definition", "Imported", "Source", "is_overload", "statements"]

Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Assignment = (ast.Assign, ast.AnnAssign)
_Declaration = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign]


class Imported(NamedTuple):
    """What a name stands for: a module, or a name of it."""

    module: str
    name: str | None


class Source:
    """The declarations of a module by name; empty if it has no source.

    Attributes
    ----------
    defined : dict of str to list
        Functions, classes and assignments; several of a name are overloads.
    imported : dict of str to Imported
        Imports, also those for type checkers alone.
    stars : list of str
        Modules of which everything is imported.
    """

    def __init__(self, module: types.ModuleType | None) -> None:
        self.defined: dict[str, list[_Declaration]] = {}
        self.imported: dict[str, Imported] = {}
        self.stars: list[str] = []
        if module is None:
            return
        try:
            tree = ast.parse(inspect.getsource(module))
        except (OSError, TypeError, SyntaxError, ValueError):
            return
        for node in statements(tree.body):
            if isinstance(node, Definition):
                self._define(node.name, node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, Assignment):
                for name in _targets(node):
                    self._define(name, node)

    def _define(self, name: str, node: _Declaration) -> None:
        earlier = self.defined.get(name, [])
        overloads = [each for each in earlier if is_overload(each)]
        # Of several definitions without overloads the last one counts; an implementation is not declared.
        self.defined[name] = overloads if overloads and not is_overload(node) else [*overloads, node]

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                # `import a.b` binds `a`, of which `b` becomes an attribute.
                self.imported[alias.asname or alias.name.partition(".")[0]] = Imported(alias.name, None)
                continue
            module = "." * node.level + (node.module or "")
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.imported[alias.asname or alias.name] = Imported(module, alias.name)

    def is_known(self, node: ast.AST) -> bool:
        """Return whether all names of an expression are declared, imported or builtins."""
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return all(name in self.defined or name in self.imported or hasattr(builtins, name) for name in names)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over statements, and over those of the branches among them."""
    for node in body:
        if isinstance(node, (ast.If, ast.With)):
            yield from statements([*node.body, *getattr(node, "orelse", [])])
        elif isinstance(node, ast.Try):
            handled = [each for handler in node.handlers for each in handler.body]
            yield from statements([*handled, *node.body, *node.orelse, *node.finalbody])
        else:
            yield node


def is_overload(node: ast.AST) -> bool:
    """Return whether a function is declared by `typing.overload`."""
    marks = getattr(node, "decorator_list", [])
    return any(ast.unparse(mark).rpartition(".")[2] == "overload" for mark in marks)


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Name):
            yield target.id
