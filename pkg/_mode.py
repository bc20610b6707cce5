"""FFI_MODE: which marshaller this process uses, or both; and FFI_STEP. Read here, once, and nowhere else."""

from __future__ import annotations

import importlib.util
import os
import sys

__all__ = ["ffi_mode", "ffi_step"]

_CHOICES = ("auto", "cython", "ctypes", "check")
_STEPS = {"": None, "0": False, "1": True}
_EXTENSION = "anyffi._cython._core"


def _require_lock() -> None:
    """Raise ImportError in a process without the GIL; loading an extension would enable it unasked."""
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    if is_enabled is not None and not is_enabled():
        raise ImportError(
            "anyffi needs the global interpreter lock (GIL), which is off in this process; start Python with "
            "-X gil=1 or the environment variable PYTHON_GIL=1"
        )


def _has_extension() -> bool:
    """Return whether the extension is installed, broken or not."""
    try:
        return importlib.util.find_spec(_EXTENSION) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not _EXTENSION.startswith(error.name):
            raise
        return False


def _choose(asked: str, is_stepping: bool | None) -> str:
    mode = asked or "auto"
    if mode not in _CHOICES:
        raise ImportError(f"FFI_MODE={asked!r} is not a mode of anyffi; choose one of: {', '.join(_CHOICES)}")
    if is_stepping and mode not in ("auto", "ctypes"):
        raise ImportError(
            f"FFI_STEP=1 steps through ctypes mode: FFI_MODE={mode} has no Python code to step through"
        )
    if mode == "auto":
        return "cython" if not is_stepping and _has_extension() else "ctypes"
    if mode in ("cython", "check") and not _has_extension():
        raise ImportError(
            f"FFI_MODE={mode}, but anyffi was installed without its compiled extension. In a checkout of "
            "anyffi, this installs it: pip install --force-reinstall -Csetup-args=-Dcython=enabled ."
        )
    return mode


def _read_step(asked: str) -> bool | None:
    if asked not in _STEPS:
        raise ImportError(f"FFI_STEP={asked!r} is not a choice of anyffi; choose one of: 0, 1")
    return _STEPS[asked]


_require_lock()
#: Whether ctypes mode converts element by element; None: while a debugger traces.
ffi_step = _read_step(os.environ.get("FFI_STEP", ""))
#: The marshaller of this process: ``"cython"`` or ``"ctypes"``; or ``"check"``, both at once.
ffi_mode = _choose(os.environ.get("FFI_MODE", ""), ffi_step)
