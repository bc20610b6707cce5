"""The counts by which the preloaded failing_memory.c lets an allocation fail."""

from __future__ import annotations

import ctypes
import os
import sysconfig

__all__ = ["least", "open_cells"]


def open_cells() -> memoryview:
    """Return two counts: how many allocations succeed before one fails, none below 0; and how many have failed."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    return memoryview((ctypes.c_long * 2).in_dll(library, "failing_memory_cells")).cast("B").cast("l")


def least(count: int) -> int:
    """Return how many failures a program has at least: fewer where CPython's objects have another allocator."""
    return 0 if sysconfig.get_config_var("Py_GIL_DISABLED") else count
