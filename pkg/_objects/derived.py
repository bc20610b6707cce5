"""Dataclasses that derive from C++ classes."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_object
from .._typing import TYPE_CHECKING, Any
from .record_methods import RecordMethods

__all__ = ["DerivedMethods", "make_post_init", "refuse_members"]


class DerivedMethods(RecordMethods):
    """Additional methods of these classes, which precede those of C++."""

    __slots__ = ()

    if TYPE_CHECKING:
        #: The class made for the C++ type.
        _anyffi_of_cpp: Any
        _anyffi_bind_overrides: Any

    def _anyffi_set_base(self, made: Any) -> None:
        """Make a new C++ object a part of this one."""
        self._anyffi_runtime.record_set_base(self, made)
        self._anyffi_runtime.renew_wrapper(self)

    @classmethod
    def _anyffi_take(cls, made: Any) -> Any:
        """Return an instance, with default values, for a new C++ object."""
        other = cls.__new__(cls)
        other._anyffi_set_base(made)
        other._anyffi_bind_overrides()
        return other

    def _anyffi_copy_base(self) -> Any:
        members = self._anyffi_of_cpp.__dict__
        if "_anyffi_copied" in members:
            return members["_anyffi_copied"].__func__(self)
        if "_anyffi_restore" in members:
            return self._anyffi_of_cpp._anyffi_restore(self._anyffi_state_of_base())
        raise self._error("copy", "copyable() or pickle()")

    def _anyffi_state_of_base(self) -> Any:
        return self._anyffi_runtime.to_plain(self._anyffi_of_cpp.__getstate__(self))

    def _error(self, verb: str, member: str) -> TypeError:
        own, base = type(self).__qualname__, self._anyffi_of_cpp
        return TypeError(
            f"cannot {verb} '{own}' object: its base {base.__module__}.{base.__qualname__} has no "
            f"{member} in C++"
        )

    def __copy__(self) -> Any:
        made = self._anyffi_take(self._anyffi_copy_base())
        made.__setstate__(self.__getstate__())
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        made = memo[id(self)] = self._anyffi_take(self._anyffi_copy_base())
        made.__setstate__(deepcopy(self.__getstate__(), memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Helper for pickle."""
        if "_anyffi_restore" not in self._anyffi_of_cpp.__dict__:
            raise self._error("pickle", "pickle()")
        return unpickle_object, (type(self), self._anyffi_state_of_base()), self.__getstate__()


def make_post_init(cls: Any) -> Any:
    """Return the default `__post_init__`, which calls the C++ constructor."""

    def __post_init__(self: Any, *args: Any) -> None:
        super(cls, self).__init__()

    return __post_init__


def refuse_members(cls: type, annotated: Any) -> None:
    """Reject fields that have the name of a member of the C++ class."""
    for name in annotated:
        for base in cls.__mro__:
            members = base.__dict__
            if "_anyffi_type_key" in members and "_anyffi_record" not in members and name in members:
                raise TypeError(
                    f"field {name!r} of {cls.__name__} is a member of its base {base.__name__}, which C++ "
                    "defines: give one of them another name"
                )
