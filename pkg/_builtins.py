"""Python's builtins as they are at import, for modules that must work even if `builtins` is modified later.

The functions of a module look up builtins in its global `__builtins__`, if it has one.
"""

from __future__ import annotations

import builtins

from ._reimport import restore

__all__ = ["__builtins__"]

restore()

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
