"""Every allocation may fail: the call raises MemoryError, leaks nothing, and the next call works."""

from __future__ import annotations

from typing import Any

import pytest
from memory_calls import CALLS, alike, make_let, make_tree, settle
from support import collect, slow_except

#: One operation for each subject.
QUICK = {"scalars", "big ints", "borrowed text", "list", "big dict", "set", "own value", "array", "tensor copy", "callable",
         "exception", "callback that raises", "error of C++", "mismatch inside", "vector", "struct", "overload", "append",
         "slicing", "dict set", "freeze", "register"}  # fmt: skip
assert set(CALLS) >= QUICK


@pytest.fixture(scope="module", autouse=True)
def _types(ffi: Any) -> None:
    """Register the types of the dataclasses, which are never freed, before blocks are counted."""
    make_tree(ffi)
    make_let(ffi)


@pytest.mark.unrecorded("each backend has allocations of its own")
@pytest.mark.parametrize("name", slow_except(QUICK, CALLS, "allocation failures"))
def test_each_allocation_fails_in_turn(ffi: Any, name: str) -> None:
    run = CALLS[name](ffi)
    fail, live = map(ffi.get_global_func, ("testing.fail_allocation", "testing.live_blocks"))
    expected = ffi.to_python(run())
    run()
    collect()
    before = live()
    failures = 0
    while True:
        fail(failures)
        try:
            result = run()
        except MemoryError:
            result = None
            failed = True
        else:
            failed = False
        finally:
            fail(-1)
        if not failed:
            break
        failures += 1
        settle(ffi, name)
        collect(until=lambda: live() == before)
        assert live() == before, f"lost with allocation {failures} failing"
        assert failures < 5000
    assert alike(ffi, ffi.to_python(result), expected)
    assert alike(ffi, ffi.to_python(run()), expected)
    if name == "register":
        ffi.remove_global_func("t.memory")


def test_failing_while_an_exception_passes(ffi: Any) -> None:
    """Out of memory, the callback's exception or MemoryError propagates, and nothing leaks."""
    apply, fail, live = map(
        ffi.get_global_func, ("testing.apply", "testing.fail_allocation", "testing.live_blocks")
    )
    error = KeyError("own")

    def callback() -> None:
        raise error

    collect()
    before = live()
    outcomes = set()
    for n in range(40):
        fail(n)
        try:
            apply(callback)
        except (KeyError, MemoryError) as caught:
            assert type(caught) is MemoryError or caught is error
            outcomes.add(type(caught))
        finally:
            fail(-1)
    error.__traceback__ = error.__context__ = None
    collect()
    assert KeyError in outcomes
    assert live() == before
