"""Python functions called by C++: nesting both ways, recursion, interruption, and what stays alive."""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from typing import Any

import cases
import pytest
from cases import EXAMPLE_IDS, EXAMPLES
from hypothesis import given
from hypothesis import strategies as st
from programs import run_program
from support import STACK_ENDS, collect, cpython_only


@pytest.mark.parametrize("x", EXAMPLES, ids=EXAMPLE_IDS)
def test_arguments_and_results_cross_twice(ffi: Any, x: Any) -> None:
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


def test_short_strings_reach_a_callback_in_place(ffi: Any) -> None:
    apply, describe = map(ffi.get_global_func, ("testing.apply", "testing.describe"))
    assert apply(describe, "short") == "Str(in place, ascii, 5, [73 68 6f 72 74])"


def test_a_function_of_cpp_as_callback(ffi: Any) -> None:
    apply, add_one = map(ffi.get_global_func, ("testing.apply", "testing.add_one"))
    assert apply(add_one, 1) == 2
    assert apply(apply, apply, add_one, 5) == 6


def test_every_kind_of_callable(ffi: Any) -> None:
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


@pytest.mark.unrecorded(reason="how deep a call lies where the stack ends differs")
def test_recursion_across_the_border_ends(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")

    def for_ever(n: int) -> Any:
        return apply(for_ever, n + 1)

    for _ in range(3):
        with pytest.raises(STACK_ENDS):
            for_ever(0)
    assert apply(lambda: 5) == 5


@pytest.mark.unrecorded("writing outcomes down needs some of the stack")
def test_recursion_across_the_border_ends_the_same_way_each_time(ffi: Any) -> None:
    """Interpreted or compiled, wherever the stack ends, and while another exception is dealt with."""
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
            with pytest.raises(RecursionError):
                function()
    assert apply(lambda: 5) == 5


@pytest.mark.parametrize("stack_kb", [512, 8192])
def test_recursion_across_the_border_ends_in_threads(ffi: Any, stack_kb: int) -> None:
    program = f"""
        import sys, threading, anyffi, anyffi.testing as t
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
        before = t.live_blocks()
        threading.stack_size({stack_kb} * 1024)
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        assert outcomes == ["RecursionError", "RecursionError", "RecursionError", 7] * 2, outcomes
        del threads, thread
        import gc; gc.collect()
        assert t.live_blocks() == before, (t.live_blocks(), before)
    """
    run_program(program, ffi.ffi_mode)


def test_recursion_with_a_high_limit_ends(ffi: Any) -> None:
    program = """
        import sys, anyffi, anyffi.testing as t
        sys.setrecursionlimit(10**6)
        def for_ever(n):
            return t.apply(for_ever, n + 1)
        before = t.live_blocks()
        try:
            for_ever(0)
        except RecursionError:
            print("ended")
        assert t.live_blocks() == before
    """
    assert run_program(program, ffi.ffi_mode) == "ended\n"


# ---- what stays alive ---------------------------------------------------------------------------


class Token:
    """Weakly referenceable, to see when it goes."""


def test_arguments_go_with_the_call(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    token = Token()
    gone = weakref.ref(token)
    apply(lambda *args: None, token, [token], {"k": (token,)})
    del token
    collect()
    assert gone() is None


def test_callback_goes_when_both_sides_let_go(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))

    def callback() -> int:
        return 5

    gone = weakref.ref(callback)
    hold(callback)
    del callback
    collect()
    assert gone() is not None
    assert held()() == 5
    assert held() is gone()
    hold(None)
    collect()
    assert gone() is None


def test_a_callback_may_drop_itself(ffi: Any) -> None:
    hold, apply, held = map(ffi.get_global_func, ("testing.hold", "testing.apply", "testing.held"))

    def make() -> Any:
        token = Token()

        def callback() -> Any:
            hold(None)
            collect()
            return token

        return callback, weakref.ref(token)

    callback, gone = make()
    hold(callback)
    function = ffi.convert(callback)
    del callback
    assert type(apply(held)) is not None
    assert type(function()) is Token
    del function
    collect()
    assert gone() is None


def test_result_dropped_in_cpp_runs_its_destructor(ffi: Any) -> None:
    catch_repeatedly = ffi.get_global_func("testing.catch_repeatedly")
    gone = []

    class Result:
        def __del__(self) -> None:
            gone.append(1)

    catch_repeatedly(lambda i: Result(), 10)
    collect()
    assert len(gone) == 10


def test_destructors_may_call_back(ffi: Any) -> None:
    """What Python drops while C++ clears a container may call C++ again, on that container too."""
    echo = ffi.get_global_func("testing.echo")
    d = ffi.convert({})
    seen = []

    class Nosy:
        def __del__(self) -> None:
            seen.append(len(d))
            d["more"] = 1
            echo([1])

    for i in range(5):
        d[i] = Nosy()
    d.clear()
    collect()
    assert len(seen) == 5
    xs = ffi.convert([])

    class NosyItem:
        def __del__(self) -> None:
            xs.append(1)

    xs.append(NosyItem())
    xs[0] = 5
    xs.append(NosyItem())
    xs.clear()
    collect()
    assert set(xs) <= {1, 5}


@pytest.mark.parametrize("fails", [True, False], ids=["in packing", "in the call"])
def test_destructors_run_beside_a_passing_exception(ffi: Any, fails: bool) -> None:
    """What packing made is given back whatever happens, and what runs then does not meet the exception."""
    echo, number = map(ffi.get_global_func, ("testing.echo", "testing.counted_number"))
    seen = []

    class Item:
        def __del__(self) -> None:
            seen.append(echo([1, "a text of some length"])[1])

    class Made:
        def __anyffi_value__(self) -> Any:
            return [Item()]

    class Failing:
        def __anyffi_value__(self) -> Any:
            raise KeyError("in packing")

    for args in ((Made(),), (Made(), 1), (1, Made(), "text", Made()), (*range(8), Made())):
        made = sum(isinstance(arg, Made) for arg in args)
        with pytest.raises(KeyError if fails else TypeError):
            number(*args, *([Failing()] if fails else []))
        collect()
        assert seen == ["a text of some length"] * made
        seen.clear()


class Owner:
    """Something that refers to a callback."""

    callback: Any


def test_a_callable_that_refers_to_itself_is_collected(ffi: Any) -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    owner.callback = lambda owner=owner: owner
    assert ffi.get_global_func("testing.apply")(owner.callback) is owner
    del owner
    collect()
    assert gone() is None


@cpython_only("PyPy's collector does not see what the runtime holds")
@pytest.mark.parametrize("subclass", [False, True])
def test_a_callable_that_refers_to_its_function_is_collected(ffi: Any, subclass: bool) -> None:
    class Remembering(ffi.Function):  # type: ignore[misc]
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    owner.callback = (Remembering if subclass else ffi.convert)(lambda owner=owner: owner)
    assert owner.callback() is owner
    collect()
    assert gone() is owner
    holder = ffi.List([owner.callback])
    del owner
    collect()
    assert holder[0]() is gone()
    del holder
    collect()
    assert gone() is None


@cpython_only("PyPy's collector does not see what the runtime holds")
def test_a_finalizer_finds_the_function_of_its_cycle_whole(ffi: Any) -> None:
    said = []

    class Last(Owner):
        def __del__(self) -> None:
            said.append(self.callback(2))

    last = Last()
    last.callback = ffi.Function(lambda x, last=last: (x, type(last).__name__))
    del last
    collect()
    assert said == [(2, "Last")]


# ---- interruption -------------------------------------------------------------------------------

#: They report on stderr what was raised before the first line of a callback; the exception itself is kept.
NOISY = ("ctypes",)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_ctrl_c_is_never_lost(ffi: Any) -> None:
    """A timer stands for Ctrl-C; it may hit at any instruction of the way there and back."""
    program = """
        import signal, anyffi, anyffi.testing as t

        fired = caught = 0

        def handler(signum, frame):
            global fired
            fired += 1
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, handler)

        def callback(*args):
            return args

        def spin():
            while True:
                t.apply(callback, 1, "two", [3])

        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + (i % 17) * 1.3e-5)
                spin()
            except KeyboardInterrupt:
                caught += 1
        assert fired == caught == 300, (fired, caught)
    """
    run_program(program, ffi.ffi_mode, noisy=ffi.ffi_mode in NOISY)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_ctrl_c_while_cpp_polls(ffi: Any) -> None:
    program = """
        import signal, anyffi, anyffi.testing as t
        def handler(signum, frame):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, handler)
        for _ in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            try:
                t.poll_signals(10**12)
            except KeyboardInterrupt:
                pass
            else:
                raise SystemExit("not interrupted")
        t.poll_signals(10)
    """
    run_program(program, ffi.ffi_mode, noisy=ffi.ffi_mode in NOISY)


def test_handler_of_a_signal_may_call_cpp(ffi: Any) -> None:
    program = """
        import signal, anyffi, anyffi.testing as t
        calls = 0
        def handler(signum, frame):
            global calls
            calls += 1
            assert echo([signum]) == [signum]
        echo, apply = t.echo, t.apply
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
        try:
            while calls < 200:
                assert apply(lambda x: x + 1, 1) == 2
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    """
    run_program(program, ffi.ffi_mode)


# ---- threads ------------------------------------------------------------------------------------


def test_callback_made_in_one_thread_called_in_another(ffi: Any) -> None:
    hold, held = map(ffi.get_global_func, ("testing.hold", "testing.held"))
    names = []
    hold(lambda: names.append(threading.current_thread().name))
    thread = threading.Thread(target=lambda: held()(), name="the other")
    thread.start()
    thread.join()
    hold(None)
    assert names == ["the other"]


def test_without_the_lock_callbacks_take_it_again(ffi: Any) -> None:
    without_lock = ffi.get_global_func("testing.without_lock")
    assert without_lock(lambda: [1, 2]) == [1, 2]
    error = ValueError("x")

    def fail() -> Any:
        raise error

    with pytest.raises(ValueError, match="x") as caught:
        without_lock(fail)
    assert caught.value is error
    assert without_lock(lambda: without_lock(lambda: "inner")) == "inner"


def test_without_the_lock_others_run(ffi: Any) -> None:
    """The body waits for what only another thread can do: with the lock held this would never end."""
    without_lock = ffi.get_global_func("testing.without_lock")
    begun, done = threading.Event(), threading.Event()

    def other() -> None:
        begun.wait(60)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()

    def body() -> bool:
        begun.set()
        return done.wait(60)

    assert without_lock(body) is True
    thread.join()


@cpython_only("counts are CPython's")
def test_counts_of_callback_arguments(ffi: Any) -> None:
    apply = ffi.get_global_func("testing.apply")
    token = Token()
    before = sys.getrefcount(token)
    counts = []

    def callback(x: Any) -> Any:
        counts.append(sys.getrefcount(x))
        return x

    for _ in range(3):
        assert apply(callback, token) is token
    assert len(set(counts)) == 1
    assert sys.getrefcount(token) == before
    counts.clear()
    callback_before = sys.getrefcount(callback)
    apply(callback, token)
    assert sys.getrefcount(callback) == callback_before
