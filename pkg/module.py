"""Modules of users: shared libraries that export functions."""

from __future__ import annotations

from ._backend import backend as _backend
from ._public import Module

__all__ = ["Module", "load_module", "system_lib"]

load_module = _backend.load_module
system_lib = _backend.system_lib
