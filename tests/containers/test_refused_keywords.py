"""Methods of containers refuse keywords in the same words in both modes; iterators have one name in all messages."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from support import FREE_THREADED, cpython_only

METHODS = {
    "List": (
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "index",
        "count",
        "__contains__",
        "__iadd__",
        "__imul__",
    ),
    "Array": ("index", "count", "__contains__"),
    "Shape": ("index", "count", "__contains__"),
    "Dict": ("get", "pop", "setdefault", "__contains__"),
    "Map": ("get", "__contains__"),
    "Set": ("add", "discard", "remove", "pop", "issubset", "__contains__"),
    "FrozenSet": ("isdisjoint", "__contains__"),
}
ROWS = [(cls, method) for cls, methods in METHODS.items() for method in methods]


@pytest.mark.parametrize(("cls", "method"), ROWS)
@pytest.mark.parametrize(
    "keyword", ["value", "key", "index", "iterable", "element", "other", "times", "self"]
)
def test_methods_refuse_keywords(both: tuple[Any, Any], cls: str, method: str, keyword: str) -> None:
    texts = []
    for ffi in both:
        called = getattr(getattr(ffi, cls)(), method)
        with pytest.raises(TypeError) as caught:
            called(**{keyword: 1})
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


MISUSED: list[Callable[[Any], Any]] = [
    lambda x: x.missing,
    lambda x: x + 1,
    lambda x: x[0],
    lambda x: len(x),
    lambda x: type("Derived", (type(x),), {}),
]


@cpython_only("PyPy's messages name no modules")
@pytest.mark.parametrize("misuse", MISUSED)
@pytest.mark.parametrize(
    "make", [lambda ffi: ffi.List(), lambda ffi: ffi.Dict().items(), lambda ffi: ffi.Set()]
)
def test_names_of_iterators(ffi: Any, make: Any, misuse: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, AttributeError), match=r"anyffi\.(Sequence|Entry)Iterator"):
        misuse(iter(make(ffi)))


@cpython_only("on PyPy the runtime does not know which objects have wrappers")
def test_elements_that_are_no_extents_are_named(ffi: Any) -> None:
    if FREE_THREADED and ffi.ffi_mode == "ctypes":
        pytest.skip("ctypes mode without the GIL does not know which objects have wrappers")
    for given in (ffi.List([ffi.Array([1])]), [ffi.Array([1])]):
        with pytest.raises(TypeError, match="expected int, got Array$"):
            ffi.Shape(given)
