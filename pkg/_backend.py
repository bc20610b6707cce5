"""What a backend is, and how one is opened."""

from __future__ import annotations

import importlib
import threading
from typing import Any, Dict

from . import _mode

__all__ = ["CORE", "backend", "open_backend"]

#: Everything that a backend offers; docs/architecture.md says what each is.
CORE = (
    "NAME",
    "ObjectCore",
    "FunctionCore",
    "SequenceCore",
    "MappingCore",
    "set_class",
    "get_function",
    "to_object",
)

_MODULES = {"ctypes": "anyffi._ctypes", "cython": "anyffi._cython._core"}

_opened: Dict[str, Any] = {}
_lock = threading.RLock()


def open_backend(name: str) -> Any:
    """The namespace of a backend's public classes and functions, built at the first call.

    Parameters
    ----------
    name : str
        ``"ctypes"`` or ``"cython"``. The one that `anyffi.ffi_mode` names is what `anyffi` offers; the other
        may be opened beside it, and each accepts the other's objects.
    """
    with _lock:
        if name not in _opened:
            from ._classes import build

            _opened[name] = build(importlib.import_module(_MODULES[name]))
        return _opened[name]


#: The backend that FFI_MODE chose, for the public modules.
backend = open_backend(_mode.ffi_mode)
