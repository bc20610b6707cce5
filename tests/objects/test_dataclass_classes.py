"""Dataclasses of unusual classes: other metaclasses, no constructor, objects in sets."""

from __future__ import annotations

import abc
from typing import Any

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
