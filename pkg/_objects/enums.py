"""Python's `enum` classes: for C++ enumerations, and as types of fields."""

from __future__ import annotations

import enum
import keyword

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_value
from .._rules.conversions import enumeration_codes
from .._rules.internal import Opaque
from .._typing import Any, Callable
from .defaults import namespace_of_key

__all__ = ["describe_enumeration", "made_enumerations", "make_enumeration"]

#: By type code; shared by all backends.
made_enumerations: dict[int, Any] = {}


def make_enumeration(type_code: int, key: str, doc: str | None, members: Any, place: tuple[str, str]) -> Any:
    """Return the class of an enumeration, creating it at the first call.

    Parameters
    ----------
    type_code : int
        The code of the enumeration.
    key : str
        The type's key.
    doc : str or None
        The docstring of the enumeration.
    members : sequence
        For each member: its name, the name of its base class in `enum`, its docstring or None, and its value.
    place : tuple of str
        The module and the name of the class.
    """
    if type_code not in made_enumerations:
        base: Any = getattr(enum, members[0][1])
        names = _allowed([member for member, _, _, _ in members])
        pairs = [(name, value) for name, (_, _, _, value) in zip(names, members)]
        of_members = [f"{name}\n    {text}" for name, (_, _, text, _) in zip(names, members) if text]
        text = "\n\n".join(filter(None, [doc, "\n".join(of_members)])) or None
        cls = base(key.rpartition(".")[2], pairs)
        methods = {"__reduce_ex__": _reduce, "__repr__": _remembering_repr(base)}
        attributes = {**namespace_of_key(key, text, place), **methods}
        for name, value in zip(attributes, attributes.values()):
            setattr(cls, name, value)
        made = made_enumerations.setdefault(type_code, cls)
        enumeration_codes[id(made)] = type_code
    return made_enumerations[type_code]


def describe_enumeration(cls: Any, only: tuple[Any, ...] = ()) -> list[Any]:
    """Return the runtime's values for the members of an enumeration that derives from a builtin.

    Parameters
    ----------
    cls : type
        The enumeration.
    only : tuple, optional
        The members that are accepted; by default all of them.

    Returns
    -------
    list
        A function that returns the member for any other value of flags, or None; then each member as its
        value and as the object, in turn.
    """
    is_open = issubclass(cls, enum.Flag) and not only
    described: list[Any] = [(lambda x: Opaque(cls(x))) if is_open else None]
    # Iteration leaves out named combinations of flags.
    for member in dict.fromkeys(only or cls.__members__.values()):
        described += [member, Opaque(member)]
    return described


def _reduce(self: Any, protocol: int) -> tuple[Any, ...]:
    # The class cannot be imported by name.
    return unpickle_value, (self._anyffi_type_key, int(self))


def _remembering_repr(base: Any) -> Callable[[Any], str]:
    """Return a `__repr__` for an `enum` class whose own one takes four times as long."""
    texts: dict[int, str] = {}

    def __repr__(self: Any) -> str:
        text = texts.get(self._value_)
        if text is None:
            text = texts[self._value_] = base.__repr__(self)
        return text

    __repr__.__qualname__ = base.__repr__.__qualname__
    return __repr__


def _allowed(names: list[str]) -> list[str]:
    """Return names that `enum` accepts for members, and that can follow a dot in code."""
    allowed = []
    for name in names:
        if name == "mro" or name[:1] == name[-1:] == "_" or keyword.iskeyword(name):
            name += "_"
            while name in names:
                name += "_"
        allowed.append(name)
    return allowed
