"""Conversion element by element, for who steps through it with a debugger.

Otherwise containers are converted in one call of the runtime for all their elements, with the same results.
"""

from __future__ import annotations

import sys

from .._builtins import *  # noqa: F403
from .._mode import ffi_step
from .._typing import Callable

__all__ = ["is_stepping", "steps_always"]

#: Whether FFI_STEP=1 was set before `anyffi` was imported. Then methods of containers are Python, too.
steps_always = ffi_step is True


def _has_debugger() -> bool:
    """Return whether a function traces this thread, or a debugger uses `sys.monitoring`."""
    if sys.gettrace() is not None:
        return True
    return sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID) is not None


def _steps() -> bool:
    return steps_always


#: Whether to convert element by element now: true or false, as `if` sees it.
is_stepping: Callable[[], object] = _steps
if ffi_step is None:
    # The function of C where it is enough: one of Python takes a tenth of a short list's conversion.
    is_stepping = _has_debugger if sys.version_info >= (3, 12) else sys.gettrace
