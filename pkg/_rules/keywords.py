"""Binds keyword arguments to positions; errors have Python's own messages.

Keywords are not part of a C call. A function's `_anyffi_info()` has the names of its parameters; those
omitted before a given one are passed as `MISSING`, and the callee fills in their defaults. One more `MISSING`
at the end means that keyword-only parameters were given by name.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from types import FunctionType

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable, Optional
from .internal import MISSING

__all__ = [
    "KEYWORD_ONLY",
    "OVERLOADED",
    "VARIADIC",
    "Info",
    "Param",
    "arrange",
    "bind",
    "exact",
    "is_constant",
    "is_method",
    "is_name",
    "is_overloaded",
    "num_positional",
    "place",
    "placeholder",
    "unexpected",
]

#: `(name or None, has a default, default, type name or None)`
Param = tuple[Optional[str], bool, Any, Optional[str]]
#: `(name or None, doc or None, params, number of required params, flags, result type or None, number of
#: keyword-only params)`; only positional parameters count as required.
Info = tuple[Optional[str], Optional[str], tuple[Param, ...], int, int, Optional[str], int]

_SUGGESTS = sys.version_info >= (3, 13)

VARIADIC, OVERLOADED, _METHOD, _CONSTANT, KEYWORD_ONLY = 2, 4, 8, 32, 64  # AnyffiFunctionFlag


def is_overloaded(info: Info | None) -> bool:
    """Return whether a function has overloads, each of which binds keywords by itself."""
    return info is not None and bool(info[4] & OVERLOADED)


def is_method(info: Info | None) -> bool:
    """Return whether the first parameter is an object of a class; for overloads, ask each of them."""
    return info is not None and bool(info[4] & _METHOD)


def is_constant(info: Info | None) -> bool:
    """Return whether a function stands for its result when it is an attribute of a module."""
    return info is not None and bool(info[4] & _CONSTANT)


def num_positional(info: Info) -> int:
    """Return the number of parameters that can be given by position."""
    return len(info[2]) - info[6]


def placeholder(info: Info, index: int) -> str:
    """Return the name for a parameter without a name in messages and signatures."""
    if not is_method(info):
        return f"arg{index}"
    # As in Python, the object is not counted.
    return f"arg{index - 1}" if index else "self"


def place(info: Info | None, num_args: int, names: Sequence[str]) -> list[int]:
    """Return the index of each parameter's argument, positional ones first, or -1.

    Raises TypeError as `bind` does.
    """
    numbers = {name: num_args + index for index, name in enumerate(names)}
    bound = bind(info, tuple(range(num_args)), numbers)
    return [-1 if number is MISSING else number for number in bound]


def arrange(places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that maps the values of a call, followed by MISSING, to those at the given places."""
    if len(places) == 1:
        # For a single index, `itemgetter` would return no tuple.
        return itemgetter(slice(places[0], places[0] + 1))
    return itemgetter(*places)


def exact(name: object) -> str:
    """Return the name of a keyword as an exact str: a subclass may override hashing and comparison."""
    if not isinstance(name, str):
        # Python's message, except that it does not name the function.
        raise TypeError("keywords must be strings")
    return str.__str__(name)


def bind(info: Info | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments for a call with keywords.

    Parameters
    ----------
    info : tuple or None
        The function's `_anyffi_info()`.
    args, kwargs
        As the call was written.

    Raises
    ------
    TypeError
        The message is that of a Python function with the same parameters.
    """
    if not kwargs:
        return args
    name = (info and info[0]) or "function"
    params = info[2] if info else ()
    positions = {param[0]: index for index, param in enumerate(params) if param[0] is not None}
    if not positions:
        raise TypeError(f"{name}() takes no keyword arguments")
    assert info is not None
    most = num_positional(info)
    # Excess positional arguments are reported below, after wrong names.
    num_given = min(len(args), most)
    bound: list[Any] = [*args[:most], *[MISSING] * (len(params) - num_given), *args[most:]]
    # Not `items()`: without memory for the first pair, its iterator ends the process.
    for given, value in zip(kwargs, kwargs.values()):
        keyword = exact(given)
        index = positions.get(keyword)
        if index is None:
            raise unexpected(name, keyword, tuple(positions))
        if index < num_given:
            raise TypeError(f"{name}() got multiple values for argument '{keyword}'")
        bound[index] = value
    if len(args) > most and not info[4] & VARIADIC:
        named = sum(value is not MISSING for value in bound[most : len(params)])
        raise TypeError(_too_many(name, most, info[3], len(args), named))
    required = range(num_given, info[3])
    for kind, indices in (("positional", required), ("keyword-only", range(most, len(params)))):
        missing = [
            repr(params[index][0] or placeholder(info, index))
            for index in indices
            if bound[index] is MISSING and not params[index][1]
        ]
        if missing:
            words = _count(kind, len(missing))
            raise TypeError(f"{name}() missing {len(missing)} required {words}: {_enumerate(missing)}")
    while bound and bound[-1] is MISSING:
        bound.pop()
    if info[6] and len(bound) > most:
        bound.append(MISSING)
    return tuple(bound)


def _nothing() -> None:
    pass


def unexpected(name: str, keyword: str, names: tuple[Any, ...]) -> TypeError:
    """Return the exception for an unknown keyword, with this Python version's message.

    Since 3.13 the message suggests a name, so this calls a Python function with these parameters.
    """
    words = _suggest(keyword, names) if _SUGGESTS else f" got an unexpected keyword argument '{keyword}'"
    return TypeError(f"{name}(){words}")


#: Cached: code that tries a keyword repeatedly gets the same few messages.
@lru_cache(maxsize=64)
def _suggest(keyword: str, names: tuple[Any, ...]) -> str:
    words = ""
    try:
        _with_parameters(names)(**{keyword: None})
    except TypeError as error:
        words = str(error)
    return words.partition("()")[2]


def _with_parameters(names: tuple[Any, ...]) -> Callable[..., None]:
    """Return a function with these parameters."""
    code = _nothing.__code__.replace(co_argcount=len(names), co_nlocals=len(names), co_varnames=names)
    return FunctionType(code, {})


def _count(kind: str, number: int) -> str:
    return f"{kind} argument{'' if number == 1 else 's'}"


def _too_many(name: str, takes: int, required: int, given: int, named: int) -> str:
    range_ = str(takes) if takes == required else f"from {required} to {takes}"
    taken = _count("positional", 1 if takes == required == 1 else 2)
    verb = "was" if given == 1 and not named else "were"
    beside = ""
    if named:
        beside = f" {_count('positional', given)} (and {named} {_count('keyword-only', named)})"
    return f"{name}() takes {range_} {taken} but {given}{beside} {verb} given"


def _enumerate(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return ", ".join(names[:-1]) + f", and {names[-1]}"


def is_name(name: str) -> bool:
    """Return whether a name is valid in Python code."""
    return name.isidentifier() and not keyword.iskeyword(name) and name != "__debug__"
