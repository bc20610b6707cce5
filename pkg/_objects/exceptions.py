"""Exception classes for those that C++ declares."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_value
from .._rules.errors import class_of_kind, is_declared, register_declared
from .._rules.internal import MISSING
from .._typing import Any, Callable
from .defaults import namespace_of_key

__all__ = ["attributes_of", "find_base", "make_exception"]


#: By type code; shared by all backends.
_made: dict[int, Any] = {}


def make_exception(
    type_code: int, key: str, base: Any, doc: str | None, place: tuple[str, str], attributes: Any
) -> Any:
    """Return the exception class for a key: the one that users registered for the kind, or else a new one.

    Parameters
    ----------
    type_code : int
        The type's code.
    key : str
        The type's key, which is also the kind of its errors.
    base : type
        The base class.
    doc : str or None
        Its docstring.
    place : tuple of str
        The module and the name of the class.
    attributes : sequence of tuple
        For each attribute: its name, type and docstring.
    """
    if key in class_of_kind and not is_declared(class_of_kind[key]):
        return class_of_kind[key]
    if type_code not in _made:
        namespace = {**namespace_of_key(key, doc, place), "__reduce__": _reduce}
        if attributes:
            namespace.update(_describe_attributes(base, attributes))
        _made[type_code] = type(key.rpartition(".")[2], (base,), namespace)
        register_declared(key, _made[type_code])
    return _made[type_code]


def _describe_attributes(base: Any, attributes: Any) -> dict[str, Any]:
    """Return the class attributes of an exception class."""
    names = [name for name, *_ in attributes]
    known = {*names, *attributes_of(base)}

    def __init__(self: Any, *args: Any, **attributes: Any) -> None:
        # From C++ they arrive after the message, including those of the bases.
        if len(args) == 3 and args[1] is MISSING:
            given = args[2]()
            args, attributes = args[:1], dict(zip(given[::2], given[1::2]))
        base.__init__(self, *args)
        for name, value in zip(attributes, attributes.values()):
            if name not in known:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")
            setattr(self, name, value)

    # None for exceptions that Python creates from a message alone.
    return {"__init__": __init__, "_attributes": tuple(map(tuple, attributes)), **dict.fromkeys(names)}


def attributes_of(cls: Any) -> dict[str, str | None]:
    """Return the types of an exception class's attributes by name, including those of its bases."""
    described = (each.__dict__.get("_attributes", ()) for each in reversed(cls.__mro__))
    return {name: type_name for each in described for name, type_name, *_ in each}


def find_base(key: str, name: str, find_class: Callable[[str], Any]) -> Any:
    """Return a builtin exception class, or the class for a key; raise ValueError if there is none."""
    found = class_of_kind.get(name) or find_class(name)
    if found is None:
        raise ValueError(
            f"the base {name!r} of the exception {key!r} is no exception class of Python or of C++"
        )
    return found


def _reduce(self: Any) -> tuple[Any, ...]:
    base = next(
        cls for cls in type(self).__mro__[1:] if cls.__dict__.get("__reduce__") not in (None, _reduce)
    )
    reduce: Any = base.__reduce__
    cls, *rest = reduce(self)
    # Classes made here cannot be imported by name.
    if "_anyffi_type_key" not in type(self).__dict__:
        return cls, *rest
    args, *others = rest
    return unpickle_value, (self._anyffi_type_key, *args), *others
