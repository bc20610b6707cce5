"""FFI_MODE=check raises where the marshallers disagree, and changes nothing else."""

from __future__ import annotations

import pathlib
import sys
import textwrap
from typing import Any

import callgrind
import pytest
from programs import run_program
from support import ROOT, run

pytestmark = pytest.mark.skipif(sys.implementation.name != "cpython", reason="needs both marshallers")

TESTS = ROOT / "tests"


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Skip these tests if only one marshaller is tested: there is nothing to compare."""


@pytest.mark.slow("test runs")
def test_the_table_of_cases_is_no_mismatch() -> None:
    """Run the tests of round trips, functions and errors in check mode."""
    files = [
        TESTS / name
        for name in ("values/test_roundtrip.py", "functions/test_functions.py", "functions/test_errors.py")
    ]
    options = ["-q", "--modes=check", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = run([sys.executable, "-m", "pytest", *options, *files], FFI_MODE="check")
    assert done.returncode == 0, done.stdout[-5000:]


def test_external_causes_are_no_mismatch() -> None:
    """Signal handlers that raise, threads that change an argument, and lack of memory."""
    program = """
        import random, signal, sys, threading, anyffi, anyffi.testing as t
        from anyffi._check import journal

        class Stop(BaseException):
            pass

        class Index:
            def __index__(self): return 5

        class Key:
            def __hash__(self): return 1

        def handler(signum, frame):
            raise Stop

        def work():
            t.apply(lambda *args: args, 1, "longer than in place", [3, {"a": [Index()]}], 2**70, slice(1, [2]))
            t.echo({key: [1] for key in keys})
            try:
                t.raise_error("ValueError", "x")
            except ValueError:
                pass
            anyffi.convert([1, [2], Index()])

        keys = [Key() for _ in range(3)]
        signal.signal(signal.SIGALRM, handler)
        stopped = 0
        # CPython 3.9 may run a handler before the first instruction of `finally`, against which no code is safe.
        times = 60 if sys.version_info >= (3, 10) else 0
        for _ in range(times):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + random.random() * 2e-3)
                while True:
                    work()
            except Stop:
                stopped += 1
                assert journal.thread.journal is None
        assert stopped == times

        shared, table, at_work = [0], {0: 0}, True
        def change():
            while at_work:
                shared.append(len(shared))
                table[len(table)] = [shared]
                if len(shared) > 50:
                    shared.clear()
                    table.clear()
        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(300):
                t.nop(shared, table, [shared, (table,)])
        finally:
            at_work = False
            thread.join()
    """
    run_program(program, "check")


def test_containers_that_others_change_are_no_mismatch() -> None:
    program = """
        import sys, threading, anyffi

        sys.setswitchinterval(1e-6)
        numbers, table, at_work = anyffi.List(range(20)), anyffi.Dict({i: i for i in range(20)}), True
        changing = anyffi.List([])

        def change():
            i = 0
            while at_work:
                i += 1
                numbers[i % 20] = i
                changing.append(i)
                if len(changing) > 5:
                    changing.clear()
                table[i % 20] = i
                table[-1] = i
                table.pop(-1, None)

        threads = [threading.Thread(target=change) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for i in range(2000):
                numbers[i % 20], table[i % 20], -1 in table
                try:
                    list(numbers), list(changing), list(table.items()), anyffi.to_python(changing)
                except RuntimeError as error:
                    assert type(error) is RuntimeError, error
        finally:
            at_work = False
            for thread in threads:
                thread.join()
    """
    run_program(program, "check")


def test_hooks_can_be_removed() -> None:
    program = """
        import importlib, anyffi, anyffi.testing
        names = ("call", "containers", "hooks", "objects", "pack", "recipe", "unpack", "wrapper")
        call, containers, hooks, objects, pack, recipe, unpack, wrapper = (
            importlib.import_module(f"anyffi._ctypes.{name}") for name in names
        )
        assert call._pack is not pack.pack
        hooks.install()
        assert call._pack is pack.pack
        assert recipe._read_container is objects._read_container is recipe.read_container
        assert containers._unwrap is wrapper.unwrap
        assert wrapper._new_wrapper is wrapper.new_wrapper
    """
    run_program(program, "check")


def test_calls_leave_nothing_behind() -> None:
    program = """
        import gc, sys, anyffi, anyffi.testing as t

        x = object()
        inner = anyffi.List([1])

        def round_trip():
            t.echo([x, [x, inner], {"k": x, 2**70: slice(x)}])
            t.apply(lambda *args: (x, *args), inner, [x])
            anyffi.convert((x, inner))
            for bad in ([1, [x, {float("nan"): 1, float("nan"): 2}]], (x, "\\ud800" * 20)):
                try:
                    t.nop(bad)
                except Exception:
                    pass

        round_trip()
        gc.collect()
        before = t.live_blocks(), sys.getrefcount(x), t.use_count(inner)
        for _ in range(50):
            round_trip()
        gc.collect()
        assert (t.live_blocks(), sys.getrefcount(x), t.use_count(inner)) == before
        assert t.use_count(inner) == t.apply(lambda: t.use_count(inner))
    """
    run_program(program, "check")


def test_the_callee_sees_the_same_refcounts_as_in_other_modes() -> None:
    program = """
        import anyffi, anyffi.testing as t
        inner = anyffi.List([1])
        print(t.use_count(inner), t.is_movable([1]), t.is_movable(inner), t.is_movable("x" * 30), t.is_movable((1,)))
        print([t.apply(lambda x, y: t.use_count(inner), inner, [inner])])
    """
    assert run_program(program, "check") == run_program(program, "cython")


COST = """
    import gc, os
    import anyffi, anyffi.testing as t

    def fail():
        raise ValueError("x")

    def catch(function, *args):
        try:
            function(*args)
        except ValueError:
            pass

    numbers, table = list(range(1000)), {f"key{i}": i for i in range(100)}
    calls = {
        "int": lambda: t.nop(1),
        "list": lambda: t.nop(numbers),
        "dict": lambda: t.nop(table),
        "str": lambda: t.echo("longer than what fits in place"),
        "callback": lambda: t.apply(lambda x: x, 1),
        "exception of C++": lambda: catch(t.raise_error, "ValueError", "x"),
        "exception of Python": lambda: catch(t.apply, fail),
        "conversion": lambda: anyffi.convert([1, 2]),
    }
    gc.disable()
    for part in range(2):
        for call in calls.values():
            for _ in range(10):
                call()
            os.getloadavg()
"""


@pytest.mark.slow("callgrind")
def test_it_costs_at_most_ten_times_as_much_as_ctypes(tmp_path: pathlib.Path) -> None:
    def measure(mode: str) -> list[int]:
        folder = tmp_path / mode
        folder.mkdir()
        parts = callgrind.run_parts(folder, textwrap.dedent(COST), ffi_mode=mode)
        return [callgrind.instructions(part) for part in parts[-8:]]

    ratios = [round(both / alone, 2) for alone, both in zip(measure("ctypes"), measure("check"))]
    assert len(ratios) == 8
    # Check mode converts lists and dicts value by value, ctypes mode in one call.
    containers = ratios[1:3]
    assert max(containers) <= 10, ratios
    assert max(ratio for ratio in ratios if ratio not in containers) <= 5, ratios


# ---- the mode ------------------------------------------------------------------------------------


def test_no_other_backend_beside_it() -> None:
    program = """
        import anyffi, anyffi.testing
        assert anyffi.ffi_mode == anyffi.testing.open_backend("check").ffi_mode == "check"
        for other in ("cython", "ctypes"):
            try:
                anyffi.testing.open_backend(other)
            except ImportError as error:
                print(error)
    """
    output = run_program(program, "check").splitlines()
    assert output == [
        f"the mode of this process is check: {other!r} cannot be opened in it"
        for other in ("cython", "ctypes")
    ]
    program = "import anyffi.testing as t\ntry: t.open_backend('check')\nexcept ImportError as e: print(e)"
    output = run_program(program, "cython").splitlines()
    assert output == ["the mode of this process is cython: 'check' cannot be opened in it"]


def test_the_classes_are_as_in_other_modes() -> None:
    program = """
        import anyffi, collections.abc, inspect, pickle, weakref, anyffi.testing as t
        f = t.add_one
        print(repr(f), inspect.signature(f), f.__doc__, callable(f), isinstance(f, collections.abc.Callable))
        print(f is t.add_one, pickle.loads(pickle.dumps(f)) == f, weakref.ref(f)() is f)
        print([name for name in dir(anyffi.Function) if not name.startswith("_")], anyffi.Function.__qualname__)
        print(anyffi.Function(lambda x: [x])(1), issubclass(anyffi.MarshalMismatch, RuntimeError))
        class Own(anyffi.Function):
            def __call__(self, *args): return "own", super().__call__(*args)
        print(Own(lambda x: x)(1))
        for wrong in (lambda: f(), lambda: f(1, 2), lambda: f(y=1), lambda: f("x"), lambda: f(2**70)):
            try:
                wrong()
            except Exception as error:
                print(type(error), error)
        f = anyffi.Function.__new__(anyffi.Function)
        try:
            f()
        except ValueError as error:
            print(error)
    """
    assert run_program(program, "check") == run_program(program, "cython")


def test_the_exception_is_public() -> None:
    program = """
        import pickle, anyffi
        error = pickle.loads(pickle.dumps(anyffi.MarshalMismatch("x")))
        print(type(error), error, isinstance(error, RuntimeError))
    """
    for mode in ("cython", "ctypes", "check"):
        assert run_program(program, mode) == "<class 'anyffi.MarshalMismatch'> x True\n"
