"""Dataclasses whose fields C++ reads, too."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._objects.records import Records
from .._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import Field

__all__ = ["DataclassApi"]

#: The defaults of `dataclasses.dataclass`, which lacks some of these arguments before Python 3.10.
_DEFAULTS = {
    "init": True,
    "repr": True,
    "eq": True,
    "order": False,
    "unsafe_hash": False,
    "frozen": False,
    "match_args": True,
    "kw_only": False,
}


class DataclassApi:
    """Dataclasses, with one backend."""

    _records: Records
    Object: Any
    to_python: Any

    def dataclass(
        self, key: Any = None, /, *, slots: bool = True, structural: Any = None, **options: bool
    ) -> Any:
        """Make a class a dataclass whose instances C++ reads and writes as a struct: a class decorator.

        It works like `dataclasses.dataclass`, with the same arguments, and with `dataclasses.field`,
        `fields`, `replace` and so on. The fields are stored in an object of the runtime and typed by their
        annotations: a value of another type is a TypeError. The returned class is a new one, which derives
        from `anyffi.Object`.

        Parameters
        ----------
        key : str, optional
            The key of the type in the runtime; by default the module and name of the class. The decorator may
            also be used without arguments.
        init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only : bool
            As for `dataclasses.dataclass`.
        slots : bool
            False: instances have a `__dict__` for other attributes.
        structural : str, optional
            How instances are compared by structure: `"plain"`, the default; `"identity"`, by identity;
            `"variable"`, one that is not bound equals only itself; `"dag"`, one that occurs again must
            correspond to the same instance as the first time. Fields have such an option too: see
            `anyffi.field`.

        Raises
        ------
        TypeError
            An annotation has no counterpart in C++.
        ValueError
            Another class has the key.

        Examples
        --------
        >>> @anyffi.dataclass("example.Point")
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1)
        Point(x=1, y=0)
        """
        unknown = [name for name in options if name not in _DEFAULTS]
        if unknown:
            raise TypeError(f"dataclass() got an unexpected keyword argument {unknown[0]!r}")
        if isinstance(key, type):
            return self._records.declare(key, None, slots, structural, _given(options))
        if not (key is None or isinstance(key, str)):
            raise TypeError(f"dataclass() takes a class or a type key, not {type(key).__name__}")
        return lambda cls: self._records.declare(cls, key, slots, structural, _given(options))

    def fields(self, class_or_instance: Any, /) -> tuple[Field[Any], ...]:
        """Return the fields of a dataclass or class of C++, as `dataclasses.fields` does."""
        import dataclasses

        cls = class_or_instance if isinstance(class_or_instance, type) else type(class_or_instance)
        if dataclasses.is_dataclass(cls) or not issubclass(cls, self.Object):
            return dataclasses.fields(class_or_instance)
        return self._records.fields_of(cls)

    def asdict(self, obj: Any, /, *, dict_factory: Any = dict) -> Any:
        """Return an object's fields by name as `dataclasses.asdict` does, with Python's containers."""
        return self._records.unfold(obj, dict_factory, is_dict=True)

    def astuple(self, obj: Any, /, *, tuple_factory: Any = tuple) -> Any:
        """Return an object's fields as `dataclasses.astuple` does, with Python's containers."""
        return self._records.unfold(obj, tuple_factory, is_dict=False)


def _given(options: dict[str, bool]) -> dict[str, bool]:
    return {name: options[name] for name in options if options[name] is not _DEFAULTS[name]}
