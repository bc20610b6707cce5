"""Classes and enumerations inside of classes: their keys begin with those of the classes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from nested_sources import LATER, NESTED
from support import Build, compiles_classes

pytestmark = compiles_classes


@pytest.fixture
def zoo(ffi: Any, build: Build) -> Any:
    return ffi.load_module(str(build("zoo.cc", NESTED)))


def test_they_are_attributes_of_their_classes(zoo: Any) -> None:
    assert zoo.Shape().type is zoo.Shape.Type.SQUARE
    assert zoo.Joint().type is zoo.Joint.Type.WHEEL
    assert (zoo.name(zoo.Shape.Type.CIRCLE), zoo.name(1)) == ("circle", "square")
    assert zoo.Shape.Size().width == zoo.Shape().size.width == 2
    assert type(zoo.Shape().size.unit) is zoo.Shape.Size.Unit
    assert {"Type", "Size", "Failure"} <= set(dir(zoo.Shape))


def test_they_are_no_attributes_of_the_module(zoo: Any) -> None:
    assert [name for name in dir(zoo) if not hasattr(type(zoo), name)] == ["Joint", "Oops", "Shape", "name"]
    with pytest.raises(AttributeError, match="Type"):
        zoo.Type


def test_their_names(zoo: Any) -> None:
    classes = (zoo.Shape.Size.Unit, zoo.Shape.Type, zoo.Shape.Failure)
    assert [(cls.__module__, cls.__qualname__, cls.__name__) for cls in classes] == [
        ("zoo", "Shape.Size.Unit", "Unit"),
        ("zoo", "Shape.Type", "Type"),
        ("zoo", "Shape.Failure", "Failure"),
    ]
    assert repr(zoo.Shape.Size.Unit()) == "zoo.Shape.Size.Unit(scale=1)"
    assert pickle.loads(pickle.dumps(zoo.Shape.Type.SQUARE)) is zoo.Shape.Type.SQUARE


def test_exceptions(zoo: Any) -> None:
    with pytest.raises(zoo.Shape.Failure):
        zoo.Shape().fail()


def test_an_enumeration_inside_of_an_exception(zoo: Any) -> None:
    assert (zoo.Oops.Code.ONE, zoo.Oops.Code.__qualname__) == (0, "Oops.Code")


def test_another_library_adds_one(zoo: Any, ffi: Any, build: Build) -> None:
    assert zoo.Joint.__name__ == "Joint"
    later = ffi.load_module(str(build("zoo_later.cc", LATER)))
    assert zoo.Joint.Color.RED == 0
    # A class may derive from one that is nested in it according to its key.
    assert later.Outer().x == 1
    assert later.Outer.__mro__[1] is later.Outer.Inner
