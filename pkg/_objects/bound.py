"""Makes Python classes for the types that C++ registers, when they are first needed."""

from __future__ import annotations

import functools
import weakref

from .._builtins import *  # noqa: F403
from .._rules.codes import FIRST_DYNAMIC_TYPE, code
from .._rules.conversions import set_enumerations
from .._rules.decisions import find_on_type
from .._rules.errors import set_class_finder
from .._rules.locks import make_lock
from .._typing import Any, Callable
from . import defaults
from .enums import made_enumerations, make_enumeration
from .exceptions import find_base, make_exception
from .fields import Field, refuse_hidden_fields
from .members import Constant, Members, NestedClass, TypeDescription
from .methods import Constructor, MethodMethods, no_constructor
from .record_methods import RecordMethods
from .reprs import defines_repr, repr_of
from .runtime import Runtime
from .static_properties import ClassWithStatic, set_member
from .submodules import Submodule

__all__ = ["BoundClasses", "begin_permanent", "is_watched", "set_permanent_watcher"]

_watch: Callable[[], Callable[[], None]] | None = None


def set_permanent_watcher(watch: Callable[[], Callable[[], None]]) -> None:
    """Call a function before permanent objects are created, and its result afterwards."""
    global _watch
    _watch = watch


def is_watched() -> bool:
    """Return whether objects are counted: those created once for a type are then created early."""
    return _watch is not None


def begin_permanent() -> Callable[[], None]:
    """Announce the creation of objects that live as long as the process; call the result when they exist."""
    return _watch() if _watch is not None else _do_nothing


def _do_nothing() -> None:
    pass


class BoundClasses:
    """The classes of registered types, for one backend."""

    def __init__(self, core: Any, public: dict[str, Any]) -> None:
        self._core = core
        #: The public classes, by name.
        self.public = public
        self._runtime: Runtime = public["Object"]._anyffi_runtime
        self._object: Any = public["Object"]
        self._maker = Members(public, self.class_of, self._ancestors)
        self._lock = make_lock()
        #: By type code: classes made here, and classes that users registered.
        self._made: dict[int, Any] = {}
        self._registered: dict[int, Any] = {}
        #: Classes written in Python, after `release_written`.
        self._released: dict[int, weakref.ref[Any]] = {}
        #: Enumerations and exceptions, by type code.
        self._foreign: dict[int, Any] = {}
        #: Keys of exceptions whose classes are being created.
        self._under_way: set[str] = set()
        #: For each class made here: the version of the type, and the names of its members.
        self._members: dict[int, tuple[int, tuple[str, ...]]] = {}
        core.set_class_maker(self.make)
        core.set_field_class(Field)
        core.set_constant_class(Constant)
        core.set_module_class(Submodule)
        core.set_constructor_class(Constructor)
        core.set_method_class(self._maker.method_class)
        set_enumerations(self.class_of)
        set_class_finder(self._find_exception)

    # ---- classes of types ----------------------------------------------------------------------------

    def class_of(self, type_code: int) -> Any:
        """Return the class made for a type, even if users registered another one."""
        with self._lock:
            found = self._made.get(type_code) or made_enumerations.get(type_code)
            if found is not None:
                return found
            described = self._describe_type(type_code)
            if _is_foreign(described):
                return self._make_foreign(type_code, described)
            end = begin_permanent()
            cls = self._build(type_code, described)
            end()
            # Creating it may have collected garbage, and so have run code that needed the class.
            return self._made.setdefault(type_code, cls)

    def find_class(self, key: str) -> Any:
        """Return the class made for a type; None for an unknown key and for the runtime's own types."""
        type_code = self._runtime.type_find(key)
        return None if type_code is None or type_code < FIRST_DYNAMIC_TYPE else self.class_of(type_code)

    def _add_foreign(self, type_code: int, cls: Any) -> Any:
        self._foreign[type_code] = cls
        self._add_nested(type_code, cls)
        return cls

    def _place_of(self, key: str) -> tuple[str, str]:
        """Return the module and the name of the class for a key, which may be nested in other classes."""
        outer, _, name = key.rpartition(".")
        # Without creating the outer class, which may derive from this one.
        is_nested = outer and (self._runtime.type_find(outer) or 0) >= FIRST_DYNAMIC_TYPE
        if not is_nested:
            return outer, name
        module, place = self._place_of(outer)
        return module, f"{place}.{name}"

    def _add_nested(self, type_code: int, cls: Any) -> None:
        """Make the classes nested in a class its attributes, unless it has members with these names."""
        for name, key in self._runtime.type_list_nested(type_code):
            if name.isidentifier() and name not in cls.__dict__:
                set_member(cls, name, NestedClass(functools.partial(self.find_class, key)))

    def find_nested(self) -> None:
        """Add the nested classes that a library has registered to the classes made so far."""
        with self._lock:
            made = {**self._made, **self._foreign}
            for type_code, cls in zip(made, made.values()):
                self._add_nested(type_code, cls)

    def _make_foreign(self, type_code: int, described: TypeDescription) -> Any:
        """Return the class of an enumeration or exception type, which has no objects in the runtime."""
        key = described.key
        base, name, text, _ = described.fields[0]
        if name != "Exception":
            cls = make_enumeration(type_code, key, described.doc, described.fields, self._place_of(key))
            return self._add_foreign(type_code, cls)
        self._under_way.add(key)
        try:
            found = find_base(key, base, self._find_exception)
            cls = make_exception(type_code, key, found, text, self._place_of(key), described.fields[1:])
            return self._add_foreign(type_code, cls)
        finally:
            self._under_way.discard(key)

    def _find_exception(self, kind: str) -> Any:
        """Return the exception class for a key; None if there is none, or if bases form a cycle."""
        found = None if kind in self._under_way else self.find_class(kind)
        return found if isinstance(found, type) and issubclass(found, BaseException) else None

    def make(self, type_code: int) -> None:
        """Set the class for objects of a type that arrive, if no class is set yet."""
        with self._lock:
            released = self._released.get(type_code)
            written = None if released is None else released()
            if written is not None:
                self._core.set_class(type_code, written)
                return
            own = self.class_of(type_code)
            registered = self._registered_ancestor(type_code)
            if registered is None or issubclass(own, registered):
                cls = own
            elif issubclass(registered, own):
                cls = registered
            else:
                # It has the methods of both; those made for the type take precedence.
                cls = type(own.__name__, (own, registered), _namespace_of(own))
            self._core.set_class(type_code, cls)

    def register(self, type_code: int, cls: Any) -> None:
        """Set the class for objects of a type that arrive, and add the members that the class lacks."""
        with self._lock:
            self._require_static(type_code, cls)
            self._core.set_class(type_code, cls)
            if cls.__module__ != self._object.__module__:  # the package's own classes serve many types
                self._complete(cls, type_code)
            self._registered[type_code] = cls
            self._runtime.type_let_host_derive(type_code)
            self.let_compare(type_code, cls)
            for other in [*self._made, *self._registered]:
                if other not in self._registered and type_code in self._ancestors(other):
                    self.make(other)

    def add_record(self, type_code: int, draft_code: int, cls: Any) -> None:
        """Set the class of a type that Python declared, and of the type's drafts."""
        with self._lock:
            self._made[type_code] = cls
            self._core.set_class(type_code, cls)
            self._core.set_class(draft_code, cls)
            for each in (type_code, draft_code):
                self.let_compare(each, cls)
            for other in self._made:
                if other in self._members and type_code in self._ancestors(other):
                    self.make(other)

    def let_create(self, cls: Any) -> None:
        """Let the backend itself create objects of a dataclass, or of a class that derives from one."""
        if type(cls).__call__ is type.__call__:
            self._core.set_record_class(cls, RecordMethods.__dict__["__new__"], self._runtime.record_create)

    def release_written(self) -> None:
        """Release the classes that users wrote, so that they and their modules' content can be freed."""
        with self._lock:
            written = {code: cls for code, cls in self._made.items() if "_anyffi_record" in cls.__dict__}
            for type_code, cls in {**written, **self._registered}.items():
                self._released[type_code] = weakref.ref(cls)
                self._made.pop(type_code, None)
                self._registered.pop(type_code, None)
                if "_anyffi_record" in cls.__dict__:
                    self._runtime.record_set_defaults(type_code, (), None)
                    self._runtime.record_set_repr(type_code, None)
                for each in (type_code, *cls.__dict__.get("_anyffi_record", ())[:2]):
                    self._core.drop_class(each)

    def code_of(self, cls: type) -> int | None:
        """Return the type code of a class of objects; None for other classes."""
        if not issubclass(cls, self._object):
            return None
        for base in cls.__mro__:
            if base is self._object:
                # `Object` may hold objects of any type, even if it is registered for one.
                break
            record = base.__dict__.get("_anyffi_record")
            if type(record) is tuple:
                return record[0]  # type: ignore[no-any-return]
            if "_anyffi_type_key" in base.__dict__:
                return self._runtime.type_find(base.__dict__["_anyffi_type_key"])  # type: ignore[no-any-return]
            found = self._registered_code(base)
            if found is not None:
                return found
        return None

    def _registered_code(self, cls: type) -> int | None:
        """Return the type code for which users registered a class, or None."""
        return next((number for number in self._registered if self._registered[number] is cls), None)

    def note_subclass(self, cls: type) -> None:
        """Tell the runtime about a new Python class, which may define equality and add attributes."""
        self._require_one_part(cls)
        type_code = self.code_of(cls)
        if type_code is None or type_code < FIRST_DYNAMIC_TYPE:
            if issubclass(cls, self.public["Module"]):
                self._core.set_module_class(cls)
            return
        # A class made for a type adds no attributes.
        if "_anyffi_type_key" not in cls.__dict__ and "_anyffi_record" not in cls.__dict__:
            self._runtime.type_let_host_derive(type_code)
            constructor = find_on_type(cls, "__init__")
            if getattr(cls, "_anyffi_record", None) is not None:
                refuse_hidden_fields(cls)
                if defines_repr(cls):
                    self._runtime.record_set_repr(type_code, repr_of)
                self.let_create(cls)
            elif isinstance(constructor, Constructor) and constructor.makes(cls):
                self._core.set_constructor(cls, constructor)
        if _compares_in_python(cls):
            self._runtime.type_let_host_compare(type_code)

    def _require_one_part(self, cls: type) -> None:
        """Reject a class whose bases are different C++ classes: a wrapper has only one object."""
        found = [(known, base) for base in cls.__bases__ if (known := self.code_of(base)) is not None]
        for index, (first, base) in enumerate(found):
            for second, other in found[index + 1 :]:
                if first not in (second, *self._ancestors(second)) and second not in self._ancestors(first):
                    names = " and ".join(f"{x.__module__}.{x.__qualname__}" for x in (base, other))
                    raise TypeError(
                        f"class {cls.__name__} has several bases in C++, {names}, of which neither derives "
                        "from the other: an object has one part of C++"
                    )

    def _require_static(self, type_code: int, cls: type) -> None:
        """Reject a class where an assignment would replace a static property, not call its setter."""
        if isinstance(cls, ClassWithStatic) or not any(
            map(self._maker.has_static_properties, (type_code, *self._ancestors(type_code)))
        ):
            return
        key = self._describe_type(type_code).key
        raise TypeError(
            f"{key} has static properties: class {cls.__name__} has to derive from that of the module"
        )

    def let_compare(self, type_code: int, cls: type) -> None:
        """Make the runtime compare objects of a type as a Python class defines it, if the class does."""
        if _compares_in_python(cls):
            self._runtime.type_let_host_compare(type_code)

    def refresh(self, type_code: int) -> None:
        """Replace the members of a class whose library was loaded again."""
        with self._lock:
            cls = self._made.get(type_code)
            described = self._describe_type(type_code)
            if _is_foreign(described):
                # If there is a class, it was asked for by its key alone, before a library described the type.
                self._made.pop(type_code, None)
                self._members.pop(type_code, None)
                return
            if (
                cls is None
                or type_code not in self._members
                or self._members[type_code][0] == described.version
            ):
                return
            self._set_members(cls, type_code, described)
            if self._registered_ancestor(type_code) is None and type_code not in self._registered:
                self._core.set_class(type_code, cls)  # with the new constructor

    def _ancestors(self, type_code: int) -> list[int]:
        """Return the codes of the ancestors, the nearest first, without that of Object."""
        found: list[int] = []
        parent = self._describe_type(type_code).parent
        while parent != code.OBJECT:
            found.append(parent)
            parent = self._describe_type(parent).parent
        return found

    def _registered_ancestor(self, type_code: int) -> Any:
        for ancestor in self._ancestors(type_code):
            if ancestor in self._registered:
                return self._registered[ancestor]
        return None

    # ---- members -------------------------------------------------------------------------------------

    def _describe_type(self, type_code: int) -> TypeDescription:
        return TypeDescription(*self._runtime.type_describe(type_code))

    def _build(self, type_code: int, described: TypeDescription) -> Any:
        base = self._object if described.parent == code.OBJECT else self.class_of(described.parent)
        place = self._place_of(described.key)
        namespace = {"__slots__": (), **defaults.namespace_of_key(described.key, described.doc, place)}
        metaclass = ClassWithStatic if self._maker.has_static_properties(type_code) else type
        cls: Any = metaclass(described.key.rpartition(".")[2], (base,), namespace)
        self._set_members(cls, type_code, described)
        return cls

    def _set_members(self, cls: Any, type_code: int, described: TypeDescription) -> None:
        members = {"__init__": no_constructor, **self._maker.members_of(cls, type_code, described)}
        _, former = self._members.get(type_code, (0, ()))
        for name in former:
            if name not in members and name in cls.__dict__:
                type.__delattr__(cls, name)
        for name, value in zip(members, members.values()):
            set_member(cls, name, value)
        self._members[type_code] = described.version, tuple(members)
        self._add_nested(type_code, cls)

    def _complete(self, cls: Any, type_code: int) -> None:
        """Add the members of a type and of its ancestors to a class, except those whose names it has."""
        known = {name for base in cls.__mro__ if not _is_of_package(base) for name in base.__dict__}
        for owner in (type_code, *self._ancestors(type_code)):
            members = self._maker.members_of(cls, owner, self._describe_type(owner))
            for name, value in zip(members, members.values()):
                if name not in known and not (name == "__init__" and owner != type_code):
                    known.add(name)
                    set_member(cls, name, value)


def _is_of_package(cls: type) -> bool:
    return cls.__module__ == "anyffi" or cls.__module__.startswith("anyffi._") or cls is object


def _is_foreign(described: TypeDescription) -> bool:
    """Return whether a type is an enumeration or an exception."""
    return bool(described.fields) and type(described.fields[0][3]) is int


def _compares_in_python(cls: type) -> bool:
    return _is_of_python(cls, "__eq__") or _is_of_python(cls, "__hash__")


def _is_of_python(cls: type, name: str) -> bool:
    """Return whether `__eq__` or `__hash__` of a class comes neither from Object nor from C++."""
    base = next(base for base in cls.__mro__ if name in base.__dict__)
    found = base.__dict__[name]
    if found is None:
        # Python sets this `__hash__` in a class that defines only `__eq__`.
        found = base.__dict__.get("__eq__")
    return not _is_of_package(base) and not isinstance(found, MethodMethods)


def _namespace_of(cls: Any) -> dict[str, Any]:
    return {
        "__slots__": (),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__dict__.get("__doc__"),
    }
