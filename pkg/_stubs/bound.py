"""Stubs of the members of C++ classes."""

from __future__ import annotations

import enum
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any

from .._objects.exceptions import attributes_of
from .._objects.fields import Field
from .._objects.members import Constant, NestedClass, Property
from .._objects.methods import Constructor, MethodMethods
from .._objects.static_properties import StaticProperty
from .._public import Function, Object
from .._rules import keywords
from .overloads import Overload
from .text import SELF, docstring

#: The stub that is written, in stub.py.
_Stub = Any

__all__ = ["describe_foreign", "describe_member", "nested_classes", "overloads_of", "type_keys"]

_SELF = SELF.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: The annotation of a field is that of a result; these are what parameters accept for copied containers.
_PARAMETERS = {"list": "Sequence", "dict": "Mapping", "set": "AbstractSet"}
_COPIED = re.compile(r"\b(list|dict|set)\[")
#: Methods whose parameter is any object, like those of `object`.
_COMPARE_ANY = ("__eq__", "__ne__")


def type_keys(classes: dict[type, str]) -> dict[str, str]:
    """Return the names of classes made for types of C++, by the keys of these types."""
    shown = (Object, enum.Enum)
    found = (
        (cls.__dict__.get("_anyffi_type_key"), name)
        for cls, name in classes.items()
        if issubclass(cls, shown)
    )
    return {key: name for key, name in found if key is not None}


def nested_classes(name: str, cls: type) -> Iterator[tuple[type, str]]:
    """Return the classes nested in one of that name, at any depth, and how the stub calls them."""
    for member, value in vars(cls).items():
        if isinstance(value, NestedClass):
            nested = value.__get__(None)
            yield nested, f"{name}.{member}"
            yield from nested_classes(f"{name}.{member}", nested)


def describe_foreign(stub: _Stub, name: str, cls: Any) -> Iterator[str] | None:
    """Return the lines for an enumeration or an exception class of C++; None for another class."""
    if "_anyffi_type_key" not in vars(cls):
        return None
    if issubclass(cls, enum.Enum):
        return _enumeration(stub, name, cls)
    return _exception(stub, name, cls) if issubclass(cls, BaseException) else None


def _exception(stub: _Stub, name: str, cls: Any) -> Iterator[str]:
    base = next(each for each in cls.__mro__[1:] if each in stub.names or each.__module__ == "builtins")
    shown = stub.names.get(base) or stub.annotations.shorten(f"builtins.{base.__name__}")
    lines = [*docstring(cls.__doc__, "    ")]
    for attribute, kind, text, *_ in cls.__dict__.get("_attributes", ()):
        lines.append(f"    {attribute}: {stub.annotations.given(kind)}")
        lines.extend(docstring(text, "    "))
    if "_attributes" in vars(cls):
        anything = stub.annotations.shorten("builtins.object")
        parameters = [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL, annotation=anything)]
        for attribute, kind in attributes_of(cls).items():
            annotation = stub.annotations.given(kind)
            key = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(attribute, key, default=..., annotation=annotation))
        lines.extend(stub.define("__init__", [_SELF, *parameters], "None", None, "    "))
    yield f"class {name}({shown}):" + ("" if lines else " ...")
    yield from lines


def _enumeration(stub: _Stub, name: str, cls: Any) -> Iterator[str]:
    base = enum.IntFlag if issubclass(cls, enum.Flag) else enum.IntEnum
    yield f"class {name}({stub.annotations.shorten(f'enum.{base.__name__}')}):"
    lines = [*docstring(cls.__doc__, "    ")]
    for member, value in cls.__members__.items():
        if keywords.is_name(member):
            # Python accepts members such as `name`, which type checkers mistake for attributes of int and
            # Enum.
            hides = any(member in vars(c) for c in base.__mro__)
            comment = "  # type: ignore[assignment, unused-ignore]" if hides else ""
            lines.append(f"    {member} = {int(value)}{comment}")
    yield from lines or ["    ..."]


def describe_member(stub: _Stub, name: str, value: Any, indent: str) -> Iterator[str] | None:
    """Return the lines for a member that C++ defines; None for another one."""
    if name in ("_anyffi_restore", "_anyffi_copied"):
        return iter(())
    if isinstance(value, (Field, Property)):
        return _property(stub, name, value, indent)
    if isinstance(value, (Constant, StaticProperty)):
        kind = stub.annotations.shorten("typing.ClassVar")
        shown = f"{indent}{name}: {kind}[{stub.annotations.given(value.type_name)}]"
        return iter([shown, *docstring(value.__doc__, indent)])
    if isinstance(value, NestedClass):
        return (f"{indent}{line}" if line else line for line in stub.declare_class(name, value.__get__(None)))
    overloads = overloads_of(stub, name, value)
    if overloads is None:
        is_own = str(getattr(value, "__module__", "")).startswith("anyffi._")
        return iter(()) if is_own else None
    is_static = isinstance(value, staticmethod)
    first = () if is_static else (_SELF,)
    lines: Iterator[str] = stub.define_overloads(name, overloads, indent, first, is_static)
    matched = vars(value.__objclass__).get("__match_args__") if isinstance(value, Constructor) else None
    return itertools.chain([f"{indent}__match_args__ = {matched!r}"], lines) if matched else lines


def overloads_of(stub: _Stub, name: str, value: Any) -> list[Overload] | None:
    """Return the overloads of a function that C++ defines, without the object; None for another member."""
    if isinstance(value, Constructor):
        return _overloads(stub, name, value._function, "None")
    if isinstance(value, staticmethod) and isinstance(value.__func__, Function):
        return _overloads(stub, name, value.__func__, is_static=True)
    method = getattr(value, "__wrapped__", value)
    if not isinstance(method, MethodMethods):
        return None
    is_any = name == "__iter__" and not _is_walk(method) and not _gives_iterator(stub, method)
    return _overloads(stub, name, method, stub.annotations.given("Iterator[Any]") if is_any else None)


def _is_walk(method: Any) -> bool:
    """Return whether C++ declares the elements of an iteration, instead of any iterable."""
    return str(method.__signature__.return_annotation).startswith("Iterator[")


def _gives_iterator(stub: _Stub, method: Any) -> bool:
    """Return whether a method is declared to return an object of a class with `__next__`."""
    result = stub.annotations.given(str(method.__signature__.return_annotation))
    return any(name == result and hasattr(cls, "__next__") for cls, name in stub.names.items())


def _property(stub: _Stub, name: str, value: Any, indent: str) -> Iterator[str]:
    given = stub.annotations.given(value.type_name)
    yield f"{indent}@{stub.annotations.shorten('builtins.property')}"
    yield from stub.define(name, [_SELF], given, value.__doc__, indent)
    if value.fset is not None:
        taken = stub.annotations.taken(_as_parameter(value))
        parameter = inspect.Parameter("value", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=taken)
        yield f"{indent}@{name}.setter"
        yield from stub.define(name, [_SELF, parameter], "None", None, indent)


def _as_parameter(value: Any) -> str | None:
    """Return the annotation of what a property can be set to."""
    if isinstance(value, Property):
        parameters = [*value.fset.__signature__.parameters.values()]  # type: ignore[union-attr]
        found = parameters[1].annotation
        return None if found is inspect.Parameter.empty else found
    return value.type_name and _COPIED.sub(lambda found: _PARAMETERS[found[1]] + "[", value.type_name)


def _overloads(
    stub: _Stub, name: str, function: Any, result: str | None = None, is_static: bool = False
) -> list[Overload]:
    """Return a function or its overloads; the first parameter of a method is the object."""
    is_method = not is_static and name != "__init__"
    overloads = []
    for each in function.overloads or (function,):
        parameters, given = stub.types_of(each, int(is_method))
        if is_method:
            parameters = _without_names(parameters)
        if name in _COMPARE_ANY:
            parameters[0] = parameters[0].replace(annotation=stub.annotations.shorten("builtins.object"))
        overloads.append(Overload(each, parameters, result or given))
    return overloads


def _without_names(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Make parameters without names in C++ private: `self` before them can be passed by name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        p.replace(name=f"__{p.name}", kind=kind) if p.kind is inspect.Parameter.POSITIONAL_ONLY else p
        for p in parameters
    ]
