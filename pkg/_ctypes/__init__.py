"""The pure Python marshaller: the names of `anyffi._backend.CORE`.

The way of a call goes through call.py, pack.py and unpack.py, and back through callback.py; a debugger can
follow all of it.
"""

from __future__ import annotations

from ctypes import create_string_buffer
from typing import Any

from .. import _rules
from .._types import code
from .abi import VALUE_SIZE, library
from .call import FunctionCore
from .callback import install_host, shut_down
from .containers import MappingCore, SequenceCore
from .pack import pack, pack_owned
from .unpack import raise_taken, read_value, unpack
from .wrapper import ObjectCore, set_class, wrap, wrap_here

__all__ = [
    "NAME",
    "FunctionCore",
    "MappingCore",
    "ObjectCore",
    "SequenceCore",
    "get_function",
    "set_class",
    "shut_down",
    "to_object",
]

NAME = "ctypes"


def get_function(name: Any) -> Any:
    """The registry's function as a wrapper, never as the Python callable inside; None if there is none."""
    keep: list[Any] = []
    packed = pack(name, keep)
    found = create_string_buffer(VALUE_SIZE)
    try:
        if library.registry_find(packed, found) != 0:
            raise_taken()
    finally:
        type_code, flags, payload = read_value(packed)
        if type_code > 0 and flags:
            library.object_release(payload)
    type_code, _, payload = read_value(found)
    return None if type_code == code.NONE else wrap_here(payload)


def to_object(x: Any) -> Any:
    """The runtime's own object for `x`; what has no wrapper comes back as by `echo`."""
    packed = read_value(pack_owned(x))
    return wrap(packed[2]) if packed[0] == code.FUNCTION else unpack(packed)


_rules.register_core(ObjectCore)
install_host()
