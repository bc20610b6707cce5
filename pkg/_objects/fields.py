"""Fields of the runtime's objects, as properties of their Python classes."""

from __future__ import annotations

import sys
from types import MemberDescriptorType

from .._builtins import *  # noqa: F403
from .._rules.culprits import locate_field
from .._rules.refusals import explain_field
from .._typing import Any, Callable
from .runtime import Runtime

__all__ = ["FROZEN", "Field", "annotations_of", "option_of", "refuse_hidden_fields"]

#: Key in the metadata of dataclass fields that can be set only once.
FROZEN = "anyffi.frozen"


class Field(property):
    """A property that reads, and perhaps writes, a field of the object.

    If `is_frozen`, assignments may only give the field its first value; `set` always works.
    """

    def __init__(
        self,
        runtime: Runtime,
        owner: str,
        name: str,
        type_name: str | None,
        doc: str | None,
        is_writable: bool,
        is_frozen: bool = False,
    ) -> None:
        def get_slowly(self: Any) -> Any:
            _require_object(self, owner, name)
            return runtime.object_get_field(self, name)

        get = runtime.field_getter(name, get_slowly)
        put = None
        if is_writable:

            def put_slowly(self: Any, value: Any) -> None:
                _require_object(self, owner, name)
                try:
                    if runtime.object_set_field(self, name, value):
                        runtime.renew_wrapper(self)
                except Exception as exception:
                    is_complete = locate_field(exception, (value,), f"{owner}.{name}")
                    # A message of the front end itself is complete.
                    if isinstance(exception, TypeError) and not is_complete:
                        explain_field(exception, value)
                    raise

            put = runtime.field_setter(name, put_slowly)
        super().__init__(get, _once(name, get, put) if is_frozen else put)
        self._put = put
        self.is_frozen = is_frozen
        # For messages of Python 3.10 and later; Python calls it only for names in a class body.
        if hasattr(self, "__set_name__"):
            self.__set_name__(None, name)
        # A docstring of a derived class would hide the property's `doc`.
        self.__doc__ = doc
        self.type_name = type_name

    def set(self, instance: Any, value: Any) -> None:
        """Set the field of an object, even if assignments are rejected."""
        if self._put is None:
            raise AttributeError("the field is read-only")
        self._put(instance, value)


def option_of(field: Any, key: str) -> Any:
    """Return an entry of a field's metadata, or None.

    The metadata may be any mapping of the user. `in` would look up 0 in one that has only `__getitem__`,
    which is all that the standard library requires; `[]` would add the key to a `defaultdict`, or read 0
    from a `Counter`.
    """
    for read in (field.metadata.get, field.metadata.__getitem__):
        try:
            return read(key)
        except (LookupError, AttributeError, TypeError):
            pass
    return None


def annotations_of(cls: type) -> Any:
    """Return the annotations of a class itself, unevaluated."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations

        return get_annotations(cls, format=Format.FORWARDREF)
    return cls.__dict__.get("__annotations__", {})  # noqa: RUF063


def refuse_hidden_fields(cls: Any) -> None:
    """Reject a subclass of a dataclass that replaces a field, which C++ still reads, by another attribute.

    Assignments would set an instance attribute. Data descriptors, such as properties, are allowed.
    """
    for name in cls._anyffi_takes:
        owner = next(base for base in cls.__mro__ if name in base.__dict__)
        value = owner.__dict__[name]
        has_setter = hasattr(type(value), "__set__") and not isinstance(value, MemberDescriptorType)
        is_known = isinstance(value, Field) or has_setter
        was_checked = owner is not cls and hasattr(owner, "_anyffi_takes")
        # An annotated attribute is a default, if this becomes a dataclass.
        if is_known or was_checked or name in annotations_of(cls):
            continue
        raise TypeError(
            f"{owner.__name__}.{name} would hide the field {name!r} of class {cls.__name__}, which C++ "
            "reads: annotate it in a dataclass, to give the field another default, or choose another name"
        )


def _require_object(x: object, owner: str, name: str) -> None:
    """Raise the interpreter's descriptor error for an object that is not a wrapper of any backend."""
    if not hasattr(type(x), "_anyffi_address"):
        raise TypeError(
            f"descriptor {name!r} for '{owner}' objects doesn't apply to a '{type(x).__name__}' object"
        )


def _once(name: str, get: Callable[[Any], Any], put: Any) -> Callable[[Any, Any], None]:
    """Return a function that sets a field that has no value yet."""

    def put_once(self: Any, value: Any) -> None:
        try:
            get(self)
        except AttributeError:
            put(self, value)
            return
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    return put_once
