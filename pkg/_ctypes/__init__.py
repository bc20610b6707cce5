"""The pure Python marshaller: the names of `anyffi._backend.CORE`.

A call goes through call.py, pack.py and unpack.py, a call from C++ through callback.py; a debugger can step
through all of it.
"""

from __future__ import annotations

from .._rules.errors import require_loadable

with require_loadable():
    from ctypes import ArgumentError

from .. import _mode
from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import code
from .._typing import Any
from .abi import VALUE, VALUE_SIZE, library, platform, translate_error, translates_errors
from .attributes import create_record, get_attributes, set_attributes
from .call import FunctionCore, bind
from .callback import create_exchange, install_host, shut_down
from .fields import field_getter, field_setter
from .iterators import iterate_elements
from .mapping_methods import dict_methods, map_methods
from .mappings import DictCore, FrozenSetCore, MapCore, SetCore
from .observed import set_observer
from .owned import OwnedValue, release
from .pack import pack_borrowed, pack_owned, set_class
from .plain import to_plain
from .sequence_methods import array_methods, list_methods, shape_methods
from .sequences import ArrayCore, ListCore
from .set_methods import frozen_set_methods, set_methods
from .stepping import steps_always
from .tensor import TensorCore
from .unpack import need_stack, raise_taken, show_frames, take
from .views import ItemsCore, KeysCore, ValuesCore
from .wrapper import (
    ObjectCore,
    codes_of,
    drop_class,
    is_empty,
    renew_wrapper,
    revive_wrapper,
    set_class_maker,
    wrap_here,
    wrap_owned,
)

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
    "create_record",
    "drop_class",
    "field_getter",
    "field_setter",
    "get_attributes",
    "get_function",
    "iterate_elements",
    "methods_of",
    "need_stack",
    "plan_record",
    "renew_wrapper",
    "revive_wrapper",
    "set_attributes",
    "set_class",
    "set_class_maker",
    "set_constant_class",
    "set_constructor",
    "set_constructor_class",
    "set_field_class",
    "set_method_class",
    "set_module_class",
    "set_observer",
    "set_record_class",
    "shut_down",
    "to_object",
    "to_plain",
]

NAME = "ctypes"


def methods_of(name: str, methods: type) -> dict[str, Any]:
    """Return the methods that are faster than those in `methods`, by name.

    Parameters
    ----------
    name : str
        The name of the public class.
    methods : type
        The Python methods, which the faster ones call in less frequent cases.
    """
    if name == "Function":
        return {"__get__": bind, "__name__": vars(methods)["__name__"]}
    make = None if steps_always else _METHODS.get(name)
    return {} if make is None else make(methods)


_METHODS = {
    "Array": array_methods,
    "Shape": shape_methods,
    "List": list_methods,
    "Map": map_methods,
    "Dict": dict_methods,
    "FrozenSet": frozen_set_methods,
    "Set": set_methods,
}


@translates_errors
def get_function(name: Any) -> Any:
    """Return a registered function as a wrapper, never the callable behind it; None if there is none."""
    # Keeps the memory alive that the packed name borrows.
    keep: list[Any] = []
    found = OwnedValue(VALUE_SIZE)
    try:
        if library.registry_find(pack_borrowed(name, keep), found) != 0:
            raise_taken()
        type_code, _, address = VALUE.unpack(found)
        return None if type_code == code.NONE else wrap_here(address)
    finally:
        release(found)


def set_field_class(cls: type) -> None:
    """Do nothing: the properties of fields call their getters."""


def set_constant_class(cls: type) -> None:
    """Do nothing: constants have a `__get__`."""


def set_module_class(cls: type) -> None:
    """Do nothing: `__getattr__` of modules and submodules stores what it finds."""


def set_constructor(cls: type, constructor: Any) -> None:
    """Do nothing: `type.__call__` calls the `__init__` of a class."""


def set_constructor_class(cls: type) -> None:
    """Do nothing: the constructors of classes are called as they are written."""


def set_method_class(cls: type) -> None:
    """Make the class of C++ methods immutable, as in cython mode, where calls depend on it."""
    platform.make_immutable(cls)


def set_record_class(cls: type, make: Any, create: Any) -> None:
    """Do nothing: the `__new__` in Python creates the objects."""


def plan_record(
    cls: type, type_code: int, rows: Any, num_positional: int, num_parameters: int, has_post_init: bool
) -> None:
    """Do nothing: the standard library's `__init__` sets the fields."""


def to_object(x: Any) -> Any:
    """Convert `x` to the runtime's object; a value without a wrapper becomes what `echo` returns."""
    if id(type(x)) in codes_of and not is_empty(x):
        return x
    try:
        packed = pack_owned(x)
        value = VALUE.unpack(packed)
        # Also wraps a function that calls a Python callable; unpacking would return the callable.
        return wrap_owned(value, packed) if value[0] == code.FUNCTION else take(value, packed)
    except ArgumentError as error:
        translated = translate_error(error)
    # Outside the handler, so that the ArgumentError does not become the context.
    try:
        raise translated
    finally:
        del translated


_rules.register_core(ObjectCore)
_rules.set_versions(platform.version_of)
install_host()
if _mode.ffi_traceback:
    show_frames()
