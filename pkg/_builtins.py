"""Python's builtins as they are at import, for modules that must work whatever becomes of `builtins` later.

The functions of a module look up builtins in its global `__builtins__`, if it has one.
"""

from __future__ import annotations

import builtins

from ._reimport import keep as _keep  # noqa: F401  # executed again where the modules were removed

__all__ = ["__builtins__"]

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
