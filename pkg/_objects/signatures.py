"""Signatures of functions for `inspect`, imported when they are first needed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import EnumMeta
from itertools import chain
from typing import Any, Protocol

from .. import _current
from .._builtins import *  # noqa: F403
from .._rules import keywords
from .._rules.device import Device
from .._rules.dtype import dtype
from .._rules.internal import MISSING

__all__ = [
    "Described",
    "OverloadedSignature",
    "annotations_of",
    "cleandoc",
    "signature",
    "signature_of_constructor",
    "signature_of_method",
]

cleandoc = inspect.cleandoc


class Described(Protocol):
    """The members of a function that this module reads."""

    @property
    def __name__(self) -> str: ...

    @property
    def overloads(self) -> tuple[Any, ...]: ...

    def _anyffi_info(self) -> keywords.Info | None: ...

    def _anyffi_doc(self) -> Any: ...


def signature(function: Described) -> inspect.Signature:
    """Return the signature for `inspect`."""
    info = function._anyffi_info()
    if keywords.is_overloaded(info):
        return OverloadedSignature([signature(overload) for overload in function.overloads])
    return _of_info(info)


def signature_of_method(method: Described) -> inspect.Signature:
    """Return the signature of a method, whose first parameter needs no annotation."""
    return _with_self(signature(method), 1)


def signature_of_constructor(function: Described) -> inspect.Signature:
    """Return the signature of an `__init__` from a function that creates objects."""
    return _with_self(signature(function), 0, return_annotation=None)


def _with_self(shown: inspect.Signature, first: int, **changes: Any) -> inspect.Signature:
    """Return a signature with `self` instead of the first parameters."""
    if isinstance(shown, OverloadedSignature):
        return OverloadedSignature([_with_self(one, first, **changes) for one in shown.all])
    others = list(shown.parameters.values())[first:]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(other.kind is inspect.Parameter.POSITIONAL_ONLY for other in others):
        own = own.replace(kind=inspect.Parameter.POSITIONAL_ONLY)
    parameters = [own, *others]
    return shown.replace(parameters=parameters, **changes)


def _of_info(info: keywords.Info | None) -> inspect.Signature:
    """Return the signature; parameters whose names are not valid in Python are positional-only."""
    if info is None:
        return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    _, _, params, _, flags, result, _ = info
    num_positional = keywords.num_positional(info)
    names = [name if name is not None and keywords.is_name(name) else None for name, *_ in params]
    unnamed_end = max((index + 1 for index, name in enumerate(names) if name is None), default=0)
    shown = [
        inspect.Parameter(
            names[index] or keywords.placeholder(info, index),
            inspect.Parameter.POSITIONAL_ONLY
            if index < unnamed_end
            else inspect.Parameter.POSITIONAL_OR_KEYWORD
            if index < num_positional
            else inspect.Parameter.KEYWORD_ONLY,
            default=shown_default(param),
            annotation=inspect.Parameter.empty if param[3] is None else param[3],
        )
        for index, param in enumerate(params)
    ]
    if flags & keywords.VARIADIC:
        shown.append(inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL))
    return inspect.Signature(
        shown,
        return_annotation=inspect.Signature.empty if result is None else result,
        # In C++, a required parameter may follow an optional one.
        __validate_parameters__=False,
    )


class OverloadedSignature(inspect.Signature):
    """The signature of an overloaded function: accepts any arguments, and lists all signatures as text."""

    __slots__ = ("all",)

    def __init__(self, overloads: Sequence[inspect.Signature]) -> None:
        super().__init__(
            [
                inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
                inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
            ]
        )
        self.all: tuple[Any, ...] = tuple(overloads)

    def replace(self, **changes: Any) -> OverloadedSignature:
        """Return the signatures without `self`: `inspect` calls this for bound methods and classes."""
        bound = []
        for one in self.all:
            first, *others = one.parameters.values() or (None,)
            has_self = first is not None and first.name == "self"
            bound.append(one.replace(parameters=others) if has_self else one)
        return OverloadedSignature(bound)

    def __str__(self) -> str:
        return " | ".join(map(str, self.all))

    def format(self, **options: Any) -> str:
        """Return the text that `help` shows, from Python 3.13 on."""
        return " | ".join(overload.format(**options) for overload in self.all)


# ---- defaults ----


class _Text:
    """Represents a default without a Python literal, or one that a call could change: its text, or `...`."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "...") -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, _Text) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)


#: Immutable classes.
_FIXED = (type(None), bool, int, float, complex, str, bytes, type(...), dtype, Device)


def shown_default(param: keywords.Param) -> Any:
    """Return a copy of a default, so that changing it does not affect calls."""
    _, has_default, default, annotation = param
    if not has_default:
        return inspect.Parameter.empty
    if type(default) is int and annotation is not None and annotation != "int":
        return _member_of(annotation, default)
    if default is MISSING:
        return _Text()
    try:
        copied = _current.api.to_python(default)
        return copied if _is_apart(copied) else _Text(_text_of(copied))
    except RecursionError:
        return _Text()


#: Longer texts of defaults are not shown.
_LONGEST_TEXT = 80


def _text_of(x: Any) -> str:
    """Return an expression for an equal value, if the `repr` is one; else the class, or `...`."""
    try:
        text = repr(x)
        ast.parse(text, mode="eval")
    except Exception:
        # An object of a C++ class, or no valid expression.
        text = ""
    if text and len(text) <= _LONGEST_TEXT and "\n" not in text:
        return text
    key = getattr(type(x), "_anyffi_type_key", None)
    return "..." if key is None else f"{key}(...)"


def _member_of(annotation: str, number: int) -> Any:
    """Return the member for a number; the number itself if there is none, or if ints are accepted."""
    keys = annotation.split(" | ")
    # A variant that accepts int holds the number.
    for key in () if "int" in keys else keys:
        cls = _current.api._classes.find_class(key)
        if isinstance(cls, EnumMeta):
            try:
                return cls(number)
            except ValueError:
                continue  # another enumeration, or no member
    return number


def _is_apart(copied: Any) -> bool:
    """Return whether all parts of `to_python`'s result are copies or immutable."""
    parts: Any = ()
    if isinstance(copied, slice):
        parts = copied.start, copied.stop, copied.step
    elif type(copied) in (tuple, list) or isinstance(copied, AbstractSet):
        parts = copied
    elif isinstance(copied, Mapping):
        parts = chain(copied.keys(), copied.values())
    else:
        return isinstance(copied, _FIXED)
    return all(map(_is_apart, parts))


def annotations_of(function: Described) -> dict[str, str]:
    """Return the type names of parameters and result, where they are known."""
    shown = signature(function)
    found = {parameter.name: parameter.annotation for parameter in shown.parameters.values()}
    found["return"] = shown.return_annotation
    return {name: found[name] for name in found if found[name] is not inspect.Signature.empty}
