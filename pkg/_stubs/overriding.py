"""Members of C++ classes that type checkers refuse beside others of the class or its bases.

C++ hides the function of a base by any other one of its name, `a *= b` need not take what `a * b` takes, and
`a == b` may be an expression.
The stub has a comment for type checkers wherever they may refuse this.
"""

from __future__ import annotations

import re
from typing import Any

from .._objects.fields import Field
from .._objects.members import Constant, Property
from .._objects.static_properties import StaticProperty
from .bound import overloads_of
from .overloads import arrange, takes_more

#: The stub that is written, in stub.py.
_Stub = Any

__all__ = ["ignore_conflicts"]

_IN_PLACE = re.compile(r"__i(add|sub|mul|matmul|truediv|floordiv|mod|pow|lshift|rshift|and|or|xor)__$")
_FORWARD = re.compile(r"__(add|sub|mul|matmul|truediv|floordiv|mod|divmod|pow|lshift|rshift|and|or|xor)__$")


def ignore_conflicts(stub: _Stub, cls: type, name: str, lines: list[str]) -> list[str]:
    """Return the lines of a member, with the comment that type checkers need if it conflicts with another."""
    codes = sorted(_conflicts(stub, cls, name)) if lines and name != "__init__" else []
    if not codes:
        return lines
    # mypy reports at the `def`, but at the first line of what has several definitions or lacks a setter.
    heads = [i for i, line in enumerate(lines) if line.lstrip().startswith("def ")]
    lacks_setter = codes == ["misc"] and not _IN_PLACE.match(name)
    place = heads[0] if len(heads) == 1 and not lacks_setter else 0
    # Checkers do not agree on all conflicts.
    lines[place] += f"  # type: ignore[{', '.join(codes)}, unused-ignore]"
    return lines


def _conflicts(stub: _Stub, cls: type, name: str) -> set[str]:
    """Return mypy's codes of the errors that a member may be."""
    in_place = _IN_PLACE.match(name)
    plain = f"__{in_place[1]}__" if in_place else name
    codes = set()
    if name in ("__eq__", "__ne__") and _returns_other_than_bool(stub, name, vars(cls)[name]):
        codes.add("override")  # of those of `object`
    for base in cls.__mro__:
        if base not in stub.names:
            continue
        if in_place and plain in vars(base) and not _fits_plain(stub, cls, name, base, plain):
            codes.add("misc")
        for inherited in {name, plain}:
            if base is not cls and inherited in vars(base):
                codes.add(_conflict(stub, name, vars(cls)[name], inherited, vars(base)[inherited]))
    return codes - {""}


def _returns_other_than_bool(stub: _Stub, name: str, value: Any) -> bool:
    shown = _shown(stub, name, value)
    return shown is not None and any(overload.result not in ("bool", "Any") for overload in shown)


def _fits_plain(stub: _Stub, cls: type, name: str, base: type, plain: str) -> bool:
    ours, theirs = _shown(stub, name, vars(cls)[name]), _shown(stub, plain, vars(base)[plain])
    is_one = (ours is not None and len(ours) > 1) == (theirs is not None and len(theirs) > 1)
    return is_one and takes_more(ours or [], theirs or [], stub.classes_by_name(), returns_less=False)


def _conflict(stub: _Stub, name: str, value: Any, inherited: str, former: Any) -> str:
    """Return the code of the error that a member may be because of one of a base; empty if it is none."""
    ours, theirs = _shown(stub, name, value), _shown(stub, inherited, former)
    if isinstance(value, (Constant, StaticProperty)):
        is_same = isinstance(former, (Constant, StaticProperty)) and value.type_name == former.type_name
        return "" if is_same or isinstance(former, (Field, Property)) else "assignment"
    if isinstance(value, (Field, Property)) and isinstance(former, (Field, Property)):
        if value.type_name != former.type_name:
            return "override"
        return "misc" if value.fset is None and former.fset is not None else ""
    if ours is None or theirs is None:
        return "override"
    if isinstance(former, staticmethod) and not isinstance(value, staticmethod):
        return "override"
    if len(ours) > 1 and _FORWARD.match(name):
        return "override"
    return "" if takes_more(ours, theirs, stub.classes_by_name()) else "override"


def _shown(stub: _Stub, name: str, value: Any) -> Any:
    """Return the overloads that the stub has of a function; None for another member."""
    found = overloads_of(stub, name, value)
    return found and (arrange(found, stub.classes_by_name()) if len(found) > 1 else found)
