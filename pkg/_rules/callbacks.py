"""The functions given to `visit` and `map`: one for all values, or one for each type."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable

__all__ = ["VisitInterrupt", "choose_function", "stop_at_interrupt"]


class VisitInterrupt:
    """The result with which a function given to `visit` ends the walk.

    Parameters
    ----------
    value : object
        Available to the caller of `visit`.

    Examples
    --------
    >>> from anyffi.structure import VisitInterrupt, visit
    >>> found = visit([1, [2, 3]], {int: lambda x: VisitInterrupt(x) if x > 1 else None})
    >>> found.value
    2
    """

    __slots__ = ("value",)
    __module__ = "anyffi.structure"

    value: Any

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"VisitInterrupt({self.value!r})"


class Interrupted(BaseException):
    """Carries an interrupt through the runtime."""

    def __init__(self, interrupt: VisitInterrupt) -> None:
        super().__init__()
        self.interrupt = interrupt


def choose_function(function: Any, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a single function for a callable, or for a mapping of types to callables.

    `typing.Any` means the same as `object`: everything that no earlier type matches.
    """
    if callable(function):
        return function  # type: ignore[no-any-return]
    if not isinstance(function, Mapping):
        raise TypeError(
            f"expected a callable, or a mapping of types to callables, got {type(function).__name__}"
        )
    # If it is used, it was imported.
    anything = getattr(sys.modules.get("typing"), "Any", object)
    rows = []
    # Not `items()`: without memory for the first pair, the iterator of a dict's items ends the process.
    for types, each in zip(function, function.values()):
        has_any = any(x is anything for x in (types if type(types) is tuple else (types,)))
        accepted = object if has_any else types
        try:
            isinstance(None, accepted)
        except TypeError as error:
            raise TypeError(f"a function for {accepted!r}: {error}") from None
        if not callable(each):
            raise TypeError(f"expected a callable for {accepted!r}, got {type(each).__name__}")
        rows.append((accepted, each))

    def call_first(value: Any) -> Any:
        for types, each in rows:
            if isinstance(value, types):
                return each(value)
        return otherwise(value)

    return call_first


def stop_at_interrupt(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that ends the walk if another one returns an interrupt."""

    def call(value: Any) -> Any:
        result = function(value)
        if type(result) is VisitInterrupt:
            raise Interrupted(result)
        return result

    return call
