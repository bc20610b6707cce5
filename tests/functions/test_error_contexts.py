"""Errors have no context from inside anyffi, and nothing is printed."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import pytest
from programs import run_program
from support import cpython_only


def outcome(use: Any) -> BaseException:
    """Return the error, which must have no context."""
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


@cpython_only("on PyPy, NumPy calls the exporters")
def test_exporters_that_refuse_versions(ffi: Any) -> None:
    class Old:
        def __dlpack__(self) -> Any:
            raise ValueError("no memory to share")

    class OldOfClass:
        @classmethod
        def __dlpack__(cls) -> Any:
            raise ValueError("no memory to share")

    class Refusing:
        def __dlpack__(self, **options: Any) -> Any:
            raise ValueError if not options else TypeError

    echo = ffi.get_global_func("testing.echo")
    for exporter in (Old(), OldOfClass(), Refusing()):
        assert outcome(functools.partial(echo, exporter)).__context__ is None


@pytest.mark.unrecorded("writing outcomes down needs some of the stack")
@cpython_only("PyPy's recursion limit is the size of the stack")
def test_the_recursion_limit(ffi: Any) -> None:
    def nested(depth: int) -> Any:
        made = ffi.List([1])
        for _ in range(depth):
            made = ffi.List([made])
        return made

    # CPython 3.14 counts bytes of the stack, not levels.
    first, second = nested(200_000), nested(200_000)
    apply = ffi.get_global_func("testing.apply")

    def again() -> Any:
        return apply(again)

    for use in (lambda: first == second, lambda: first < second, again):
        error = outcome(use)
        assert isinstance(error, RecursionError)
        assert error.__context__ is None
        del error


AT_THE_RECURSION_LIMIT = """
import inspect, sys
import anyffi, anyffi.testing

apply, compose = map(anyffi.get_global_func, ("testing.apply", "testing.stl.compose"))
composed = []
composed.append(compose(lambda x: composed[0](x), lambda x: x))

def again():
    return apply(again)

def after(frames, use):
    return after(frames - 1, use) if frames else use()

limit = sys.getrecursionlimit()
sys.setrecursionlimit(len(inspect.stack(0)) + 120)
# The limit may be reached anywhere in a call.
for frames in range(40):
    for use in (again, lambda: composed[0](1.0)):
        try:
            after(frames, use)
        except RecursionError:
            continue
        raise AssertionError("there was no end")
sys.setrecursionlimit(limit)
composed.clear()
"""


@cpython_only("PyPy's recursion limit is the size of the stack")
def test_nothing_is_printed_at_the_recursion_limit(ffi: Any) -> None:
    """Runs in a process of its own, since the error hooks of a process belong to one backend."""
    run_program(AT_THE_RECURSION_LIMIT, ffi.ffi_mode)


def test_exceptions_that_refuse_attributes(ffi: Any) -> None:
    """Exceptions that are frozen dataclasses are raised unchanged."""

    @dataclasses.dataclass(frozen=True)
    class Refused(Exception):
        code: int

    def fail() -> None:
        raise given

    given = Refused(5)
    for use in (ffi.Function(fail), lambda: ffi.map([1], lambda x: fail())):
        with pytest.raises(Refused) as caught:
            use()
        assert caught.value is given
        assert given.__context__ is None
