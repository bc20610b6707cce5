"""The public classes, made for each backend from this one text."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from types import FunctionType

from . import _binding
from ._mappings import DictMethods, MapMethods
from ._pickling import unpickle_export, unpickle_function, unpickle_module, unpickle_program
from ._runtime import Runtime
from ._sequences import ArrayMethods, ListMethods
from ._sets import FrozenSetMethods, SetMethods
from ._shape import ShapeMethods
from ._signatures import FunctionAnnotations, FunctionDoc, ModuleDoc, signature
from ._tensor import TensorMethods
from ._types import code, row_name
from ._typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from inspect import Signature

    from typing_extensions import Self

    from ._public import Function, Module

__all__ = ["FunctionMethods", "ModuleMethods", "ObjectMethods", "build"]


def _is_public(name: str) -> bool:
    """Whether users are shown a name; which others there are is the backend's own business."""
    return not name.startswith("_") or (name.startswith("__") and name not in ("__slots__", "__weakref__"))


class ObjectMethods:
    """An object of the runtime; the base of every class that stands for one.

    The same object is the same Python object for as long as Python holds it.
    """

    __slots__ = ()

    _runtime: Runtime
    _address: int

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if _is_public(name)]

    def same_as(self, other: object) -> bool:
        """Whether both are the same object of the runtime."""
        return isinstance(other, ObjectMethods) and self._address == other._address

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle {type(self).__qualname__!r} object")


class FunctionMethods:
    """A function of the runtime.

    Parameters
    ----------
    f : callable
        What it calls; arguments and result are converted both ways.

    Examples
    --------
    >>> anyffi.Function(lambda x: [x])(1)
    anyffi.List([1])
    """

    __slots__ = ()

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError(f"expected a callable, got {type(f).__name__}")
        # `_take` empties what it takes from, which must not be the caller's own function.
        self._take(self._runtime.to_object(f.__call__ if isinstance(f, FunctionMethods) else f))

    # The backend's core has them, but for the name and the runtime. There is no annotation at run time.
    if TYPE_CHECKING:
        _runtime: Runtime
        _address: int
        __qualname__: str

        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

        def _take(self, other: Any) -> None: ...

        def _info(self) -> _binding.Info | None: ...

        def same_as(self, other: object) -> bool: ...

    @property
    def __name__(self) -> str:
        info = self._info()
        return (info and info[0]) or "function"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python takes this name out of the body of a class, so that no property can have it.
            if name == "__qualname__":
                return self.__name__
            return object.__getattribute__(self, name)

    @property
    def overloads(self) -> tuple[Any, ...]:
        """The functions among which this one chooses by its arguments; empty for most."""
        return tuple(self._runtime.function_overloads(self))

    @property
    def __signature__(self) -> Signature:
        return signature(self)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """Itself: in a class it binds no `self`, as Python's builtin functions do not.

        What has this method is a routine to `inspect`, and `help` shows its signature.
        """
        return self

    def _call_overload(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with keywords, among those overloads whose parameters have the names."""
        names = [str.__str__(name) for name in kwargs]
        fitting, places, refusals = [], [], []
        for overload in self.overloads:
            try:
                places.append(_binding.place(overload._info(), len(args), names))
                fitting.append(overload)
            except TypeError as error:
                refusals.append(f"\n    {self._runtime.function_signature(overload)}: {error}")
        if not fitting:
            given = [type(x).__name__ for x in args]
            given += [f"{name}={type(x).__name__}" for name, x in zip(names, kwargs.values())]
            raise TypeError(f"{self.__name__}(): no overload takes ({', '.join(given)}){''.join(refusals)}")
        return self._runtime.function_select(self.__name__, fitting, places)(*args, *kwargs.values())

    def __repr__(self) -> str:
        return f"<anyffi.Function {self.__name__}{self.__signature__}>"

    def __eq__(self, other: object) -> Any:
        return self._address == other._address if isinstance(other, FunctionMethods) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._address)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A function of Python does not know its name, and any may have been registered under another one.
        names = chain([self.__name__], self._runtime.registry_list())
        for name in filter(self._has_name, names):
            return unpickle_function, (name,)
        origin = self._runtime.module_find_origin(self)
        if origin is None:
            raise TypeError(f"cannot pickle {self!r}: it has no name in the registry, nor in a module")
        return unpickle_export, tuple(origin)

    def _has_name(self, name: str) -> bool:
        return self.same_as(self._runtime.get_function(name))


class ModuleMethods:
    """The functions of a shared library, and of the modules that it imports, as attributes."""

    __slots__ = ()

    _runtime: Runtime

    def __getattr__(self, name: str) -> Function:
        return self.get_function(name)

    def __getitem__(self, name: str) -> Function:
        return self.get_function(name)

    def get_function(self, name: str) -> Function:
        """The function `name`, of the module or of what it imports.

        Raises
        ------
        AttributeError
            There is none; the message names the nearest.
        """
        function: Function = self._runtime.module_get_function(self, name)
        return function

    def import_module(self, module: Module) -> None:
        """Look in another module, too, for functions that this one has not itself.

        Parameters
        ----------
        module : Module
            It comes after those that were imported before. Importing it again changes nothing.

        Raises
        ------
        ValueError
            It is this module, or imports it, itself or by way of others.
        """
        self._runtime.module_import(self, module)

    @property
    def imports(self) -> list[Module]:
        """The modules that this one imports, in the order that they are looked in."""
        return list(self._runtime.module_imports(self))

    def __dir__(self) -> list[str]:
        own = filter(_is_public, object.__dir__(self))
        return sorted({*own, *self._runtime.module_list(self)})

    # The same library twice is equal: each load gives a module of its own, with imports of its own.
    def __eq__(self, other: object) -> Any:
        return self._runtime.value_equal(self, other) if isinstance(other, ModuleMethods) else NotImplemented

    def __hash__(self) -> int:
        return int(self._runtime.value_hash(self))

    #: Else Python would ask for functions by the names 0, 1 and so on.
    __iter__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        prefix = self._runtime.module_prefix(self)
        if prefix is not None:
            return unpickle_program, (prefix, *self.imports)
        return unpickle_module, (self.__file__, *self.imports)

    @property
    def __file__(self) -> str:
        path: str | None = self._runtime.module_path(self)
        if path is None:
            raise AttributeError("the program itself was loaded from no path")
        return path

    def __repr__(self) -> str:
        path = self._runtime.module_path(self)
        return "<anyffi.Module of the program>" if path is None else f"<anyffi.Module {path!r}>"


def build(core: Any) -> dict[str, Any]:
    """The public classes over a backend's core, by name; also the functions that their methods use."""

    def public(name: str, methods: type, *bases: type, **extra: Any) -> Any:
        namespace = {
            "__slots__": (),
            "__module__": "anyffi",
            "__qualname__": name,
            "__doc__": methods.__doc__,
        }
        for method in vars(methods).values():
            # What messages about wrong arguments speak of.
            if isinstance(method, FunctionType):
                method.__qualname__ = f"{name}.{method.__name__}"
        return type(name, (methods, *bases), {**namespace, **extra})

    Object = public("Object", ObjectMethods, core.ObjectCore)
    Array = public("Array", ArrayMethods, Object, core.ArrayCore)
    capsule = core.create_exchange()
    exchange = {} if capsule is None else {"__dlpack_c_exchange_api__": capsule}
    classes = {
        "Object": Object,
        "Function": public(
            "Function",
            FunctionMethods,
            Object,
            core.FunctionCore,
            __doc__=FunctionDoc(FunctionMethods.__doc__),
            __annotations__=FunctionAnnotations(),
        ),
        "Module": public("Module", ModuleMethods, Object, __doc__=ModuleDoc(ModuleMethods.__doc__)),
        "Array": Array,
        "Shape": public("Shape", ShapeMethods, Array),
        "List": public("List", ListMethods, Object, core.ListCore),
        "Map": public("Map", MapMethods, Object, core.MapCore),
        "Dict": public("Dict", DictMethods, Object, core.DictCore),
        "FrozenSet": public("FrozenSet", FrozenSetMethods, Object, core.FrozenSetCore),
        "Set": public("Set", SetMethods, Object, core.SetCore),
        "Tensor": public("Tensor", TensorMethods, Object, **exchange),
    }
    Sequence.register(Array)
    MutableSequence.register(classes["List"])
    Mapping.register(classes["Map"])
    MutableMapping.register(classes["Dict"])
    AbstractSet.register(classes["FrozenSet"])
    MutableSet.register(classes["Set"])
    for name, cls in classes.items():
        core.set_class(getattr(code, row_name(name)), cls)
    Object._runtime = Runtime(core)
    return classes
