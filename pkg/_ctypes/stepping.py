"""Converts element by element if a debugger steps through the conversion.

Otherwise a container is converted in one call of the runtime for all elements, with the same result.
"""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._mode import ffi_step
from .._typing import Callable

__all__ = ["is_stepping", "steps_always"]

#: Whether FFI_STEP=1 was set before `anyffi` was imported. Methods of containers are then Python code, too.
steps_always = ffi_step is True


def _has_debugger() -> bool:
    """Return whether a trace function is set for this thread, or a debugger uses `sys.monitoring`."""
    if sys.gettrace() is not None:
        return True
    return sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID) is not None


def _steps() -> bool:
    return steps_always


#: Whether to convert element by element now; any truthy or falsy result.
is_stepping: Callable[[], object] = _steps
if ffi_step is None:
    # A C function, if that suffices: a Python function takes a tenth of a short list's conversion.
    is_stepping = _has_debugger if sys.version_info >= (3, 12) else sys.gettrace
