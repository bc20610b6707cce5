"""anyffi: one C++ runtime, called from Python through either of two marshallers.

The environment variable FFI_MODE chooses one of them, or both at once; `ffi_mode` is the choice.
"""

from __future__ import annotations

import sys as _sys
from types import FunctionType as _FunctionType

from . import _reimport

# Restores modules that were removed from `sys.modules`, so that none of them is executed twice.
_reimport.restore()

from . import _backend, _mode, _public, module, registry, structure
from ._dataclasses import dataclass, field
from ._library import find_include_dir, find_library
from ._public import *  # noqa: F403  # the public classes
from ._rules.device import Device, DLDeviceType, device
from ._rules.dtype import dtype
from ._rules.errors import MarshalMismatch, register_error
from ._typing import TYPE_CHECKING, Any
from .module import load_module, system_lib
from .registry import (
    get_global_func,
    init_ffi_api,
    list_global_func_names,
    register_global_func,
    register_object,
    remove_global_func,
)
from .structure import first_mismatch, from_json, structural_equal, structural_hash, to_json

if TYPE_CHECKING:
    from . import cpp, debug
    from ._tracing.tracing import trace

    __version__: str

__all__ = [
    "DLDeviceType",
    "Device",
    "MarshalMismatch",
    "asdict",
    "astuple",
    "convert",
    "cpp",
    "dataclass",
    "debug",
    "device",
    "dtype",
    "ffi_mode",
    "field",
    "fields",
    "find_include_dir",
    "find_library",
    "first_mismatch",
    "from_dlpack",
    "from_json",
    "get_global_func",
    "init_ffi_api",
    "list_global_func_names",
    "load_module",
    "module",
    "register_error",
    "register_global_func",
    "register_object",
    "registry",
    "remove_global_func",
    "structural_equal",
    "structural_hash",
    "structure",
    "system_lib",
    "to_json",
    "to_python",
    "trace",
]
__all__ += _public.__all__

ffi_mode = _backend.active.ffi_mode
convert = _backend.active.convert
from_dlpack = _backend.active.from_dlpack
to_python = _backend.active.to_python
fields = _backend.active.fields
asdict = _backend.active.asdict
astuple = _backend.active.astuple

# Pickles and `help` use the name of the public module.
for _found in (device, dtype, field, find_include_dir, find_library, register_error, Device):
    for _function in (_found, *vars(_found).values()):
        # On PyPy builtin functions are of the same type.
        if isinstance(_function, _FunctionType) and str(_function.__module__).startswith(__name__):
            _function.__module__ = __name__


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Imported on first use: they take longer to import than the rest of the package.
        if name in ("cpp", "debug"):
            import importlib

            return importlib.import_module(f".{name}", __name__)
        if name == "trace":
            from ._tracing.tracing import trace

            return globals().setdefault(name, trace)
        if name == "__version__":
            from importlib.metadata import version

            return globals().setdefault(name, version("anyffi"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", "cpp", "debug", "field", "trace"})


if _mode.ffi_trace or _mode.ffi_record or _mode.ffi_leak_check:
    from . import _tracing as _watching

    _watching.begin()

_reimport.keep(_sys.modules[__name__])
