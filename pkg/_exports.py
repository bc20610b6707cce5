"""Generates C++ code that exports functions, from the names and parameters given to `anyffi.cpp`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

__all__ = ["Functions", "exports", "split_functions"]

#: ``"add"`` or ``"add(a, b=1)"``, a sequence of these, or a mapping of these to docs.
Functions = Union[str, Sequence[str], Mapping[str, str], None]

_FUNCTION = re.compile(r"\s*(\w+)\s*(\(.*\))?\s*", re.DOTALL)
_USING_STD = re.compile(r"\busing\s+namespace\s+(::\s*)?std\b")
#: Bytes that must be escaped in a C++ string literal.
_UNSAFE = re.compile(rb'[^ -~]|["\\?]')


def exports(functions: Functions, code: str) -> str:
    """Return a line of C++ for each function of the code.

    Raises
    ------
    ValueError
        A name or a list of parameters cannot be parsed.
    TypeError
        Names or docs are not `str`.
    """
    if functions is None:
        return ""
    if isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, (Mapping, Sequence)):
        raise TypeError(f"functions must be a str, a sequence or a mapping, got {_type_name(functions)}")
    docs = functions if isinstance(functions, Mapping) else dict.fromkeys(functions, "")
    for text, doc in docs.items():
        if not isinstance(text, str):
            raise TypeError(f"functions to export are written as str, got {_type_name(text)}")
        if not isinstance(doc, str):
            raise TypeError(f"the doc of {text!r} must be a str, got {_type_name(doc)}")
        if "\0" in doc:
            raise ValueError(f"the doc of {text!r} has a null character in it")
    # `&apply` would be ambiguous with `using namespace std`. Only then: `&::gamma` could be a C function
    # rather than one in a namespace.
    scope = "::" if _USING_STD.search(code) else ""
    lines = ['#line 1 "functions to export"']
    for text, doc in docs.items():
        name, *parameters = _parse(text)
        lines.append(f"ANYFFI_EXPORT({', '.join([name, f'&{scope}{name}', *parameters])})")
        lines[-1] += f".doc({_quoted(doc)});" if doc else ";"
    return "\n".join(lines) + "\n"


def split_functions(line: str) -> list[str]:
    """Split a line of functions at spaces."""
    return re.findall(r"[^\s(]+(?:\s*\([^)]*\))?", line)


def _parse(text: str) -> list[str]:
    """Return the name of a function and its parameters in C++."""
    found = _FUNCTION.fullmatch(text)
    name = found[1] if found else ""
    if found is None or not name.isidentifier():
        raise ValueError(f"functions to export are written as 'name' or 'name(x, y=1)', got {text!r}")
    if found[2] is None:
        return [name]
    try:
        (definition,) = ast.parse(f"def {name}{found[2]}: pass").body
        if not isinstance(definition, ast.FunctionDef) or not isinstance(definition.body[0], ast.Pass):
            raise ValueError("the list ends before the last parenthesis")
        given = definition.args
        plain = [*given.args, *given.kwonlyargs]
        others = [*given.posonlyargs, given.vararg, given.kwarg]
        if any(others) or any(parameter.annotation for parameter in plain):
            raise ValueError("only names and defaults can be given; C++ has the types")
        if len({parameter.arg for parameter in plain}) < len(plain):
            raise ValueError("duplicate parameter name")
        defaults = [None] * (len(given.args) - len(given.defaults)) + [*given.defaults, *given.kw_defaults]
        shown = [_described(*each) for each in zip(plain, defaults)]
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"the parameters of {text!r} cannot be read: {error}") from None
    if given.kwonlyargs:
        shown.insert(len(given.args), "::anyffi::kw_only()")
    return [name, *shown]


def _described(parameter: ast.arg, default: ast.expr | None) -> str:
    """Return the C++ text of a parameter."""
    text = f'::anyffi::arg("{parameter.arg}")'
    return text if default is None else f"{text} = {_literal(ast.literal_eval(default))}"


def _type_name(x: object) -> str:
    return type(x).__name__


def _literal(value: Any) -> str:
    if value is None:
        return "nullptr"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -(2**63) < value < 2**63:
        return f"int64_t{{{value}}}"
    if isinstance(value, float) and math.isfinite(value):
        return value.hex()
    if isinstance(value, str) and "\0" not in value:
        return _quoted(value)
    raise ValueError(f"{value!r} cannot be a default: only None and C++'s bool, int, float and str can")


def _quoted(text: str) -> str:
    escaped = _UNSAFE.sub(lambda byte: b"\\%03o" % ord(byte[0]), text.encode())
    return f'"{escaped.decode()}"'
