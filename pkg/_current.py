"""The API over the backend in use, for modules that must not import `_backend`, which sets it."""

from __future__ import annotations

from ._reimport import restore
from ._typing import Any

__all__ = ["api"]

restore()

#: An instance of `_backend.Api`.
api: Any = None
