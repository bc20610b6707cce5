"""Our containers in `match` statements match where Python's do.

A separate file, because Python below 3.10 cannot parse it.
"""

from __future__ import annotations

from typing import Any

import pytest


def shape_of(subject: Any) -> Any:
    match subject:
        case []:
            return "empty"
        case [x]:
            return "one", x
        case [1, *rest]:
            return "from one", rest
        case [[a, b], *_]:
            return "pair first", a, b
        case [*_, "last"]:
            return "to last"
        case [_, _, _]:
            return "three"
        case {"kind": "point", "at": [x, y]}:
            return "point", x, y
        case {"kind": str(kind), **rest}:
            return kind, rest
        case {1: x}:
            return "one is", x
        case {}:
            return "mapping"
        case _:
            return None


@pytest.mark.parametrize(
    "subject",
    [
        [], [5], [1, 2, 3], [[1, 2], 3, 4, 5], ["a", "b", "c", "last"], ["a", "b", "c"], ["a"] * 4, (), (5,), (1, 2, 3),
        ((1, 2), 3), {}, {"kind": "point", "at": [1, 2]}, {"kind": "point", "at": (1, 2)}, {"kind": "line", "to": 5},
        {1: None}, {1.0: 5}, {"kind": 5}, "text", b"bytes", 5, None,
    ],
    ids=repr,
)  # fmt: skip
def test_patterns(ffi: Any, subject: Any) -> None:
    ours = ffi.get_global_func("testing.echo")(subject)
    assert ffi.to_python(shape_of(ours)) == shape_of(subject)
    result = shape_of(ours)
    if isinstance(result, tuple) and result[0] == "from one":
        assert type(result[1]) is list
    if isinstance(result, tuple) and result[0] == "line":
        assert type(result[1]) is dict


def test_patterns_of_immutable_mappings_and_shapes(ffi: Any) -> None:
    assert shape_of(ffi.Map({"kind": "line", "to": 5})) == ("line", {"to": 5})
    assert shape_of(ffi.Shape([1, 2, 3])) == ("from one", [2, 3])
    assert shape_of(ffi.Set([1])) is None


def test_class_patterns(ffi: Any) -> None:
    def which(subject: Any) -> Any:
        match subject:
            case ffi.List([x, y]):
                return "list of two", x, y
            case ffi.List() as xs:
                return "list", len(xs)
            case ffi.Array((1, *rest)):
                return "array", rest
            case ffi.Dict({"a": x}):
                return "dict", x
            case ffi.Map(m):
                return "map", m
            case ffi.Set(x) | ffi.FrozenSet(x):
                return "set", x
            case ffi.Array(_):
                return "other array"

    assert which(ffi.List([1, 2])) == ("list of two", 1, 2)
    assert which(ffi.List([1])) == ("list", 1)
    assert which(ffi.Array([1, 2])) == ("array", [2])
    assert which(ffi.Array([2])) == "other array"
    assert which(ffi.Dict(a=5)) == ("dict", 5)
    m = ffi.Map(b=1)
    assert which(m)[1] is m
    for elements in (ffi.Set([1]), ffi.FrozenSet([1])):
        assert which(elements)[1] is elements
    assert which([1, 2]) is None
    assert which((1, 2)) is None

    class Mine(ffi.List):  # type: ignore[misc, name-defined]
        pass

    assert which(Mine([1, 2])) == ("list of two", 1, 2)
