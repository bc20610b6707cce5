"""The public classes of the backend in use, which must be open before this is imported.

`_public.pyi` declares them for type checkers.
"""

from __future__ import annotations

from . import _current
from ._objects.classes import CLASSES

__all__ = list(CLASSES)

globals().update({name: getattr(_current.api, name) for name in CLASSES})
