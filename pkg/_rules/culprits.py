"""Adds to errors about values that cannot be converted what was called, which argument it is, and where in
it.

Packing code does not know the call. It records the address of the value for which it raises an error, which
keeps nothing alive, and the call searches its arguments for that value. Successful calls have no overhead.
Such calls are those of functions, methods of containers and `convert`, and calls of Python functions by C++,
whose results are packed.
"""

from __future__ import annotations

import re
from threading import local

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable
from .keywords import is_overloaded, placeholder

__all__ = ["blame", "blame_made", "locate", "locate_field", "locate_method", "locate_result"]

#: Values without parts that cannot be rejected.
_SCALARS = frozenset(map(id, (type(None), bool, bytes, complex, float, int, str)))
#: Types of keys whose `repr` runs no users' code.
_SHOWN = frozenset(map(id, (type(None), bool, bytes, float, int, str)))
#: Removed from the names of callables, as C++ does it.
_ADDRESS = re.compile(" at 0x[0-9a-fA-F]*")
_MOST_STEP, _MOST_PATH = 40, 200

_noted = local()


def blame(error: BaseException, x: Any) -> BaseException:
    """Record the value that an exception is about, and return the exception."""
    _noted.last = error.args[0], id(x)
    return error


def blame_made(exception: BaseException, args: tuple[Any]) -> None:
    """Do the same for an exception that the runtime raised about the only value in `args`."""
    if len(exception.args) == 1:
        blame(exception, args[0])


def locate(exception: BaseException, args: tuple[Any, ...], function: Any) -> None:
    """Add function, argument and place to the message of an exception raised when the arguments were packed.

    Exceptions of users' code are not changed.

    Parameters
    ----------
    exception : BaseException
        The raised exception.
    args : tuple
        The arguments, in the order of the parameters.
    function : anyffi.Function
        The called function.
    """
    _locate(exception, args, _describe, function)


def locate_method(exception: BaseException, args: tuple[Any, ...], called: tuple[str, Any]) -> None:
    """Do the same for a method of a container, or for another function of the package.

    Parameters
    ----------
    exception : BaseException
        The raised exception.
    args : tuple
        The arguments without `self`; keyword arguments at the end.
    called : tuple
        The name of the method, and the keywords; None if there are none.
    """
    _locate(exception, args, _describe_method, called)


def locate_result(exception: BaseException, args: tuple[Any], function: Any) -> None:
    """Do the same for the result, the only value in `args`, of a Python function that C++ called."""
    _locate(exception, args, _describe_result, function)


def locate_field(exception: BaseException, args: tuple[Any], name: str) -> bool:
    """Do the same for the value, the only one in `args`, that was assigned to a field.

    Returns
    -------
    bool
        Whether the exception is about packing the value.
    """
    return _locate(exception, args, _describe_field, name)


# No function here has a closure: if CPython 3.11 has no memory for the cell, it loses the arguments.
def _locate(
    exception: BaseException,
    args: tuple[Any, ...],
    describe: Callable[[Any, int, int], str | None],
    called: Any,
) -> bool:
    last = getattr(_noted, "last", None)
    if last is None or len(exception.args) != 1:
        return False
    (text,) = exception.args
    if type(text) is not str or text != last[0]:
        return False
    try:
        found = _find(args, last[1])
        if found is None:
            # It was raised in a hook; only one argument may have such a hook.
            others = [i for i, x in enumerate(args) if id(type(x)) not in _SCALARS]
            if len(others) != 1:
                return False
            found = others[0], ""
        index, path = found
        what = describe(called, index, len(args))
    except MemoryError:
        raise
    except Exception:
        # At the end of the stack, or if a callable has no name, the message stays unchanged.
        return False
    if what is not None:
        del _noted.last
        place = f", at {path}" if path else ""
        exception.args = (f"{what}{place}: {text}",)
    return what is not None


def _describe_method(called: tuple[str, Any], index: int, count: int) -> str:
    name, keywords = called
    first = count - len(keywords or ())
    return f"{name}(): argument {index if index < first else repr(str.__str__(keywords[index - first]))}"


def _describe_result(function: Any, index: int, count: int) -> str:
    return f"the result of {_ADDRESS.sub('', repr(function))}"


def _describe_field(name: str, index: int, count: int) -> str:
    return name


def _describe(function: Any, index: int, count: int) -> str | None:
    name = function.__name__
    if name.startswith("anyffi."):
        # Part of the package, which the user did not call.
        return None
    info = function._anyffi_info()
    owner = getattr(function, "__objclass__", None)
    if owner is not None and index == 1 and getattr(owner.__dict__.get(name), "fset", None) is function:
        # The setter of a property.
        return f"{owner._anyffi_type_key}.{name}"
    if info is None or is_overloaded(info):
        return f"{name}(): argument {index}"
    text = f"{function._anyffi_runtime.function_signature(function)}: argument {index}"
    return f"{text} ({info[2][index][0] or placeholder(info, index)})" if index < len(info[2]) else text


def _find(args: tuple[Any, ...], culprit: int) -> tuple[int, str] | None:
    """Return the index of the first argument that holds a value, and the path to it."""
    for index, argument in enumerate(args):
        seen: set[int] = set()
        # Not recursive, since containers may be nested as deep as Python allows.
        pending = [(argument, "")]
        while pending:
            x, path = pending.pop()
            if id(x) == culprit:
                return index, path
            if id(type(x)) not in _SCALARS and id(x) not in seen:
                seen.add(id(x))
                for step, item in reversed(_parts(x)):
                    pending.append((item, _join(path, step)))
    return None


def _parts(x: Any) -> list[tuple[str, Any]]:
    """Return the parts of one of Python's own containers, with the steps to them; runs no users' code."""
    cls = type(x)
    if issubclass(cls, list):
        return [(f"[{i}]", item) for i, item in enumerate(list.__iter__(x))]
    if issubclass(cls, tuple):
        return [(f"[{i}]", item) for i, item in enumerate(tuple.__iter__(x))]
    if issubclass(cls, dict):
        # Errors about an entry's key name its mapping.
        return [each for key, item in dict.items(x) for each in (("", key), (_step(key), item))]
    if issubclass(cls, set):
        return [("", item) for item in set.__iter__(x)]
    if issubclass(cls, frozenset):
        return [("", item) for item in frozenset.__iter__(x)]
    if cls is slice:
        return [(".start", x.start), (".stop", x.stop), (".step", x.step)]
    return []


def _step(key: Any) -> str:
    """Return the step to a key's value, as C++ writes it in messages."""
    if id(type(key)) not in _SHOWN:
        return "[...]"
    text = repr(key)
    if type(key) is str and text[0] == "'" and '"' not in text:
        text = f'"{text[1:-1]}"'
    return f"[{text}]" if len(text) < _MOST_STEP - 1 else f"[{text}"[: _MOST_STEP - 4] + "...]"


def _join(path: str, step: str) -> str:
    # A path that is too long keeps its outer steps.
    return path + step if len(path) + len(step) < _MOST_PATH else path
