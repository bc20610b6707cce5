"""Wrappers: the Python object that stands for an object of the runtime, one at a time for each."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Dict

from .. import _rules
from .._types import code
from .abi import Header, library, platform

__all__ = ["ObjectCore", "class_of", "set_class", "unwrap", "wrap", "wrap_here"]

_WRAPPER = Header.wrapper.offset

#: The wrappers that live, by address. Looking one up is one step, which no other thread can come between.
_live: Dict[int, "weakref.ref[ObjectCore]"] = {}
_lock = threading.RLock()
#: Public classes by type code.
_classes: Dict[int, type] = {}


class _Handle(int):
    """The address of an object, and one strong reference to it.

    A class of its own, so that no `__del__` of a user's class can come between; an int has no garbage
    collection either, so that a wrapper in a cycle keeps its object until the wrapper itself is cleared.
    """

    __slots__ = ()

    def __del__(
        self,
        live: Any = _live,
        lock: Any = _lock,
        clear: Any = platform.clear_wrapper,
        release: Any = library.object_release,
    ) -> None:
        with lock:
            found = live.get(self)
            # Another wrapper may have taken the place of the one that is being destroyed.
            if found is not None and (found() is None or _handle_of(found()) is self):
                live.pop(self, None)
                clear(self + _WRAPPER)
        release(self)


class ObjectCore:
    """Holds one strong reference to an object of the runtime."""

    __slots__ = ("__weakref__", "_handle")

    _handle: int

    @property
    def _address(self) -> int:
        return int(_handle_of(self) or 0)

    @property
    def _type_code(self) -> int:
        address = _handle_of(self)
        return Header.from_address(address).type_code if address else code.NONE

    def _take(self, other: "ObjectCore") -> None:
        """Move the reference of `other`, a fresh wrapper, into this empty one."""
        if not isinstance(other, ObjectCore):
            expected = f"{ObjectCore.__module__}.{ObjectCore.__qualname__}"
            raise TypeError(f"Argument 'other' has incorrect type (expected {expected}, got {type(other).__name__})")
        address = unwrap(other)
        if _handle_of(self):
            raise TypeError(f"{type(self).__name__} was made already")
        with _lock:
            _set_handle(self, _handle_of(other))
            _delete_handle(other)
            _enter(address, self)


_handle_slot: Any = ObjectCore.__dict__["_handle"]
_set_handle = _handle_slot.__set__
_delete_handle = _handle_slot.__delete__


def _handle_of(wrapper: Any) -> Any:
    """The handle of a wrapper, read past whatever its class may define; None if it is empty."""
    try:
        return _handle_slot.__get__(wrapper)
    except AttributeError:
        return None


def unwrap(wrapper: ObjectCore) -> int:
    """The address of a wrapper's object, borrowed."""
    try:
        return _handle_slot.__get__(wrapper)  # type: ignore[no-any-return]
    except AttributeError:
        raise _rules.empty_wrapper(wrapper) from None


def _enter(address: int, wrapper: ObjectCore) -> None:
    _live[int(address)] = weakref.ref(wrapper)
    platform.set_wrapper(address + _WRAPPER, wrapper)


def set_class(type_code: int, cls: type) -> None:
    """Make `cls` the class of wrappers for a type, and for subtypes that have none of their own."""
    if not issubclass(cls, ObjectCore):
        raise TypeError(f"{cls.__name__} is no subclass of {ObjectCore.__name__}")
    _classes[type_code] = cls


def class_of(type_code: int) -> type:
    """The class set for a code, or for its nearest ancestor that has one."""
    found = _classes.get(type_code)
    if found is None:
        info = library.type_get_info(type_code)
        ancestors = info.contents.ancestors[: info.contents.depth] if info else []
        found = next((_classes[known] for known in reversed(ancestors) if known in _classes), ObjectCore)
    return found


def _current(address: int) -> Any:
    found = _live.get(address)
    wrapper = None if found is None else found()
    return platform.foreign_wrapper(address + _WRAPPER) if wrapper is None else wrapper


def _new_wrapper(address: int) -> Any:
    """An empty wrapper of the class that an object's code has."""
    cls: Any = class_of(Header.from_address(address).type_code)
    made = cls.__new__(cls)
    if not isinstance(made, ObjectCore) or _handle_of(made) is not None:
        raise TypeError(f"{cls.__name__}.__new__ must return a new, empty {cls.__name__}")
    return made


def wrap(address: int) -> Any:
    """The wrapper of an object; takes over one strong reference, also on failure."""
    # From here on the reference is given back by whoever lets the handle go.
    handle = _Handle(address)
    found = _current(address)
    if found is not None:
        return found
    made = _new_wrapper(address)
    with _lock:
        # Making one may have run code that wrapped the object meanwhile.
        found = _current(address)
        if found is None:
            _set_handle(made, handle)
            _enter(address, made)
            return made
    return found


def wrap_here(address: int) -> Any:
    """As `wrap`, but never the wrapper of another backend: one more is made then."""
    found = _current(address)
    if found is None or isinstance(found, ObjectCore):
        return wrap(address)
    handle = _Handle(address)
    made = _new_wrapper(address)
    _set_handle(made, handle)
    return made
