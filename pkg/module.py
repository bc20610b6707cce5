"""Modules of users: shared libraries that export functions."""

from __future__ import annotations

from ._backend import backend as _backend

__all__ = ["Module", "load_module"]

Module = _backend.Module
load_module = _backend.load_module
