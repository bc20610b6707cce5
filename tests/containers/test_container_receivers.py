"""Methods refuse objects of another class, with Python's error messages, the same in both modes."""

from __future__ import annotations

import collections
import inspect
from typing import Any

import pytest
from support import CPYTHON, cpython_only

_CLASSES = ["Array", "List", "Map", "Dict", "FrozenSet", "Set"]


def methods_of(cls: Any) -> dict[str, Any]:
    """Return the methods that are not inherited from `object` or `anyffi.Object`."""
    return {
        name: getattr(cls, name)
        for name in dir(cls)
        if (name.startswith("__") or not name.startswith("_"))
        and inspect.isroutine(getattr(cls, name))
        and getattr(cls, name) != getattr(object, name, None)
        and name
        not in (
            "__class__",
            "__class_getitem__",
            "__new__",
            "__dir__",
            "same_as",
            "fromkeys",
            "__init_subclass__",
            "__subclasshook__",
        )
    }


def arguments_for(method: Any, ours: Any) -> tuple[Any, ...]:
    try:
        required = [
            p for p in inspect.signature(method).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]  # fmt: skip
    except ValueError:
        return (0, 0)[: {"__setitem__": 2, "__len__": 0, "__iter__": 0}.get(method.__name__, 1)]
    return (0,) * (len(required) - 1)


def wrong_ones(ffi: Any, name: str) -> list[Any]:
    objects = {n: getattr(ffi, n)() for n in _CLASSES}
    del objects[name]
    # Python's own containers are refused, too, although their content would do.
    return [*objects.values(), [], (), {}, {1}, 5, None, "text", collections.deque()]


@pytest.mark.parametrize("name", _CLASSES)
def test_every_method_refuses_others(ffi: Any, name: str) -> None:
    cls = getattr(ffi, name)
    methods = methods_of(cls)
    assert len(methods) > 18
    for method_name, method in methods.items():
        for other in wrong_ones(ffi, name):
            arguments = arguments_for(method, cls())
            with pytest.raises(TypeError) as caught:
                method(other, *arguments)
            assert f"'{method_name}'" in str(caught.value), (method_name, other)
            assert f"'anyffi.{name}'" in str(caught.value), (method_name, other)


@cpython_only("PyPy's messages differ; ours are CPython's")
def test_the_messages_are_pythons(ffi: Any) -> None:
    def words(function: Any, *arguments: Any) -> str:
        with pytest.raises(TypeError) as caught:
            function(*arguments)
        return str(caught.value)

    for method, arguments in (("append", (1,)), ("pop", (0,)), ("sort", ()), ("index", (1,)), ("__len__", ()),
                              ("__add__", ([],)), ("__getitem__", (0,)), ("__contains__", (1,))):  # fmt: skip
        if method in ("__getitem__", "__contains__"):
            continue  # both a method and a slot of `list`
        for other in ((), {}, 5, collections.deque()):
            expected = words(getattr(list, method), other, *arguments)
            got = words(getattr(ffi.List, method), other, *arguments)
            assert got.replace("anyffi.List", "list") == expected
    for method, arguments in (
        ("pop", ("k",)),
        ("keys", ()),
        ("get", (1,)),
        ("__iter__", ()),
        ("__or__", ({},)),
    ):
        expected = words(getattr(dict, method), [], *arguments)
        assert words(getattr(ffi.Dict, method), [], *arguments).replace("anyffi.Dict", "dict") == expected


def test_both_modes_say_the_same(both: Any) -> None:
    def messages(ffi: Any, name: str) -> Any:
        raised = []
        for method_name, method in sorted(methods_of(getattr(ffi, name)).items()):
            for other in wrong_ones(ffi, name):
                for arguments in ((), (0,), (0, 0), (0, 0, 0)):
                    try:
                        method(other, *arguments)
                    except Exception as error:
                        raised.append((method_name, arguments, type(error), str(error)))
                    else:
                        raise AssertionError(method_name)
            # A wrong number of arguments for the right object.
            for arguments in ((), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)):
                try:
                    method(getattr(ffi, name)([(1, 2)]), *arguments)
                except Exception as error:
                    raised.append((method_name, arguments, type(error), str(error)))
        return raised

    for name in _CLASSES:
        cython, ctypes = (messages(ffi, name) for ffi in both)
        assert cython == ctypes


def test_metadata_of_methods(ffi: Any) -> None:
    for name in _CLASSES:
        cls = getattr(ffi, name)
        for method_name, method in methods_of(cls).items():
            assert method.__name__ == method_name
            if not method_name.startswith("__"):
                assert method.__qualname__ == f"{name}.{method_name}"
                assert inspect.getdoc(method), (name, method_name)
    if CPYTHON:
        # PyPy's builtins have other names of parameters.
        assert str(inspect.signature(ffi.List.append)) == "(self, value, /)"
    assert list(inspect.signature(ffi.List().sort).parameters) == ["key", "reverse"]
    # A missing argument is noticed even after a plain `object()` was converted.
    ffi.get_global_func("testing.nop")(object())
    with pytest.raises(TypeError, match=r"append\(\) missing 1 required positional argument"):
        ffi.List().append()


def test_a_wrapper_in_another_class(ffi: Any) -> None:
    """`__class__` may be assigned where layouts agree; the runtime object stays the same."""
    for given, wanted in (
        ("Array", "List"),
        ("Map", "Dict"),
        ("Dict", "List"),
        ("List", "Map"),
        ("Set", "Dict"),
    ):
        x = getattr(ffi, given)([(1, 2)])
        try:
            x.__class__ = getattr(ffi, wanted)
        except TypeError:
            continue
        # A copy is of the class that the object really has.
        assert type(x.copy()) is getattr(ffi, given)
        content = ffi.to_python(x.copy())
        for use in (
            len, list, repr, iter, reversed, lambda x: x[0], lambda x: 0 in x, lambda x: x == x.__class__(),
            lambda x: x.append(1), lambda x: x.sort(), lambda x: x.pop(), lambda x: x.update(a=1), lambda x: x.popitem(),
            lambda x: x.__setitem__(0, 1), lambda x: x.clear(),
        ):  # fmt: skip
            with pytest.raises((TypeError, AttributeError)):
                use(x)
        assert ffi.to_python(x.copy()) == content
