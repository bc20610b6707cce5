"""The pure Python marshaller: the names of `anyffi._backend.CORE`.

The way of a call goes through call.py, pack.py and unpack.py, and back through callback.py; a debugger can
follow all of it.
"""

from __future__ import annotations

from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, library, unhiding
from .call import FunctionCore
from .callback import create_exchange, install_host, shut_down
from .cell import Cell, empty
from .containers import ArrayCore, DictCore, FrozenSetCore, ListCore, MapCore, SetCore
from .pack import lend, pack_owned
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
    "create_exchange",
    "get_function",
    "set_class",
    "shut_down",
    "to_object",
]

NAME = "ctypes"


@unhiding
def get_function(name: Any) -> Any:
    """The registry's function as a wrapper, never as the Python callable inside; None if there is none."""
    # Holds what the name is packed as.
    keep: list[Any] = []
    found = Cell(VALUE_SIZE)
    try:
        if library.registry_find(lend(name, keep), found) != 0:
            raise_taken()
        type_code, _, address = VALUE.unpack(found)
        return None if type_code == code.NONE else wrap_here(address)
    finally:
        empty(found)


@unhiding
def to_object(x: Any) -> Any:
    """The runtime's own object for `x`; what has no wrapper comes back as by `echo`."""
    packed = pack_owned(x)
    type_code, _, address = VALUE.unpack(packed)
    if type_code != code.FUNCTION:
        return unpack_owned(packed)
    try:
        return wrap(address)
    finally:
        empty(packed)


_rules.register_core(ObjectCore)
install_host()
