"""Methods and classes of containers that take any iterable: results and errors are those of Python's own."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support import CPYTHON

LONG = "a text that is too long to be stored in place"
NAN = float("nan")


class Pairs(collections.abc.Mapping):  # type: ignore[type-arg]
    def __getitem__(self, key: Any) -> Any:
        return {"a": 1, LONG: (2,)}[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(("a", LONG))

    def __len__(self) -> int:
        return 2


class Overridden(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        return iter((9, 9))


class Failing:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __iter__(self) -> Iterator[Any]:
        raise self.error


class Hashable(np.ndarray):  # type: ignore[type-arg]
    __hash__ = object.__hash__


def generate(*items: Any) -> Iterator[Any]:
    yield from items


def fail_after(*items: Any) -> Iterator[Any]:
    yield from items
    raise KeyError("later")


def _assign(target: Any, items: Any, which: slice) -> None:
    target[which] = items


def _extend_in_place(target: Any, items: Any) -> None:
    target += items


def _unite_in_place(target: Any, items: Any) -> None:
    target |= items


#: By name: a function that makes an iterable, of elements or of pairs.
ITERABLES: dict[str, Callable[[], Any]] = {
    "range": lambda: range(4),
    "text": lambda: "abca",
    "bytes": lambda: b"ab",
    "deque": lambda: collections.deque([1, LONG, 1]),
    "dict": lambda: {"a": 1, LONG: 2},
    "OrderedDict": lambda: collections.OrderedDict(b=2, a=1),
    "keys": lambda: {"ab": 1, "cd": 2}.keys(),
    "items": lambda: {"a": 1, LONG: (2,)}.items(),
    "mappingproxy": lambda: types.MappingProxyType({"a": 1}),
    "Mapping": Pairs,
    "generator": lambda: generate(("a", 1), ("b", LONG)),
    "zip": lambda: zip("ab", (1, 2)),
    "empty": lambda: iter(()),
    "list's subclass": lambda: Overridden([1, 2]),
    "NaN": lambda: generate(NAN, 1),
    "objects": lambda: generate(int, (int, 1)),
    "fails": lambda: fail_after(("a", 1)),
    "ValueError": lambda: Failing(ValueError("no")),
    "TypeError": lambda: Failing(TypeError("no")),
    "unhashable": lambda: generate(([], 1)),
    "int": lambda: 5,
    "None": lambda: None,
}
#: By name: Python's class, its content, and an operation on a container with an iterable.
OPERATIONS: dict[str, tuple[Any, Any, Callable[[Any, Any], Any]]] = {
    "extend": (list, [7, 8], lambda x, items: x.extend(items)),
    "list +=": (list, [7, 8], _extend_in_place),
    "slice": (list, [7, 8], lambda x, items: _assign(x, items, slice(1, 2))),
    "stride": (list, [7, 8], lambda x, items: _assign(x, items, slice(None, None, 2))),
    "List()": (list, [], lambda x, items: type(x)(items)),
    "dict.update": (dict, {"a": 0, "k": 5}, lambda x, items: x.update(items)),
    "dict.update with keywords": (dict, {"a": 0, "k": 5}, lambda x, items: x.update(items, a=3, b=4)),
    "dict |=": (dict, {"a": 0, "k": 5}, _unite_in_place),
    "Dict()": (dict, {}, lambda x, items: type(x)(items)),
    "set.update": (set, {"a", 1}, lambda x, items: x.update(items)),
    "set.update with two": (set, {"a", 1}, lambda x, items: x.update("xy", items)),
    "intersection_update": (set, {"a", 1}, lambda x, items: x.intersection_update(items)),
    "difference_update": (set, {"a", 1}, lambda x, items: x.difference_update(items, [1])),
    "union": (set, {"a", 1}, lambda x, items: x.union(items, "xy", {"z": 1})),
    "difference": (set, {"a", 1}, lambda x, items: x.difference("xy", items)),
    "intersection": (set, {"a", 1}, lambda x, items: x.intersection("a1", items)),
    "issubset": (set, {"a", 1}, lambda x, items: x.issubset(items)),
    "issuperset": (set, {"a", 1}, lambda x, items: x.issuperset(items)),
    "Set()": (set, set(), lambda x, items: type(x)(items)),
}
OURS = {list: "List", dict: "Dict", set: "Set"}


def _outcome(operation: Callable[[Any, Any], Any], container: Any, items: Any, shown: Any) -> tuple[Any, ...]:
    try:
        result = operation(container, items)
    except Exception as error:
        # Python 3.14 gives the reason in parentheses; PyPy's own containers use other words.
        is_long, _, reason = str(error).partition(" as a set element (")
        return type(error), None if not CPYTHON else reason[:-1] if reason else is_long
    return shown(result), shown(container)


def _show(x: Any) -> Any:
    # NaNs are compared by their text, and elements of sets are sorted.
    return sorted(map(repr, x)) if isinstance(x, set) else (repr(type(x)), repr(x))


#: Without a case in which Python stops at the first element, which decides, before the iterable fails.
BOTH = [(name, made) for name in OPERATIONS for made in ITERABLES if (name, made) != ("issuperset", "fails")]


@pytest.mark.parametrize(("name", "iterable"), BOTH)
def test_iterable_does_what_it_does_to_python_s_own(ffi: Any, name: str, iterable: str) -> None:
    plain, content, operation = OPERATIONS[name]
    mine = getattr(ffi, OURS[plain])(content)
    expected = _outcome(operation, plain(content), ITERABLES[iterable](), _show)
    found = _outcome(operation, mine, ITERABLES[iterable](), lambda x: _show(ffi.to_python(x)))
    assert found == expected
    if isinstance(expected[0], type):
        # Changes are made completely or not at all.
        assert ffi.to_python(mine) == content


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("extend", "anyffi.List.extend(): argument 0: "),
        ("list +=", "anyffi.List.__iadd__(): argument 0: "),
        # No argument is named: a hook of the slice might have raised the error.
        ("slice", ""),
        ("stride", ""),
        ("List()", "anyffi.List(): argument 0: "),
        ("dict.update", "anyffi.Dict.update(): argument 0: "),
        ("dict |=", "anyffi.Dict.__ior__(): argument 0: "),
        ("Dict()", "anyffi.Dict(): argument 0: "),
        ("set.update", "anyffi.Set.update(): argument 0: "),
        ("Set()", "anyffi.Set(): argument 0: "),
    ],
)
def test_refused_item_of_an_iterable_changes_nothing(ffi: Any, name: str, begin: str) -> None:
    refused = np.zeros(1, object).view(Hashable)
    plain, content, operation = OPERATIONS[name]
    mine = getattr(ffi, OURS[plain])(content)
    items = generate(*([("a", 1), ("b", refused)] if plain is dict else [1, refused]))
    with pytest.raises(TypeError) as caught:
        operation(mine, items)
    assert str(caught.value).startswith(f"{begin}dtype object has no DLPack code")
    assert ffi.to_python(mine) == content


def test_refused_element_of_a_stride_is_named(ffi: Any) -> None:
    numbers = ffi.List([7, 8])
    with pytest.raises(TypeError, match=r"anyffi\.List\.__setitem__\(\): argument 1: dtype object has no"):
        numbers[::2] = frozenset([np.zeros(1, object).view(Hashable)])
    assert numbers == [7, 8]


def test_refused_value_of_a_keyword_is_named(ffi: Any) -> None:
    pairs = ffi.Dict(a=1)
    with pytest.raises(TypeError, match=r"anyffi\.Dict\.update\(\): argument 'b': dtype object has no"):
        pairs.update(generate(("c", 1)), a=2, b=np.zeros(1, object))
    assert pairs == {"a": 1}


def test_iterables_that_change_the_container(ffi: Any) -> None:
    def clear(container: Any, item: Any) -> Iterator[Any]:
        container.clear()
        yield item

    numbers, pairs, elements = ffi.List([1, 2, 3]), ffi.Dict(a=1), ffi.Set([1, 2, 3])
    numbers.extend(clear(numbers, LONG))
    pairs.update(clear(pairs, (LONG, 5)), b=2)
    elements.update(clear(elements, LONG))
    assert (numbers, pairs, elements) == ([LONG], {LONG: 5, "b": 2}, {LONG})
    numbers[:] = [1, 2, 3]
    numbers[1:3] = clear(numbers, LONG)
    assert numbers == [LONG]
    numbers.extend(numbers)
    pairs.update(pairs, c=pairs)
    assert numbers == [LONG, LONG]
    assert pairs["c"].same_as(pairs)
    del pairs["c"]


def test_an_iterable_is_asked_as_list_asks_it(ffi: Any) -> None:
    """For its length and its iterator in the order of `list(x)`, which is another one on CPython 3.9."""
    asked: list[str] = []

    class Iterable:
        def __len__(self) -> int:
            asked.append("len")
            return 2

        def __iter__(self) -> Any:
            asked.append("iter")
            return iter([1, 2])

    list(Iterable())
    expected = asked[:]
    for cls in (ffi.List, ffi.Set, ffi.FrozenSet):
        asked.clear()
        cls(Iterable())
        assert asked == expected
