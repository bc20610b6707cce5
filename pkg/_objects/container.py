"""Methods that all containers share: construction, copies, pickles."""

from __future__ import annotations

from collections.abc import Iterable
from types import GenericAlias

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_container
from .._rules.containers import holds_scalars
from .._typing import TYPE_CHECKING, Any, Callable
from .attributes import set_state, state_of
from .runtime import Runtime

__all__ = [
    "Container",
    "deep_copies",
    "is_made",
    "is_public",
    "new_or_same",
    "shown_class",
    "single_argument",
]


def shown_class(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}"


def new_or_same(init: Any) -> Any:
    """Make `__new__` of an immutable container, with the signature of its `__init__`.

    `__new__` gets the arguments of a subclass's `__init__`.
    """

    def __new__(cls: Any, /, *arguments: Any, **named: Any) -> Any:
        """Return the argument if it is exactly of this class, as `tuple` does; else create a container."""
        if len(arguments) == 1 and not named and type(arguments[0]) is cls and is_public(cls):
            return arguments[0]
        # As with `object.__new__`, a subclass's own `__new__` must not pass the arguments on.
        return object.__new__(cls) if cls.__new__ is __new__ else object.__new__(cls, *arguments, **named)

    __new__.__wrapped__ = init  # type: ignore[attr-defined]
    return __new__


def is_made(x: Any, content: Any) -> bool:
    """Return whether `__new__` returned `content` itself; raise TypeError if `x` has other content."""
    if x is content:
        return True
    if x._anyffi_address:
        raise TypeError(f"{type(x).__name__} is already initialized and immutable")
    return False


def single_argument(name: str, arguments: tuple[Any, ...], default: Any) -> Any:
    """Return the only, optional argument of a method that accepts any keyword."""
    if len(arguments) > 1:
        raise TypeError(f"{name} expected at most 1 argument, got {len(arguments)}")
    return arguments[0] if arguments else default


def is_public(cls: type) -> bool:
    """Return whether a class is one of anyffi's own, not a user's subclass."""
    return cls.__module__ == "anyffi"


def deep_copies(values: Iterable[Any], memo: dict[int, Any]) -> list[Any]:
    """Call `copy.deepcopy`, imported late, for each value."""
    from copy import deepcopy

    # Not a comprehension: without memory for its cells, CPython 3.11 leaks a reference to `memo`, and so the
    # copies.
    copies = []
    for x in values:
        copies.append(deepcopy(x, memo))
    return copies


class Container:
    """The base of all container methods. Only users' subclasses have instance attributes."""

    __slots__ = ()
    __class_getitem__ = classmethod(GenericAlias)  # type: ignore[var-annotated]
    __hash__ = None  # type: ignore[assignment]
    #: `case anyffi.List([x, y]):` matches the container itself, as `case list([x, y]):` does.
    __match_args__ = ("_anyffi_itself",)
    #: The function that pickles refer to.
    _anyffi_unpickle = staticmethod(unpickle_container)

    # Annotations would be inherited by users' classes.
    if TYPE_CHECKING:
        _anyffi_runtime: Runtime
        #: The corresponding class of Python.
        _anyffi_plain: Any
        _anyffi_address: int
        _anyffi_type_code: int
        _anyffi_move_from: Callable[[Any], None]
        #: The types of all elements, keys and values.
        _anyffi_type_mask: Callable[[], int]

    @property
    def _anyffi_itself(self) -> Any:
        return self

    def to_python(self, /) -> Any:
        """Return Python's own container with the same content, at all levels; see `anyffi.to_python`."""
        return self._anyffi_runtime.to_plain(self)

    def _anyffi_new(self, content: Any) -> Any:
        """Create a container of this type with the content of a Python container."""
        return self._anyffi_runtime.to_object(content)

    def _anyffi_made_of(self, elements: Any) -> Any:
        """Make a container of this type from any iterable or mapping."""
        return self._anyffi_new(self._anyffi_plain(elements))

    @classmethod
    def _anyffi_make(cls, content: Any) -> Any:
        """Make a container of this class without running its `__init__`."""
        made = cls.__new__(cls)
        made._anyffi_move_from(made._anyffi_made_of(content))
        return made

    def _anyffi_holds_trees(self) -> bool:
        """Return whether a pickle stores the parts as Python's own containers.

        Containers without other references are stored as Python's own, from which equal ones are made: that
        takes a tenth of the time of an object each. Users' subclasses get the original elements.
        """
        is_nested = is_public(type(self)) and not holds_scalars(self._anyffi_type_mask())
        return is_nested and self._anyffi_runtime.container_is_tree(self)

    def _anyffi_content(self) -> Any:
        """Return the content for a pickle as Python's own containers; None if they must not be converted."""
        return self.to_python() if self._anyffi_holds_trees() else None

    def _anyffi_reduced(self, *content: Any) -> tuple[Any, ...]:
        """Return the `__reduce__` value for a container of this class with this content."""
        self._anyffi_runtime.need_stack()
        cls = type(self)
        if is_public(cls):
            # By name, so that any backend can read the pickle.
            return unpickle_container, (cls.__name__, *content), None
        return unpickle_container, (cls, *content), state_of(self)

    def _anyffi_copy_of_class(self) -> Any:
        """Make a container of the same class with the same attributes and elements."""
        made = type(self).__new__(type(self))
        made._anyffi_move_from(self._anyffi_runtime.container_copy(self))
        set_state(made, state_of(self))
        return made

    def _anyffi_remade(self, content: Any, memo: dict[int, Any]) -> Any:
        """Make a container of the same class with copied attributes and other elements, for deep copies."""
        made = self._anyffi_make(content)
        memo[id(self)] = made
        set_state(made, *deep_copies([state_of(self)], memo))
        return made

    def _anyffi_unchanged(self, memo: dict[int, Any]) -> Any:
        """Return the container itself as its deep copy, and remember that."""
        memo[id(self)] = self
        # As `copy.deepcopy` does: keeps the original alive, so that its address is not reused.
        memo.setdefault(id(memo), []).append(self)
        return self

    def _anyffi_is_copied_at_once(self) -> bool:
        """Return whether a deep copy is a shallow one, because no part needs copying."""
        return is_public(type(self)) and holds_scalars(self._anyffi_type_mask())
