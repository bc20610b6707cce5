"""Signatures and docstrings of the methods of public classes, which are the same in both modes."""

from __future__ import annotations

import inspect
from types import MappingProxyType
from typing import Any

from support import cpython_only

_CLASSES = (
    *("Object", "Function", "Module", "Tensor", "Array", "Shape", "List"),
    *("Map", "Dict", "FrozenSet", "Set"),
)


def _classes_of(ffi: Any) -> dict[str, type]:
    """Return the public classes, and those of iterators and views, by name."""
    mapping, proxy = ffi.Dict({1: 2}), ffi.convert(MappingProxyType({1: 2}))
    views = [view for x in (mapping, proxy) for view in (x.keys(), x.values(), x.items())]
    iterators = [iter(x) for x in (mapping, ffi.List([1]), ffi.Array((1,)), ffi.Set([1]), *views)]
    found = [getattr(ffi, name) for name in _CLASSES] + [type(x) for x in (*views, *iterators)]
    return {cls.__name__: cls for cls in found}


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError) as error:
        return type(error).__name__


#: Attributes that only classes written in Python have.
_OF_PYTHON = (
    *(
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__dict__",
        "__firstlineno__",
        "__module__",
    ),
    *("__slots__", "__static_attributes__", "__weakref__"),
)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name not in _OF_PYTHON)


def test_signatures_and_docstrings(both: Any) -> None:
    def describe(ffi: Any) -> dict[str, Any]:
        found = {}
        for name, cls in _classes_of(ffi).items():
            found[name] = _signature(cls), cls.__doc__, cls.__module__, cls.__qualname__
            for key in filter(_is_public, dir(cls)):
                member = getattr(cls, key)
                shown = (_signature(member) if callable(member) else None), getattr(member, "__doc__", None)
                found[f"{name}.{key}"] = (*shown, getattr(member, "__name__", None))
        return found

    cython, ctypes = map(describe, both)
    assert {
        k: (cython.get(k), ctypes.get(k)) for k in cython.keys() | ctypes if cython.get(k) != ctypes.get(k)
    } == {}
    assert len(cython) > 500


@cpython_only("PyPy's builtins have other parameter names")
def test_signatures_are_those_of_builtins(ffi: Any) -> None:
    signatures = {
        key: _signature(getattr(ffi.List, key)) for key in ("__len__", "__eq__", "__setitem__", "__iadd__")
    }
    assert signatures == {
        "__len__": "(self, /)",
        "__eq__": "(self, value, /)",
        "__setitem__": "(self, key, value, /)",
        "__iadd__": "(self, value, /)",
    }
    assert _signature(ffi.Dict().__contains__) == "(key, /)"
    assert _signature(ffi.Array) == _signature(ffi.FrozenSet) == "(iterable=(), /)"
    assert _signature(ffi.Map) == "(*mapping, **pairs)"
    assert _signature(ffi.Function.__call__) == "(self, /, *args, **kwargs)"
    assert ffi.List.__len__.__doc__ == "Return len(self)."
