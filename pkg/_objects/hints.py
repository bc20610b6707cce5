"""Resolves names in the annotations of functions, so that `typing.get_type_hints` can evaluate them."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import ctypes
import datetime
import os
import pathlib
import re
import sys
import types
import typing
from typing import Any

from .._builtins import *  # noqa: F403
from .._rules.device import Device
from .._rules.dtype import dtype

__all__ = ["namespace_of"]

_NAMES: dict[str, Any] = {
    "Any": Any,
    "Function": typing.Callable,
    "Callable": collections.abc.Callable,
    "Sequence": collections.abc.Sequence,
    "Mapping": collections.abc.Mapping,
    "AbstractSet": collections.abc.Set,
    "Iterable": collections.abc.Iterable,
    "Iterator": collections.abc.Iterator,
    "MappingProxyType": types.MappingProxyType,
    "PathLike": os.PathLike,
    "Path": pathlib.Path,
    "datetime": datetime.datetime,
    "timedelta": datetime.timedelta,
    "c_void_p": ctypes.c_void_p,
    "ellipsis": type(...),
    "Device": Device,
    "dtype": dtype,
}
#: Public classes of the backend.
_PUBLIC = ("Object", "Module", "Tensor", "Shape", "Array", "List", "Map", "Dict", "Set", "FrozenSet")

#: Names of tensors' element types.
_ELEMENTS = re.compile(r"(bool|u?int|b?float|complex|handle|code)\d*(_\w+)?(x\d+)?")


def namespace_of(annotations: dict[str, str], classes: Any) -> dict[str, Any]:
    """Return the namespace for the annotations of a function, without builtins.

    `classes` is the BoundClasses of the function's backend. Keys of classes that are not loaded resolve to
    any type.
    """
    namespace = _Namespace(classes)
    for text in annotations.values():
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            # A type key may be arbitrary text.
            continue
        namespace.add_names(tree.body)
    return namespace.found


class _Namespace:
    """Collects the objects to which names refer."""

    def __init__(self, classes: Any) -> None:
        self.found: dict[str, Any] = {}
        self._classes = classes

    def add_names(self, node: ast.AST) -> None:
        """Add the names of an expression."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._add(ast.unparse(node))
            return
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            name = node.value.id
            if _ELEMENTS.fullmatch(name):
                tensor_of = _TensorOf(self._classes.public["Tensor"], name)
                self.found[name] = _bool_or(tensor_of) if name == "bool" else tensor_of
                extents = (each.id for each in ast.walk(node.slice) if isinstance(each, ast.Name))
                self.found.update((extent, extent) for extent in extents)
                return
        for child in ast.iter_child_nodes(node):
            self.add_names(child)

    def _add(self, key: str) -> None:
        """Add a dotted name: the first part that is a class gets the following ones as attributes."""
        first, *others = key.split(".")
        if first == "numpy":
            self.found[first] = sys.modules.get("numpy", _Names())
        if not isinstance(self.found.get(first, _NONE), _Names):
            return
        if not others:
            if not hasattr(builtins, first):
                self.found[first] = self._look_up(first)
            return
        owner = self.found.setdefault(first, _Names())
        prefix = first
        for index, part in enumerate(others):
            prefix = f"{prefix}.{part}"
            if part not in vars(owner):
                cls = self._classes.find_class(prefix)
                is_last = index == len(others) - 1
                setattr(owner, part, cls if cls is not None else Any if is_last else _Names())
            owner = getattr(owner, part)
            if not isinstance(owner, _Names):
                return

    def _look_up(self, name: str) -> Any:
        if name in _NAMES:
            return _NAMES[name]
        if name in _PUBLIC:
            return self._classes.public[name]
        cls = self._classes.find_class(name)
        return Any if cls is None else cls


class _Names:
    """A part of a dotted name that precedes the class."""


_NONE = _Names()


class _TensorOf:
    """An element type of a tensor: `float32[2, n]`."""

    def __init__(self, tensor: Any, name: str) -> None:
        self._tensor = tensor
        self._name = name

    def __getitem__(self, extents: Any) -> Any:
        each = extents if isinstance(extents, tuple) else (extents,)
        shown = ", ".join(":" if x == slice(None) else "..." if x is ... else str(x) for x in each)
        return typing.Annotated[self._tensor, f"{self._name}[{shown}]"]


def _bool_or(tensor_of: _TensorOf) -> type:
    """Return a class that equals `bool`, and whose subscripts are tensors: a union may contain both.

    No subclass of `bool` can be created.
    """

    class Bool(type):
        def __getitem__(cls, extents: Any) -> Any:
            return tensor_of[extents]

        def __eq__(cls, other: object) -> bool:
            return other is bool or other is cls

        def __hash__(cls) -> int:
            return hash(bool)

        def __repr__(cls) -> str:
            return repr(bool)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, bool)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, bool)

        def __call__(cls, *args: Any) -> bool:
            return bool(*args)

    return Bool("bool", (), {"__module__": "builtins"})
