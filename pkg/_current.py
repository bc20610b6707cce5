"""The API over the backend in use, for modules below `_backend`, which sets it."""

from __future__ import annotations

from ._reimport import keep as _keep  # noqa: F401  # executed again where the modules were removed
from ._typing import Any

__all__ = ["api"]

#: An instance of `_backend.Api`.
api: Any = None
