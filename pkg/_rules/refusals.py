"""Completes messages about rejected arguments with what only Python knows: the classes of the arguments.

The runtime sees a memoryview as bytes and an array as a Tensor. It names those types in its message, and the
caller replaces the names.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from .._builtins import *  # noqa: F403
from .._typing import Any
from .advice import advise, advise_object
from .conversions import enumeration_codes
from .decisions import find_on_type, is_wrapper_class
from .keywords import exact

__all__ = ["explain", "explain_field", "name_keywords"]

#: The description of the rejected value after its class: `Tensor of float32, of shape ()`.
_LAYOUT = re.compile(
    r"(.*?)( of another version of its library| of another definition of the class"
    r"| of \w+(?:, of shape \([\d, ]*\))?| with shape \([\d, ]*\))"
)
#: How a message introduces the description of a tensor.
_TENSORS = ("one of ", "a tensor of ")
_NONE_FITS = "): no overload takes ("
_ARGUMENT, _EXPECTED, _GOT, _AT = ": argument ", ": expected ", ", got ", ", at "
_STEP = re.compile(r'\[(-?\d+)\]|\["([^"]*)"\]')
_UNKNOWN = object()
#: Ids of the classes of Python's own values, whose names need no change. By id, since other classes may be
#: unhashable.
_PLAIN = frozenset(
    map(id, [type(None), bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple])
)

#: The runtime's containers, by the name of the Python classes that convert to them.
_CONVERTED = {
    "tuple": "Array",
    "list": "List",
    "mappingproxy": "Map",
    "dict": "Dict",
    "frozenset": "FrozenSet",
    "set": "Set",
}

_module_of = type.__dict__["__module__"].__get__
_name_of = type.__dict__["__name__"].__get__


def explain(exception: BaseException, args: tuple[Any, ...]) -> None:
    """Put Python's class names of rejected arguments into the message of an exception.

    Parameters
    ----------
    exception : BaseException
        The exception of a call that rejected its arguments.
    args : tuple
        The arguments, in the order of the parameters.
    """
    if type(exception) is not TypeError or len(exception.args) != 1 or type(exception.args[0]) is not str:
        return
    message = exception.args[0]
    # In other messages the name is followed by parameters, and the rest may be users' text.
    is_about_all = message.partition("(")[2].startswith(_NONE_FITS)
    if is_about_all:
        classes = tuple(map(type, args))
        is_plain = all(id(cls) in _PLAIN for cls in classes)
        explained = (_explain_plain_overloads if is_plain else _explain_overloads)(message, classes)
    else:
        explained = _explain_one(message, args)
    if explained is not message:
        exception.args = (explained,)


def explain_field(exception: TypeError, value: Any) -> None:
    """Do the same for an exception about the value assigned to a field."""
    if type(exception) is TypeError and len(exception.args) == 1 and type(exception.args[0]) is str:
        message = exception.args[0]
        name, _, path = message.rpartition(_EXPECTED)[0].partition(_AT)
        if ":" in name:
            return
        if not path and find_on_type(type(value), "__anyffi_value__") is not None:
            # The field got the result of that, in a container of the runtime.
            got = _reason(message)[1]
            exception.args = (f"{message[: len(message) - len(got)]}{_CONVERTED.get(got, got)}",)
        else:
            exception.args = (_complete(message, path, value),)


def _explain_one(message: str, args: tuple[Any, ...]) -> str:
    # `f(x: int) -> int: argument 0 (x), at [1]["k"]: expected int, got Tensor of float32`. String methods,
    # since exceptions are also used for control flow, and regular expressions would take ten times as long.
    place = message.rpartition(_EXPECTED)[0]
    name, _, path = place.partition(_AT)
    if len(args) == 2 and "(" not in name:
        # `shop.Item.price, at [1]`: the setter of a property.
        return _complete(message, path, args[1])
    argument = place.partition(_ARGUMENT)[2]
    index, _, named = argument.partition(" (")
    _, closed, path = named.partition(")")
    if not closed or not index.isdecimal() or int(index) >= len(args) or path[: len(_AT)] not in ("", _AT):
        return message
    return _complete(message, path[len(_AT) :], args[int(index)])


def _complete(message: str, path: str, given: Any) -> str:
    expected, got = _reason(message)
    refused, is_row = _follow(given, path)
    if not expected or refused is _UNKNOWN:
        return message
    layout = ""
    if " " in got:
        match = _LAYOUT.fullmatch(got)
        got, layout = match.groups() if match is not None else (got, "")
    if got.startswith(_TENSORS) or (is_row and got != "Tensor"):
        return message
    cls = type(refused)
    if got != "int" and id(cls) in enumeration_codes:
        # The message already names the member.
        return message
    hint = "" if is_row else _hint(cls, expected, layout)
    start = message[: len(message) - len(got) - len(layout)]
    return f"{start}{_name(cls, got)}{layout}{hint}"


def _reason(line: str) -> tuple[str, str]:
    """Return the expected and the given type, if a message ends with them."""
    _, is_type, end = line.rpartition(_EXPECTED)
    expected, _, got = end.rpartition(_GOT)
    return (expected if is_type else ""), got


def _explain_overloads(message: str, classes: tuple[type, ...]) -> str:
    start, _, rest = message.partition(_NONE_FITS)
    first, newline, lines = rest.partition("\n")
    # For keyword arguments, `by=int`.
    given = [x.rpartition("=") for x in first[: -len(")")].split(", ")]
    former = [name for _, _, name in given]
    is_whole = len(former) == len(classes)
    names = [_name(cls, name) for cls, name in zip(classes, former)] if is_whole else former
    if names != former:
        # An overload may have its parameters in another order, so only unambiguous names are replaced.
        for name in set(former):
            (found, *others) = {new for old, new in zip(former, names) if old == name}
            if found != name and not others:
                lines = _rename(lines, name, found)
    hints: set[str] = set()
    if len(classes) == 1:
        hints = {_hint(classes[0], _reason(line)[0], None) for line in lines.split("\n")}
    hints.discard("")
    # Replaces the names in all lines, or in none.
    shown = ", ".join(f"{keyword}{equals}{name}" for (keyword, equals, _), name in zip(given, names))
    return f"{start}{_NONE_FITS}{shown}){newline}{lines}{hints.pop() if len(hints) == 1 else ''}"


def name_keywords(exception: BaseException, _: tuple[Any, ...], names: tuple[str, ...]) -> None:
    """Add the keywords to the message of an exception that no overload accepts the arguments.

    Parameters
    ----------
    exception : BaseException
        The exception of a call with keywords that rejected its arguments.
    names : tuple of str
        The keywords.
    """
    start, is_about_all, rest = str(exception).partition(_NONE_FITS)
    if not is_about_all or "(" in start[:-1]:
        return
    first, closed, lines = rest.partition(")")
    given = first.split(", ")
    num_args = len(given) - len(names)
    if num_args >= 0 and "=" not in first:
        given[num_args:] = [f"{exact(name)}={shown}" for name, shown in zip(names, given[num_args:])]
        exception.args = (f"{start}{_NONE_FITS}{', '.join(given)}{closed}{lines}",)


#: The same for classes in `_PLAIN`, which are immutable. Cached: code that tries values until one is accepted
#: gets the same few messages.
_explain_plain_overloads = lru_cache(maxsize=64)(_explain_overloads)


def _rename(lines: str, former: str, name: str) -> str:
    pattern = rf"(: argument \d+ \([^()\n]*\): expected .*, got ){re.escape(former)}(?=$| of )"
    return re.sub(pattern, lambda line: line[1] + name, lines, flags=re.MULTILINE)


def _follow(x: Any, path: str) -> tuple[Any, bool]:
    """Return the element at a path, through exact builtins alone, whose methods run no users' code.

    For an array, rows have the class of the array; the second value says so.
    """
    end = 0
    for step in _STEP.finditer(path):
        if step.start() != end:
            return _UNKNOWN, False
        end = step.end()
        key: Any = int(step[1]) if step[1] is not None else step[2]
        if (type(x) is list or type(x) is tuple) and type(key) is int and key < len(x):
            x = x[key]
        elif type(x) is dict:
            # Not a dict lookup, which would call methods of users' keys.
            x = next((item for k, item in zip(x, x.values()) if type(k) is type(key) and k == key), _UNKNOWN)
        elif find_on_type(type(x), "__dlpack__") is not None:
            return x, True
        else:
            return _UNKNOWN, False
    return (x if end == len(path) else _UNKNOWN), False


def _name(cls: type, former: str) -> str:
    """Return the name of a value's class, with the module from which it is imported.

    For the runtime's own objects, and results of `__anyffi_value__`, the runtime's name is kept.
    """
    if id(cls) in _PLAIN:
        return cls.__name__
    if is_wrapper_class(cls):
        # The runtime may see a container without its wrapper, as conversion created it.
        return _CONVERTED.get(former, former)
    if find_on_type(cls, "__anyffi_value__") is not None:
        return former
    name: str = _name_of(cls)
    module = _module_of(cls)
    if type(module) is not str or module in ("anyffi", "builtins", "__main__"):
        return name
    # The public module, as in pandas.Series.
    for place in (module.partition(".")[0], module):
        if getattr(sys.modules.get(place), "__dict__", {}).get(name) is cls:
            return f"{place}.{name}"
    return name


def _hint(cls: type, expected: str, layout: str | None) -> str:
    # It has the expected type, with another shape.
    if (layout or "").startswith(" with shape"):
        return ""
    if id(cls) in _PLAIN:
        advice = _advise_plain(cls, expected, layout)
    else:
        advised = advise_object if is_wrapper_class(cls) else advise
        advice = advised(cls, expected, layout)
    return f"; pass {advice}" if advice else ""


#: Cached, since such classes are immutable.
_advise_plain = lru_cache(maxsize=64)(advise)
