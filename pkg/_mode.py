"""Reads FFI_MODE, which chooses the marshaller, and the other FFI_* environment variables, once."""

from __future__ import annotations

import importlib.util
import os
import sys

__all__ = [
    "ffi_leak_check",
    "ffi_mode",
    "ffi_record",
    "ffi_record_sample",
    "ffi_record_size",
    "ffi_step",
    "ffi_trace",
    "ffi_traceback",
]

_CHOICES = ("auto", "cython", "ctypes", "check")
_STEPS = {"": None, "0": False, "1": True}
_EXTENSION = "anyffi._cython._core"


def _require_lock(mode: str) -> None:
    """Raise ImportError for check mode without the GIL, because it compares what one thread does."""
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    if mode == "check" and is_enabled is not None and not is_enabled():
        raise ImportError(
            "FFI_MODE=check needs the global interpreter lock (GIL), which is off in this process; start "
            "Python with -X gil=1 or the environment variable PYTHON_GIL=1"
        )


def _has_extension() -> bool:
    """Return whether the extension is installed, even if it is broken."""
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


def _read_switch(name: str) -> bool:
    asked = os.environ.get(name, "")
    if asked not in ("", "0", "1"):
        raise ImportError(f"{name}={asked!r} is not a choice of anyffi; choose one of: 0, 1")
    return asked == "1"


def _read_sample(asked: str) -> float:
    try:
        sample = float(asked or 1)
    except ValueError:
        sample = 0
    if not 0 < sample <= 1:
        raise ImportError(f"FFI_RECORD_SAMPLE={asked!r} is no part of calls: a number above 0, up to 1")
    return sample


def _read_size(asked: str) -> int:
    unit = {"K": 2**10, "M": 2**20, "G": 2**30}.get(asked[-1:], 1)
    digits = asked if unit == 1 else asked[:-1]
    if not (digits.isascii() and digits.isdecimal()) or int(digits) * unit < 2**16:
        raise ImportError(
            f"FFI_RECORD_SIZE={asked!r} is no size of at least 64K: write 64M or 1G, for example"
        )
    return int(digits) * unit


#: Whether tracebacks contain C++ frames. Read first, because choosing a mode may import the compiled
#: marshaller.
ffi_traceback = _read_switch("FFI_TRACEBACK")
#: Whether ctypes mode converts element by element; None: while a debugger traces.
ffi_step = _read_step(os.environ.get("FFI_STEP", ""))
#: The marshaller of this process: ``"cython"`` or ``"ctypes"``; or ``"check"``, both at once.
ffi_mode = _choose(os.environ.get("FFI_MODE", ""), ffi_step)
_require_lock(ffi_mode)
#: The file for a trace of the whole process; empty: none.
ffi_trace = os.environ.get("FFI_TRACE", "")
#: The directory for records of calls (empty: none), the share of calls that is recorded, and the maximum size
#: in bytes.
ffi_record = os.environ.get("FFI_RECORD", "")
ffi_record_sample = _read_sample(os.environ.get("FFI_RECORD_SAMPLE", ""))
ffi_record_size = _read_size(os.environ.get("FFI_RECORD_SIZE", "") or "64M")
#: Whether to report the objects that are alive at exit.
ffi_leak_check = _read_switch("FFI_LEAK_CHECK")
