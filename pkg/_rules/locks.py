"""Locks that a child of `os.fork` finds free, whichever thread of its parent held them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from .._typing import Any
from .internal import FREE_THREADED

__all__ = ["make_lock", "share_section"]


def make_lock() -> Any:
    """Return a new `threading.RLock`; for locks that live as long as the process."""
    lock = threading.RLock()
    # The standard library's own locks are renewed by the same method.
    renew = getattr(lock, "_at_fork_reinit", None)
    if renew is not None and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
    return lock


class _Section:
    """What operations on containers lock, in builds without the GIL; both marshallers in the same process."""

    def __init__(self) -> None:
        self.locked = object()
        self.users: list[Callable[[object], None]] = []

    def renew(self) -> None:
        """Let the marshallers lock another object.

        A thread that waited for the lock may have been given it when the process forked, and is missing in
        the child. An operation of this thread goes on with the former object.
        """
        self.locked = object()
        for use in self.users:
            use(self.locked)


_section = _Section()
if FREE_THREADED:
    os.register_at_fork(after_in_child=_section.renew)


def share_section(use: Callable[[object], None]) -> None:
    """Have a marshaller lock the object that it is given: now, and another one in a child of `os.fork`.

    It keeps a reference to each.
    """
    _section.users.append(use)
    use(_section.locked)
