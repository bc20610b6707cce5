"""`__new__` of the public classes and their subclasses behaves as that of `object`."""

from __future__ import annotations

import abc
from typing import Any

import pytest
from support import CPYTHON, cpython_only

CLASSES = (
    "Array",
    "Dict",
    "FrozenSet",
    "Function",
    "List",
    "Map",
    "Module",
    "Object",
    "Set",
    "Shape",
    "Tensor",
)


def derived(ffi: Any, name: str, **members: Any) -> Any:
    return type("Derived", (getattr(ffi, name),), members)


@pytest.mark.parametrize("name", CLASSES)
def test_object_new_makes_an_empty_one(ffi: Any, name: str) -> None:
    for cls in (getattr(ffi, name), derived(ffi, name)):
        made = object.__new__(cls)
        assert type(made) is cls
        with pytest.raises(ValueError, match=f"^this {cls.__name__} is empty: __init__ was not called$"):
            ffi.get_global_func("testing.echo")([made])


def test_an_index_is_checked_before_an_empty_list(ffi: Any) -> None:
    for method, args in (("__getitem__", ()), ("__setitem__", (1,)), ("__delitem__", ())):
        call = getattr(ffi.List.__new__(ffi.List), method)
        with pytest.raises(TypeError, match="indices must be integers or slices, not str"):
            call("k", *args)
        with pytest.raises(ValueError, match="^this List is empty: __init__ was not called$"):
            call(0, *args)


def test_an_empty_one_can_be_initialised(ffi: Any) -> None:
    cls = derived(ffi, "List")
    made = object.__new__(cls)
    made.__init__([1, 2])
    assert made == [1, 2]
    function = object.__new__(derived(ffi, "Function"))
    for call in (lambda: function(1), lambda: function(x=1), lambda: function.__call__(1)):
        with pytest.raises(ValueError, match="is empty"):
            call()
    function.__init__(lambda x: x + 1)
    assert function(1) == function.__call__(1) == next(map(function, [1])) == 2


@pytest.mark.parametrize("name", CLASSES)
def test_arguments_that_a_subclass_passes_on(ffi: Any, name: str) -> None:
    handing = derived(
        ffi, name, __new__=lambda cls, *args, **kwargs: super(cls, cls).__new__(cls, *args, **kwargs)
    )
    for args, kwargs in (((1,), {}), (([], 2), {}), ((), {"x": 1})):
        with pytest.raises(TypeError) as caught:
            handing(*args, **kwargs)
        if CPYTHON:
            assert str(caught.value).startswith("object.__new__() takes exactly one argument")
    assert type(handing.__new__(handing)) is handing


def test_a_subclass_that_drops_arguments(ffi: Any) -> None:
    kept = derived(ffi, "List", __new__=lambda cls, *args: super(cls, cls).__new__(cls))
    assert kept([1]) == [1]
    function = derived(ffi, "Function", __new__=lambda cls, *args: object.__new__(cls))(len)
    assert function([1, 2]) == 2


@cpython_only("PyPy counts abstract methods elsewhere")
def test_abstract_classes_have_no_instances(ffi: Any) -> None:
    class Abstract(ffi.List, metaclass=abc.ABCMeta):  # type: ignore[misc, name-defined]
        @abc.abstractmethod
        def area(self) -> float: ...

    with pytest.raises(TypeError, match="abstract"):
        Abstract()
