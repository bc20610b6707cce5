"""Methods of `Function` over the class of a backend."""

from __future__ import annotations

from functools import partial
from itertools import chain

from .._builtins import *  # noqa: F403
from .._pickling import LateFunction, unpickle_callable, unpickle_export, unpickle_function
from .._rules import keywords
from .._rules.decisions import decide, lower_function
from .._typing import TYPE_CHECKING, Any, Callable
from .bound import begin_permanent
from .docs import signature
from .runtime import Runtime

if TYPE_CHECKING:
    from inspect import Signature

    from typing_extensions import Self

__all__ = ["FunctionMethods"]


class FunctionMethods:
    """A function of the runtime.

    Parameters
    ----------
    f : callable
        The Python function to call; arguments and result are converted.

    Examples
    --------
    >>> anyffi.Function(lambda x: [x])(1)
    anyffi.List([1])
    """

    __slots__ = ()

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError(f"expected a callable, got {type(f).__name__}")
        # Other callables convert to values, or to other objects, which `_anyffi_move_from` would empty.
        if decide(type(f))[0] is not lower_function:
            f = partial(f)
        self._anyffi_move_from(self._anyffi_runtime.to_object(f))

    # Defined by the backend, except the name and the runtime.
    if TYPE_CHECKING:
        _anyffi_runtime: Runtime
        _anyffi_address: int
        __qualname__: str

        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

        def _anyffi_move_from(self, other: Any) -> None: ...

        def _anyffi_info(self) -> keywords.Info | None: ...

        def _anyffi_doc(self) -> Any: ...

        def same_as(self, other: object) -> bool: ...

    @property
    def __name__(self) -> str:
        info = self._anyffi_info()
        return (info and info[0]) or "function"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Not a property: Python removes this name from the body of a class.
            if name == "__qualname__":
                return self.__name__
            return object.__getattribute__(self, name)

    @property
    def overloads(self) -> tuple[Any, ...]:
        """The functions among which this one selects by the arguments; usually empty."""
        return tuple(self._anyffi_runtime.function_overloads(self))

    @property
    def __signature__(self) -> Signature:
        return signature(self)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """Return the function itself: like Python's builtin functions, it binds no `self`.

        The method makes it a routine for `inspect`, so that `help` shows its signature.
        """
        return self

    def _anyffi_select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return a function that takes the values of a call with keywords in the order of the call.

        It selects among the overloads whose parameters have these names; TypeError if there are none.
        """
        names = [*map(keywords.exact, kwargs)]
        fitting, places, refusals = [], [], []
        for overload in self.overloads:
            try:
                places.append(keywords.place(overload._anyffi_info(), len(args), names))
                fitting.append(overload)
            except TypeError as error:
                refusals.append(f"\n    {self._anyffi_runtime.function_signature(overload)}: {error}")
        if not fitting:
            given = [type(x).__name__ for x in args]
            given += [f"{name}={type(x).__name__}" for name, x in zip(names, kwargs.values())]
            raise TypeError(f"{self.__name__}(): no overload takes ({', '.join(given)}){''.join(refusals)}")
        # The ctypes backend keeps it for the next such call: no leak.
        end = begin_permanent()
        selected = self._anyffi_runtime.function_select(self.__name__, fitting, places, names)
        end()
        return selected

    def __repr__(self) -> str:
        return f"<anyffi.Function {self.__name__}{self.__signature__}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A Python function is returned from a container as itself.
        python = next(iter(self._anyffi_runtime.to_object([self])))
        if isinstance(python, LateFunction):
            return python.__reduce__()
        # A Python function has no name here, and any function may be registered under another name.
        names = chain([self.__name__], self._anyffi_runtime.registry_list())
        for name in filter(self._anyffi_has_name, names):
            library = self._anyffi_runtime.registry_find_library(name)
            if library is not None:
                return unpickle_function, (name, library)
            module = getattr(python, "__module__", None)
            is_importable = python is not self and isinstance(module, str)
            if is_importable and module not in ("builtins", "__main__"):
                return unpickle_function, (name, None, module)
            return unpickle_function, (name,)
        origin = self._anyffi_runtime.module_find_origin(self)
        if origin is not None:
            return unpickle_export, tuple(origin)
        if python is not self:
            return unpickle_callable, (python,)
        raise TypeError(
            f"cannot pickle {self!r}: C++ made it at run time, so no name leads another process to it. "
            "Pickle what it was made from, or register it with register_global_func in every process"
        )

    def _anyffi_has_name(self, name: str) -> bool:
        return self.same_as(self._anyffi_runtime.get_function(name))
