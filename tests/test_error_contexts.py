"""`__context__` of what anyffi raises: what was being handled outside of it, and nothing of its own."""

from __future__ import annotations

from typing import Any

import pytest
from support import cpython_only


def outcome(use: Any) -> BaseException:
    """The error, which must have come alone."""
    with pytest.raises((ValueError, RecursionError)) as caught:
        use()
    assert caught.value.__cause__ is None
    assert not caught.value.__suppress_context__
    return caught.value


def test_an_empty_wrapper(ffi: Any) -> None:
    for use in (
        lambda: ffi.Function.__new__(ffi.Function)(1),
        lambda: ffi.Function.__new__(ffi.Function)(x=1),
        lambda: ffi.Function.__new__(ffi.Function).__name__,
        lambda: len(ffi.List.__new__(ffi.List)),
        lambda: ffi.get_global_func("testing.echo")(ffi.Map.__new__(ffi.Map)),
    ):
        assert outcome(use).__context__ is None
        outer = KeyError("outer")
        try:
            raise outer
        except KeyError:
            assert outcome(use).__context__ is outer


@pytest.mark.unrecorded("writing outcomes down needs some of the stack")
@cpython_only("PyPy's recursion limit is the size of the stack")
def test_the_end_of_the_stack(ffi: Any) -> None:
    def nested(depth: int) -> Any:
        made = ffi.List([1])
        for _ in range(depth):
            made = ffi.List([made])
        return made

    first, second = nested(20_000), nested(20_000)
    apply = ffi.get_global_func("testing.apply")

    def again() -> Any:
        return apply(again)

    for use in (lambda: first == second, lambda: first < second, again):
        error = outcome(use)
        assert isinstance(error, RecursionError)
        assert error.__context__ is None
        del error
