"""Sets that contain NaN: the runtime treats all NaNs as one element, as Python treats one NaN object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import cpython_only

NANS = [float("nan"), complex("nan+1j"), complex(1, float("nan"))]
EXPRESSIONS = """
x | y; x & y; x - y; x ^ y; x | x; x & x; x - x; x ^ x; x == x; x != x; x == y; x < y; x <= x; x < x; x >= x; x > y
x.union(y, [n]); x.intersection([n, 5], y); x.difference([n]); x.symmetric_difference([n]); x.isdisjoint([n])
x.isdisjoint([2]); x.issubset([n, 1, 2]); x.issuperset([n]); x.issuperset([n, 2]); n in x; 2 in x
x.update(y, [n]); x.intersection_update(y, [n]); x.difference_update([n]); x.symmetric_difference_update(y)
x.__ior__(y); x.__iand__(y); x.__isub__(y); x.__ixor__(y); x.add(n); x.discard(n); x.remove(n)
""".replace("\n", ";")


def outcome(expression: str, x: Any, y: Any, n: Any, ffi: Any) -> Any:
    result = ffi.to_python(eval(expression, {"x": x, "y": y, "n": n}))
    shown = sorted(map(repr, result)) if isinstance(result, (set, frozenset)) else result
    return shown, sorted(map(repr, ffi.to_python(x)))


@pytest.mark.parametrize("expression", [text.strip() for text in EXPRESSIONS.split(";") if text.strip()])
@pytest.mark.parametrize("nan", NANS, ids=repr)
def test_as_python_with_one_nan_object(ffi: Any, nan: Any, expression: str) -> None:
    own = {nan, 1}, {nan, 2}
    for make in (ffi.Set, ffi.FrozenSet):
        plain = set if make is ffi.Set else frozenset
        if not hasattr(plain, expression[2:].partition("(")[0]) and expression.startswith("x."):
            continue
        expected = outcome(expression, plain(own[0]), plain(own[1]), nan, ffi)
        for other in (make(own[1]), plain(own[1]), ffi.Set(own[1]), {nan: 1, 2: 2}.keys()):
            assert outcome(expression, make(own[0]), other, nan, ffi) == expected, other
    for operator in "|&-^":  # Python's set on the left
        expression = f"x {operator} y"
        expected = outcome(expression, *own, nan, ffi)
        assert outcome(expression, set(own[0]), ffi.Set(own[1]), nan, ffi) == expected


def test_all_nans_are_one_element(ffi: Any) -> None:
    x = ffi.Set([float("nan"), 1])
    for nan in (float("nan"), -float("nan"), np.float64("nan")):
        assert x - {nan} == {1}
        assert x & {nan} == x - {1}
        assert len(x | {nan}) == 2
        assert x == ffi.FrozenSet([1, nan])
        assert hash(ffi.FrozenSet([nan])) == hash(ffi.FrozenSet([float("nan")]))
    assert ffi.FrozenSet([complex("nan+1j")]) != ffi.FrozenSet([complex("nan+2j")])
    assert ffi.FrozenSet([complex("nan")]) != ffi.FrozenSet([float("nan")])


@cpython_only("PyPy's own set already treats them as one")
def test_two_nans_in_one_container_are_refused(ffi: Any) -> None:
    two = {float("nan"), float("nan")}
    x = ffi.Set([float("nan"), 1])
    with pytest.raises(ValueError, match="elements nan and nan are equal once they are converted"):
        x | two
    with pytest.raises(ValueError, match="elements nan and nan are equal once they are converted"):
        x |= two
    assert x - two == {1}
    assert x != two
    assert len(x) == 2


def test_methods_of_number_like_classes_are_not_called(ffi: Any) -> None:
    class Claims:
        __class__ = property(lambda self: float)  # type: ignore[assignment]

        def __ne__(self, other: object) -> bool:
            raise AssertionError

    claims = Claims()
    x = ffi.Set([claims, 1.5])
    assert x | x == x
    assert len(x - x) == 0
