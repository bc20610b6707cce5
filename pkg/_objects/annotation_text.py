"""Annotations that are text: what they name, also where that is defined later."""

from __future__ import annotations

import ast
import typing

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AnnotationText", "Later", "Part", "refused"]


class Part:
    """A generic class with parts, or a union, of an annotation that is text."""

    def __init__(self, origin: Any, parts: tuple[Any, ...]) -> None:
        self.origin = origin
        self.parts = parts


class Later:
    """The name of a class that is defined later."""

    def __init__(self, name: str) -> None:
        self.name = name


class AnnotationText:
    """Evaluates annotations by the names in some scopes, the innermost first."""

    def __init__(self, scopes: tuple[Mapping[str, Any], ...]) -> None:
        self._scopes = scopes

    def evaluate(self, text: str) -> Any:
        """Return what an annotation means: a class, a Part, a Later; TypeError for other expressions."""
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            # Surrogates, or too many levels, of which the parser raises either.
            raise refused(text) from None
        return self._read(tree.body)

    def _read(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._look_up(node.id)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            owner = self._read(node.value)
            if isinstance(owner, Later):
                return Later(f"{owner.name}.{node.attr}")
            return getattr(owner, node.attr)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return Part(typing.Union, (self._read(node.left), self._read(node.right)))
        if isinstance(node, ast.Subscript):
            return self._read_generic(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._read(node.operand)
        if isinstance(node, (ast.List, ast.Tuple)):
            return tuple(self._read(x) for x in node.elts)
        raise refused(ast.unparse(node))

    def _read_generic(self, node: ast.Subscript) -> Any:
        origin = self._read(node.value)
        # The node of an index before Python 3.9.
        index = node.slice
        nodes = index.elts if isinstance(index, ast.Tuple) else [index]
        if origin is getattr(typing, "Annotated", None):
            return self._read(nodes[0])
        parts = tuple(self._read(x) for x in nodes)
        if isinstance(origin, Later):
            return origin
        if origin is typing.Optional:
            return Part(typing.Union, (*parts, None))
        return Part(typing.get_origin(origin) or origin, parts)

    def _look_up(self, name: str) -> Any:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        return Later(name)


def refused(annotation: Any) -> TypeError:
    """Return the error about an annotation that has no meaning for the runtime."""
    shown = annotation.__qualname__ if isinstance(annotation, type) else repr(annotation)
    if len(shown) > 200:
        shown = f"{shown[:100]}...{shown[-20:]}"
    return TypeError(f"the annotation {shown} is no type of values in C++; use typing.Any for any value")
