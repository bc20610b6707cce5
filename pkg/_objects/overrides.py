"""Methods of C++ classes that Python classes override: what C++ calls, and how long Python's part lives."""

from __future__ import annotations

import functools
from types import FunctionType

from .._builtins import *  # noqa: F403
from .._rules.internal import ON_PYPY
from .._typing import TYPE_CHECKING, Any, Callable
from .fields import Field
from .methods import MethodMethods

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["BIND", "KEEP", "Overrides", "call_override", "find_override"]

#: Methods that C++ describes for a class whose functions may be overridden; no members.
BIND, KEEP = "__anyffi_bind__", "__anyffi_keep__"


def find_override(instance: Any, name: str) -> Any:
    """Return the method of Python that overrides one of C++, as a function of the object; else None.

    C++ calls it once for each name and object.
    """
    if name in getattr(instance, "__dict__", ()):
        return functools.partial(call_override, name)
    for cls in type(instance).__mro__:
        if name in cls.__dict__:
            found = cls.__dict__[name]
            if _is_of_cpp(found):
                return None
            return found if type(found) is FunctionType else functools.partial(call_override, name)
    return None


def call_override(name: str, instance: Any, /, *args: Any) -> Any:
    """Call the override of a method, or read that of a property."""
    found = getattr(instance, name)
    return found if isinstance(getattr(type(instance), name, None), property) else found(*args)


def _hold(wrapper: Any) -> None:
    """Do nothing: C++ keeps the wrapper alive by a partial call of this function."""


class _Kept:
    """A wrapper that lives on, and the finalizer of its class, which the interpreter calls but once."""

    def __init__(self, wrapper: Any, finalize: Callable[[Any], Any]) -> None:
        self._wrapper = wrapper
        self._finalize = finalize

    def __del__(self) -> None:
        self._finalize(self._wrapper)


class Overrides:
    """Bind the methods of a Python class, which derives from a C++ class, to virtual functions."""

    def __init__(self, cls: type | None, bind: Any, keep: Any, runtime: Runtime, finder: Any) -> None:
        #: The class of C++ itself, whose objects override nothing; None if users registered another one.
        self.base = cls
        #: `_bind(instance, _finder)` returns whether the object can have overrides.
        self._bind = bind
        self._finder = finder
        self._keep = keep
        self._is_shared = runtime.object_is_shared
        self._renew = runtime.renew_wrapper

    def bind(self, instance: Any) -> None:
        """Let C++ find the overrides of a new object."""
        cls = type(instance)
        if cls is not self.base and self._bind(instance, self._finder):
            self.prepare(cls)

    def prepare(self, cls: Any) -> bool:
        """Let instances live on, when Python has no more references to them but C++ has.

        The interpreter finalizes an object once; from then on the garbage collector finds the cycle of the
        wrapper, the object and what the object holds, once no other reference to either is left.

        Returns whether finalizing does nothing else: not if there is a `__del__` of the user's.
        """
        # PyPy refers to an object several times, and calls no finalizer that a class gets later: there an
        # object lives on without its Python part.
        if ON_PYPY:
            return False
        if cls.__dict__.get("_anyffi_overrides") is not self:
            self._set_finalizer(cls)
        return not getattr(getattr(cls, "__del__", None), "_finalizes", True)

    def _set_finalizer(self, cls: Any) -> None:
        finalize = getattr(cls, "__del__", None)
        if not getattr(finalize, "_keeps_shared", False):

            def __del__(wrapper: Any) -> None:
                if wrapper._anyffi_address and self._is_shared(wrapper) and _is_whole(wrapper):
                    kept = wrapper if finalize is None else _Kept(wrapper, finalize)
                    self._keep(wrapper, functools.partial(_hold, kept))
                    # The garbage collector has ended weak references to it, by which some builds find it.
                    self._renew(wrapper)
                elif finalize is not None:
                    finalize(wrapper)

            __del__._keeps_shared = True  # type: ignore[attr-defined]
            __del__._finalizes = finalize is not None  # type: ignore[attr-defined]
            cls.__del__ = __del__
        cls._anyffi_overrides = self


def _is_whole(instance: Any) -> bool:
    """Return whether an object has its part of C++: that of a dataclass gets it after its fields."""
    record = getattr(type(instance), "_anyffi_record", None)
    return record is None or instance._anyffi_type_code != record[1]


def _is_of_cpp(member: object) -> bool:
    if isinstance(member, staticmethod):
        member = member.__func__
    module = type(member).__module__
    return isinstance(member, (MethodMethods, Field)) or module == "anyffi" or module.startswith("anyffi.")
