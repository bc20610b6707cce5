"""Text of parameters and docstrings in a stub."""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Iterator
from typing import Any

from .._rules import keywords

__all__ = ["PLAIN", "SELF", "docstring", "parameter_texts", "printable"]

#: Classes of values that a stub repeats, as defaults, or names, as the types of variables.
PLAIN = (bool, int, float, str, bytes)

SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def printable(text: str) -> str:
    """Return a text on one line, with characters escaped that a source file cannot have."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def docstring(doc: object, indent: str) -> Iterator[str]:
    """Return the lines of a docstring; none if it is not text."""
    if not isinstance(doc, str) or not doc:
        return
    # Python 3.13 rejects lone surrogates in docstrings, also escaped.
    encoded = str.__str__(doc).encode("utf-8", "backslashreplace").decode("utf-8")
    lines = inspect.cleandoc(encoded).replace("\\", "\\\\").split("\n")
    text = "\n".join(map(printable, lines))
    if '"""' in text or text.endswith('"'):
        text = text.replace('"', '\\"')
    first, *others = text.split("\n")
    for line in [f'"""{first}', *others, '"""'] if others else [f'"""{first}"""']:
        yield f"{indent}{line}".rstrip()


def parameter_texts(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Return the parameters of a `def`, where no default precedes a required one."""
    required = [i for i, p in enumerate(parameters) if p.default is p.empty and p.kind in _POSITIONAL]
    last_required = max(required, default=-1)
    before: Any = None
    for index, parameter in enumerate(parameters):
        kind = parameter.kind
        if before is parameter.POSITIONAL_ONLY and kind is not before:
            yield "/"
        if kind is parameter.KEYWORD_ONLY and before not in (kind, parameter.VAR_POSITIONAL):
            yield "*"
        before = kind
        star = "*" if kind is parameter.VAR_POSITIONAL else "**" if kind is parameter.VAR_KEYWORD else ""
        text = f"{star}{parameter.name}"
        has_type = parameter.annotation is not parameter.empty
        if has_type:
            text += f": {parameter.annotation}"
        if parameter.default is not parameter.empty and index > last_required:
            text += f" = {_default(parameter)}" if has_type else f"={_default(parameter)}"
        yield text
    if before is inspect.Parameter.POSITIONAL_ONLY and parameters != [SELF]:
        yield "/"


def _default(parameter: inspect.Parameter) -> str:
    """Return the value, if it is a literal of the parameter's type."""
    value = parameter.default
    if type(value) is float and not math.isfinite(value):
        return "..."
    if isinstance(value, enum.Enum):
        return _member(value, str(parameter.annotation).split(" | "))
    fits = {"None"} if value is None else {type(value).__name__} if type(value) in PLAIN else set()
    if type(value) is int:
        fits.add("float")
    types = {member.rpartition(".")[2] for member in str(parameter.annotation).split(" | ")}
    return repr(value) if fits & types or (fits and types & {"Any", "object"}) else "..."


def _member(member: enum.Enum, types: list[str]) -> str:
    """Return a member of an enumeration whose class is one of the types; no combination of flags."""
    cls = type(member)
    name = next((name for name in cls.__members__ if cls.__members__[name] is member), "")
    of = next((each for each in types if each.rpartition(".")[2] == cls.__name__), None)
    return f"{of}.{name}" if of and keywords.is_name(name) else "..."
