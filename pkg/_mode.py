"""FFI_MODE: which marshaller this process uses, or both. Read here, once, and nowhere else."""

from __future__ import annotations

import importlib.util
import os

__all__ = ["ffi_mode"]

_CHOICES = ("auto", "cython", "ctypes", "check")
_EXTENSION = "anyffi._cython._core"


def _has_extension() -> bool:
    """Return whether the extension is installed, broken or not."""
    try:
        return importlib.util.find_spec(_EXTENSION) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not _EXTENSION.startswith(error.name):
            raise
        return False


def _choose(asked: str) -> str:
    mode = asked or "auto"
    if mode not in _CHOICES:
        raise ImportError(f"FFI_MODE={asked!r} is not a mode of anyffi; choose one of: {', '.join(_CHOICES)}")
    if mode == "auto":
        return "cython" if _has_extension() else "ctypes"
    if mode in ("cython", "check") and not _has_extension():
        raise ImportError(
            f"FFI_MODE={mode}, but anyffi was installed without its compiled extension. In a checkout of "
            "anyffi, this installs it: pip install --force-reinstall -Csetup-args=-Dcython=enabled ."
        )
    return mode


#: The marshaller of this process: ``"cython"`` or ``"ctypes"``; or ``"check"``, both at once.
ffi_mode = _choose(os.environ.get("FFI_MODE", ""))
