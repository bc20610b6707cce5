"""The public classes of the backend that FFI_MODE chose; `_public.pyi` is for type checkers."""

from __future__ import annotations

from ._backend import backend

__all__ = [
    "Array",
    "Dict",
    "FrozenSet",
    "Function",
    "List",
    "Map",
    "Module",
    "Object",
    "Set",
    "Shape",
    "Tensor",
]

Object = backend.Object
Function = backend.Function
Module = backend.Module
Array = backend.Array
Shape = backend.Shape
List = backend.List
Map = backend.Map
Dict = backend.Dict
Set = backend.Set
FrozenSet = backend.FrozenSet
Tensor = backend.Tensor
