"""Wrappers: Python objects that represent objects of the runtime, at most one for each object."""

from __future__ import annotations

import struct
from ctypes import ArgumentError, c_void_p

from .._builtins import *  # noqa: F403
from .._rules import values as _rules
from .._rules.codes import FIRST_DYNAMIC_TYPE, code
from .._rules.containers import checks_self
from .._typing import TYPE_CHECKING, Any, Callable
from .abi import library, platform, translates_errors
from .owned import release
from .structs import Header

__all__ = [
    "REF_SIZE",
    "ObjectCore",
    "class_of",
    "classes",
    "codes_of",
    "drop_class",
    "empty",
    "hold_memory",
    "is_empty",
    "memory_of",
    "new_wrapper",
    "refer",
    "renew_wrapper",
    "revive_wrapper",
    "set_class",
    "set_class_maker",
    "set_factory",
    "set_memory",
    "unwrap",
    "wrap",
    "wrap_here",
    "wrap_owned",
    "write_wrapper",
]

_WORD = Header.wrapper.offset
_REF = struct.Struct("=QQ")
REF_SIZE = _REF.size
#: An AnyffiWrapperHold: an AnyffiWrapperRef, and its object as a value.
_hold = struct.Struct("=QQiIq").pack
_address_in = struct.Struct("=Q").unpack_from

#: Public classes by type code.
classes: dict[int, type] = {}
#: The codes of the runtime's own types, by the id of their classes.
codes_of: dict[int, int] = {}
_new_object = object.__new__
_make_class: Callable[[int], None] | None = None


#: An AnyffiWrapperHold, which owns one strong reference. It has its own finalizer, because a user's `__del__`
#: would replace that of the wrapper. It is not garbage-collected, so that a wrapper in a cycle keeps its
#: object until the wrapper is cleared.
_Memory = platform.memory_class(library.wrapper_detach, library.wrapper_finalize)


class _Slots:
    """Contains the memory of a wrapper, at an offset that the runtime knows."""

    # NumPy takes a class for one of `ctypes` if the name of its last base's module contains "_ctypes".
    __module__ = "anyffi"
    __slots__ = ("__weakref__", "_memory")

    # An annotation would be inherited by users' classes.
    if TYPE_CHECKING:
        _memory: Any


if TYPE_CHECKING:
    _Collected = _Slots
else:
    _Collected = platform.collected(_Slots, library.wrapper_traverse, library.wrapper_clear)


@checks_self("anyffi.Object", slots=True, only=("__hash__",))
class ObjectCore(_Collected):
    """Owns one strong reference to an object of the runtime."""

    __module__ = "anyffi"  # for NumPy on PyPy, as above
    __slots__ = ()

    def __hash__(self) -> int:
        # The object's identity, since another wrapper may be created for it later.
        return (unwrap(self) if _is_full(self) else id(self)) >> 4

    @property
    def _anyffi_address(self) -> int:
        return unwrap(self) if _is_full(self) else 0

    @property
    def _anyffi_type_code(self) -> int:
        return Header.from_address(unwrap(self)).type_code if _is_full(self) else code.NONE  # type: ignore[no-any-return]

    @translates_errors
    def _anyffi_move_from(self, other: ObjectCore) -> None:
        """Move the reference of `other`, a fresh wrapper, into this empty one."""
        if not issubclass(type(other), ObjectCore):
            raise TypeError(f"expected a wrapper, got {type(other).__name__}")
        is_known = platform.creates_wrappers and issubclass(type(self), ObjectCore)
        if is_known and library.wrapper_move(id(other), id(self)):
            return
        address = unwrap(other)
        if _is_full(self):
            raise TypeError(f"{type(self).__name__} is already initialized")
        _fill(self, address)
        _delete_memory(other)
        platform.take_over(library.object_compare_exchange_wrapper, address, address + _WORD, self)

    def _anyffi_release(self) -> None:
        """Release the object, and leave the wrapper empty."""
        if _is_full(self):
            platform.forget_wrapper(unwrap(self) + _WORD, self)
            _delete_memory(self)


# `object.__getstate__` would return the content of slots: a copy of the memory would release a reference that
# it does not own.
_Slots.__slots__ = ()  # type: ignore[assignment]
platform.declare_wrappers(library, _Slots, "_memory", _Memory)
# The descriptor's own functions, not the attribute, whose name users may reuse.
_memory_slot: Any = _Slots.__dict__["_memory"]
delattr(_Slots, "_memory")
#: The memory of a wrapper, an AnyffiWrapperRef; AttributeError if it is empty, TypeError if it is not a
#: wrapper.
memory_of = _memory_slot.__get__
#: For reading only. `getattr` with a default takes a third of the time of a caught AttributeError.
ObjectCore._anyffi_memory = property(memory_of)  # type: ignore[attr-defined]
_value_in = platform.value_in
set_memory = _memory_slot.__set__
_delete_memory = _memory_slot.__delete__


def _fill(wrapper: Any, address: int) -> None:
    """Fill a wrapper with a new reference to an object, replacing the former one."""
    memory = _Memory(_hold(0, 0, Header.from_address(address).type_code, 0, address))
    library.wrapper_attach(memory, address, id(wrapper))
    set_memory(wrapper, memory)


def _is_full(wrapper: Any) -> bool:
    if platform.creates_wrappers and issubclass(type(wrapper), ObjectCore):
        # Takes a third of the time of an AttributeError.
        try:
            return library.wrapper_get_object(id(wrapper)) is not None
        except ArgumentError:
            pass  # stack or memory is exhausted: the way below needs less
    try:
        memory_of(wrapper)
    except AttributeError:
        return False
    return True


def unwrap(wrapper: ObjectCore) -> int:
    """Return the borrowed address of a wrapper's object."""
    try:
        memory = memory_of(wrapper)
    except AttributeError:
        memory = None
    if memory is None:  # here, where no other exception becomes the context of this one
        raise _rules.empty_wrapper(wrapper)
    found: tuple[int] = _address_in(memory)
    return found[0]


def write_wrapper(wrapper: Any, keep: list[Any]) -> bytes | None:
    """Return a wrapper's object as a borrowed value; None if it is empty, or another backend's."""
    try:
        return _value_in(memory_of(wrapper))  # type: ignore[no-any-return]
    except (AttributeError, TypeError):
        return None


def refer(address: int, wrapper: int = 0) -> bytes:
    """Return an AnyffiWrapperRef to an object that the caller keeps alive."""
    return _REF.pack(address, wrapper)


@translates_errors
def renew_wrapper(wrapper: Any) -> None:
    """Update the type that a wrapper caches for packing, and make it its object's current wrapper again."""
    address = unwrap(wrapper)
    _fill(wrapper, address)
    platform.take_over(library.object_compare_exchange_wrapper, address, address + _WORD, wrapper)


def revive_wrapper(wrapper: Any) -> None:
    """Register a wrapper again that is being finalized, in case weak references find it."""
    if not platform.creates_wrappers:
        address = unwrap(wrapper)
        platform.take_over(library.object_compare_exchange_wrapper, address, address + _WORD, wrapper)


def set_class(type_code: int, cls: type, base: type = ObjectCore) -> None:
    """Make `cls`, a subclass of `base`, the class of wrappers for a type, and for subtypes without one."""
    if not issubclass(cls, base):
        raise TypeError(f"{cls.__name__} is no subclass of {base.__name__}")
    classes[type_code] = cls
    if type_code < FIRST_DYNAMIC_TYPE:
        codes_of[id(cls)] = type_code
    if platform.creates_wrappers and not cls.__flags__ & _IS_ABSTRACT:
        library.wrapper_set_class(type_code, id(cls))


def drop_class(type_code: int) -> None:
    """Remove the class of a dynamic type, so that a new one is made for the next object that arrives."""
    classes.pop(type_code, None)
    if platform.creates_wrappers:
        library.wrapper_set_class(type_code, None)


_IS_ABSTRACT = 1 << 20  # of Py_TPFLAGS


def set_class_maker(make: Callable[[int], None]) -> None:
    """Use `make(type_code)` to set the class of a type registered at run time that has none."""
    global _make_class
    _make_class = make


def class_of(type_code: int) -> type:
    """Return the class of a type, or of its nearest ancestor that has one."""
    found = classes.get(type_code)
    if found is None and _make_class is not None and type_code >= FIRST_DYNAMIC_TYPE:
        _make_class(type_code)
        found = classes.get(type_code)
    if found is None:
        info = library.type_get_info(type_code)
        ancestors = info.contents.ancestors[: info.contents.depth] if info else []
        found = next((classes[known] for known in reversed(ancestors) if known in classes), ObjectCore)
    return found


def new_wrapper(address: int) -> Any:
    """Create a wrapper that is not yet current. Skips `__new__` and `__init__`, which are for users."""
    cls: Any = class_of(Header.from_address(address).type_code)
    made = _new_object(cls)
    _fill(made, address)
    return made


_new_wrapper: Callable[[int], Any] = new_wrapper


def set_factory(make: Callable[[int], Any]) -> None:
    """Make wrappers with another function; see hooks.py."""
    global _new_wrapper
    _new_wrapper = make
    _let_runtime_wrap()


def _let_runtime_wrap() -> None:
    """Let the runtime find and create wrappers, if headers refer to them and check mode is off."""
    library.wrapper_let_create(platform.creates_wrappers and _new_wrapper is new_wrapper)


_let_runtime_wrap()

#: Finds the wrapper of an object, or None, by the address of its header word.
_wrapper_at = platform.wrapper_finder(library)
_creates_wrappers = platform.creates_wrappers
#: Return the wrapper of an owned object, and of an object by its address; UNREAD if Python must create it.
_take_wrapper = platform.reader(library.wrapper_take)
_share_wrapper = platform.reader(library.wrapper_share, c_void_p)
_UNREAD = platform.UNREAD


def hold_memory(wrapper: Any, type_code: int) -> Any:
    """Return memory that refers to a wrapper, for an object that the runtime creates."""
    return _Memory(_hold(0, id(wrapper), type_code, 0, 0))


def is_empty(wrapper: Any) -> bool:
    """Return whether a wrapper of a public class has no object."""
    return getattr(wrapper, "_anyffi_memory", None) is None


def wrap(address: int) -> Any:
    """Return the wrapper of an object that the caller keeps alive."""
    found = _share_wrapper(address) if _creates_wrappers else _UNREAD
    return _find_or_make(address) if found is _UNREAD else found


@translates_errors
def _find_or_make(address: int) -> Any:
    """Return the same if the runtime does not create wrappers."""
    word = address + _WORD
    found = _wrapper_at(word)
    if found is not None:
        return found
    made = _new_wrapper(address)
    # Another thread, or code that ran meanwhile, may have wrapped the object.
    while not platform.claim(library.object_compare_exchange_wrapper, address, word, made):
        found = _wrapper_at(word)
        if found is not None:
            return found
    return made


def wrap_owned(value: tuple[int, int, int], owner: Any) -> Any:
    """Return the wrapper of an object, given its value and the owner of the value, which is released."""
    found = _take_wrapper(owner)
    if found is not _UNREAD:
        return found
    try:
        return wrap(value[2])
    finally:
        release(owner)


def empty(address: int) -> None:
    """Empty the wrapper of an object, if it has one."""
    found = _wrapper_at(address + _WORD)
    if found is None:
        return
    # Not through its attribute, since a user's class may have one with this name. The wrapper may belong to
    # another backend.
    release = (
        ObjectCore._anyffi_release if issubclass(type(found), ObjectCore) else type(found)._anyffi_release
    )
    release(found)


def wrap_here(address: int) -> Any:
    """Return the wrapper as `wrap` does; or a second one, if the existing one belongs to another backend."""
    found = _wrapper_at(address + _WORD)
    if found is None or issubclass(type(found), ObjectCore):
        return wrap(address)
    return _new_wrapper(address)
