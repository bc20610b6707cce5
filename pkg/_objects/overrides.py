"""Python methods that override C++ methods: how C++ calls them, and how Python's part stays alive."""

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

#: Methods that C++ defines for a class whose functions may be overridden; they do not become members.
BIND, KEEP = "__anyffi_bind__", "__anyffi_keep__"


def make_finder(base: type | None) -> Callable[[Any, str], Any]:
    """Return the function that finds the overrides of objects whose Python classes derive from a C++ class.

    `base` is the C++ class, as for `Overrides`.
    """
    # On PyPy an object may outlive its Python part, and then has no overrides.
    return functools.partial(find_override, None if ON_PYPY else base)


def find_override(base: type | None, instance: Any, name: str) -> Any:
    """Return the Python method that overrides a C++ method, as a function of the object; else None.

    C++ calls it once for each name and object.
    """
    _require_python_part(base, instance, name)
    owner = found = None
    for cls in type(instance).__mro__:
        if name in cls.__dict__:
            owner, found = cls, cls.__dict__[name]
            break
    if _is_of_instance(instance, name, found):
        return _make_caller(name, base, type(instance))
    if owner is None or _is_of_cpp(found):
        return None
    return found if type(found) is FunctionType else _make_caller(name, base, owner)


def _is_of_instance(instance: Any, name: str, found: Any) -> bool:
    """Return whether an instance attribute hides what was found in the class."""
    # CPython 3.14 only specializes the attributes of instances whose `__dict__` was never accessed.
    if type(found) is FunctionType or isinstance(found, MethodMethods):
        bound = object.__getattribute__(instance, name)
        if type(bound) is MethodType and bound.__func__ is found and bound.__self__ is instance:
            return False
    return name in getattr(instance, "__dict__", ())


def _make_caller(name: str, base: type | None, owner: type) -> FunctionType:
    """Return a function that calls an override other than a plain function, or reads a property."""

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

    # Errors about the result show this name.
    call_override.__name__, call_override.__qualname__ = name, f"{owner.__qualname__}.{name}"
    return call_override  # type: ignore[return-value]


#: The code object of these functions.
CALLER = _make_caller("", None, object).__code__


def _require_python_part(base: type | None, instance: Any, name: str) -> None:
    """Raise an error, instead of calling the C++ function, for an object that lost its overriding class."""
    if type(instance) is base:
        raise RuntimeError(
            f"{name!r} of {base.__qualname__} cannot be called: the object is of a Python class that may "
            "override it, but only its C++ part is left: there was no memory to keep the rest, or the class "
            "got another __del__"
        )


def _hold(wrapper: Any) -> None:
    """Do nothing: C++ keeps the wrapper alive by a partial call of this function."""


#: Memory that is freed for keeping an object alive when none is left; little is needed.
_RESERVE = [bytes(1 << 16)]


def _refill_reserve() -> None:
    try:
        if not _RESERVE:
            _RESERVE.append(bytes(1 << 16))
    except MemoryError:
        pass  # the next object that is kept alive tries again


class _Kept:
    """A wrapper that is kept alive, with its class's finalizer, which the interpreter calls only once."""

    __slots__ = ("_finalize", "_wrapper")

    def __init__(self, wrapper: Any, finalize: Callable[[Any], Any]) -> None:
        self._wrapper = wrapper
        self._finalize = finalize

    def __del__(self) -> None:
        self._finalize(self._wrapper)


class Overrides:
    """Bind the methods of a Python class, which derives from a C++ class, to virtual functions."""

    def __init__(self, cls: type | None, bind: Any, keep: Any, runtime: Runtime, finder: Any) -> None:
        #: The C++ class itself, whose objects have no overrides; None if users registered another one.
        self.base = cls
        #: `_bind(instance, _finder)` returns whether the object can have overrides.
        self._bind = bind
        self._finder = finder
        self._keep = keep
        self._is_shared = runtime.object_is_shared
        self._revive = runtime.revive_wrapper

    def bind(self, instance: Any) -> None:
        """Bind the overrides of a new object."""
        cls = type(instance)
        if cls is not self.base and self._bind(instance, self._finder):
            self.prepare(cls)

    def prepare(self, cls: Any) -> bool:
        """Keep instances alive that C++ still refers to when Python has no more references to them.

        The interpreter finalizes an object only once; afterwards, the garbage collector frees the cycle of
        wrapper, object and the object's content when nothing else refers to it.

        Returns whether finalizing does nothing else: false if the user defined a `__del__`.
        """
        # PyPy refers to an object several times, and calls no finalizer that is added to a class later: there
        # the object lives on without its Python part.
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
                    # At exit the globals of this module are gone, and nothing is kept alive.
                    if finalize is not None:
                        finalize(wrapper)
                    return
                try:
                    if wrapper._anyffi_address and self._is_shared(wrapper) and _is_whole(wrapper):
                        self._keep_alive(wrapper, finalize)
                        return
                except BaseException as error:
                    # ctypes turns a MemoryError into other errors, and a signal handler may raise anything.
                    # The frames refer to the old memory of the wrapper, which gets a new one.
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
            # The garbage collector has cleared weak references to it, through which some builds find it.
            # Without the GIL, other threads may be calling overridden functions, and wait until they find it
            # again.
            self._revive(wrapper)
            self._keep(wrapper, functools.partial(_hold, kept))
        except BaseException:
            if finalize is not None and kept is not None:
                # The code that calls this decides whether the object ends now.
                kept._finalize = _hold
            raise
        _refill_reserve()

    def _keep_with_reserve(self, wrapper: Any, finalize: Callable[[Any], Any] | None) -> None:
        """Try again with more memory.

        If that fails, C++ gets an error when it calls an overridable function.
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
    """Return whether an object has its C++ part: a dataclass gets it after its fields."""
    record = getattr(type(instance), "_anyffi_record", None)
    return record is None or instance._anyffi_type_code != record[1]


def _is_of_cpp(member: object) -> bool:
    if isinstance(member, staticmethod):
        member = member.__func__
    module = type(member).__module__
    return isinstance(member, (MethodMethods, Field)) or module == "anyffi" or module.startswith("anyffi.")
