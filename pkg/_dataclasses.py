"""The functions for dataclasses, over the backend in use, which must be open before this is imported.

`_dataclasses.pyi` declares them for type checkers, which must not see `dataclass` as a method.
"""

from __future__ import annotations

from . import _current
from ._api.field import field

__all__ = ["dataclass", "field"]

dataclass = _current.api.dataclass
