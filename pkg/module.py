"""Loading of shared libraries that export functions."""

from __future__ import annotations

from ._backend import active as _active
from ._public import Module

__all__ = ["Module", "load_module", "system_lib"]

load_module = _active.load_module
system_lib = _active.system_lib
