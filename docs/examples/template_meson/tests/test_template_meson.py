"""The tests of the template: python -m pytest."""

import template_meson


def test_dot() -> None:
    assert template_meson.dot([1, 2.5, 3], (4, 2, True)) == 12.0
    assert template_meson.dot(x=(), y=[]) == 0.0


def test_help() -> None:
    assert template_meson.dot.__doc__ == "The sum of the products of two sequences of numbers."
