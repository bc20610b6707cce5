"""The runtime's type codes, which the first backend reads from the library."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["FIRST_DYNAMIC_TYPE", "code", "fill", "row_name"]

FIRST_DYNAMIC_TYPE = 128  # ANYFFI_FIRST_DYNAMIC_TYPE

#: `code.INT` is the type code of the row INT, and so on for each row with a fixed code.
code: Any = SimpleNamespace()


def row_name(type_key: str) -> str:
    """Return the name of a row in the C header's table: `STR_OBJECT` for `StrObject`."""
    name = type_key[:1]
    for former, letter in zip(type_key, type_key[1:]):
        name += f"_{letter}" if letter.isupper() and not former.isupper() else letter
    return name.upper()


def fill(rows: Iterable[tuple[int, str]]) -> None:
    """Set the codes by type key, as `anyffi_type_list` and `anyffi_type_get_info` return them.

    Every backend calls this at import, before it uses the rules, with the same table.
    """
    for type_code, type_key in rows:
        setattr(code, row_name(type_key), type_code)
