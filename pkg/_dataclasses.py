"""What makes dataclasses, with the backend in use, which is opened before this is imported.

`_dataclasses.pyi` declares it for type checkers, which must not take `dataclass` for a method.
"""

from __future__ import annotations

from . import _current
from ._api.field import field

__all__ = ["dataclass", "field"]

dataclass = _current.api.dataclass
