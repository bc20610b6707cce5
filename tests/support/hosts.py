"""Which backend's hooks the runtime calls, in a process that has both."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def host_of(ffi: Any) -> Iterator[None]:
    """Let the backend of a test be the host, where the process has both and the other one may be it.

    Hooks make wrappers of their own backend, whose classes the test has not declared.
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
        # That of the backend which is opened last.
        install_host()
