"""Special methods that are called directly refuse wrong arguments in Python's words, the same in both modes."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np
import pytest
from support import cpython_only

#: How each object is made, and Python's counterpart.
MAKERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "List": (lambda ffi: ffi.List([1, 2]), [1, 2]),
    "Array": (lambda ffi: ffi.Array([1, 2]), (1, 2)),
    "Shape": (lambda ffi: ffi.Shape([1, 2]), (1, 2)),
    "Dict": (lambda ffi: ffi.Dict({1: 2}), {1: 2}),
    "Map": (lambda ffi: ffi.Map({1: 2}), {1: 2}),
    "Set": (lambda ffi: ffi.Set([1]), {1}),
    "FrozenSet": (lambda ffi: ffi.FrozenSet([1]), frozenset({1})),
    "keys": (lambda ffi: ffi.Dict({1: 2}).keys(), {1: 2}.keys()),
    "values": (lambda ffi: ffi.Dict({1: 2}).values(), {1: 2}.values()),
    "items": (lambda ffi: ffi.Map({1: 2}).items(), {1: 2}.items()),
    "iterator of List": (lambda ffi: iter(ffi.List([1, 2])), iter([1, 2])),
    "reversed Array": (lambda ffi: reversed(ffi.Array([1, 2])), reversed([1, 2])),
    "iterator of Dict": (lambda ffi: iter(ffi.Dict({1: 2})), iter({1: 2})),
    "iterator of items": (lambda ffi: iter(ffi.Dict({1: 2}).items()), iter({1: 2}.items())),
    "iterator of Set": (lambda ffi: iter(ffi.Set([1])), iter({1})),
    "Function": (lambda ffi: ffi.get_global_func("testing.nop"), len),
    "Tensor": (lambda ffi: ffi.from_dlpack(np.arange(3)), None),
}
#: Methods of any class, one that makes instances, and one that takes keywords in ctypes mode.
LEFT_OUT = (
    *("__class__", "__class_getitem__", "__init_subclass__", "__subclasshook__", "__dir__"),
    *("__new__", "__dlpack__"),
)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "nothing": lambda method, x: method(),
    "an int": lambda method, x: method(1),
    "None": lambda method, x: method(None),
    "another": lambda method, x: method([]),
    "its class and one": lambda method, x: method(type(x), 1),
    "itself": lambda method, x: method(x),
    "two": lambda method, x: method(x, 1, 2),
    "three": lambda method, x: method(x, 1, 2, 3),
    "four": lambda method, x: method(x, 1, 2, 3, 4),
    "keyword": lambda method, x: method(x, nope=1),
    "one and a keyword": lambda method, x: method(x, 1, nope=1),
    "self twice": lambda method, x: method(x, self=1),
}
#: Only for slot wrappers: Python functions check numbers and keywords before `self`.
WITHOUT_SELF: dict[str, Callable[[Any, Any], Any]] = {
    "self by keyword": lambda method, x: method(self=x),
    "a keyword alone": lambda method, x: method(nope=1),
    "other and a keyword": lambda method, x: method(1, nope=1),
    "other and one": lambda method, x: method(1, 2),
    "other and three": lambda method, x: method(1, 2, 3, 4),
}


#: Not tried with `__next__`: taking keywords would cost each step of a loop in ctypes mode a dict.
WITH_KEYWORDS = (
    *("keyword", "one and a keyword", "self twice"),
    *("self by keyword", "a keyword alone", "other and a keyword"),
)


def methods_of(cls: Any) -> list[str]:
    return [
        name
        for name in dir(cls)
        if (name.startswith("__") or not name.startswith("_"))
        and name not in LEFT_OUT
        and inspect.isroutine(getattr(cls, name))
        and getattr(cls, name) is not getattr(object, name, None)
    ]


def is_slot(cls: type, name: str) -> bool:
    return type(getattr(cls, name)) is type(list.__len__)


def outcome(call: Callable[[Any, Any], Any], method: Any, x: Any) -> str:
    try:
        return type(call(method, x)).__name__
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@cpython_only("messages of PyPy's builtins differ")
@pytest.mark.parametrize("name", MAKERS)
def test_wrong_arguments_of_methods(both: tuple[Any, Any], name: str) -> None:
    make = MAKERS[name][0]
    compiled = type(make(both[0]))
    names = methods_of(compiled)
    assert len(names) > 4
    for method in names:
        calls = {**CALLS, **(WITHOUT_SELF if is_slot(compiled, method) else {})}
        for how, call in calls.items():
            if method == "__next__" and how in WITH_KEYWORDS:
                continue
            cython, ctypes = (outcome(call, getattr(type(x), method), x) for x in map(make, both))
            assert cython == ctypes, (method, how)


@cpython_only("messages of PyPy's builtins differ")
@pytest.mark.parametrize(
    "name", ["List", "Dict", "Set", "keys", "items", "iterator of List", "iterator of Dict"]
)
def test_the_words_are_pythons(ffi: Any, name: str) -> None:
    """If both our class and Python's have a slot, its errors differ only in the name of the class."""
    make, plain = MAKERS[name]
    ours, theirs = type(make(ffi)), type(plain)
    shown = f"'anyffi.{ours.__name__}' object"
    compared = 0
    for method in ("__iter__", "__next__", "__len__", "__eq__", "__lt__"):
        if not (hasattr(ours, method) and is_slot(theirs, method)):
            continue
        for how, call in {**CALLS, **WITHOUT_SELF}.items():
            expected = outcome(call, getattr(theirs, method), plain)
            is_compared = how not in (
                "its class and one",
                "another",
                *(WITH_KEYWORDS if method == "__next__" else ()),
            )
            if expected.startswith("TypeError: ") and is_compared:
                expected = expected.replace(f"'{theirs.__name__}' object", shown, 1)
                assert outcome(call, getattr(ours, method), make(ffi)) == expected, (method, how)
                compared += 1
    assert compared > 10


def test_an_iterator_that_was_made_by_new_is_exhausted(ffi: Any) -> None:
    for made in (iter(ffi.List([1])), iter(ffi.Dict({1: 2})), reversed(ffi.Dict({1: 2}))):
        cls = type(made)
        empty = cls.__new__(cls)
        assert list(empty) == []
        assert empty.__length_hint__() == 0
        with pytest.raises(TypeError, match="cannot create"):
            cls()
        with pytest.raises(TypeError, match="cannot create"):
            cls([1])
