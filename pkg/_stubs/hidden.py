"""Names of a stub's classes in scopes that give them another meaning.

In the body of a class with a member `Type`, the name means that member, not the class `Type` of the module.
The stub gives the class a second name, and uses that there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

__all__ = ["reveal"]


def reveal(
    body: str, scopes: Collection[str], classes: Collection[str], taken: Collection[str]
) -> tuple[str, str]:
    """Replace the names of classes where they are hidden.

    Parameters
    ----------
    body : str
        The declarations of a stub.
    scopes : collection of str
        The classes in whose bodies each name is meant as one of the module.
    classes : collection of str
        The names of classes of the module.
    taken : collection of str
        Names that the stub uses.

    Returns
    -------
    tuple of str
        The lines that define further names, and the declarations.
    """
    hidden = [
        node
        for cls in ast.parse(body).body
        if isinstance(cls, ast.ClassDef) and cls.name in scopes
        for node in _hidden(cls, {*classes})
    ]
    aliases: dict[str, str] = {}
    for name in sorted({node.id for node in hidden}):
        alias = f"_{name}"
        while alias in taken or alias in classes:
            alias = f"_{alias}"
        aliases[name] = alias
    lines = body.split("\n")
    # From the right, because each replacement moves what follows it.
    for node in sorted(hidden, key=lambda node: node.col_offset, reverse=True):
        line = lines[node.lineno - 1].encode()  # offsets are those of UTF-8
        before, after = line[: node.col_offset], line[node.end_col_offset :]
        lines[node.lineno - 1] = (before + aliases[node.id].encode() + after).decode()
    return "".join(f"{alias} = {name}\n" for name, alias in aliases.items()), "\n".join(lines)


def _hidden(scope: ast.ClassDef, classes: set[str]) -> Iterator[ast.Name]:
    """Iterate over names in the body of a class that are those of classes, but not there."""
    members = classes & {*_names(scope)}
    for statement in scope.body:
        # The body of a class in it does not see the members.
        parts = [statement] if not isinstance(statement, ast.ClassDef) else statement.bases
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Name) and node.id in members and not _is_own(node, statement):
                    yield node
        if isinstance(statement, ast.ClassDef):
            yield from _hidden(statement, classes)


def _names(scope: ast.ClassDef) -> Iterator[str]:
    """Iterate over the names that the body of a class binds."""
    for statement in scope.body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            yield statement.name
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _is_own(node: ast.Name, statement: ast.stmt) -> bool:
    """Return whether a name is meant as that of a member: where it is bound, and in `@name.setter`."""
    if isinstance(node.ctx, ast.Store):
        return True
    decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
    return any(node is each.value for each in decorators if isinstance(each, ast.Attribute))
