"""Traces do not change what a program does, and survive its end; the files that they are written to."""

from __future__ import annotations

import json
import os
import pathlib
import sys
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CPYTHON, ROOT, cpython_only, get_testing_function, run
from traced import calls


@pytest.mark.slow("test runs")
@cpython_only("the tests of one mode suffice")
def test_tests_pass_while_they_are_traced(tmp_path: pathlib.Path) -> None:
    tests = ROOT / "tests"
    names = ["values/test_roundtrip.py", "functions/test_errors.py", "functions/test_callbacks.py"]
    names += ["functions/test_error_contexts.py", "objects/test_overrides.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command.append("--hypothesis-profile=quick")
    done = run([*command, *(tests / name for name in names)], FFI_TRACE=os.fspath(tmp_path / "trace"))
    assert done.returncode == 0, done.stdout[-5000:]
    assert (tmp_path / "trace").stat().st_size > 10**6


def test_nothing_is_left_when_a_trace_ends(ffi: Any) -> None:
    core = next(cls for cls in ffi.Function.__mro__ if "__call__" in vars(cls))
    before = core.__dict__["__call__"]
    with anyffi.trace():
        assert core.__dict__["__call__"] is not before
    assert core.__dict__["__call__"] is before
    echo = get_testing_function(ffi, "echo")
    with anyffi.trace() as first, anyffi.trace() as second:
        echo(1)
    echo(2)
    assert calls(first) == calls(second)
    assert len(calls(first)) == 2
    with pytest.raises(RuntimeError, match="used before"), first:
        pass


def test_a_trace_may_begin_and_end_within_a_call(ffi: Any) -> None:
    apply, echo = get_testing_function(ffi, "apply"), get_testing_function(ffi, "echo")
    traced = anyffi.trace()
    apply(traced.__enter__)
    echo(1)
    apply(lambda: traced.__exit__(None, None, None))
    echo(2)
    assert [event.get("name", "") for event in calls(traced)][:3] == ["testing.echo", "", "testing.apply"]


def test_exceptions_keep_their_identity_and_context(ffi: Any) -> None:
    apply = get_testing_function(ffi, "apply")
    raised = KeyError("x")

    def fail() -> None:
        raise raised

    with anyffi.trace() as traced:
        for cause in (KeyError, BaseException):
            with pytest.raises(cause) as caught:
                apply(fail)
            assert caught.value is raised
            assert raised.__context__ is None
    assert [event["error"] for event in calls(traced) if event["event"] == "raise"] == ["KeyError"] * 4


@pytest.mark.skipif(not CPYTHON, reason="counts references")
def test_references_and_wrappers_are_the_same(ffi: Any) -> None:
    echo = get_testing_function(ffi, "echo")
    x, xs = object(), ffi.List([1])
    with anyffi.trace():
        before = sys.getrefcount(x), sys.getrefcount(xs)
        for _ in range(10):
            assert echo(x) is x
            assert echo(xs) is xs
        assert (sys.getrefcount(x), sys.getrefcount(xs)) == before


@cpython_only("PyPy's ctypes.string_at is a callback, which loses what a handler raises in it")
def test_what_signal_handlers_raise_is_not_lost(ffi: Any) -> None:
    program = """
        import signal, anyffi, anyffi.testing as t

        fired = 0

        class Late(Exception):
            pass

        def handler(signum, frame):
            global fired
            fired += 1
            raise Late

        signal.signal(signal.SIGALRM, handler)

        def spin(i):
            while fired == i:
                t.apply(lambda *args: args, 1, "two", [3])

        # Before the first line of a callback of ctypes mode every exception becomes this one.
        MAY_BE = (Late, KeyboardInterrupt) if anyffi.ffi_mode == "ctypes" else Late
        caught = 0
        with anyffi.trace("/dev/null"):
            for i in range(60):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0004 + i * 1.7e-5)
                    spin(i)
                except MAY_BE:
                    caught += 1
        assert caught == fired == 60, (caught, fired)
    """
    run_program(program, ffi.ffi_mode, noisy=ffi.ffi_mode == "ctypes")


def test_a_killed_process_leaves_whole_lines(ffi: Any, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "trace of {pid}"
    program = """
        import os, signal, anyffi, anyffi.testing as t
        t.echo(1)
        t.apply(lambda: os.kill(os.getpid(), signal.SIGKILL))
    """
    with pytest.raises(AssertionError, match="exit -9"):
        run_program(program, ffi.ffi_mode, FFI_TRACE=os.fspath(file))
    [path] = tmp_path.iterdir()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.name == f"trace of {events[0]['pid']}"
    assert [event["event"] for event in events] == ["process", "thread", "call", "return", "call", "call"]
    assert events[0]["mode"] == ffi.ffi_mode
    assert path.stat().st_mode & 0o77 == 0


def test_processes_share_a_file(ffi: Any, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "trace"
    program = """
        import os, sys, anyffi, anyffi.testing as t

        def work():
            for i in range(200): t.echo("x" * 300)

        if hasattr(os, "fork"):
            children = []
            for _ in range(3):
                child = os.fork()
                if child == 0:
                    work()
                    os._exit(0)
                children.append(child)
            work()
            for child in children: os.waitpid(child, 0)
    """
    for _ in range(2):
        run_program(program, ffi.ffi_mode, FFI_TRACE=os.fspath(file))
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert sum(event["event"] == "process" for event in events) == 8
    assert sum("forked_from" in event for event in events) == 6
    assert sum(event["event"] == "return" for event in events) == 1600


def test_a_full_disk_does_not_disturb(ffi: Any, tmp_path: pathlib.Path) -> None:
    program = """
        import os, resource, sys, anyffi, anyffi.testing as t

        t.echo(1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        for i in range(100): assert t.echo(i) == i
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        t.echo("room again")
    """
    pytest.importorskip("resource")
    run_program(program, ffi.ffi_mode, FFI_TRACE=os.fspath(tmp_path / "trace"))
    lines = (tmp_path / "trace").read_bytes().splitlines()
    # One line was cut, and the next is whole again.
    assert json.loads(lines[-1])["lost"] > 80
    assert sum(b"room again" in line and bool(json.loads(line)) for line in lines) == 2


def test_a_file_that_cannot_be_written(ffi: Any, tmp_path: pathlib.Path) -> None:
    done = run([sys.executable, "-c", "import anyffi"], FFI_MODE=ffi.ffi_mode, FFI_TRACE=os.fspath(tmp_path))
    assert done.returncode == 1
    assert f"ImportError: FFI_TRACE={tmp_path}: cannot write the trace: " in done.stderr
    with pytest.raises(FileNotFoundError):
        anyffi.trace(tmp_path / "no" / "folder")


def test_a_trace_that_could_not_begin(ffi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from anyffi import _backend

    def fail(observer: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_backend, "set_observer", fail)
        with pytest.raises(KeyboardInterrupt):
            anyffi.trace().__enter__()
    with anyffi.trace() as trace:
        ffi.get_global_func("testing.echo")(1)
    assert [event["event"] for event in trace.events].count("call") == 1
