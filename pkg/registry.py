"""Functions by name, and classes by type key."""

from __future__ import annotations

from ._backend import active as _active
from ._rules.errors import register_error

__all__ = [
    "get_global_func",
    "init_ffi_api",
    "list_global_func_names",
    "register_error",
    "register_global_func",
    "register_object",
    "remove_global_func",
]

register_global_func = _active.register_global_func
get_global_func = _active.get_global_func
remove_global_func = _active.remove_global_func
list_global_func_names = _active.list_global_func_names
init_ffi_api = _active.init_ffi_api
register_object = _active.register_object
