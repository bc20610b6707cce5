"""Lists and tuples that hold wrappers of one class, of several, and other values between them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from support import CPYTHON


def _things(ffi: Any) -> list[Any]:
    class Derived(ffi.List):  # type: ignore[misc]
        pass

    inner = ffi.List([1])
    return [inner, ffi.List([2]), Derived([3]), ffi.Dict(a=1), 5, "text", None, (1, inner), slice(1), len]


@pytest.mark.parametrize("make", [list, tuple])
def test_every_order_keeps_the_very_objects(ffi: Any, make: Any) -> None:
    echo = ffi.get_global_func("testing.echo")
    things = _things(ffi)
    for chosen in itertools.permutations(things, 3):
        for items in (chosen, (things[0], things[1], *chosen), (*chosen, things[0], things[1])):
            found = echo(make(items))
            assert len(found) == len(items)
            for mine, item in zip(found, items):
                if isinstance(item, ffi.Object):
                    assert mine is item
                else:
                    assert mine == item


def test_objects_in_a_list_are_counted(ffi: Any) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    inner, other = ffi.List([1]), ffi.Dict(a=1)
    kept = ffi.convert([inner, inner, other, 1, inner])
    if CPYTHON:
        assert (use_count(inner), use_count(other)) == (4, 2)
    kept.clear()
    if CPYTHON:
        assert (use_count(inner), use_count(other)) == (1, 1)


@pytest.mark.parametrize("place", range(4))
def test_an_empty_wrapper_is_refused_wherever_it_is(ffi: Any, place: int) -> None:
    use_count = ffi.get_global_func("testing.use_count")
    full = ffi.List([1])
    items = [full, full, full]
    items.insert(place, ffi.List.__new__(ffi.List))
    with pytest.raises(ValueError, match="empty"):
        ffi.convert(items)
    if CPYTHON:
        assert use_count(full) == 1


def test_a_list_of_objects_that_holds_itself_is_refused(ffi: Any) -> None:
    items: list[Any] = [ffi.List([1]), ffi.List([2])]
    items.append(items)
    with pytest.raises(RecursionError):
        ffi.convert(items)
