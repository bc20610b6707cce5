"""Evaluates annotations that are text, including names that are defined later."""

from __future__ import annotations

import ast
import typing
from types import ModuleType

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any
from .checking_imports import find_import, find_object, is_being_imported

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AnnotationText", "Later", "Part", "refused"]

#: CPython's parser raises MemoryError for deep nesting, which shorter text cannot have.
_MAX_SHORT = 500


class Part:
    """A generic class with its parts, or a union, from a text annotation."""

    def __init__(self, origin: Any, parts: tuple[Any, ...], node: ast.expr) -> None:
        self.origin = origin
        self.parts = parts
        self._node = node

    def __repr__(self) -> str:
        return ast.unparse(self._node)


class Later:
    """The name of a class that is defined later, in another module or in the annotation's own scope."""

    def __init__(self, name: str, *, has_module: bool = False) -> None:
        self.name = name
        self.has_module = has_module

    def __repr__(self) -> str:
        return self.name


class AnnotationText:
    """Evaluates annotations with the names in some scopes, then with imports meant for type checkers."""

    def __init__(self, scopes: tuple[Mapping[str, Any], ...], module: ModuleType | None) -> None:
        self._scopes = scopes
        self._module = module

    def evaluate(self, text: str) -> Any:
        """Return an annotation's meaning: a class, a Part, a Later; raise TypeError for other expressions."""
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            # Surrogates, or too many levels of nesting: the parser raises either error.
            if isinstance(error, MemoryError) and len(text) < _MAX_SHORT:
                raise
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
                name = f"{owner.name}.{node.attr}"
                return _find_elsewhere(name) if owner.has_module else Later(name)
            if is_being_imported(owner) and not hasattr(owner, node.attr):
                return Later(f"{owner.__name__}.{node.attr}", has_module=True)
            return getattr(owner, node.attr)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return Part(typing.Union, (self._read(node.left), self._read(node.right)), node)
        if isinstance(node, ast.Subscript):
            return self._read_generic(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._read(node.operand)
        if isinstance(node, (ast.List, ast.Tuple)):
            return tuple(self._read(x) for x in node.elts)
        raise refused(ast.unparse(node))

    def _read_generic(self, node: ast.Subscript) -> Any:
        origin = self._read(node.value)
        # The node type of an index before Python 3.9.
        index = node.slice
        nodes = index.elts if isinstance(index, ast.Tuple) else [index]
        if origin is getattr(typing, "Annotated", None):
            return self._read(nodes[0])
        parts = tuple(self._read(x) for x in nodes)
        if isinstance(origin, Later):
            return origin
        if origin is typing.Optional:
            return Part(typing.Union, (*parts, None), node)
        return Part(typing.get_origin(origin) or origin, parts, node)

    def _look_up(self, name: str) -> Any:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        place = find_import(self._module, name)
        return Later(name) if place is None else _find_elsewhere(place)


def _find_elsewhere(place: str) -> Any:
    """Return the object with a qualified name. A module stays a name: it may still be importing."""
    found = find_object(place)
    return Later(place, has_module=True) if found is None or isinstance(found, ModuleType) else found


def refused(annotation: Any) -> TypeError:
    """Return the error about an annotation that has no meaning for the runtime."""
    shown = annotation.__qualname__ if isinstance(annotation, type) else repr(annotation)
    if len(shown) > 200:
        shown = f"{shown[:100]}...{shown[-20:]}"
    return TypeError(f"the annotation {shown} is no type of values in C++; use typing.Any for any value")
