"""Classes of Python's `enum` for the enumerations that C++ describes."""

from __future__ import annotations

import enum

from .._builtins import __builtins__  # noqa: F401
from .._pickling import unpickle_member
from .._typing import Any

__all__ = ["make_enumeration"]

#: By type code; shared by all backends.
_made: dict[int, Any] = {}


def make_enumeration(type_code: int, key: str, doc: str | None, members: Any) -> Any:
    """Return the class of an enumeration, which is made once.

    Parameters
    ----------
    type_code : int
        Of the enumeration.
    key : str
        Of the type.
    doc : str or None
        Of the enumeration.
    members : sequence
        Of each the name, the name of the base class in `enum`, the docstring or None, and the value.
    """
    if type_code not in _made:
        module, _, name = key.rpartition(".")
        base: Any = getattr(enum, members[0][1])
        pairs = [(_allowed(member), value) for member, _, _, value in members]
        cls = base(name, pairs, module=module or "anyffi.objects", qualname=name)
        of_members = [f"{_allowed(member)}\n    {text}" for member, _, text, _ in members if text]
        cls.__doc__ = "\n\n".join(filter(None, [doc, "\n".join(of_members)])) or None
        cls._type_key = key
        cls.__reduce_ex__ = _reduce
        _made.setdefault(type_code, cls)
    return _made[type_code]


def _reduce(self: Any, protocol: int) -> tuple[Any, ...]:
    # The class has no place that `import` finds.
    return unpickle_member, (self._type_key, int(self))


def _allowed(name: str) -> str:
    """Return a name that `enum` accepts for a member."""
    return name + "_" if name == "mro" or (name[:1] == name[-1:] == "_") else name
