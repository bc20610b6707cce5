"""Methods of dataclasses whose fields lie in objects of the runtime."""

from __future__ import annotations

from copyreg import __newobj__  # type: ignore[attr-defined]
from functools import partial
from weakref import ref

from .._builtins import *  # noqa: F403
from .._typing import TYPE_CHECKING, Any

__all__ = ["NO_STATE", "RecordMethods"]

#: Slots that hold no attributes of users.
NO_STATE = ("__weakref__", "__dict__")

#: By identity, since classes may be equal to others: the names, and a reference to the class, whose address
#: another one may get.
_known: dict[int, tuple[tuple[str, ...], ref[type]]] = {}


def _find_names(cls: type) -> tuple[str, ...]:
    """Remember and return the names of fields, and of slots that classes in Python add."""
    import dataclasses

    names = [field.name for field in dataclasses.fields(cls)]
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    found = tuple(name for name in dict.fromkeys(names) if name not in NO_STATE)
    _known[id(cls)] = found, ref(cls, partial(_forget, id(cls)))
    return found


def _forget(address: int, reference: Any) -> None:
    # Perhaps that of a later class, whose names are then found anew.
    _known.pop(address, None)


class _Signature:
    """`__signature__` of dataclasses: that of `__init__`, not of `__new__`."""

    def __get__(self, instance: object, owner: Any) -> Any:
        if instance is not None:
            raise AttributeError("__signature__")
        from inspect import signature

        shown = signature(owner.__init__)
        return shown.replace(parameters=list(shown.parameters.values())[1:])


class RecordMethods:
    """What all dataclasses have, below their own methods."""

    __slots__ = ()

    # Annotations would be those of users' classes, too.
    if TYPE_CHECKING:
        #: The codes of the type and of its drafts: objects whose fields are not all set.
        _anyffi_record: tuple[int, int]
        #: The `__init__` that the standard library made, or None.
        _anyffi_generated: Any
        #: Fields with a default that is no factory, by name; and those of them that are no parameters.
        _anyffi_defaults: tuple[tuple[str, Any], ...]
        _anyffi_set_nowhere: tuple[tuple[str, Any], ...]
        #: Fields that are set once, by name.
        _anyffi_frozen: dict[str, Any]
        #: By field which values it holds as they are.
        _anyffi_takes: dict[str, int]
        _anyffi_runtime: Any
        _anyffi_move_from: Any

    __signature__ = _Signature()

    if not TYPE_CHECKING:

        def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
            if (args or kwargs) and cls.__init__ is object.__init__:
                raise TypeError(f"{cls.__name__}() takes no arguments")
            try:
                runtime, codes = cls._anyffi_runtime, cls._anyffi_record
            except AttributeError:
                raise TypeError(f"{cls!r} is no anyffi.dataclass") from None
            made = runtime.create_record(cls)
            if made is not None:
                return made
            made = runtime.record_create(codes[1])
            if type(made) is not cls:
                self = object.__new__(cls)
                self._anyffi_move_from(made)
                made = self
            # Others are set by the standard library's `__init__`.
            is_generated = cls.__init__ is cls._anyffi_generated
            for name, default in cls._anyffi_set_nowhere if is_generated else cls._anyffi_defaults:
                object.__setattr__(made, name, default)
            return made

    def __getstate__(self) -> dict[str, Any]:
        """Helper for pickle: the fields that are set, and the attributes that a class in Python adds."""
        cls = type(self)
        known = _known.get(id(cls))
        names = known[0] if known is not None and known[1]() is cls else _find_names(cls)
        state: dict[str, Any] = self._anyffi_runtime.get_attributes(self, names)
        added = getattr(self, "__dict__", None)
        if added:
            state.update(added)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict):
            raise TypeError(f"state: expected a dict of fields, got {type(state).__name__}")
        # Before anything is set. Two look-ups take half the time of a loop.
        if "__dict__" in state or "__weakref__" in state:
            name = next(name for name in state if name in NO_STATE)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        exact = state if type(state) is dict else dict(state.items())
        self._anyffi_runtime.set_attributes(self, exact, self._anyffi_frozen)

    def __replace__(self, /, **changes: Any) -> Any:
        """Return an object like this one, with other fields: `copy.replace`, which Python 3.13 has."""
        from dataclasses import replace

        instance: Any = self
        return replace(instance, **changes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Helper for pickle."""
        self._anyffi_runtime.need_stack()
        return __newobj__, (type(self),), self.__getstate__()
