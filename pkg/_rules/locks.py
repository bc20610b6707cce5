"""Locks that a child of `os.fork` finds free, whichever thread of its parent held them."""

from __future__ import annotations

import os
import threading

from .._typing import Any

__all__ = ["make_lock"]


def make_lock() -> Any:
    """Return a new `threading.RLock`; for locks that live as long as the process."""
    lock = threading.RLock()
    # The standard library's own locks are renewed by the same method.
    renew = getattr(lock, "_at_fork_reinit", None)
    if renew is not None and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
    return lock
