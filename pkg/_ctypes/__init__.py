"""The pure Python marshaller: the names of `anyffi._backend.CORE`.

A call goes through call.py, pack.py and unpack.py, a call from C++ through callback.py; a debugger can step
through all of it.
"""

from __future__ import annotations

from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any, Callable
from .abi import VALUE, VALUE_SIZE, library, platform, translates_errors
from .call import FunctionCore
from .callback import create_exchange, install_host, shut_down
from .mappings import DictCore, FrozenSetCore, MapCore, SetCore
from .owned import OwnedValue, release
from .pack import pack_borrowed, pack_owned
from .plain import to_plain
from .sequences import ArrayCore, ListCore
from .tensor import TensorCore
from .unpack import raise_taken, unpack_owned
from .views import ItemsCore, KeysCore, ValuesCore
from .wrapper import ObjectCore, set_class, wrap, wrap_here

__all__ = [
    "NAME",
    "ArrayCore",
    "DictCore",
    "FrozenSetCore",
    "FunctionCore",
    "ItemsCore",
    "KeysCore",
    "ListCore",
    "MapCore",
    "ObjectCore",
    "SetCore",
    "TensorCore",
    "ValuesCore",
    "create_exchange",
    "field_getter",
    "get_function",
    "methods_of",
    "set_class",
    "shut_down",
    "to_object",
    "to_plain",
]

NAME = "ctypes"


def methods_of(name: str, methods: type) -> dict[str, Any]:
    """Return the compiled methods of a class, by name: none."""
    return {}


@translates_errors
def get_function(name: Any) -> Any:
    """Return a registered function as a wrapper, never the callable behind it; None if there is none."""
    # Owns the memory that the packed name borrows.
    keep: list[Any] = []
    found = OwnedValue(VALUE_SIZE)
    try:
        if library.registry_find(pack_borrowed(name, keep), found) != 0:
            raise_taken()
        type_code, _, address = VALUE.unpack(found)
        return None if type_code == code.NONE else wrap_here(address)
    finally:
        release(found)


def field_getter(name: str, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function from a wrapper to a field of its object: `slow` itself."""
    return slow


@translates_errors
def to_object(x: Any) -> Any:
    """Convert `x` to the runtime's own object; a value that has no wrapper becomes what `echo` returns."""
    packed = pack_owned(x)
    type_code, _, address = VALUE.unpack(packed)
    if type_code != code.FUNCTION:
        return unpack_owned(packed)
    try:
        return wrap(address)
    finally:
        release(packed)


_rules.register_core(ObjectCore)
_rules.set_versions(platform.version_of)
install_host()
