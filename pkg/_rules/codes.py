"""The runtime's type table, as the backend that loaded first read it from the library."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

from .._typing import Any

__all__ = ["code", "fill", "row_name"]

#: `code.INT` is the type code of the row INT, and so on for every row that has a fixed code.
code: Any = SimpleNamespace()


def row_name(type_key: str) -> str:
    """The name of a row in the C header's table: `StrObject` is `STR_OBJECT`."""
    name = type_key[:1]
    for former, letter in zip(type_key, type_key[1:]):
        name += f"_{letter}" if letter.isupper() and not former.isupper() else letter
    return name.upper()


def fill(rows: Iterable[tuple[int, str]]) -> None:
    """Take the codes and type keys that `anyffi_type_list` and `anyffi_type_get_info` tell.

    Every backend calls this at import, before it uses the rules. The table is the library's, so a second
    backend brings the same one.
    """
    for type_code, type_key in rows:
        setattr(code, row_name(type_key), type_code)
