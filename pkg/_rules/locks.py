"""Locks that are free in a child of `os.fork`, whichever thread of the parent held them."""

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
    # The standard library reinitializes its own locks with the same method.
    renew = getattr(lock, "_at_fork_reinit", None)
    if renew is not None and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
    return lock


class _Section:
    """The object that operations on containers lock without the GIL; the same for both marshallers."""

    def __init__(self) -> None:
        self.locked = object()
        self.users: list[Callable[[object], None]] = []

    def renew(self) -> None:
        """Make the marshallers lock another object.

        The lock may already be handed to a waiting thread at the time of the fork, and that thread does not
        exist in the child. Operations of this thread in progress continue with the former object.
        """
        self.locked = object()
        for use in self.users:
            use(self.locked)


_section = _Section()
if FREE_THREADED:
    os.register_at_fork(after_in_child=_section.renew)


def share_section(use: Callable[[object], None]) -> None:
    """Make a marshaller lock an object: the current one, and another one in each child of `os.fork`.

    The marshaller keeps a reference to each.
    """
    _section.users.append(use)
    use(_section.locked)
