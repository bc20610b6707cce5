"""The names of Python callables that C++ calls."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType

from .._builtins import *  # noqa: F403
from .._objects import overrides
from .._typing import Any
from .rendering import name_of_class

__all__ = ["describe_callable"]

_VARIADIC, _KEYWORDS = 4, 8  # of a code object's flags


def describe_callable(f: Any, args: tuple[Any, ...]) -> tuple[str, str | None] | None:
    """Return name and signature of a callable; None for one of the package itself. Runs no users' code."""
    if type(f) is partial:
        f = f.func
    if type(f) is FunctionType and f.__code__ is overrides.CALLER:
        return f"{name_of_class(type(args[0]))}.{f.__name__}", None
    if type(f) is MethodType:
        f = f.__func__
    if type(f) not in (FunctionType, BuiltinFunctionType):
        return name_of_class(f if issubclass(type(f), type) else type(f)), None
    name, module = f.__qualname__, f.__module__
    if type(module) is str and module.startswith("anyffi._"):
        return None
    shown = f"{module}.{name}" if type(module) is str else str.__str__(name)
    return shown, f"{name}({_parameters(f)})" if type(f) is FunctionType else None


def _parameters(f: FunctionType) -> str:
    code = f.__code__
    if type(code) is not CodeType:
        # A builtin function of PyPy.
        return "..."
    names = list(code.co_varnames)
    count = code.co_argcount
    shown, rest = names[:count], names[count + code.co_kwonlyargcount :]
    only_named = names[count : count + code.co_kwonlyargcount]
    if code.co_flags & _VARIADIC:
        shown.append("*" + rest.pop(0))
    elif only_named:
        shown.append("*")
    shown += only_named
    if code.co_flags & _KEYWORDS:
        shown.append("**" + rest.pop(0))
    return ", ".join(shown)
