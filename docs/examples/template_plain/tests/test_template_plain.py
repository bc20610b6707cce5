"""The tests of the template: python -m pytest."""

import template_plain


def test_count() -> None:
    assert template_plain.count(["b", "a", "b"]) == {"b": 2, "a": 1}
    assert template_plain.count(items=(1, True, 1.0, None)) == {1: 3, None: 1}
