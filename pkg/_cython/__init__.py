"""The compiled marshaller.

Where the extension was not installed, importing this raises ModuleNotFoundError for `_core`; where it is
installed and broken, it raises whatever went wrong. Nothing here makes one look like the other.
"""

from __future__ import annotations

from ._core import (
    NAME,
    ArrayCore,
    DictCore,
    FrozenSetCore,
    FunctionCore,
    ListCore,
    MapCore,
    ObjectCore,
    SetCore,
    create_exchange,
    get_function,
    set_class,
    shut_down,
    to_object,
)

__all__ = [
    "NAME",
    "ArrayCore",
    "DictCore",
    "FrozenSetCore",
    "FunctionCore",
    "ListCore",
    "MapCore",
    "ObjectCore",
    "SetCore",
    "create_exchange",
    "get_function",
    "set_class",
    "shut_down",
    "to_object",
]
