"""Methods that cython mode compiles: metadata, comparisons, and code that changes a container meanwhile."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import pytest
from support import cpython_only

_CLASSES = ("Array", "List", "Map", "Dict", "FrozenSet", "Set")


class Meddler:
    """Runs code when it is compared or hashed."""

    def __init__(self, act: Callable[[], Any], answer: bool = False) -> None:
        self._act, self._answer = act, answer

    def __eq__(self, other: object) -> bool:
        self._act()
        return self._answer

    def __hash__(self) -> int:
        return 1


def test_signatures_and_docstrings_are_the_same(both: Any) -> None:
    def metadata(ffi: Any, name: str) -> Any:
        found = {}
        for method in sorted(vars(getattr(ffi, name)).keys() | set(dir(getattr(ffi, name)))):
            function = getattr(getattr(ffi, name), method)
            if method.startswith("_") or not inspect.isroutine(function):
                continue
            found[method] = str(inspect.signature(function)), inspect.getdoc(function), function.__qualname__
        return found

    for name in _CLASSES:
        cython, ctypes = (metadata(ffi, name) for ffi in both)
        assert cython == ctypes
        assert len(cython) > 3


def test_without_self(both: Any) -> None:
    for name in _CLASSES:
        for method in (
            "copy",
            "__eq__",
            "__contains__",
            "get",
            "append",
            "add",
            "union",
            "pop",
            "setdefault",
        ):
            messages = []
            for ffi in both:
                function = getattr(getattr(ffi, name), method, None)
                if function is not None:
                    with pytest.raises(TypeError) as caught:
                        function()
                    messages.append(str(caught.value))
            assert len(set(messages)) <= 1, messages


@cpython_only("PyPy's list compares elements that it no longer has")
def test_a_list_that_is_emptied_by_a_comparison(ffi: Any) -> None:
    for use in (
        lambda xs: xs == [0] * 4, lambda xs: xs < [0] * 4, lambda xs: 5 in xs, lambda xs: xs.count(5),
        lambda xs: xs.index(5), lambda xs: xs.remove(5),
    ):  # fmt: skip
        xs = ffi.List()
        ys: list[Any] = [Meddler(xs.clear), 1, 2, 3]
        model: list[Any] = []
        plain: list[Any] = [Meddler(model.clear), 1, 2, 3]
        xs.extend(ys)
        model.extend(plain)
        got, expected = (_outcome(use, x) for x in (xs, model))
        assert got == expected
        assert list(xs) == list(model) == []


def _outcome(use: Callable[[Any], Any], x: Any) -> Any:
    try:
        return use(x)
    except Exception as error:
        return type(error), str(error)


def test_a_list_that_its_comparison_releases(ffi: Any) -> None:
    outer = ffi.List()
    inner = ffi.List([Meddler(outer.clear, True), 1])
    outer.append(inner)
    del inner
    assert outer[0] == [0, 1]
    assert len(outer) == 0
    outer.append([Meddler(outer.clear, True), 1])
    assert outer[0] == ffi.List([0, 1])


def test_comparisons_stop_at_the_first_difference(ffi: Any) -> None:
    compared: list[int] = []
    for operate in (list.__eq__, list.__ne__, list.__lt__, list.__ge__):
        name = operate.__name__
        del compared[:]
        xs = ffi.List([1, 2, Meddler(lambda: compared.append(1))])
        getattr(xs, name)([1, 3, 0])
        assert compared == []
        getattr(xs, name)([1, 2])
        assert compared == []
    assert 2 in xs
    assert compared == []
    assert xs.index(2) == 1
    assert compared == []


def test_mappings_of_unequal_length_run_no_code(ffi: Any) -> None:
    def refuse() -> None:
        raise ZeroDivisionError

    d = ffi.Dict({"a": Meddler(refuse), "b": 1})
    assert d != {"a": 1}
    assert d != ffi.Dict({"a": 1})
    with pytest.raises(ZeroDivisionError):
        d == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    "other", [{1: 5}, {1: 5.0}, {True: 5}, {1.0: 5}, {1: "5"}, {2: 5}, {1: None}, {1: [5]}]
)
def test_equality_of_mappings(ffi: Any, other: dict[Any, Any]) -> None:
    for made in (ffi.Dict, ffi.Map):
        for content in ({1: 5}, {1: 5.0}, {1: None}, {1: [5]}, {"a": 1}):
            expected = content == other
            assert (made(content) == other) is (other == made(content)) is expected
            assert (made(content) == ffi.Dict(other)) is (made(content) == ffi.Map(other)) is expected
            assert (made(content) != other) is not expected


_SETS: list[Any] = [
    set(),
    {1},
    {1, 2, "a"},
    {"a", None, 1.5},
    {True, "b"},
    {1.0, 2},
    {(1, 2), 1},
    {float("inf"), 2**70},
]


@pytest.mark.parametrize("left", _SETS, ids=range(len(_SETS)))
@pytest.mark.parametrize("right", _SETS, ids=range(len(_SETS)))
def test_operators_of_sets(ffi: Any, left: set[Any], right: set[Any]) -> None:
    for name in (
        "__or__",
        "__and__",
        "__sub__",
        "__xor__",
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
    ):
        expected = getattr(left, name)(right)
        for made, other in ((ffi.Set, right), (ffi.FrozenSet, frozenset(right)), (ffi.Set, ffi.FrozenSet(right)),
                            (ffi.FrozenSet, ffi.Set(right))):  # fmt: skip
            got = getattr(made(left), name)(other)
            assert got == expected, (name, made, other)
    for name in (
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
        "issubset",
        "issuperset",
        "isdisjoint",
    ):
        expected = getattr(left, name)(right)
        for other in (right, list(right), tuple(right), ffi.Set(right), dict.fromkeys(right)):
            assert getattr(ffi.Set(left), name)(other) == expected, name
            assert getattr(ffi.FrozenSet(left), name)(other) == expected, name
    for other in (right, list(right), ffi.FrozenSet(right)):
        s = ffi.Set(left)
        s.update(other)
        assert s == left | right


def test_the_order_of_the_results_of_operators(ffi: Any) -> None:
    s, t = ffi.Set([3, 1, 2]), ffi.Set([5, 2, 3])
    assert list(s | t) == [3, 1, 2, 5]
    assert list(s & t) == [3, 2]
    assert list(s - t) == [1]
    assert list(s ^ t) == [1, 5]
    assert list(ffi.FrozenSet([9, 2]) | t) == [9, 2, 5, 3]


def test_removing_while_python_code_runs(ffi: Any) -> None:
    d = ffi.Dict()
    key = Meddler(d.clear, True)
    d[key] = 1
    d["x"] = 2
    assert d.pop(Meddler(d.clear, True), "absent") in (1, "absent")
    assert d == {}


def test_numbers_beside_ints_are_found(ffi: Any) -> None:
    d = ffi.Dict({5: "int", "a": 1})
    assert d[5.0] == "int"
    assert d.get(True) is None
    d[True] = "bool"
    assert d[1] == d[1.0] == "bool"
    d[2.0] = "float"
    assert d[2] == "float"
    assert d[-1 + 3] == "float"
    assert 2**61 - 1 not in d
    d[2**61 - 1] = "modulus"
    assert d[2**61 - 1] == "modulus"
    assert d.get(0) is None
    assert len(d) == 5


@pytest.mark.parametrize("size", [0, 1, 7, 300])
def test_extending(ffi: Any, size: int) -> None:
    for items in (
        list(range(size)),
        ["x" * 30] * size,
        [[1]] * size,
        [i if i % 7 else "long" * 9 for i in range(size)],
    ):
        xs, model = ffi.List([0]), [0]
        for other in (items, tuple(items), ffi.List(items), ffi.Array(items), iter(items)):
            xs.extend(other)
            xs += ffi.List(xs[:2])
            model.extend(items)
            model += model[:2]
        assert xs == model
        xs.extend(xs)
        model.extend(model)
        assert list(xs) == model
        xs[1:3] = xs
        model[1:3] = model
        assert xs == model
        xs[-2:] = ffi.List(items)
        model[-2:] = items
        del xs[3:9]
        del model[3:9]
        assert xs == model
        assert xs + items == model + items
        assert items + xs == items + model
