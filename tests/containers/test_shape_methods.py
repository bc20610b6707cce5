"""Shapes and Arrays: what is refused, classes of results, and hashes."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("given", [(), [], (2, 3), [2, 3], (2**62,), (-1,)])
def test_construction(ffi: Any, given: Any) -> None:
    assert tuple(ffi.Shape(given)) == tuple(given)
    assert ffi.Shape() == ()


@pytest.mark.parametrize("given", [("a",), [2.5], (2**70,), [None], ((1,),)])
def test_other_than_extents_are_refused(ffi: Any, given: Any) -> None:
    shape = ffi.Shape((1,))
    with pytest.raises((TypeError, OverflowError)):
        ffi.Shape(given)
    with pytest.raises((TypeError, OverflowError)):
        shape + tuple(given)


def test_results_have_the_left_class(ffi: Any) -> None:
    shape, array = ffi.Shape((1, 2)), ffi.Array((3,))
    assert type(shape + shape) is type(shape + (3,)) is ffi.Shape
    assert type(array + shape) is ffi.Array
    assert (shape + (3,), shape + shape, array + shape) == ((1, 2, 3), (1, 2, 1, 2), (3, 1, 2))
    with pytest.raises(TypeError):
        shape + [3]


def test_hashes_are_those_of_tuples(ffi: Any) -> None:
    nan = float("nan")
    for plain in ((), (1, 2), (1.5, "a" * 20, b"b", None), ((1, 2), (3, "x")), ((1,), (1, 2)), (((1,),),)):
        assert hash(ffi.Array(plain)) == hash(plain)
    assert hash(ffi.Shape((1, 2))) == hash((1, 2))
    assert hash(ffi.Array(((nan, 1), (2, 3)))) == hash(ffi.Array(((nan, 1), (2, 3))))
    with pytest.raises(TypeError, match="unhashable type: 'List'"):
        hash(ffi.Array(([1], [2])))


def test_an_array_of_a_user_s_class_hashes_as_that(ffi: Any) -> None:
    class Own(ffi.Array):  # type: ignore[misc]
        __slots__ = ()

        def __hash__(self) -> int:
            return 17

    own = Own((1, 2))
    assert hash(ffi.Array((own, (3, 4)))) == hash((17, (3, 4))) or hash(own) == 17
    assert hash(ffi.Array((own, own))) == hash((own, own))
