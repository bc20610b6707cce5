"""The defaults of C++ classes: `__repr__`, copies and pickles."""

from __future__ import annotations

import threading
from functools import partial

from .._builtins import *  # noqa: F403
from .._pickling import unpickle_object
from .._typing import Any
from .attributes import set_state, state_of
from .container import Container
from .fields import Field

__all__ = ["__replace__", "__repr__", "make_copies", "make_copy", "make_reduce", "namespace_of_key"]

#: The module of classes whose keys have no dot.
_NO_MODULE = "anyffi.objects"

_running = threading.local()


def namespace_of_key(key: str, doc: str | None, place: tuple[str, str]) -> dict[str, Any]:
    """Return the attributes of each class made for a type: module, name, docstring and key."""
    module, name = place
    return {"__module__": module or _NO_MODULE, "__qualname__": name, "__doc__": doc, "_anyffi_type_key": key}


def __repr__(self: Any) -> str:
    """Return the class and the fields; `...` for an object inside of itself."""
    cls = type(self)
    name = cls.__qualname__ if cls.__module__ == _NO_MODULE else f"{cls.__module__}.{cls.__qualname__}"
    # Reading a field may run code that replaces the object.
    address = self._anyffi_address
    if not address:
        return f"<{name} object, not initialized>"
    self._anyffi_runtime.need_stack()
    active = _running.__dict__.setdefault("active", set())
    if address in active:
        return f"{name}(...)"
    try:
        active.add(address)
        names = [x for base in reversed(cls.__mro__) for x in base.__dict__.get("_anyffi_field_names", ())]
        return f"{name}({', '.join(f'{x}={getattr(self, x)!r}' for x in names)})"
    finally:
        active.discard(address)


def __replace__(self: Any, /, **changes: Any) -> Any:
    """Return a copy with other values in some fields and properties, for `copy.replace`."""
    from copy import copy

    cls = type(self)
    fields, is_fixed = {}, False
    for name, value in zip(changes, changes.values()):
        member = None if name.startswith("_anyffi_") else getattr(cls, name, None)
        if not hasattr(member, "__set__"):
            raise TypeError(f"{cls.__qualname__}.__replace__() got an unexpected keyword argument {name!r}")
        if isinstance(member, Field):
            fields[name] = value
            is_fixed = is_fixed or member.fset is None
    made = _made_with(self, fields) if is_fixed else None
    is_remade = made is not None
    # The object itself: each field had this value before.
    made = copy(self) if made is None or made is self else made
    for name, value in zip(changes, changes.values()):
        if not is_remade or name not in fields:
            setattr(made, name, value)
    return made


def _made_with(self: Any, fields: dict[str, Any]) -> Any:
    """Return an object made by a constructor, with other fields; None if there is no such constructor."""
    runtime = self._anyffi_runtime
    names = [name for _, name, _ in runtime.structure_children(self)]
    if not fields.keys() <= set(names):
        return None
    replaced = partial(_new_value, iter(names), fields)
    made = runtime.structure_map_children(self, runtime.to_object(replaced))
    if made is self:
        return made
    made = _remade(self, made)
    set_state(made, state_of(self))
    return made


def _new_value(names: Any, fields: dict[str, Any], value: Any) -> Any:
    """Return the value of the field that comes next."""
    return fields.get(next(names), value)


def _remade(self: Any, made: Any) -> Any:
    """Move a copy made by C++ into an instance of the original's class."""
    if type(made) is type(self):
        return made
    if getattr(made, "_anyffi_type_code", None) != self._anyffi_type_code:
        shown = type(self).__qualname__
        raise TypeError(f"cannot copy '{shown}' object: __copy__ in C++ returned '{type(made).__qualname__}'")
    return type(self)._anyffi_take(made)


def _require_own(self: Any, type_code: int, verb: str, member: str) -> None:
    """Reject an object of a derived class: the base's functions would create an object of the base."""
    # For an empty object, the C++ function that gets it raises the error.
    if self._anyffi_address and self._anyffi_type_code != type_code:
        own, base = (self._anyffi_runtime.type_describe(x)[0] for x in (self._anyffi_type_code, type_code))
        raise TypeError(
            f"cannot {verb} '{type(self).__qualname__}' object: {member} in C++ is that of its base {base}, "
            f"and would make one of these. Describe {own} with {member}, too"
        )


def _class_without_attributes(cls: Any) -> Any:
    """Return a class, or None if instances may have Python attributes, as for a class registered by users."""
    return cls if "_anyffi_type_key" in cls.__dict__ else None


def make_copies(cls: type, copy: Any, type_code: int) -> tuple[Any, Any]:
    """Return `__copy__` and `__deepcopy__` for a class and a type, given a function that copies objects."""
    plain = _class_without_attributes(cls)

    def copy_content(self: Any) -> Any:
        made = copy(self)
        # A virtual function, such as `clone`, also copies objects of derived classes.
        if getattr(made, "_anyffi_type_code", None) != self._anyffi_type_code:
            _require_own(self, type_code, "copy", "copyable()")
        return _remade(self, made)

    def __copy__(self: Any) -> Any:
        if type(self) is plain and self._anyffi_type_code == type_code:
            return copy(self)
        made = copy_content(self)
        set_state(made, state_of(self))
        return made

    # Filled later, when the classes of its bases are complete.
    shared: list[tuple[Field, ...]] = []

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        self._anyffi_runtime.need_stack()
        made = memo[id(self)] = copy_content(self)
        if self._anyffi_type_code != type_code:
            _deepen(made, _fields_that_share(type(self)), memo)
        else:
            if not shared:
                shared.append(_fields_that_share(cls))
            _deepen(made, shared[0], memo)
        if type(self) is plain:
            return made
        set_state(made, deepcopy(state_of(self), memo))
        return made

    return __copy__, __deepcopy__


#: Types of fields whose values are never shared between copies.
_LEAVES = ("int", "float", "bool", "str", "bytes", "complex")


def _fields_that_share(cls: type) -> tuple[Field, ...]:
    """Return the fields in which a copy may share containers or objects with the original.

    Not those that are pointers: a copied object would not outlive the copy. Such a field cannot be set.
    """
    names = [(base, name) for base in cls.__mro__ for name in base.__dict__.get("_anyffi_field_names", ())]
    fields = [base.__dict__.get(name) for base, name in names]
    return tuple(
        field
        for field in fields
        if isinstance(field, Field) and field.fset is not None and field.type_name not in _LEAVES
    )


def _deepen(made: Any, fields: tuple[Field, ...], memo: dict[int, Any]) -> None:
    """Copy the parts that a copied object shares with the original: containers, and copyable objects."""
    from copy import deepcopy

    for field in fields:
        value = field.__get__(made)
        is_copied = hasattr(type(value), "_anyffi_type_code") and hasattr(type(value), "__deepcopy__")
        if isinstance(value, Container) or is_copied:
            copied = deepcopy(value, memo)
            if copied is not value:
                field.__set__(made, copied)


def make_reduce(cls: Any, type_code: int, get_state: Any) -> Any:
    """Return `__reduce__` for objects of a type, with their class, their C++ state and their attributes."""
    plain = _class_without_attributes(cls)

    def __reduce__(self: Any) -> tuple[Any, ...]:
        """Helper for pickle."""
        self._anyffi_runtime.need_stack()
        is_plain = type(self) is plain and self._anyffi_type_code == type_code
        if not is_plain:
            _require_own(self, type_code, "pickle", "pickle()")
        state = self._anyffi_runtime.to_plain(get_state(self))
        if is_plain:
            return unpickle_object, (plain._anyffi_type_key, state)
        cls = type(self)
        # Classes made here cannot be imported by name.
        shown = cls.__dict__.get("_anyffi_type_key", cls)
        return unpickle_object, (shown, state), state_of(self)

    return __reduce__


def make_copy(get_state: Any, restore: Any) -> Any:
    """Return a function that copies an object with its pickle functions."""
    return lambda self: restore(self._anyffi_runtime.to_plain(get_state(self)))
