"""The runtime's type table, as the backend that loaded first read it from the library."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

__all__ = ["code", "fill", "row_name"]

#: `code.INT` is the type code of the row INT, and so on for every row that has a fixed code.
code: Any = SimpleNamespace()

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def row_name(type_key: str) -> str:
    """The name of a row in the C header's table: `StrObject` is `STR_OBJECT`."""
    return _WORD.sub("_", type_key).upper()


def fill(rows: Iterable[tuple[int, str]]) -> None:
    """Take the codes and type keys that `anyffi_type_list` and `anyffi_type_get_info` tell.

    Every backend calls this at import, before it uses the rules. The table is the library's, so a second
    backend brings the same one.
    """
    for type_code, type_key in rows:
        setattr(code, row_name(type_key), type_code)
