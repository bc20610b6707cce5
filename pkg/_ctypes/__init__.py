"""The pure Python marshaller: the names of `anyffi._backend.CORE`.

The way of a call goes through call.py, pack.py and unpack.py, and back through callback.py; a debugger can
follow all of it.
"""

from __future__ import annotations

from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE, VALUE_SIZE, library, platform, unhiding
from .call import FunctionCore
from .callback import install_host, shut_down
from .containers import ArrayCore, DictCore, FrozenSetCore, ListCore, MapCore, SetCore
from .pack import pack, pack_owned, release_made
from .unpack import raise_taken, unpack_owned
from .wrapper import ObjectCore, set_class, wrap, wrap_here

__all__ = [
    "NAME",
    "ArrayCore",
    "DictCore",
    "FrozenSetCore",
    "FunctionCore",
    "ListCore",
    "MapCore",
    "ObjectCore",
    "SetCore",
    "get_function",
    "set_class",
    "shut_down",
    "to_object",
]

NAME = "ctypes"


@unhiding
def get_function(name: Any) -> Any:
    """The registry's function as a wrapper, never as the Python callable inside; None if there is none."""
    keep: list[Any] = []
    packed = pack(name, keep)
    found = platform.buffer(VALUE_SIZE)
    try:
        status = library.registry_find(packed, found)
    finally:
        release_made(packed, keep)
    if status != 0:
        raise_taken()
    type_code, _, payload = VALUE.unpack(found)
    if type_code == code.NONE:
        return None
    try:
        return wrap_here(payload)
    finally:
        library.object_release(payload)


@unhiding
def to_object(x: Any) -> Any:
    """The runtime's own object for `x`; what has no wrapper comes back as by `echo`."""
    packed = VALUE.unpack(pack_owned(x))
    if packed[0] != code.FUNCTION:
        return unpack_owned(packed)
    try:
        return wrap(packed[2])
    finally:
        library.object_release(packed[2])


_rules.register_core(ObjectCore)
install_host()
