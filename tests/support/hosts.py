"""Selects whose hooks the runtime calls in a process with both backends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def host_of(ffi: Any) -> Iterator[None]:
    """Make the backend of a test the host, if the process has both.

    Hooks create wrappers of their own backend, so that those of the other one would lack the test's classes.
    """
    if not {"anyffi._cython", "anyffi._ctypes"} <= sys.modules.keys() or ffi.ffi_mode == "check":
        yield
        return
    from anyffi._ctypes.callback import install_host
    from anyffi._cython._core import install_hooks

    install = {"ctypes": install_host, "cython": install_hooks}
    install[ffi.ffi_mode]()
    try:
        yield
    finally:
        # The backend that is opened last.
        install_host()
