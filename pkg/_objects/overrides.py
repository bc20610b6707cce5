"""Methods of C++ classes that Python classes override: what C++ calls, and how long Python's part lives."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType

from .._builtins import *  # noqa: F403
from .._rules.internal import ON_PYPY
from .._typing import TYPE_CHECKING, Any, Callable
from .fields import Field
from .methods import MethodMethods

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["BIND", "CALLER", "KEEP", "Overrides", "find_override"]

#: Methods that C++ describes for a class whose functions may be overridden; no members.
BIND, KEEP = "__anyffi_bind__", "__anyffi_keep__"


def make_finder(base: type | None) -> Callable[[Any, str], Any]:
    """Return what finds the overrides of objects whose Python classes derive from one of C++.

    `base` is that class, as for `Overrides`.
    """
    # On PyPy an object lives on without its Python part, and then has no overrides.
    return functools.partial(find_override, None if ON_PYPY else base)


def find_override(base: type | None, instance: Any, name: str) -> Any:
    """Return the method of Python that overrides one of C++, as a function of the object; else None.

    C++ calls it once for each name and object.
    """
    _require_python_part(base, instance, name)
    owner = next((cls for cls in type(instance).__mro__ if name in cls.__dict__), None)
    found = None if owner is None else owner.__dict__[name]
    if _is_of_instance(instance, name, found):
        return _make_caller(name, base, type(instance))
    if owner is None or _is_of_cpp(found):
        return None
    return found if type(found) is FunctionType else _make_caller(name, base, owner)


def _is_of_instance(instance: Any, name: str, found: Any) -> bool:
    """Return whether an attribute of the instance hides what was found in its class."""
    # CPython 3.14 specializes attributes of instances alone whose `__dict__` nobody asked for.
    if type(found) is FunctionType or isinstance(found, MethodMethods):
        bound = object.__getattribute__(instance, name)
        if type(bound) is MethodType and bound.__func__ is found and bound.__self__ is instance:
            return False
    return name in getattr(instance, "__dict__", ())


def _make_caller(name: str, base: type | None, owner: type) -> FunctionType:
    """Return what calls an override that is no plain function of its class, or reads that of a property."""

    def call_override(instance: Any, /, *args: Any) -> Any:
        _require_python_part(base, instance, name)
        found = getattr(instance, name)
        if isinstance(getattr(type(instance), name, None), property):
            return found
        if not callable(found):
            raise TypeError(
                f"{name!r} of {owner.__qualname__} overrides a method of C++: expected a function or a "
                f"property, got {type(found).__name__}"
            )
        return found(*args)

    # What errors about its result name.
    call_override.__name__, call_override.__qualname__ = name, f"{owner.__qualname__}.{name}"
    return call_override  # type: ignore[return-value]


#: The code of such functions.
CALLER = _make_caller("", None, object).__code__


def _require_python_part(base: type | None, instance: Any, name: str) -> None:
    """Raise instead of calling the function of C++ if an object has lost the class that may override it."""
    if type(instance) is base:
        raise RuntimeError(
            f"{name!r} of {base.__qualname__} cannot be called: the object is of a Python class that may "
            "override it, but only its C++ part is left: there was no memory to keep the rest, or the class "
            "got another __del__"
        )


def _hold(wrapper: Any) -> None:
    """Do nothing: C++ keeps the wrapper alive by a partial call of this function."""


#: Memory that is freed if there is none when an object has to live on: what lets it is small.
_RESERVE = [bytes(1 << 16)]


def _refill_reserve() -> None:
    try:
        if not _RESERVE:
            _RESERVE.append(bytes(1 << 16))
    except MemoryError:
        pass  # the next object that lives on tries again


class _Kept:
    """A wrapper that lives on, and the finalizer of its class, which the interpreter calls but once."""

    __slots__ = ("_finalize", "_wrapper")

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
        self._revive = runtime.revive_wrapper

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
                failure = None
                if _RESERVE is None:
                    # The process exits, and what this module names is gone: nothing lives on.
                    if finalize is not None:
                        finalize(wrapper)
                    return
                try:
                    if wrapper._anyffi_address and self._is_shared(wrapper) and _is_whole(wrapper):
                        self._keep_alive(wrapper, finalize)
                        return
                except BaseException as error:
                    # ctypes turns a MemoryError into other ones, and a signal handler may raise anything. The
                    # frames refer to the memory of the wrapper, which gets a new one.
                    failure = error.with_traceback(None)
                if failure is not None:
                    try:
                        self._keep_with_reserve(wrapper, finalize)
                        if not isinstance(failure, Exception):
                            raise failure
                    finally:
                        failure = None
                elif finalize is not None:
                    finalize(wrapper)

            __del__._keeps_shared = True  # type: ignore[attr-defined]
            __del__._finalizes = finalize is not None  # type: ignore[attr-defined]
            cls.__del__ = __del__
        cls._anyffi_overrides = self

    def _keep_alive(self, wrapper: Any, finalize: Callable[[Any], Any] | None) -> None:
        kept = None
        try:
            kept = wrapper if finalize is None else _Kept(wrapper, finalize)
            # The garbage collector has ended weak references to it, by which some builds find it. Without the
            # GIL other threads may be calling what it overrides, and wait until they find it again.
            self._revive(wrapper)
            self._keep(wrapper, functools.partial(_hold, kept))
        except BaseException:
            if finalize is not None and kept is not None:
                # Who calls this decides whether the object ends now.
                kept._finalize = _hold
            raise
        _refill_reserve()

    def _keep_with_reserve(self, wrapper: Any, finalize: Callable[[Any], Any] | None) -> None:
        """Try again, with more memory.

        If that fails, C++ gets an error when it calls what may be overridden.
        """
        _RESERVE.clear()
        is_kept = False
        try:
            if wrapper._anyffi_address and self._is_shared(wrapper) and _is_whole(wrapper):
                self._keep_alive(wrapper, finalize)
                is_kept = True
        finally:
            if not is_kept and finalize is not None:
                finalize(wrapper)


def _is_whole(instance: Any) -> bool:
    """Return whether an object has its part of C++: that of a dataclass gets it after its fields."""
    record = getattr(type(instance), "_anyffi_record", None)
    return record is None or instance._anyffi_type_code != record[1]


def _is_of_cpp(member: object) -> bool:
    if isinstance(member, staticmethod):
        member = member.__func__
    module = type(member).__module__
    return isinstance(member, (MethodMethods, Field)) or module == "anyffi" or module.startswith("anyffi.")
