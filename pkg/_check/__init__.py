"""Both marshallers at once: the names of `anyffi._backend.CORE`, for FFI_MODE=check.

A function is called once, with the arguments that the compiled marshaller packed, and the caller gets the
result that it unpacked. The ctypes marshaller does the same work, and the results of both are compared. For
this, check mode installs its own hooks in both marshallers.
"""

from __future__ import annotations

from typing import Any, Callable

from .._builtins import *  # noqa: F403
from .._ctypes import abi as _abi
from .._ctypes import hooks as _hooks
from .._ctypes import pack as _pack
from .._ctypes import plain as _plain
from .._ctypes import recipe as _recipe
from .._ctypes import unpack as _unpack
from .._ctypes import wrapper as _wrapper
from .._ctypes.attributes import create_record, get_attributes, set_attributes
from .._ctypes.iterators import iterate_elements
from .._ctypes.views import ItemsCore, KeysCore, ValuesCore
from .._cython import (
    ObjectCore,
    TensorCore,
    _core,
    create_exchange,
    get_function,
    need_stack,
    set_class_maker,
    set_method_class,
    shut_down,
)
from .._cython import drop_class as _drop_class
from .._cython import methods_of as _methods_of
from .._cython import set_class as _set_class
from .._rules import values as _rules
from .._rules.codes import code
from . import call as _call
from . import callback as _callback
from .call import FunctionCore
from .callback import run_callback
from .compare import same
from .containers import ArrayCore, DictCore, FrozenSetCore, ListCore, MapCore, SetCore
from .journal import Journal, Rules, equals, hash_of, make_error, thread
from .pack import OwnedPacking, mismatch
from .plain import to_plain
from .text import show

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

NAME = "check"


def methods_of(name: str, methods: type) -> dict[str, Any]:
    """Return no compiled methods: those in Python read through both marshallers."""
    _methods_of(name, methods)
    return {}


def set_class(type_code: int, cls: type) -> None:
    """Make `cls` the class of wrappers for a type, and for subtypes that have none of their own."""
    _set_class(type_code, cls)
    _wrapper.set_class(type_code, cls, ObjectCore)


def drop_class(type_code: int) -> None:
    """Remove the class of a dynamic type, so that a new one is made for the next object that arrives."""
    _drop_class(type_code)
    _wrapper.drop_class(type_code)


def set_observer(observer: Any) -> None:
    """Make an observer's functions run before and after each call and callback; None removes them."""
    _call.set_observer(observer)
    _callback.set_observer(observer)


def field_getter(name: str, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function from a wrapper to a field of its object: `slow` itself."""
    return slow


def field_setter(name: str, slow: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return a function that sets a field of a wrapper's object: `slow` itself."""
    return slow


def set_field_class(cls: type) -> None:
    """Do nothing: the getters of fields are those of check mode."""


def set_constant_class(cls: type) -> None:
    """Do nothing: constants have a `__get__`."""


def set_module_class(cls: type) -> None:
    """Do nothing: `__getattr__` of modules and submodules stores what it finds."""


def set_constructor(cls: type, constructor: Any) -> None:
    """Do nothing: `type.__call__` calls the `__init__` of a class."""


def set_constructor_class(cls: type) -> None:
    """Do nothing: both marshallers convert the arguments of constructors."""


def set_record_class(cls: type, make: Any, create: Any) -> None:
    """Do nothing: the `__new__` in Python creates the objects."""


def plan_record(
    cls: type, type_code: int, rows: Any, num_positional: int, num_parameters: int, has_post_init: bool
) -> None:
    """Do nothing: both marshallers convert each value that the standard library's `__init__` sets."""


def renew_wrapper(wrapper: Any) -> None:
    """Do nothing: wrappers do not cache the type of their objects."""


def revive_wrapper(wrapper: Any) -> None:
    """Do nothing: with the GIL, the object refers to its wrapper until the wrapper is freed."""


def to_object(x: Any) -> Any:
    """Convert `x` to the runtime's object; a value without a wrapper becomes what `echo` returns."""
    journal = Journal()
    packing = OwnedPacking(None, (x,), journal)
    former = thread.journal
    by_ctypes: Any = None
    problem = None
    try:
        thread.journal = journal
        journal.begin(x)
        try:
            by_ctypes = _pack.pack_owned(x)
        except BaseException as raised:
            problem = packing.settle(_abi.translate_error(raised))
        if problem is not None:
            raise problem
        [made] = packing.compare(bytes(by_ctypes))
    finally:
        thread.journal = former
        journal.close()
        del by_ctypes, problem
    value = _abi.VALUE.unpack(made.cell)
    if value[0] == code.FUNCTION:
        return made.wrap()
    result, other = made.read(), _unpack.unpack(value)
    if not same(result, other):
        raise mismatch("anyffi.convert(): result", f"unpacks {show(result)}", f"unpacks {show(other)}")
    return result


# ---- hooks -------------------------------------------------------------------------------------------

_address_of = ObjectCore.__dict__["_anyffi_address"].__get__


def _unwrap(wrapper: Any) -> int:
    """Find the object of a wrapper for ctypes, which has no wrappers of its own in this mode."""
    address: int = _address_of(wrapper)
    if address == 0:
        raise _rules.empty_wrapper(wrapper)
    return address


def _new_wrapper(address: int) -> Any:
    """Create a wrapper for ctypes if the object has none."""
    return _core.hold(_pack.object_value(address)).wrap()


def _pack_argument(x: Any, keep: list[Any]) -> bytes:
    """Pack as ctypes does, after telling the journal that an argument begins."""
    if thread.journal is not None:
        thread.journal.begin(x)
    return _pack.pack(x, keep)


def _read_container(x: Any) -> tuple[int, Any] | None:
    """Read a container as ctypes does, and record its content."""
    found = _recipe.read_container(x)
    if thread.journal is not None and found is not None:
        thread.journal.record(x, found[1])
    return found


def _locate_nothing(*args: Any) -> None:
    """Leave the message about a callback's result unchanged for the comparison; callback.py completes it."""


_hooks.install(
    _hooks.Hooks(
        _pack_argument,
        _read_container,
        Rules,
        make_error,
        _unwrap,
        _new_wrapper,
        _plain.DESCRIBERS,
        _locate_nothing,
        (_wrapper.ObjectCore, _core.ObjectCore),
    )
)
_pack.set_callback(_core.enter_check_mode(run_callback, hash_of, equals, Rules, make_error))
