"""Both marshallers at once: the names of `anyffi._backend.CORE`, for FFI_MODE=check.

A function is called once, with what the compiled marshaller made of the arguments, and the caller gets what
that one made of the result. The ctypes marshaller does all the same work beside it, and the two are compared.

The marshallers know nothing of this: the check takes the place of names that they look up as they go.
"""

from __future__ import annotations

from typing import Any, Callable

from .._cython import (
    ArrayCore,
    DictCore,
    FrozenSetCore,
    ListCore,
    MapCore,
    ObjectCore,
    SetCore,
    _core,
    create_exchange,
    get_function,
    shut_down,
)
from .._cython import set_class as _set_class
from .._rules import values as _rules
from .._rules.codes import code
from . import journal
from .call import FunctionCore
from .callback import run_callback
from .compare import same
from .journal import Journal, thread
from .pack import OwnedPacking, mismatch, room
from .text import show

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

NAME = "check"

_abi, _call, _pack, _recipe, _unpack, _wrapper = map(
    room, ("abi", "call", "pack", "recipe", "unpack", "wrapper")
)


def set_class(type_code: int, cls: type) -> None:
    """Make `cls` the class of wrappers for a type, and for subtypes that have none of their own."""
    _set_class(type_code, cls)
    _wrapper._classes[type_code] = cls


def to_object(x: Any) -> Any:
    """The runtime's own object for `x`; what has no wrapper comes back as by `echo`."""
    journal = Journal()
    packing = OwnedPacking(None, (x,), journal)
    former = thread.journal
    theirs: Any = None
    problem = None
    try:
        thread.journal = journal
        journal.begin(x)
        try:
            theirs = _pack.pack_owned(x)
        except BaseException as raised:
            problem = packing.settle(_abi.unhide(raised))
        if problem is not None:
            raise problem
        [made] = packing.compare(bytes(theirs))
    finally:
        thread.journal = former
        journal.close()
        del theirs, problem
    value = _abi.VALUE.unpack(made.cell)
    if value[0] == code.FUNCTION:
        return made.wrap()
    mine, other = made.read(), _unpack.unpack(value)
    if not same(mine, other):
        raise mismatch("anyffi.convert(): result", "reads", show(mine), show(other))
    return mine


# ---- taking places -----------------------------------------------------------------------------------

_address_of = ObjectCore.__dict__["_address"].__get__


def _unwrap(wrapper: Any) -> int:
    """The address of a wrapper's object, for ctypes, which has no wrappers of its own here."""
    address: int = _address_of(wrapper)
    if address == 0:
        raise _rules.empty_wrapper(wrapper)
    return address


def _new_wrapper(address: int) -> Any:
    """A wrapper for ctypes, where none lives any more."""
    return _core.hold(_pack.object_value(address)).wrap()


def _noting_pack(pack: Callable[..., bytes]) -> Callable[..., bytes]:
    def note(x: Any, keep: list[Any]) -> bytes:
        if thread.journal is not None:
            thread.journal.begin(x)
        return pack(x, keep)

    return note


def _noting_open(open_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def note(x: Any) -> Any:
        opened = open_(x)
        if thread.journal is not None and opened is not None:
            thread.journal.note(x, opened[1])
        return opened

    return note


def _take_places() -> None:
    journal.install()
    _pack.ObjectCore = ObjectCore
    _pack.unwrap = _unwrap
    _recipe.open_builtin = _noting_open(_recipe.open_builtin)
    _call.pack = _noting_pack(_call.pack)
    _wrapper._new_wrapper = _new_wrapper
    _pack.set_callback(_core.enter_check_mode(run_callback, journal.hash_of, journal.equals))


_take_places()
