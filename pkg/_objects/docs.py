"""`__doc__`, `__annotations__`, `__globals__` and `__signature__` of functions, and `__doc__` of modules.

These are descriptors, because the classes have attributes with the same names.
"""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._rules import keywords
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature
    from typing import Protocol

    from .runtime import Runtime
    from .signatures import Described

    class Function(Described, Protocol):
        """A function that is documented."""

        _anyffi_runtime: Runtime

    class Module(Protocol):
        """A module that is documented."""

        _anyffi_runtime: Runtime
        #: The classes of the module's backend, which imports this module.
        _anyffi_classes: Any

        def get_function(self, name: str) -> Function: ...


__all__ = [
    "ConstructorAnnotations",
    "FunctionAnnotations",
    "FunctionDoc",
    "FunctionGlobals",
    "ModuleDoc",
    "signature",
    "signature_of_constructor",
    "signature_of_method",
]


def _signatures() -> Any:
    # Imported late: `inspect` would take a fifth of this package's import time.
    from . import signatures

    return signatures


def signature(function: Function) -> Signature:
    """Return the signature for `inspect`."""
    shown: Signature = _signatures().signature(function)
    return shown


def signature_of_method(method: Any) -> Signature:
    """Return the signature of a method."""
    shown: Signature = _signatures().signature_of_method(method)
    return shown


def signature_of_constructor(function: Any) -> Signature:
    """Return the signature of an `__init__`."""
    shown: Signature = _signatures().signature_of_constructor(function)
    return shown


class FunctionAnnotations(dict):  # type: ignore[type-arg]  # of the class: `typing` looks into its `__dict__`
    """`__annotations__`: empty for the class, type names for each function."""

    def __get__(self, function: Function | None, owner: type) -> dict[str, str]:
        if function is None:
            return {}
        annotations: dict[str, str] = _signatures().annotations_of(function)
        return annotations


class FunctionGlobals:
    """`__globals__` of each function: the objects that the names in its annotations refer to."""

    def __get__(self, function: Any, owner: type) -> Any:
        if function is None:
            return self
        # Imported late, as above.
        from .hints import namespace_of

        owned = getattr(function, "_function", function)
        return namespace_of(function.__annotations__, owned._anyffi_classes)


class ConstructorAnnotations:
    """`__annotations__` of the class and of each constructor."""

    def __get__(self, constructor: Any, owner: type) -> dict[str, str]:
        if constructor is None:
            return {}
        annotations: dict[str, str] = _signatures().annotations_of(constructor._function)
        return {**annotations, "return": "None"}


class FunctionDoc:
    """`__doc__` of the class and of each function."""

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, function: Function | None, owner: type) -> str | None:
        if function is None:
            return self._of_class
        doc = function._anyffi_doc()
        if doc is ...:
            return "\n\n".join(_described(overload.__name__, overload) for overload in function.overloads)
        shown: str | None = doc
        return shown


class ModuleDoc:
    """`__doc__` of the class and of each module, which lists its classes, functions and constants."""

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, module: Module | None, owner: type) -> str | None:
        if module is None:
            return self._of_class
        names = module._anyffi_runtime.module_list(module)
        functions = {name: module.get_function(name) for name in names if not name.endswith(".__doc__")}
        constants = {name for name in functions if keywords.is_constant(functions[name]._anyffi_info())}
        parts = []
        # A function hides a class with the same name.
        classes = sorted({*module._anyffi_runtime.module_list_classes(module)} - functions.keys())
        if classes:
            parts += ["Classes:", *(_described_class(module, name) for name in classes)]
        for title, listed in (("Functions:", functions.keys() - constants), ("Constants:", constants)):
            if listed:
                parts += [title, *(_described(name, functions[name]) for name in sorted(listed))]
        return "\n\n".join(parts) or self._of_class


def _described_class(module: Module, name: str) -> str:
    """Return the name of a class and its bases and, indented, its documentation."""
    cls: type = module._anyffi_classes.class_of(module._anyffi_runtime.module_find_class(module, name))
    bases = ", ".join(base.__qualname__ for base in cls.__bases__)
    return _with_doc(f"{name}({bases})", cls.__dict__.get("__doc__"))


def _described(name: str, function: Function) -> str:
    """Return a function's signature and, indented, its documentation."""
    info = function._anyffi_info()
    if keywords.is_overloaded(info):
        return function.__doc__ or ""
    is_typed = info is not None and not info[4] & keywords.VARIADIC
    if info is not None and keywords.is_constant(info):
        shown = f"{name}: {info[5]}"
    else:
        shown = (
            function._anyffi_runtime.function_signature(function)
            if is_typed
            else f"{name}{signature(function)}"
        )
    return _with_doc(shown, function.__doc__)


def _with_doc(shown: str, doc: str | None) -> str:
    lines = _signatures().cleandoc(doc or "").splitlines()
    return "\n".join([shown, *[f"    {line}".rstrip() for line in lines]])
