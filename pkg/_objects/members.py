"""The members of C++ classes: fields, methods, properties, operators, constructors."""

from __future__ import annotations

import itertools

from .._builtins import *  # noqa: F403
from .._rules import keywords
from .._typing import TYPE_CHECKING, Any
from . import defaults
from .attributes import Restore
from .docs import FunctionAnnotations, FunctionDoc, FunctionGlobals
from .fields import Field
from .methods import OPERATORS, Constructor, MethodMethods, make_iter, make_walk
from .overrides import BIND, KEEP, Overrides, make_finder
from .static_properties import StaticProperty

if TYPE_CHECKING:
    from collections.abc import Callable

    from .runtime import Runtime

__all__ = ["Constant", "Members", "NestedClass", "Property", "TypeDescription"]

# AnyffiMethodFlag
_STATIC, _GETTER, _SETTER, _CONSTRUCTOR, _RESTORE, _ITERATES = 1, 2, 4, 8, 16, 32
_STATIC_PROPERTY = _STATIC | _GETTER | _SETTER


#: Attributes of wrappers and classes that a member must not replace, besides those that begin with
#: `_anyffi_`; such a member gets a trailing `_`.
_RESERVED = frozenset(
    [
        "__class__",
        "__new__",
        "__init__",
        "__del__",
        "__dict__",
        "__slots__",
        "__weakref__",
        "__module__",
        "__qualname__",
        "__reduce__",
        "__reduce_ex__",
        "__getattribute__",
        "__init_subclass__",
        "__subclasshook__",
        "__class_getitem__",
        "__anyffi_value__",
    ]
)


class TypeDescription:
    """The runtime's description of a type, as returned by `anyffi.type.describe`."""

    def __init__(
        self, key: str, doc: str | None, parent: int, fields: Any, has_repr: bool, version: int
    ) -> None:
        self.key = key
        self.doc = doc
        self.parent = parent
        #: For each of the type's own fields: name, type, docstring, and whether it is writable; for an
        #: enumeration the members.
        self.fields = fields
        self.has_repr = has_repr
        #: Changes when the type is redefined.
        self.version = version


class Members:
    """Makes the members of the classes of one backend.

    Parameters
    ----------
    public : dict
        The public classes of the backend, by name.
    class_of, ancestors : callable
        Return the class made for a type, and the codes of a type's ancestors.
    """

    def __init__(
        self,
        public: dict[str, Any],
        class_of: Callable[[int], Any],
        ancestors: Callable[[int], list[int]],
    ) -> None:
        self._runtime: Runtime = public["Object"]._anyffi_runtime
        self._function: Any = public["Function"]
        self._class_of = class_of
        self._ancestors = ancestors
        #: The class of C++ methods.
        self.method_class: Any = type(
            "Method",
            (MethodMethods, self._function),
            {
                "__slots__": ("__objclass__",),
                "__module__": "anyffi",
                "__doc__": FunctionDoc(MethodMethods.__doc__),
                "__annotations__": FunctionAnnotations(),
                "__globals__": FunctionGlobals(),
            },
        )

    def has_static_properties(self, type_code: int) -> bool:
        """Return whether a type itself, not an ancestor, has static properties."""
        rows = self._runtime.type_methods(type_code)
        return any(flags & _STATIC_PROPERTY == _STATIC_PROPERTY for _, flags, _ in rows)

    def members_of(self, cls: Any, type_code: int, described: TypeDescription) -> dict[str, Any]:
        """Return the members of a type itself, by name."""
        members: dict[str, Any] = {}
        for name, type_name, doc, is_writable in described.fields:
            members[_free(name)] = Field(self._runtime, described.key, name, type_name, doc, is_writable)
        rows = list(self._runtime.type_methods(type_code))
        operators: dict[str, Any] = {}
        if any(name in OPERATORS for name, _, _ in rows):
            operators = {
                name: function for name, _, function in self._runtime.type_methods(type_code, NotImplemented)
            }
        setters = {
            name: function for name, flags, function in rows if flags & _SETTER and not flags & _GETTER
        }
        private = {name: function for name, _, function in rows if name in (BIND, KEEP)}
        for name, flags, function in rows:
            if name in private:
                continue
            if flags & _CONSTRUCTOR:
                members["__init__"] = self._constructor(cls, function, private)
            elif flags & _RESTORE:
                members["_anyffi_restore"] = staticmethod(function)
            elif flags & _STATIC_PROPERTY == _STATIC_PROPERTY:
                members[_free(name)] = StaticProperty(described.key, _free(name), function, setters.get(name))
            elif flags & _STATIC and flags & _GETTER:
                members[_free(name)] = Constant(function)
            elif flags & _STATIC and not flags & _SETTER:
                members[_free(name)] = staticmethod(function)
            elif flags & _GETTER:
                put = self._bind(cls, setters[name]) if name in setters else None
                members[_free(name)] = Property(_free(name), self._bind(cls, function), put)
            elif name in OPERATORS:
                members[name] = self._bind(cls, operators[name])
            elif flags & _ITERATES:
                members[_free(name)] = make_walk(self._bind(cls, function), self._runtime.iterate_elements)
            elif name == "__iter__":
                members[name] = make_iter(self._bind(cls, function))
            elif not flags & _SETTER:
                members[_free(name)] = self._bind(cls, function)
        if "__init__" in members:
            matched = self._matched(members, type_code)
            if matched:
                members["__match_args__"] = matched
        if "__eq__" in members:
            members.setdefault("__hash__", None)
        if "_anyffi_restore" in members:
            get_state, restore = members["__getstate__"], members["_anyffi_restore"].__func__
            members["__setstate__"] = Restore(cls, restore)
            members["__reduce__"] = defaults.make_reduce(cls, type_code, get_state)
            if any("__copy__" in self._class_of(x).__dict__ for x in self._ancestors(type_code)):
                # The base's `__copy__` would copy only the base.
                members.setdefault("__copy__", defaults.make_copy(get_state, restore))
        if "__copy__" in members:
            members["_anyffi_copied"] = staticmethod(members["__copy__"])
            members["__copy__"], deep = defaults.make_copies(cls, members["__copy__"], type_code)
            members.setdefault("__deepcopy__", deep)
        if "__copy__" in members or "__reduce__" in members:
            members.setdefault("__replace__", defaults.__replace__)
        if described.has_repr:
            members.setdefault("__repr__", lambda self: self._runtime.value_repr(self))
        if described.fields:
            members.setdefault("__repr__", defaults.__repr__)
            members["_anyffi_field_names"] = tuple(_free(row[0]) for row in described.fields)
        return members

    def _constructor(self, cls: Any, function: Any, private: dict[str, Any]) -> Constructor:
        if not private:
            return Constructor(cls, function)
        # A class that users registered is a Python class.
        own = cls if "_anyffi_type_key" in cls.__dict__ else None
        finder = self._function(make_finder(own))
        return Constructor(cls, function, Overrides(own, private[BIND], private[KEEP], self._runtime, finder))

    def _matched(self, members: dict[str, Any], type_code: int) -> tuple[str, ...]:
        """Return the `__match_args__` of a class: the leading constructor parameters that are also
        attributes.

        If there are several constructors, those of the one with the most.
        """
        infos = members["__init__"]._infos()
        positional = (info[2][: keywords.num_positional(info)] for info in infos)
        params: tuple[Any, ...] = max(positional, key=len, default=())
        bases = [self._class_of(each).__dict__ for each in self._ancestors(type_code)]
        known = {
            name
            for owner in (members, *bases)
            for name, value in zip(owner, owner.values())
            if isinstance(value, (Field, Property))
        }
        return tuple(itertools.takewhile(known.__contains__, (param[0] for param in params)))

    def _bind(self, cls: Any, function: Any) -> Any:
        method = self.method_class.__new__(self.method_class)
        method._anyffi_move_from(function)
        method.__objclass__ = cls
        return method


class Property(property):
    """A property of a C++ class."""

    def __init__(self, name: str, get: Any, put: Any) -> None:
        super().__init__(get, put)
        # Set by hand, as for fields.
        if hasattr(self, "__set_name__"):
            self.__set_name__(None, name)
        self.__doc__ = get.__doc__

    @property
    def type_name(self) -> str | None:
        """The annotation of the property's values."""
        return _result_type(self.fget)


class Constant:
    """An attribute of a C++ class, computed when first needed: it may be an object of the class itself."""

    #: A compiled backend reads the value from there.
    __slots__ = ("__dict__", "_value")

    def __init__(self, get: Any) -> None:
        self.__doc__ = get.__doc__
        self._get = get
        self._values: dict[int, Any] = {}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # If several threads compute it, all get the first one's value.
        self._value = value = self._values[0] if self._values else self._values.setdefault(0, self._get())
        return value

    @property
    def type_name(self) -> str | None:
        """The annotation of its value."""
        return _result_type(self._get)


class NestedClass:
    """A C++ class nested in another one, whose key is a prefix of its own; an attribute of that class."""

    def __init__(self, find: Any) -> None:
        self._find = find

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # Not cached: a library that is loaded again may have a new type for the key.
        return self._find()


def _result_type(function: Any) -> str | None:
    info = function._anyffi_info()
    found: str | None = info and info[5]
    return found


def _free(name: str) -> str:
    return name + "_" if name in _RESERVED or name.startswith("_anyffi_") else name
