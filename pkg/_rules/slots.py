"""Gives special methods the signatures and docstrings of Python's own classes."""

from __future__ import annotations

from types import FunctionType

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["document_slot"]

#: The type of slot wrappers; on PyPy that of all functions.
_SLOT: Any = type(object.__init__)
#: Classes that together have all slots of the public classes.
_EXAMPLES: tuple[type, ...] = (tuple, int, list, set, dict, type(iter(())), FunctionType)


def document_slot(method: Any, name: str) -> None:
    """Give a method the signature and docstring of the slot wrapper with its name.

    `inspect.signature` and `help` take the signature from `__wrapped__`.
    """
    for cls in _EXAMPLES:
        example = vars(cls).get(name)
        if isinstance(example, _SLOT):
            method.__wrapped__ = example
            # For `+=` and `*=` the text of number classes, which compiled classes also have.
            method.__doc__ = example.__doc__ and example.__doc__.replace("Implement self", "Return self")
            method.__annotations__ = {}
            return
