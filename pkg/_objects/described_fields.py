"""The fields of classes of C++, as `dataclasses` describes those of its classes."""

from __future__ import annotations

import sys
from functools import partial

from .._builtins import *  # noqa: F403
from .._rules import keywords
from .._typing import Any
from .fields import Field
from .methods import Constructor, no_constructor

__all__ = ["described_fields"]


def described_fields(cls: Any) -> tuple[Any, ...]:
    """Return the fields of a class of C++, those of the bases first; the same objects each time."""
    found = {}
    for base in reversed(cls.__mro__):
        for name in base.__dict__.get("_anyffi_field_names", ()):
            value = base.__dict__.get(name)
            if isinstance(value, Field):
                found[name] = value
    if not found:
        return ()
    constructor = _constructor_of(cls)
    # A library that is loaded again replaces the members of its classes.
    sources = (constructor, *found.values())
    known = cls.__dict__.get("_anyffi_fields")
    if known is None or known[0] != sources:
        known = (sources, _described(found, constructor))
        type.__setattr__(cls, "_anyffi_fields", known)
    fields: tuple[Any, ...] = known[1]
    return fields


def _constructor_of(cls: type) -> Constructor | None:
    for base in cls.__mro__:
        member = base.__dict__.get("__init__")
        if isinstance(member, Constructor):
            return member
        if member is no_constructor:
            break
    return None


def _described(found: dict[str, Field], constructor: Constructor | None) -> tuple[Any, ...]:
    """Return the fields, and what the longest overload of a constructor says of parameters of their names."""
    import dataclasses

    params = {}
    if constructor is not None:
        info = max(constructor._infos(), key=_num_params, default=None)
        if info is not None:
            num_positional = keywords.num_positional(info)
            for index, row in enumerate(info[2]):
                params[row[0]] = (index >= num_positional, row)
    fields = []
    for name, member in zip(found, found.values()):
        made = dataclasses.field(init=name in params)
        made.name, made.type = name, member.type_name
        is_keyword, row = params.get(name, (False, None))
        if row is not None and row[1]:
            _set_default(made, row)
        if sys.version_info >= (3, 10):
            made.kw_only = is_keyword
        fields.append(made)
    return tuple(fields)


def _set_default(field: Any, param: keywords.Param) -> None:
    """Set the default of a parameter as signatures show it: a copy, if it can change."""
    from .signatures import shown_default

    default = shown_default(param)
    try:
        hash(default)
    except TypeError:
        field.default_factory = partial(shown_default, param)
    else:
        field.default = default


def _num_params(info: keywords.Info) -> int:
    return len(info[2])
