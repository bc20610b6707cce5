"""The tests of the template: python -m pytest."""

import inspect

import template_scikit_build


def test_rotate() -> None:
    rotate = template_scikit_build.rotate
    items = [1, "two", None]
    assert rotate(items) == ["two", None, 1]
    assert rotate(items, by=-4) == [None, 1, "two"]
    assert rotate([]) == []
    assert items == [1, "two", None]


def test_help() -> None:
    rotate = template_scikit_build.rotate
    assert rotate.__doc__ == "A new list that begins with the element number `by` of the given one."
    assert inspect.signature(rotate).parameters["by"].default == 1
