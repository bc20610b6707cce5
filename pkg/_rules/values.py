"""Conversion rules for the Python values that backends have no fast path for.

A backend itself packs an exact None, bool, int, float, str, bytes, tuple, list, dict, slice, Ellipsis and its
own wrappers, and calls `lower` for all other values. `lift` is the inverse, for results. `decisions.py`
decides from the class of a value; the decisions are cached here.
"""

from __future__ import annotations

import weakref
from abc import get_cache_token
from collections.abc import Hashable
from functools import partial
from types import FunctionType, MethodType

from .._builtins import *  # noqa: F403
from .._typing import Any, Callable
from .codes import code
from .culprits import blame
from .decisions import (
    EXACT,
    MAX_DEPTH,
    ON_METACLASS,
    ON_REGISTRATION,
    OPENERS,
    Lowered,
    Reader,
    converters,
    decide,
    dict_of,
    find_on_type,
    register_core,
)
from .device import share_device
from .dtype import share_dtype
from .internal import MISSING

__all__ = [
    "EXCHANGE_NAME",
    "HOST_FLAGS",
    "MAX_DEPTH",
    "cleared_function",
    "contains_itself",
    "empty_wrapper",
    "equal_keys",
    "find_converter",
    "find_exchange",
    "find_on_type",
    "find_opener",
    "is_cleared",
    "known_reader",
    "known_version",
    "lift",
    "lower",
    "nested_too_deep",
    "plain_contains_itself",
    "register_core",
    "set_versions",
]

_HASHES_SLICES = 2  # ANYFFI_HOST_HASHES_SLICES
#: Flags that tell the runtime about this version of Python.
HOST_FLAGS = _HASHES_SLICES if isinstance(slice(0), Hashable) else 0


def lower(x: Any) -> Lowered:
    """Return the runtime's value for `x`.

    Returns
    -------
    (int, object)
        The type code, and an exact builtin as listed in docs/backends.md.

    Raises
    ------
    TypeError, OverflowError
        The value has a type that cannot be passed, or is out of range.
    """
    cls = type(x)
    # By id, since hashing or comparing a class may run code of its metaclass.
    read = EXACT.get(id(cls)) or known_reader(cls) or _find_reader(cls)
    return read(x)


def known_reader(cls: type) -> Reader | None:
    """Return the function that lowers instances of a class, if it is cached and still valid."""
    known = _known.get(id(cls))
    if known is None:
        return None
    if known[1].value != known[2]:
        return None
    token = known[3]
    return known[0] if token is None or token == get_cache_token() else None


def known_version(cls: type) -> tuple[Any, int, Any] | None:
    """Return what the cached decision for a class depends on; None if none is cached.

    These are: an object whose attribute `value` is the version of the class, the version at that time, and
    the token of abstract classes, or None if registrations do not matter.
    """
    known = _known.get(id(cls))
    return None if known is None else known[1:4]


def find_converter(cls: type) -> Callable[[Any], Any] | None:
    """Return a C function that converts instances to exact builtins, or None; see `decisions.converters`.

    Only for classes whose decision `lower` has cached.
    """
    known = _known.get(id(cls))
    return known[4] if known is not None and known[1].value == known[2] else None


def find_opener(cls: type) -> Reader | None:
    """Return the function that lowers a cached subclass of an exact container, else None."""
    known = _known.get(id(cls))
    return known[0] if known is not None and known[0] in OPENERS and known[1].value == known[2] else None


#: Decisions by the id of the class: the function, an object whose attribute `value` is the version of the
#: class, the version at that time, the token of abstract classes (None if registrations do not matter), the
#: converter or None, and a weak reference that removes the entry when the class is freed.
_known: dict[int, tuple[Reader, Any, int, Any, Any, Any]] = {}
_version_of: Callable[[type], Any] | None = None


def set_versions(version_of: Callable[[type], Any] | None) -> None:
    """Cache decisions by the versions of classes, if the backend can read these.

    `version_of` returns an object whose attribute `value` changes whenever the class or one of its bases
    does; 0 means that the class has no version.
    """
    global _version_of
    _version_of = version_of


def _find_reader(cls: type) -> Reader:
    if _version_of is None:
        return decide(cls)[0]
    version = _version_of(cls)
    seen, token = version.value, get_cache_token()
    read, depends = decide(cls)
    # Deciding may run code of abstract classes, which may change this class.
    if seen and depends != ON_METACLASS and version.value == seen:
        _known[id(cls)] = (
            read,
            version,
            seen,
            token if depends == ON_REGISTRATION else None,
            converters().get(read),
            weakref.ref(cls, partial(_forget, id(cls))),
        )
    return read


def _forget(address: int, reference: Any) -> None:
    _known.pop(address, None)


#: The class attribute with DLPack's table of C functions, in a capsule.
EXCHANGE_NAME = "__dlpack_c_exchange_api__"


#: Attributes of PyTorch's tensors that show that the memory is not the whole value: the tensor requires
#: gradients, or the memory holds conjugated or negated values.
_HIDDEN = ("requires_grad", "is_conj", "is_neg")


def find_exchange(cls: type) -> tuple[Any, Any]:
    """Return a class's table, or None, and the descriptors to check on its instances, or None.

    The table replaces the `__dlpack__` of the class that defines both. A subclass may do more in its own
    `__dlpack__`.
    """
    namespace = dict_of(cls)
    if "__dlpack__" not in namespace:
        return None, None
    hidden = [find_on_type(cls, name) for name in _HIDDEN]
    return namespace.get(EXCHANGE_NAME), None if hidden[0] is None else hidden


def lift(type_code: int, payload: Any) -> Any:
    """Return the Python value for a result: the inverse of `lower` for values without a wrapper."""
    if type_code == code.BIG_INT:
        magnitude, negative = payload
        value = int.from_bytes(magnitude, "little")
        return -value if negative else value
    if type_code == code.COMPLEX:
        return complex(*payload)
    if type_code == code.POINTER:
        import ctypes

        return ctypes.c_void_p(payload)
    if type_code == code.DATA_TYPE:
        return share_dtype(*payload)
    if type_code == code.DEVICE:
        return share_device(*payload)
    if type_code == code.MISSING:
        return MISSING
    raise TypeError(f"a value of type code {type_code} has no Python form")


# Errors that both backends raise for values that cannot be packed or read.


def plain_contains_itself() -> RecursionError:
    return RecursionError("a container that contains itself has no Python form")


def nested_too_deep() -> BaseException:
    return blame(RecursionError(f"containers are nested more than {MAX_DEPTH} levels deep"), None)


def contains_itself(container: Any) -> BaseException:
    return blame(
        RecursionError(f"a {type(container).__name__} that contains itself cannot be passed"), container
    )


def equal_keys(type_code: int, first: Any, second: Any) -> BaseException:
    """Return the error for two keys of a mapping, or elements of a set, that are equal in the runtime."""
    noun = "elements" if type_code in (code.SET, code.FROZEN_SET) else "keys"
    return blame(ValueError(f"{noun} {first!r} and {second!r} are equal once they are converted"), first)


def is_cleared(function: Any) -> bool:
    """Return whether the garbage collector has cleared a Python function, or the function of a method.

    Calling it would crash the process. The destructor of a C++ object that is collected with it may try to.
    """
    if type(function) is MethodType:
        function = function.__func__
    return type(function) is FunctionType and function.__globals__ is None


def cleared_function(function: Any) -> ReferenceError:
    return ReferenceError(
        "a Python callable was called after the garbage collector had cleared it: by the destructor of an "
        "object that it collected together with the callable"
    )


def empty_wrapper(wrapper: Any) -> ValueError:
    cls = type(wrapper)
    reasons = "__init__ was not called"
    if hasattr(cls, "_anyffi_type_key"):
        reasons += ", or C++ took the object, or lent it for a call that has ended"
    return ValueError(f"this {cls.__name__} is empty: {reasons}")
