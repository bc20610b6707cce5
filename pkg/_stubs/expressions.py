"""Annotations and defaults in the source of a module."""

from __future__ import annotations

import ast
import copy
import math
from typing import Any

from .text import PLAIN

__all__ = ["is_type", "literal", "repeated", "unquote"]


def unquote(node: ast.expr) -> ast.expr:
    """Return a copy of an annotation where text is parsed; SyntaxError or ValueError if it cannot be."""
    found: ast.expr = _Unquoted().visit(copy.deepcopy(node))
    return found


class _Unquoted(ast.NodeTransformer):
    """Parses the annotations that are written as text."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.parse(node.value.strip(), mode="eval").body if isinstance(node.value, str) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if ast.unparse(node.value).rpartition(".")[2] not in ("Literal", "Annotated"):
            self.generic_visit(node)
        return node


def is_type(node: ast.expr) -> bool:
    """Return whether an expression has the form of a type."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.Subscript):
        # The arguments of Literal and Annotated may be anything.
        return is_type(node.value)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and is_type(node.left) and is_type(node.right)
    if isinstance(node, ast.Attribute):
        return is_type(node.value)
    return isinstance(node, ast.Name)


def literal(node: ast.expr) -> Any:
    """Return a value that a stub can repeat, else Ellipsis."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...
    is_finite = type(value) is not float or math.isfinite(value)
    return value if value is None or (type(value) in PLAIN and is_finite) else ...


def repeated(node: ast.expr) -> str:
    """Return the text of a value that a stub can repeat, else an ellipsis."""
    value = literal(node)
    return "..." if value is ... else repr(value)
