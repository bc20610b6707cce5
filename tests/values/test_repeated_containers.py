"""Containers that occur more than once in an argument: they stay one object, as in Python."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from support import CPYTHON

A, B, ROW = [1, 2], ([3],), (1, 2)

#: Arguments, and paths to places in them that are one object.
SHARED: list[tuple[Any, list[tuple[Any, ...]]]] = [
    ([A, A], [(0,), (1,)]),
    ([[A], [A]], [(0, 0), (1, 0)]),
    ({"x": A, "y": [A]}, [("x",), ("y", 0)]),
    ([ROW, ROW, (3, 4)], [(0,), (1,)]),
    # The marshaller describes rows of one size together.
    ([[ROW, (3, 4)], ROW], [(0, 0), (1,)]),
    ([ROW, [ROW, (3, 4)]], [(0,), (1, 0)]),
    ([[(5, 6), ROW], [ROW, (3, 4)]], [(0, 1), (1, 0)]),
    ([B, [B, (B, A)], A], [(0,), (1, 0), (1, 1, 0)]),
    ([[*map(list, [(1,)] * 7)] * 2, A], [(0, 0), (0, 7)]),
    (MappingProxyType({"x": A, "y": A}), [("x",), ("y",)]),
]


def _at(container: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        container = container[key]
    return container


@pytest.mark.parametrize(("given", "paths"), SHARED, ids=map(str, range(len(SHARED))))
def test_one_object_stays_one(ffi: Any, given: Any, paths: list[tuple[Any, ...]]) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    for made in (ffi.get_global_func("testing.echo")(given), ffi.convert(given)):
        assert ffi.to_python(made) == given
        first, *others = (_at(made, path) for path in paths)
        assert all(other is first for other in others)
        if CPYTHON:
            # One reference for each place, and the wrapper's. PyPy may keep former wrappers.
            assert use_count(first) == len(paths) + 1


def test_equal_containers_are_two(ffi: Any) -> None:
    made = ffi.convert([[1, 2], [1, 2], (3,), (3,)])
    assert made[0] is not made[1]
    made[0].append(3)
    assert made[1] == [1, 2]


def _loops() -> list[Any]:
    direct: Any = [1]
    direct.append(direct)
    indirect: Any = [[]]
    indirect[0].append(indirect)
    repeated: Any = [A, A]
    repeated.append((repeated, A))
    return [direct, [direct, direct], {"x": direct}, indirect, [indirect, A, A], repeated]


@pytest.mark.parametrize("given", _loops(), ids=map(str, range(len(_loops()))))
def test_a_loop_is_refused(ffi: Any, given: Any) -> None:
    for use in (ffi.get_global_func("testing.nop"), ffi.convert):
        with pytest.raises(RecursionError, match="contains itself"):
            use(given)
