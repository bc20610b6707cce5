"""Creates dataclasses whose fields are stored in objects of the runtime."""

from __future__ import annotations

from functools import partial
from types import CellType, FunctionType

from .._builtins import *  # noqa: F403
from .._rules.codes import FIRST_DYNAMIC_TYPE, code
from .._typing import TYPE_CHECKING, Any, Callable
from .bound import begin_permanent, is_watched
from .derived import DerivedMethods, make_post_init, refuse_members
from .described_fields import described_fields
from .fields import FROZEN, Field, annotations_of, option_of
from .object import ObjectMethods
from .record_methods import NO_STATE, RecordMethods
from .reprs import defines_repr, repr_of
from .structural import require_word, set_structure

if TYPE_CHECKING:
    from .bound import BoundClasses

__all__ = ["Records"]

_HEAP_TYPE = 1 << 9  # of Py_TPFLAGS: a class that Python code made


class Records:
    """The dataclasses of one backend."""

    def __init__(self, core: Any, public: dict[str, Any], classes: BoundClasses) -> None:
        self._core = core
        self._public = public
        self._object: Any = public["Object"]
        self._runtime = self._object._anyffi_runtime
        self._classes = classes
        #: By key: the qualified name of the class that declared it.
        self._places: dict[str, str] = {}

    def declare(
        self, cls: type, key: str | None, slots: bool, structural: str | None, options: dict[str, Any]
    ) -> Any:
        """Return the dataclass made from a class.

        Parameters
        ----------
        cls : type
            The class, with annotations.
        key : str, optional
            The type's key; by default the module and name of the class.
        slots : bool
            Whether instances have no `__dict__`.
        structural : str, optional
            How its objects are compared by structure.
        options : dict
            Arguments of `dataclasses.dataclass`.
        """
        import dataclasses

        if not isinstance(cls, type):
            raise TypeError(f"anyffi.dataclass decorates classes, not {cls!r}")
        if not cls.__flags__ & _HEAP_TYPE or any(cls is each for each in self._public.values()):
            raise TypeError(f"anyffi.dataclass decorates classes of your own, not {cls.__name__}")
        if "_anyffi_record" in cls.__dict__:
            raise TypeError(f"{cls.__name__} is an anyffi.dataclass already")
        if structural is not None:
            require_word(structural, of_field=False)
        key = key or f"{cls.__module__}.{cls.__qualname__}"
        place = f"{cls.__module__}.{cls.__qualname__}"
        if "\0" in key:
            raise ValueError(f"a type key is a name without null characters, not {key!r}")
        if self._places.get(key, place) != place:
            raise ValueError(f"the type key {key!r} is that of the dataclass {self._places[key]}")
        base, parent = self._find_base(cls)
        made: Any = self._rebuild(cls, base, slots, dataclasses.field)
        has_init = "__init__" in made.__dict__ or options.get("init") is False
        if issubclass(made, DerivedMethods):
            made._anyffi_of_cpp = self._find_cpp_class(made, parent)
            refuse_members(made, annotations_of(made))
            if not has_init and not hasattr(made, "__post_init__"):
                made.__post_init__ = make_post_init(made)
        has_repr = "__repr__" in made.__dict__ or options.get("repr") is False
        made = dataclasses.dataclass(**options)(made)
        made._anyffi_generated_repr = None if has_repr else made.__dict__["__repr__"]
        made._anyffi_generated = None if has_init else made.__dict__["__init__"]
        fields = dataclasses.fields(made)
        with_default = [field for field in fields if field.default is not dataclasses.MISSING]
        made._anyffi_defaults = tuple((field.name, field.default) for field in with_default)
        made._anyffi_set_nowhere = tuple(
            (field.name, field.default) for field in with_default if not field.init
        )
        made._anyffi_fillers = _fillers_of(fields)
        self._lay_out(made, key, parent, fields, structural)
        if key != place:
            self._runtime.record_name(place, made._anyffi_record[0])
        self._places[key] = place
        return made

    def fields_of(self, cls: type) -> tuple[Any, ...]:
        """Return the fields of a dataclass or C++ class, those of the bases first."""
        import dataclasses

        if dataclasses.is_dataclass(cls):
            return dataclasses.fields(cls)
        return described_fields(cls)

    def unfold(self, x: Any, factory: Any, is_dict: bool) -> Any:
        """Return the result of a factory for an object's fields, and so for the objects in the fields."""
        if isinstance(x, type) or self._fields_to_unfold(type(x)) is None:
            name = "asdict" if is_dict else "astuple"
            raise TypeError(f"{name}() should be called on dataclass instances")
        return self._unfold(x, factory, is_dict)

    def _fields_to_unfold(self, cls: type) -> tuple[Any, ...] | None:
        """Return the fields of a dataclass, which may have none, or of a C++ class that has some."""
        import dataclasses

        fields = self.fields_of(cls)
        return fields if fields or dataclasses.is_dataclass(cls) else None

    def _unfold(self, x: Any, factory: Any, is_dict: bool, in_set: bool = False) -> Any:
        """Copy a value. Objects in sets are kept, because the factory's results may not be hashable."""
        if type(x) in _ATOMS:
            return x
        from copy import deepcopy

        # Without closures: without memory for their cells, CPython 3.11 loses the arguments.
        public = self._public
        if isinstance(x, (list, public["List"])):
            return self._unfold_each(x, factory, is_dict, in_set)
        if isinstance(x, (dict, public["Dict"], public["Map"])):
            made = {}
            # Without memory for the first pair, the iterator of a dict's items ends the process.
            for key, value in zip(x, x.values()) if type(x) is dict else x.items():
                new_key = self._unfold(key, factory, is_dict, in_set)
                made[new_key] = self._unfold(value, factory, is_dict, in_set)
            return made
        if isinstance(x, (tuple, public["Array"])):
            return tuple(self._unfold_each(x, factory, is_dict, in_set))
        if isinstance(x, (set, public["Set"])):
            return set(self._unfold_each(x, factory, is_dict, True))
        if isinstance(x, (frozenset, public["FrozenSet"])):
            return frozenset(self._unfold_each(x, factory, is_dict, True))
        fields = None if in_set else self._fields_to_unfold(type(x))
        if fields is not None:
            unfolded = []
            for field in fields:
                value = self._unfold(getattr(x, field.name), factory, is_dict, in_set)
                unfolded.append((field.name, value) if is_dict else value)
            return factory(unfolded)
        return deepcopy(x)

    def _unfold_each(self, items: Any, factory: Any, is_dict: bool, in_set: bool) -> list[Any]:
        found = []
        for item in items:
            found.append(self._unfold(item, factory, is_dict, in_set))
        return found

    # ---- the class -----------------------------------------------------------------------------------

    def _find_base(self, cls: type) -> tuple[tuple[type, ...], int]:
        """Return the bases of the new class, and the code of the type from which it derives."""
        found = [base for base in cls.__bases__ if issubclass(base, self._object)]
        parents = {self._classes.code_of(base) or code.OBJECT for base in found if base is not self._object}
        if len(parents) > 1:
            raise TypeError(f"{cls.__name__} has several bases with fields in the runtime; one may have")
        others = [base for base in cls.__bases__ if base not in (object, self._object)]
        if not parents:
            return (*others, RecordMethods, self._object), code.OBJECT
        parent = parents.pop()
        owner = next(base for base in others if issubclass(base, self._object))
        if not issubclass(owner, RecordMethods):
            if parent < FIRST_DYNAMIC_TYPE:
                raise TypeError(
                    f"{cls.__name__} derives from {owner.__name__}: a dataclass derives from others, from "
                    "anyffi.Object, from classes of C++, and from classes without content in the runtime"
                )
            others.insert(others.index(owner), DerivedMethods)
        return tuple(others), parent

    def _find_cpp_class(self, cls: Any, parent: int) -> Any:
        """Return the class made for the C++ type from which a dataclass derives."""
        return getattr(cls, "_anyffi_of_cpp", None) or self._classes.class_of(parent)

    def _rebuild(self, cls: type, bases: tuple[type, ...], slots: bool, field: Any) -> Any:
        """Create a class again, with other bases."""
        namespace = {name: cls.__dict__[name] for name in cls.__dict__ if name not in NO_STATE}
        annotated = annotations_of(cls)
        if slots or "__slots__" in namespace:
            own = namespace.get("__slots__", ())
            own = (own,) if isinstance(own, str) else tuple(own)
            for name in own:
                # Attributes that belong to the former class.
                namespace.pop(name, None)
            namespace["__slots__"] = tuple(x for x in own if x not in annotated and x not in NO_STATE)
        for name in annotated:
            if name not in namespace and _is_no_default(cls, name):
                namespace[name] = field()
        namespace["__qualname__"] = cls.__qualname__
        try:
            made = type(cls)(cls.__name__, bases, namespace)
        except TypeError as error:
            # The second is PyPy's wording.
            if not any(words in str(error) for words in ("lay-out conflict", "layout conflicts")):
                raise
            raise TypeError(
                f"{cls.__name__} derives from a class whose instances have a layout of their own, such as an "
                "exception or one with slots: a dataclass of the runtime cannot"
            ) from None
        for value in namespace.values():
            _move_cells(value, cls, made)
        return made

    def _lay_out(self, cls: Any, key: str, parent: int, fields: Any, structural: str | None) -> None:
        """Declare the type of a class, and connect its fields to the objects."""
        from .annotations import Annotations, evaluate_classes

        annotations = Annotations(cls, self._public, self._classes.code_of, evaluate_classes(cls))
        inherited: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            own = base.__dict__
            inherited.update({name: own[name] for name in own if isinstance(own[name], Field)})
        rows, redeclared = [], []
        takes = dict(getattr(cls, "_anyffi_takes", {}))
        for field in fields:
            if field.name in inherited and field.name not in annotations_of(cls):
                continue
            if field.name.startswith("_anyffi_") or field.name[:2] == field.name[-2:] == "__":
                raise TypeError(
                    f"field {field.name!r} of {cls.__name__}: its objects have this attribute already"
                )
            replaced = cls.__dict__.get(field.name)
            if hasattr(type(replaced), "__set__"):
                raise TypeError(
                    f"field {field.name!r} of {cls.__name__} has a {type(replaced).__name__} in its place, "
                    "which C++ would not call: convert values in __post_init__ or __setattr__"
                )
            try:
                described = annotations.describe(field.type)
            except TypeError as error:
                raise TypeError(f"field {field.name!r} of {cls.__name__}: {error}") from None
            except AttributeError as error:
                # Of a module in an annotation that is text. Users may raise the same error object again.
                if type(error) is not AttributeError:
                    raise
                located = AttributeError(f"field {field.name!r} of {cls.__name__}: {error}")
                for name in ("name", "obj"):
                    # CPython suggests names by these.
                    setattr(located, name, getattr(error, name, None))
                raise located.with_traceback(error.__traceback__) from error.__cause__
            takes[field.name] = _taken_by(described)
            if field.name in inherited:
                redeclared.append((field, described))
                continue
            rows.append((field.name, _doc_of(field), described))
        for field, described in redeclared:
            self._require_same(cls, key, field.name, described, inherited[field.name])
        end = begin_permanent()
        declared = self._runtime.record_declare(key, _own_doc(cls), parent, rows)
        if is_watched():
            self._runtime.record_prepare(declared[1])
        end()
        cls._anyffi_record = tuple(declared)
        cls._anyffi_takes = takes
        cls._anyffi_type_key = key
        type_code = declared[0]
        described_type = self._runtime.type_describe(type_code)
        frozen = {field.name for field in fields if option_of(field, FROZEN)}
        for name, type_name, doc, is_writable in described_type[3]:
            made = Field(self._runtime, key, name, type_name, doc, is_writable, name in frozen)
            setattr(cls, name, made)
        for field, _ in redeclared:
            former = inherited[field.name]
            if (field.name in frozen) != former.is_frozen:
                name, type_name, doc = field.name, former.type_name, former.__doc__
                former = Field(self._runtime, key, name, type_name, doc, True, name in frozen)
            # Restores the attribute: the standard library replaced it by the default.
            setattr(cls, field.name, former)
        cls._anyffi_frozen = {name: getattr(cls, name) for name in frozen}
        set_structure(self._runtime, type_code, fields, structural)
        end = begin_permanent()
        fillers = cls._anyffi_fillers
        self._runtime.record_set_defaults(type_code, tuple(fillers), partial(_fill, fillers))
        if defines_repr(cls):
            self._runtime.record_set_repr(type_code, repr_of)
        end()
        self._classes.add_record(type_code, declared[1], cls)
        self._classes.let_create(cls)
        self._plan(cls, fields)

    def _plan(self, cls: Any, fields: Any) -> None:
        """Let the backend create objects directly, if only the generated `__init__` would run."""
        import dataclasses

        code = None if issubclass(cls, DerivedMethods) else getattr(cls._anyffi_generated, "__code__", None)
        is_plain = cls.__setattr__ is object.__setattr__ or cls.__dataclass_params__.frozen
        is_called = type(cls).__call__ is type.__call__ and cls.__new__ is RecordMethods.__new__
        if code is None or not is_plain or not is_called:
            return
        num_positional, num_parameters = code.co_argcount - 1, code.co_argcount + code.co_kwonlyargcount - 1
        parameters = code.co_varnames[1 : num_parameters + 1]
        rows = []
        for field in fields:
            is_factory = field.default_factory is not dataclasses.MISSING
            default = field.default_factory if is_factory else field.default
            has_default = default is not dataclasses.MISSING
            index = parameters.index(field.name) if field.name in parameters else -1
            descriptor = next(
                base.__dict__[field.name] for base in cls.__mro__ if field.name in base.__dict__
            )
            if (index < 0 and not has_default) or not isinstance(descriptor, Field):
                return
            takes = cls._anyffi_takes[field.name]
            rows.append((field.name, descriptor, default, is_factory, has_default, index, takes))
        # An InitVar is a parameter, but not a field.
        if {row[0] for row in rows} >= set(parameters):
            has_post_init = hasattr(cls, "__post_init__")
            self._core.plan_record(
                cls, cls._anyffi_record[0], tuple(rows), num_positional, num_parameters, has_post_init
            )

    def _require_same(self, cls: Any, key: str, name: str, described: Any, former: Field) -> None:
        """Reject another type for a field of a base, since C++ reads it with the base's type."""
        shown = self._runtime.record_describe(key, described)
        if shown != former.type_name:
            raise TypeError(
                f"field {name!r} of {cls.__name__} is {shown}, in its base {former.type_name}: "
                "a field keeps its type"
            )


def _fillers_of(fields: Any) -> dict[str, Callable[[], Any]]:
    """Return for each field with a default a function that returns it."""
    import dataclasses

    found: dict[str, Callable[[], Any]] = {}
    for field in fields:
        if field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory
        elif field.default is not dataclasses.MISSING:
            found[field.name] = partial(_return, field.default)
    return found


def _fill(fillers: dict[str, Callable[[], Any]], name: str) -> Any:
    return fillers[name]()


def _return(value: Any) -> Any:
    return value


#: ANYFFI_TAKES_STR, ANYFFI_TAKES_NONE and ANYFFI_TAKES_SCALAR of pkg/_cython/dataclass.h
_TAKES = {"str": 1, "None": 2, "Any": 6}


#: Classes whose instances are never copied.
_ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None)))


def _taken_by(described: tuple[Any, ...]) -> int:
    """Return the kinds of values that a field holds unchanged."""
    parts = described[1:] if described[0] == "union" else (described,)
    return sum({_TAKES.get(part[0], 0) for part in parts})


def _own_doc(cls: type) -> str | None:
    doc = cls.__dict__.get("__doc__")
    return doc if isinstance(doc, str) else None


def _doc_of(field: Any) -> str | None:
    """Return the docstring of a field. In users' metadata, "doc" may be anything."""
    doc = getattr(field, "doc", None) or option_of(field, "doc")
    return doc if isinstance(doc, str) else None


def _is_no_default(cls: type, name: str) -> bool:
    """Return whether an inherited attribute is a field, or a method of all objects."""
    return name in vars(ObjectMethods) or any(
        isinstance(base.__dict__.get(name), Field) for base in cls.__mro__
    )


def _move_cells(value: Any, former: type, made: type) -> None:
    """Make `super()` and `__class__` in a function refer to the class that replaces the original one."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        for function in (value.fget, value.fset, value.fdel):
            _move_cells(function, former, made)
    value = getattr(value, "__wrapped__", value)
    if not isinstance(value, FunctionType):
        return
    for cell in value.__closure__ or ():
        if isinstance(cell, CellType) and _content_of(cell) is former:
            cell.cell_contents = made


def _content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
