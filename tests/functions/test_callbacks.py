"""Python functions called by C++: arguments, results, nesting both ways, and recursion."""

from __future__ import annotations

import ctypes
import operator
from typing import Any

import cases
import pytest
from cases import EXAMPLE_IDS, EXAMPLES
from hypothesis import given
from hypothesis import strategies as st
from programs import run_program
from support import STACK_ENDS, slow_except


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_arguments_and_results_round_trip(ffi: Any, x: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    seen = []
    result = apply(lambda *args: seen.append(args) or args[0], x, x)
    assert len(seen) == 1
    for got in (*seen[0], result):
        if cases.row_of(x).plain is cases.itself and cases.row_of(x).name != "pointer":
            assert got is x
        assert cases.same(ffi.to_python(got), cases.plain(x))


def test_drawn_arguments(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    @given(st.lists(cases.values, max_size=12))
    def check(args: Any) -> None:
        got = apply(lambda *inner: tuple(map(ffi.to_python, inner)), *args)
        assert cases.same(ffi.to_python(got), tuple(args))

    check()


def test_short_strings_reach_a_callback_inline(ffi: Any) -> None:
    apply, describe = map(ffi.get_global_func, ("testing.apply", "testing.describe"))
    assert apply(describe, "short") == "Str(inline, ascii, 5, [73 68 6f 72 74])"


def test_a_function_of_cpp_as_callback(ffi: Any) -> None:
    apply, add_one = map(ffi.get_global_func, ("testing.apply", "testing.add_one"))
    assert apply(add_one, 1) == 2
    assert apply(apply, apply, add_one, 5) == 6


def test_every_type_of_callable(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    class Thing:
        def method(self, x: Any) -> Any:
            return "method", x

        @staticmethod
        def static(x: Any) -> Any:
            return "static", x

        @classmethod
        def of_class(cls, x: Any) -> Any:
            return "class", x

        def __call__(self, x: Any) -> Any:
            return "call", x

    thing = Thing()
    assert apply(thing.method, 1) == ("method", 1)
    assert apply(Thing.static, 1) == ("static", 1)
    assert apply(Thing.of_class, 1) == ("class", 1)
    assert apply(thing, 1) == ("call", 1)
    assert apply(int, "12") == 12
    assert apply(len, [1, 2]) == 2
    assert type(apply(Thing)) is Thing


def test_callbacks_nested_both_ways(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def count(n: int) -> int:
        return 0 if n == 0 else apply(count, n - 1) + 1

    assert apply(count, 30) == 30


@pytest.mark.unrecorded(reason="the depth at which the stack ends differs")
def test_unbounded_recursion_raises(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def for_ever(n: int) -> Any:
        return apply(for_ever, n + 1)

    for _ in range(3):
        with pytest.raises(STACK_ENDS):
            for_ever(0)
    assert apply(lambda: 5) == 5


@pytest.mark.unrecorded("writing outcomes down needs some of the stack")
def test_unbounded_recursion_raises_the_same_each_time(ffi: Any) -> None:
    """Interpreted or compiled, at any depth, and while another exception is handled."""
    apply = ffi.get_global_func("testing.apply")

    def for_ever() -> Any:
        return apply(for_ever)

    def further(frames: int) -> Any:
        return further(frames - 1) if frames else apply(lambda: further(3))

    def handling() -> Any:
        try:
            raise KeyError
        except KeyError:
            return apply(handling)

    for _ in range(10):
        for function in (for_ever, lambda: further(3), handling):
            with pytest.raises(STACK_ENDS):
                function()
    assert apply(lambda: 5) == 5


@pytest.mark.parametrize("stack_kb", slow_except([512], [512, 8192], "deep recursion"))
def test_unbounded_recursion_raises_in_threads(ffi: Any, stack_kb: int) -> None:
    program = f"""
        import gc, sys, threading, anyffi, anyffi.testing as t
        sys.setrecursionlimit(10**6)
        def for_ever(n):
            return t.apply(for_ever, n + 1)
        def through_errors(n):
            return t.rethrow(through_errors, n + 1)
        def with_values(n, *args):
            return t.apply(with_values, n + 1, [n], "a string on the heap of the runtime", {{"k": n}})
        outcomes = []
        def run():
            for f in (for_ever, through_errors, with_values):
                try:
                    f(0)
                except RecursionError:
                    outcomes.append("RecursionError")
            outcomes.append(t.apply(lambda: 7))
        gc.collect()
        before = t.live_blocks()
        threading.stack_size({stack_kb} * 1024)
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        assert outcomes == ["RecursionError", "RecursionError", "RecursionError", 7] * 2, outcomes
        del threads, thread
        gc.collect()
        assert t.live_blocks() == before, (t.live_blocks(), before)
    """
    run_program(program, ffi.ffi_mode)


def test_unbounded_recursion_raises_with_a_high_limit(ffi: Any) -> None:
    program = """
        import gc, sys, anyffi, anyffi.testing as t
        sys.setrecursionlimit(10**6)
        def for_ever(n):
            return t.apply(for_ever, n + 1)
        gc.collect()
        before = t.live_blocks()
        try:
            for_ever(0)
        except RecursionError:
            print("ended")
        gc.collect()
        assert t.live_blocks() == before, (t.live_blocks(), before)
    """
    assert run_program(program, ffi.ffi_mode) == "ended\n"


class CallsThroughCtypes:
    """Raises the error of a failed ctypes call of its own, wherever its code runs."""

    def __index__(self) -> int:
        raise ctypes.ArgumentError("argument 1: TypeError: wrong type")

    def __hash__(self) -> int:
        raise ctypes.ArgumentError("argument 1: TypeError: wrong type")


def test_errors_of_users_calls_through_ctypes_stay_as_they_are(ffi: Any) -> None:
    """ctypes mode replaces such errors only where they mean that its own call ran out of memory or stack."""
    raised = ctypes.ArgumentError("argument 1: TypeError: wrong type")

    def fail() -> None:
        raise raised

    with pytest.raises(ctypes.ArgumentError) as caught:
        ffi.get_global_func("testing.apply")(fail)
    assert caught.value is raised
    assert ffi.get_global_func("testing.catch_error")(fail)[0] == "ArgumentError"
    given = CallsThroughCtypes()
    for use in (
        lambda: ffi.get_global_func("testing.add_one")(given),
        lambda: ffi.List([1]).append(given),
        lambda: operator.setitem(ffi.List([1]), 0, given),
        lambda: ffi.convert([given]),
        lambda: ffi.Dict({1: 2})[given],
    ):
        with pytest.raises(ctypes.ArgumentError, match="wrong type"):
            use()
