"""anyffi: one C++ runtime, called from Python through either of two marshallers.

The environment variable FFI_MODE chooses one of them, or both at once; `ffi_mode` is the choice.
"""

from __future__ import annotations

import sys as _sys
from types import FunctionType as _FunctionType

from . import _backend, _public, _reimport, module, registry
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

if TYPE_CHECKING:
    from . import cpp

    __version__: str

__all__ = [
    "DLDeviceType",
    "Device",
    "MarshalMismatch",
    "convert",
    "cpp",
    "device",
    "dtype",
    "ffi_mode",
    "find_include_dir",
    "find_library",
    "from_dlpack",
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
    "system_lib",
    "to_python",
]
__all__ += _public.__all__

ffi_mode = _backend.active.ffi_mode
convert = _backend.active.convert
from_dlpack = _backend.active.from_dlpack
to_python = _backend.active.to_python

# Pickles and `help` use the name of the public module.
for _found in (device, dtype, find_include_dir, find_library, register_error, Device):
    for _function in (_found, *vars(_found).values()):
        # On PyPy builtin functions are of the same type.
        if isinstance(_function, _FunctionType) and str(_function.__module__).startswith(__name__):
            _function.__module__ = __name__


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Imported late: they take longer to import than the rest of the package.
        if name == "cpp":
            import importlib

            return importlib.import_module(".cpp", __name__)
        if name == "__version__":
            from importlib.metadata import version

            return globals().setdefault(name, version("anyffi"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", "cpp"})


_reimport.keep(_sys.modules[__name__])
