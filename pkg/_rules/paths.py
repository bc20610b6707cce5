"""Paths to parts of values, and the differences that they lead to."""

from __future__ import annotations

from collections import namedtuple
from operator import index as to_index

from .._builtins import *  # noqa: F403
from .._typing import Any
from .decisions import find_on_type

__all__ = [
    "MISSING",
    "AccessPath",
    "AccessStep",
    "Edit",
    "Mismatch",
    "Missing",
    "read_child",
    "read_difference",
]


class Missing:
    """The class of `MISSING`, which represents the value on a side that has none."""

    __slots__ = ()
    __module__ = "anyffi.structure"

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING = Missing()

#: StepType of the runtime, by its number.
_STEP_TYPES = ("field", "index", "key", "element")


def _show_step(kind: str, value: Any) -> str:
    if kind == "field":
        return f".{value}"
    if kind == "element":
        return f"{{{value!r}}}"
    if isinstance(value, str):
        import json  # Late, since importing it takes longer than importing this module.

        return f"[{json.dumps(value, ensure_ascii=False)}]"
    return f"[{value!r}]"


class AccessStep(namedtuple("AccessStep", ("kind", "key"))):  # noqa: PYI024  # `typing` is imported late
    """One step of an `AccessPath`, equal to the pair of its attributes.

    Attributes
    ----------
    kind : str
        ``"field"``, ``"index"``, ``"key"`` or ``"element"``.
    key : object
        The name of the field, the index, the key, or the element; an element of a mapping is a key.
    """

    __slots__ = ()
    __module__ = "anyffi.structure"


def _read_step(step: Any) -> AccessStep:
    try:
        kind, value = step
    except (TypeError, ValueError):
        raise ValueError(f"a step is a pair of its type and a value, not {step!r}") from None
    if kind not in _STEP_TYPES:
        raise ValueError(f"unknown type of a step: {kind!r}; there are {', '.join(_STEP_TYPES)}")
    if kind == "field" and not isinstance(value, str):
        raise TypeError(f"name: expected str, got {type(value).__name__}")
    if kind == "index" and type(value) is not int:
        if find_on_type(type(value), "__index__") is None:
            raise TypeError(f"index: expected int, got {type(value).__name__}")
        return AccessStep(kind, int(to_index(value)))
    return step if type(step) is AccessStep else AccessStep(kind, value)


class AccessPath:
    """The path from a value to one of its parts; `str` writes it as an expression.

    Parameters
    ----------
    steps : iterable of tuple
        Each is ``("field", name)``, ``("index", number)``, ``("key", key)``, or ``("element", element)`` for
        an element of a set or a key of a mapping itself.

    Attributes
    ----------
    steps : tuple of AccessStep
        The first step starts at the value.

    Examples
    --------
    >>> from anyffi.structure import AccessPath
    >>> path = AccessPath.root().array_item(1).map_item("w")
    >>> print(path)
    [1]["w"]
    >>> path == AccessPath([("index", 1), ("key", "w")])
    True
    >>> path.resolve([0, {"w": 5}])
    5
    >>> path.steps[0].kind, path.steps[0].key
    ('index', 1)
    """

    __slots__ = ("_steps",)
    __module__ = "anyffi.structure"

    _steps: tuple[AccessStep, ...]

    def __init__(self, steps: Any = ()) -> None:
        self._steps = tuple(map(_read_step, steps))

    @property
    def steps(self) -> tuple[AccessStep, ...]:
        """The steps, of which the first starts at the value."""
        return self._steps

    def __str__(self) -> str:
        return "".join(_show_step(kind, value) for kind, value in self.steps)

    def __repr__(self) -> str:
        return f"<anyffi.structure.AccessPath {str(self) or 'the root'}>"

    def __len__(self) -> int:
        return len(self.steps)

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, AccessPath) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(_hash_of(value) for _, value in self.steps))

    def __reduce__(self) -> tuple[Any, ...]:
        return AccessPath, (self.steps,)

    @classmethod
    def root(cls) -> AccessPath:
        """Return the path to the value itself."""
        return cls()

    @property
    def parent(self) -> AccessPath | None:
        """The path without its last step; None for the root."""
        return _make_path(self.steps[:-1]) if self.steps else None

    def attr(self, name: str) -> AccessPath:
        """Return the path to a field of the part."""
        return self._then("field", name)

    def array_item(self, index: int) -> AccessPath:
        """Return the path to an element of the part, by its index."""
        return self._then("index", index)

    def map_item(self, key: Any) -> AccessPath:
        """Return the path to the value that the part has at a key."""
        return self._then("key", key)

    def set_item(self, element: Any) -> AccessPath:
        """Return the path to an element of the part, which is a set, or to a key of a mapping."""
        return self._then("element", element)

    def _then(self, kind: str, value: Any) -> AccessPath:
        return _make_path((*self.steps, _read_step((kind, value))))

    def is_prefix_of(self, other: AccessPath) -> bool:
        """Return whether a path begins with all steps of this one."""
        if not isinstance(other, AccessPath):
            raise TypeError(f"other: expected AccessPath, got {type(other).__name__}")
        return self.steps == other.steps[: len(self.steps)]

    def resolve(self, root: Any) -> Any:
        """Return the part of a value at the path.

        Raises
        ------
        AttributeError, IndexError, KeyError
            The value has no such part.
        """
        for kind, value in self.steps:
            if kind == "field":
                root = root.__getstate__() if value == "__getstate__()" else _read_field(root, value)
            elif kind != "element":
                root = root[value]
            elif value in root:
                root = value
            else:
                raise KeyError(value)
        return root


def _make_path(steps: tuple[AccessStep, ...]) -> AccessPath:
    """Return a path of steps that were read before: to read all again made long paths slow to build."""
    made = AccessPath.__new__(AccessPath)
    made._steps = steps
    return made


def _hash_of(value: Any) -> int:
    try:
        return hash(value)
    except TypeError:
        return 0


def _read_field(value: Any, name: str) -> Any:
    runtime = getattr(type(value), "_anyffi_runtime", None)
    return getattr(value, name) if runtime is None else runtime.object_get_field(value, name)


class _Difference:
    """The two values at a path."""

    __slots__ = ("_sides", "path")
    __module__ = "anyffi.structure"

    path: AccessPath
    _sides: tuple[Any, Any]

    def __init__(self, path: AccessPath, left: Any, right: Any) -> None:
        self.path = path
        self._sides = left, right

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        its: Any = other
        return bool(self.path == its.path and self._sides == its._sides)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, *self._sides)


class Mismatch(_Difference):
    """The first part in which two values differ; `str` is its path.

    Attributes
    ----------
    path : AccessPath
        The path to the part.
    left, right : object
        The part of each value; `MISSING` if it has none.
    """

    __slots__ = ()
    __module__ = "anyffi.structure"

    @property
    def left(self) -> Any:
        """The part of the first value."""
        return self._sides[0]

    @property
    def right(self) -> Any:
        """The part of the second value."""
        return self._sides[1]

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<anyffi.structure.Mismatch at {str(self) or 'the root'}: {self.left!r} != {self.right!r}>"


class Edit(_Difference):
    """A change of one part of a value.

    Attributes
    ----------
    path : AccessPath
        The path to the part.
    old, new : object
        The part before and after; `MISSING` if there is none.
    """

    __slots__ = ()
    __module__ = "anyffi.structure"

    @property
    def old(self) -> Any:
        """The part before."""
        return self._sides[0]

    @property
    def new(self) -> Any:
        """The part after."""
        return self._sides[1]

    @property
    def op(self) -> str:
        """The kind of change: ``"replace"``, ``"add"`` or ``"remove"``."""
        return "add" if self.old is MISSING else "remove" if self.new is MISSING else "replace"

    def __repr__(self) -> str:
        sides = " -> ".join(repr(x) for x in self._sides if x is not MISSING)
        return f"<anyffi.structure.Edit: {self.op} {str(self.path) or 'the root'}: {sides}>"


def read_difference(cls: type[Any], row: Any) -> Any:
    """Return an instance of a class for a row of `anyffi.structure.diff`."""
    steps, left, right, sides = row
    path = AccessPath((_STEP_TYPES[kind], value) for kind, value in steps)
    return cls(path, left if sides & 1 else MISSING, right if sides & 2 else MISSING)


def read_child(row: Any) -> tuple[AccessStep, Any]:
    """Return the step and the part for a row of `anyffi.structure.children`."""
    kind, key, part = row
    return AccessStep(_STEP_TYPES[kind], key), part
