"""Converts the annotations of fields to descriptions for `anyffi.record.declare`."""

from __future__ import annotations

import builtins
import collections.abc
import ctypes
import enum
import sys
import types
import typing

from .._builtins import *  # noqa: F403
from .._rules.decisions import find_on_type
from .._rules.device import Device
from .._rules.dtype import dtype
from .._typing import TYPE_CHECKING, Any
from .annotation_text import AnnotationText, Later, Part, refused
from .enums import describe_enumeration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Annotations", "evaluate_classes"]

_ANY = ("Any",)

#: By class: the name of the type in the runtime, and the number of its parts.
_PLAIN: dict[Any, tuple[str, int]] = {
    typing.Any: ("Any", 0),
    object: ("Any", 0),
    None: ("None", 0),
    type(None): ("None", 0),
    bool: ("bool", 0),
    int: ("int", 0),
    float: ("float", 0),
    complex: ("complex", 0),
    str: ("str", 0),
    bytes: ("bytes", 0),
    slice: ("slice", 0),
    ctypes.c_void_p: ("c_void_p", 0),
    dtype: ("dtype", 0),
    Device: ("Device", 0),
    list: ("List", 1),
    tuple: ("Array", 1),
    set: ("Set", 1),
    frozenset: ("FrozenSet", 1),
    dict: ("Dict", 2),
    types.MappingProxyType: ("Map", 2),
    collections.abc.MutableSequence: ("List", 1),
    collections.abc.MutableSet: ("Set", 1),
    collections.abc.MutableMapping: ("Dict", 2),
}
#: Abstract classes that both the mutable and the immutable type of a pair implement.
_PAIRS: dict[Any, tuple[str, str, int]] = {
    collections.abc.Sequence: ("List", "Array", 1),
    collections.abc.Set: ("Set", "FrozenSet", 1),
    collections.abc.Mapping: ("Dict", "Map", 2),
}
#: The number of parts of public classes.
_PUBLIC = {
    "Object": 0,
    "Function": 0,
    "Module": 0,
    "Tensor": 0,
    "Shape": 0,
    "Array": 1,
    "List": 1,
    "Set": 1,
    "FrozenSet": 1,
    "Dict": 2,
    "Map": 2,
}
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
#: Instances of subclasses of these become plain values of the runtime.
_CONVERTED = (int, float, complex, str, bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, type)
#: Methods whose results values of a class become.
_CONVERTING = ("__index__", "__anyffi_value__")
_WRAPPERS = ("Annotated", "Final", "Required", "NotRequired", "ReadOnly")


def evaluate_classes(cls: type) -> Mapping[str, Any]:
    """Return the local names of the function that defines a class; none for module-level classes."""
    if "<locals>" not in cls.__qualname__:
        return {}
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != cls.__module__:
        frame = frame.f_back  # type: ignore[assignment]
    return {} if frame is None else frame.f_locals


class Annotations:
    """The annotations of one class.

    Parameters
    ----------
    cls : type
        The class; its own name in annotations refers to it.
    public : dict
        The public classes of the backend, by name.
    code_of : callable
        Returns the type code of a class of objects, or None.
    local_names : mapping
        The local names of the function that defines the class.
    """

    def __init__(
        self,
        cls: type,
        public: dict[str, Any],
        code_of: Callable[[type], int | None],
        local_names: Mapping[str, Any],
    ) -> None:
        self._cls = cls
        self._code_of = code_of
        self._public = {public[name]: (name, count) for name, count in _PUBLIC.items()}
        module = sys.modules.get(cls.__module__)
        scopes = ({cls.__name__: cls}, dict(cls.__dict__), local_names, vars(module) if module else {})
        self._text = AnnotationText((*scopes, vars(builtins)), module)

    def describe(self, annotation: Any) -> tuple[Any, ...]:
        """Return the description of an annotation; raise TypeError for one without a meaning."""
        if isinstance(annotation, str):
            return self.describe(self._text.evaluate(annotation))
        if isinstance(annotation, typing.ForwardRef):
            return self.describe(annotation.__forward_arg__)
        if isinstance(annotation, Later):
            return self._describe_later(annotation)
        if annotation is typing.Tuple:  # noqa: UP006
            annotation = tuple
        if isinstance(annotation, Part):
            origin, parts = annotation.origin, annotation.parts
        else:
            origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
            if hasattr(annotation, "__metadata__"):
                return self.describe(annotation.__origin__)
        if origin is None or (not parts and origin is not tuple):
            return self._describe_plain(annotation if origin is None else origin)
        return self._describe_generic(origin, parts, annotation)

    # ---- kinds of annotations ------------------------------------------------------------------------

    def _describe_plain(self, x: Any) -> tuple[Any, ...]:
        name, count = self._find(x)
        if name:
            return (name, *[_ANY] * count)
        if x in _PAIRS:
            first, second, count = _PAIRS[x]
            return "union", (first, *[_ANY] * count), (second, *[_ANY] * count)
        if x is self._cls or (getattr(x, "__name__", None) == "Self" and isinstance(x, _special_form())):
            return ("self",)
        if x is collections.abc.Callable or x is typing.Callable:
            return ("Function",)
        if x is typing.Final:
            return _ANY
        if isinstance(x, typing.TypeVar):
            return self._describe_union(x.__constraints__ or (x.__bound__ or typing.Any,))
        if hasattr(x, "__supertype__"):  # of NewType
            return self.describe(x.__supertype__)
        if hasattr(x, "__value__") and hasattr(x, "__type_params__"):
            return self.describe(x.__value__)
        if isinstance(x, type):
            return self._describe_class(x)
        raise refused(x)

    def _describe_class(self, cls: Any) -> tuple[Any, ...]:
        code = self._code_of(cls)
        if code is not None:
            return "object", code
        if find_on_type(cls, "__dlpack__") is not None:
            return ("Tensor",)
        if issubclass(cls, _CONVERTED) and issubclass(cls, enum.Enum) and cls.__members__:
            return "enumeration", _full_name(cls), *describe_enumeration(cls)
        is_known = issubclass(cls, (*_CONVERTED, collections.abc.Mapping)) or cls.__module__ == "numpy"
        if is_known or any(find_on_type(cls, name) is not None for name in _CONVERTING):
            # Their values would come back as instances of another class.
            raise refused(cls)
        try:
            isinstance(None, cls)
        except TypeError as error:
            # Such as a protocol of which only type checkers know the instances; the cause says what to do.
            raise refused(cls) from error
        return "instance", _full_name(cls), _make_check(cls)

    def _describe_generic(self, origin: Any, parts: tuple[Any, ...], whole: Any) -> tuple[Any, ...]:
        if origin in _UNIONS:
            return self._describe_union(parts)
        if origin is typing.Literal:
            return self._describe_literal(parts, whole)
        if origin is collections.abc.Callable or origin is typing.Callable:
            return ("Function",)
        if origin in (tuple, typing.Tuple):  # noqa: UP006
            if len(parts) == 2 and parts[1] is ...:
                return "Array", self.describe(parts[0])
            return "tuple", *[self.describe(x) for x in parts if x != ()]
        if getattr(origin, "_name", None) in _WRAPPERS or getattr(origin, "__name__", None) in _WRAPPERS:
            return self.describe(parts[0])
        if origin in _PAIRS:
            first, second, count = _PAIRS[origin]
            inner = self._describe_parts(parts, count, whole)
            return "union", (first, *inner), (second, *inner)
        name, count = self._find(origin)
        if name and count:
            return (name, *self._describe_parts(parts, count, whole))
        # A generic class of users, whose objects do not know their parameters; or `np.ndarray[...]`.
        return self._describe_plain(origin)

    def _describe_literal(self, parts: tuple[Any, ...], whole: Any) -> tuple[Any, ...]:
        if all(type(x) in (int, str, bytes, bool, type(None)) for x in parts):
            return "literal", *parts
        if any(x is None for x in parts):
            members = tuple(x for x in parts if x is not None)
            return "union", self._describe_literal(members, whole), ("None",)
        # Members of a single enumeration.
        cls = type(parts[0])
        if not issubclass(cls, enum.Enum) or any(type(x) is not cls for x in parts):
            raise refused(whole)
        # Members that combine flags have no name before Python 3.11.
        names = [f"{_full_name(cls)}.{x._name_ or x._value_}" for x in parts]
        name = f"Literal[{', '.join(dict.fromkeys(names))}]"
        kind = self._describe_class(cls)[0]
        if kind == "enumeration":
            return kind, name, *describe_enumeration(cls, parts)
        if kind == "instance":
            return kind, name, lambda x: any(x is part for part in parts)
        raise refused(whole)

    def _describe_parts(self, parts: tuple[Any, ...], count: int, whole: Any) -> list[Any]:
        if len(parts) != count:
            raise refused(whole)
        return [self.describe(x) for x in parts]

    def _describe_union(self, parts: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for x in parts:
            described = self.describe(x)
            found += described[1:] if described[0] == "union" else [described]
        if _ANY in found:
            return _ANY
        return found[0] if len(found) == 1 else ("union", *found)

    def _describe_later(self, later: Later) -> tuple[Any, ...]:
        name = later.name
        if later.has_module:
            return "named", name
        if name in (self._cls.__name__, self._cls.__qualname__):
            return ("self",)
        place = self._cls.__qualname__.rpartition(".")[0]
        return "named", ".".join(filter(None, (self._cls.__module__, place, name)))

    def _find(self, x: Any) -> tuple[str, int]:
        try:
            return self._public.get(x) or _PLAIN.get(x) or ("", 0)
        except TypeError:
            return "", 0


def _special_form() -> Any:
    return type(typing.Any) if not isinstance(typing.Any, type) else type(typing.Optional)


def _full_name(cls: type) -> str:
    module = "pathlib" if cls.__module__ == "pathlib._local" else cls.__module__  # on CPython 3.13
    return f"{module}.{cls.__qualname__}"


def _make_check(cls: type) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, cls)
