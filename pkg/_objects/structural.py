"""How fields and objects of dataclasses are compared by structure."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any
from .fields import option_of

__all__ = ["KEY", "require_word", "set_structure"]

#: Key of the option in a field's metadata.
KEY = "anyffi.structural"

_OF_FIELDS = ("plain", "ignore", "identity", "defines", "declares")
_OF_CLASSES = ("plain", "identity", "variable", "dag")


def require_word(word: Any, *, of_field: bool) -> None:
    """Raise ValueError for an unknown option."""
    known = _OF_FIELDS if of_field else _OF_CLASSES
    if word not in known:
        shown = ", ".join(map(repr, known[:-1]))
        what = "field" if of_field else "class"
        raise ValueError(f"`structural` of a {what} is {shown} or {known[-1]!r}, not {word!r}")


def set_structure(runtime: Any, type_code: int, fields: Any, own: str | None) -> None:
    """Set how the fields and objects of a type are compared, replacing former settings."""
    runtime.structure_reset(type_code)
    for field in fields:
        word = option_of(field, KEY)
        if word is not None:
            runtime.structure_set(type_code, field.name, word)
    if own is not None:
        runtime.structure_set(type_code, None, own)
