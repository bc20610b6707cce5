"""Dataclasses of unusual classes: other metaclasses, no constructor, objects in sets."""

from __future__ import annotations

import abc
import ast
import collections
import dataclasses
from typing import Any, ClassVar

import pytest

pytestmark = pytest.mark.keeps_live("types are never freed")


def test_classes_of_other_metaclasses(ffi: Any) -> None:
    class Shown(type):
        def __call__(cls, *args: Any) -> Any:
            made = super().__call__(*args)
            return made, args

    @ffi.dataclass
    class Abstract(abc.ABC):
        x: int = 1

        @abc.abstractmethod
        def get(self) -> int: ...

    @ffi.dataclass
    class Concrete(Abstract):
        def get(self) -> int:
            return self.x

    @ffi.dataclass
    class Meta(metaclass=Shown):
        x: int = 1

    with pytest.raises(TypeError, match="abstract"):
        Abstract()
    assert isinstance(Concrete(2), Abstract)
    assert Concrete(2).get() == 2
    made, args = Meta(5)  # type: ignore[misc]
    assert (type(made), made.x, args) == (Meta, 5, (5,))


def test_without_a_constructor(ffi: Any) -> None:
    @ffi.dataclass(init=False)
    class Without:
        x: int = 1

    assert Without().x == 1
    for args, named in (((1,), {}), ((), {"x": 2})):
        with pytest.raises(TypeError, match=r"Without\(\) takes no arguments"):
            Without(*args, **named)


def test_objects_in_sets_stay_objects(ffi: Any) -> None:
    @ffi.dataclass(frozen=True)
    class Frozen:
        x: int

    @ffi.dataclass
    class Sets:
        found: set
        others: list

    value = Sets({Frozen(1), (2, Frozen(3))}, [Frozen(4)])
    assert ffi.asdict(value) == {"found": {Frozen(1), (2, Frozen(3))}, "others": [{"x": 4}]}
    assert ffi.astuple(value) == ({Frozen(1), (2, Frozen(3))}, [(4,)])


def test_hashes_outlive_wrappers(ffi: Any) -> None:
    """Objects without `==` are hashed by identity of the object, not of the wrapper, which is made again."""

    @ffi.dataclass(eq=False)
    class Node:
        x: int = 0

    @ffi.dataclass(frozen=True)
    class Key:
        node: Node

    array, key, frozen = ffi.Array([Node(1), Node(2)]), Key(Node(3)), ffi.FrozenSet([Node(4), Node(5)])
    known = {array: 1, key: 2, frozen: 3, ffi.Array([array]): 4}
    # These are made in the memory of the former wrappers.
    others = [Node(i) for i in range(20)]
    assert [known[x] for x in (array, key, frozen, ffi.Array([array]))] == [1, 2, 3, 4]
    assert key in ffi.Set([key])
    assert key in ffi.Dict({key: 1})
    node = others[0]
    assert hash(ffi.Array([node])) == hash((node,))
    assert hash(ffi.FrozenSet([node])) == hash(frozenset([node]))
    assert hash(node) == hash(node)
    assert len({node, *others}) == 20


def test_what_is_no_dataclass(ffi: Any) -> None:
    @ffi.dataclass
    class One:
        x: int = 1

    with pytest.raises(TypeError, match="One is an anyffi.dataclass already"):
        ffi.dataclass(One)
    for other in (int, ffi.List):
        with pytest.raises(TypeError, match="is no anyffi.dataclass"):
            One.__new__(other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="state: expected a dict of fields, got int"):
        One().__setstate__(5)  # type: ignore[attr-defined]
    with pytest.raises(
        TypeError, match="Error_ derives from a class whose instances have a layout of their own"
    ):

        @ffi.dataclass
        class Error_(ValueError):
            x: int = 1

    for text in ("\ud800", "-" * 10_000 + "1"):
        cls = type("Odd", (), {"__annotations__": {"x": text}, "__module__": __name__})
        with pytest.raises(TypeError, match=r"^field 'x' of Odd: the annotation .{1,200} is no type"):
            ffi.dataclass(cls)


class Rounded:
    """A descriptor that converts what is assigned."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return 1 if instance is None else instance._rounded

    def __set__(self, instance: Any, value: Any) -> None:
        instance._rounded = int(value)


def test_fields_with_setters_of_their_own_are_refused(ffi: Any) -> None:
    def declare(default: Any, annotation: Any = int) -> Any:
        return ffi.dataclass(slots=False)(
            type("Owner", (), {"__annotations__": {"x": annotation}, "x": default, "__module__": __name__})
        )

    for default in (Rounded(), dataclasses.field(default=Rounded())):
        with pytest.raises(TypeError, match="^field 'x' of Owner has a Rounded in its place, which"):
            declare(default)
    with pytest.raises(TypeError, match="^field 'x' of Owner has a property in its place"):
        declare(property(lambda self: 1, lambda self, value: None))
    # A descriptor is accepted for what is not a field.
    assert declare(Rounded(), ClassVar[int]).x == 1

    @ffi.dataclass
    class Given:
        name: dataclasses.InitVar[str]
        text: str = ""

        @property
        def name(self) -> str:
            return self.text.upper()

        def __post_init__(self, name: str) -> None:
            self.text = name

    assert Given("a").name == "A"  # type: ignore[call-arg]


def test_attributes_that_would_hide_fields_are_refused(ffi: Any) -> None:
    @ffi.dataclass
    class Base:
        x: int = 1

    class Mixin:
        x = 7

    refused = "^{}\\.x would hide the field 'x' of class Derived, which C\\+\\+ reads"
    for bases, namespace, owner in (
        ((Base,), {"x": 7}, "Derived"),
        ((Base,), {"x": lambda self: 7}, "Derived"),
        ((Mixin, Base), {}, "Mixin"),
    ):
        with pytest.raises(TypeError, match=refused.format(owner)):
            type("Derived", bases, {"__module__": __name__, **namespace})
    assert type("Derived", (Base, Mixin), {})().x == 1

    @ffi.dataclass
    class Other(Base):
        x: int = 7

    class Doubled(Other):
        @property
        def x(self) -> int:
            return Base.x.fget(self)  # type: ignore[attr-defined,no-any-return]

        @x.setter
        def x(self, value: int) -> None:
            Base.x.fset(self, 2 * value)  # type: ignore[attr-defined]

    doubled = Doubled(4)
    assert (Other().x, doubled.x) == (7, 8)
    assert [part for _, part in ffi.children(doubled)] == [8]

    @ffi.dataclass
    class Shared(Base):
        x: ClassVar[int] = 9  # type: ignore[misc]

    assert type("Derived", (Shared,), {})().x == 9


def test_slots_of_ones_own_without_those_of_fields(ffi: Any) -> None:
    for slots in (True, False):

        @ffi.dataclass(slots=slots)
        class Slotted:
            __slots__ = ("other", "x")
            x: int

        made = Slotted(1)
        made.other = "a"
        assert (made.x, made.other, [part for _, part in ffi.children(made)]) == (1, "a", [1])
        assert not hasattr(made, "__dict__")


def test_metadata_of_users(ffi: Any) -> None:
    class Labels:
        """A mapping with no more than the standard library asks for."""

        def __getitem__(self, name: str) -> Any:
            return {"label": 1}[name]

        def __iter__(self) -> Any:
            return iter(["label"])

    class Fewer:
        """Attributes as a mapping: numbers are no names of attributes."""

        label = 1

        def __getitem__(self, name: str) -> Any:
            return getattr(self, name)

    empty = collections.defaultdict(list)
    for metadata in (Labels(), Fewer(), {"doc": 5}, {"frozen": True}, empty, collections.Counter()):
        cls = ffi.dataclass(
            type(
                "Labelled",
                (),
                {
                    "__annotations__": {"x": int},
                    "x": dataclasses.field(default=1, metadata=metadata),
                    "__module__": __name__,
                },
            )
        )
        made = cls()
        made.x = 2
        assert (made.x, cls.x.__doc__) == (2, None)
    assert not empty


def test_an_annotation_that_memory_is_too_short_to_parse(ffi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """MemoryError is raised, and the annotation is not reported as wrong."""

    def fail(*args: Any, **options: Any) -> Any:
        raise MemoryError

    cls = type("Unread", (), {"__annotations__": {"x": "list[int]"}, "__module__": __name__})
    with monkeypatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(ast, "parse", fail)
        ffi.dataclass(cls)
