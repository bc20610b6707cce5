"""Methods, constructors and operators of C++ classes, as attributes of their Python classes."""

from __future__ import annotations

from types import MethodType

from .._builtins import *  # noqa: F403
from .._rules.internal import ON_PYPY
from .._typing import TYPE_CHECKING, Any, Callable
from .docs import ConstructorAnnotations, FunctionGlobals, signature_of_constructor, signature_of_method

if TYPE_CHECKING:
    from inspect import Signature

__all__ = [
    "OPERATORS",
    "Constructor",
    "MethodMethods",
    "bind_overrides",
    "make_iter",
    "make_walk",
    "no_constructor",
]

_ARITHMETIC = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod"),
    *("divmod", "pow", "lshift", "rshift", "and", "or", "xor"),
)
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

#: Methods that return NotImplemented if they do not accept the other operand.
OPERATORS = frozenset(f"__{prefix}{name}__" for name in _ARITHMETIC for prefix in ("", "r", "i")) | frozenset(
    f"__{name}__" for name in _COMPARISONS
)


class MethodMethods:
    """A method of a C++ class: binds its first argument, as Python's functions do."""

    __slots__ = ()

    # Defined by `Function`.
    if TYPE_CHECKING:
        __name__: str
        __objclass__: Any

        def _info(self) -> Any: ...

        @property
        def overloads(self) -> tuple[Any, ...]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)  # type: ignore[arg-type]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "__qualname__":
                return f"{self.__objclass__.__qualname__}.{self.__name__}"
            return object.__getattribute__(self, name)

    @property
    def __signature__(self) -> Signature:
        return signature_of_method(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.__objclass__, self.__name__)


class Constructor:
    """The `__init__` of a class: creates the C++ object for the wrapper.

    `overrides`, an Overrides, binds the functions that Python classes may override, if there are any.
    """

    def __init__(self, cls: type, function: Any, overrides: Any = None) -> None:
        self._function = function
        self._overrides = overrides
        self._key = cls.__dict__.get("_anyffi_type_key", self)
        self.__objclass__ = cls
        self.__name__ = "__init__"
        self.__qualname__ = f"{cls.__qualname__}.__init__"
        self.__module__ = cls.__module__

    def _infos(self) -> list[Any]:
        """Return the metadata of all constructors of the class that have some."""
        function = self._function
        return [info for each in function.overloads or (function,) if (info := each._anyffi_info())]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> None:
        if not args:
            name = type_name(self.__objclass__)
            raise TypeError(f"descriptor '__init__' of '{name}' object needs an argument")
        instance: Any = args[0]
        cls: Any = type(instance)
        if not isinstance(args[0], self.__objclass__):
            name = type_name(self.__objclass__)
            raise TypeError(
                f"descriptor '__init__' requires a '{name}' object but received a '{cls.__name__}'"
            )
        # A dataclass already has its fields before it gets its C++ part.
        record = getattr(cls, "_anyffi_record", None)
        if instance._anyffi_address and (record is None or instance._anyffi_type_code != record[1]):
            raise TypeError(f"{cls.__name__} is already initialized")
        if getattr(cls, "_anyffi_type_key", None) is not self._key:
            self._refuse_derived(cls)
        made = self._function(*args[1:], **kwargs)
        if record is None:
            instance._anyffi_move_from(made)
        else:
            instance._anyffi_set_base(made)
        if self._overrides is not None:
            self._overrides.bind(instance)

    def makes(self, cls: Any) -> bool:
        """Return whether this alone creates an object, as the `__init__` of a Python class."""
        return (
            getattr(cls, "_anyffi_type_key", None) is self._key
            and getattr(cls, "_anyffi_record", None) is None
        )

    def _refuse_derived(self, cls: type) -> None:
        """Raise TypeError if a C++ class precedes the class of this constructor in the MRO."""
        for derived in cls.__mro__[: cls.__mro__.index(self.__objclass__)]:
            if "_anyffi_type_key" in derived.__dict__ and "_anyffi_record" not in derived.__dict__:
                name, own = type_name(self.__objclass__), type_name(derived)
                raise TypeError(f"the constructor of {name} makes no {own}; call super().__init__()")

    __annotations__ = ConstructorAnnotations()
    __globals__ = FunctionGlobals()

    if ON_PYPY:
        # PyPy's `inspect` recognizes an `__init__` written in Python by this attribute.
        __code__ = __call__.__code__

    @property
    def __signature__(self) -> Signature:
        return signature_of_constructor(self._function)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        doc: str | None = self._function.__doc__
        return doc

    @property
    def overloads(self) -> tuple[Any, ...]:
        """The constructors among which this one selects by the arguments; usually empty."""
        overloads: tuple[Any, ...] = self._function.overloads
        return overloads

    def __repr__(self) -> str:
        return f"<anyffi constructor of {type_name(self.__objclass__)}>"


def bind_overrides(instance: Any) -> None:
    """Bind the overrides of an object whose `__init__` has not run, such as a copy."""
    for cls in type(instance).__mro__:
        constructor = cls.__dict__.get("__init__")
        if isinstance(constructor, Constructor) and constructor._overrides is not None:
            constructor._overrides.bind(instance)
            return


def type_name(cls: type) -> str:
    """Return the name of a class in messages of C++."""
    return f"{cls.__module__}.{cls.__qualname__}"


def no_constructor(self: Any, /, *args: Any, **kwargs: Any) -> None:
    """Raise TypeError: the class has no constructor in Python."""
    raise TypeError(f"cannot create '{type_name(type(self))}' instances: the class has no constructor")


def make_walk(method: Any, iterate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that makes an iterator from a method that returns a function of the next element."""

    def walk(self: Any, /) -> Any:
        return iterate(method(self))

    _name_after(method, walk)
    return walk


def make_iter(method: Any) -> Callable[[Any], Any]:
    """Return an `__iter__` for a method that returns an iterable."""

    def __iter__(self: Any) -> Any:
        found = method(self)
        # An object whose `__iter__` returns itself is already an iterator: `iter` would recurse.
        return found if hasattr(type(found), "__next__") else iter(found)

    _name_after(method, __iter__)
    return __iter__


def _name_after(method: Any, function: Any) -> None:
    function.__name__, function.__qualname__ = method.__name__, method.__qualname__
    function.__module__, function.__doc__ = method.__module__, method.__doc__
    function.__wrapped__ = method
