"""Traces: their content in every mode; a traced program does what it does without a trace."""

from __future__ import annotations

import json
import os
import pathlib
import sys
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CPYTHON, ROOT, Build, cpython_only, needs_compilers, run
from traced import VALUES, settled


def outer(ffi: Any, name: str) -> Any:
    return ffi.get_global_func("testing." + name)


def calls(traced: Any) -> list[dict[str, Any]]:
    return [event for event in settled(traced.events) if event["event"] in ("call", "return", "raise")]


# ---- what a trace says ------------------------------------------------------------------------------------


def test_a_call_and_a_callback(ffi: Any) -> None:
    apply = outer(ffi, "apply")

    def double(x: int, *more: int, last: int = 1) -> int:
        return 2 * x

    with anyffi.trace() as traced:
        assert apply(double, 21) == 42
    name = f"{__name__}.test_a_call_and_a_callback.<locals>.double"
    short = name.removeprefix(f"{__name__}.")
    assert calls(traced) == [
        {
            "event": "call",
            "to": "C++",
            "name": "testing.apply",
            "signature": "testing.apply()",
            "arguments": [
                {"type": "Function", "value": f"<function {short}>"},
                {"type": "Int", "value": "21"},
            ],
            "id": 1,
            "thread": 1,
            "parent": None,
            "depth": 0,
        },
        {
            "event": "call",
            "to": "Python",
            "name": name,
            "signature": f"{short}(x, *more, last)",
            "arguments": [{"type": "Int", "value": "21"}],
            "id": 2,
            "thread": 1,
            "parent": 1,
            "depth": 1,
        },
        {"event": "return", "id": 2, "type": "Int", "value": "42"},
        {"event": "return", "id": 1, "type": "Int", "value": "42"},
    ]
    times = [event["time"] for event in traced.events]
    assert times == sorted(times)
    inner, whole = [event["duration"] for event in traced.events if "duration" in event]
    assert 0 < inner <= whole


def test_arguments_have_their_names(ffi: Any) -> None:
    with anyffi.trace() as traced, pytest.raises(ValueError, match="why"):
        outer(ffi, "raise_error")("ValueError", message="why")
    called, raised = calls(traced)
    assert called["signature"] == "testing.raise_error(kind: str, message: Any) -> None"
    assert called["arguments"] == [
        {"name": "kind", "type": "Str", "value": "'ValueError'"},
        {"name": "message", "type": "Str", "value": "'why'"},
    ]
    assert (raised["error"], raised["message"]) == ("ValueError", "why")


@pytest.mark.parametrize("name", ["add", "typed.many_overloads"])
def test_keywords_that_are_no_text(ffi: Any, name: str) -> None:
    function: Any = outer(ffi, name)
    # PyPy's interpreter has another message.
    words = "^keywords must be strings$" if CPYTHON else "keywords must be strings"
    for _ in range(2):
        with pytest.raises(TypeError, match=words):
            function(1, **{5: 1})
        with anyffi.trace(), pytest.raises(TypeError, match=words):
            function(1, **{5: 1})


def test_overloads_by_keyword_are_one_call(ffi: Any) -> None:
    overloaded = outer(ffi, "typed.many_overloads")
    with anyffi.trace() as traced:
        overloaded(1, text="a")
        overloaded(text="a", x0=1)
        overloaded(0, x19="last")
        with pytest.raises(TypeError):
            overloaded(x0=1, text=["a"])
        with pytest.raises(TypeError):
            overloaded(x0=1, y=2)
    assert [event["event"] for event in calls(traced)] == ["call", "return"] * 3 + ["call", "raise"] * 2
    assert " | " in calls(traced)[0]["signature"]


@cpython_only("needs both marshallers")
def test_all_modes_give_the_same_events(both: Any) -> None:
    program = (
        VALUES + "\nwith anyffi.trace() as traced:\n    run()\nimport json\nprint(json.dumps(traced.events))"
    )
    if not os.environ.get("FFI_WITHOUT_NUMPY"):
        program = "import numpy\n" + program
    events = {mode: settled(json.loads(run_program(program, mode))) for mode in ("cython", "ctypes", "check")}
    assert len(events["cython"]) > 130
    assert events["cython"] == events["ctypes"] == events["check"]
    assert events["cython"][-1] == {"event": "end", "lost": 0}


CLASSES = """
#include <anyffi/anyffi.h>
#include <anyffi/class.h>
#include <anyffi/stl/function.h>

using anyffi::arg;

struct Point {
  double x = 0;
  double moved(double by) const { return x + by; }
  Point operator+(const Point& other) const { return {x + other.x}; }
  bool operator==(const Point& other) const { return x == other.x; }
};

static std::function<double(double)> kept;
ANYFFI_EXPORT(keep, [](std::function<double(double)> f) { kept = f; });
ANYFFI_EXPORT(call_kept, [](double x) { return kept(x); }, arg("x"));
ANYFFI_EXPORT(drop, [] { kept = nullptr; });
ANYFFI_CLASS(Point, "traced.Point")
    .init([](double x) {
      if (x < 0) throw anyffi::Error("ValueError", "negative");
      return Point{x};
    }, arg("x"))
    .init([](int64_t a, int64_t b) { return Point{static_cast<double>(a + b)}; }, arg("a"), arg("b"))
    .field("x", &Point::x)
    .method("moved", &Point::moved, arg("by"))
    .method("grown", [](const Point& p, double by) { return p.x * by; }, arg("by"))
    .method("grown", [](const Point& p) { return p.x * 2; })
    .property("px", [](const Point& p) { return p.x; }, [](Point& p, double x) { p.x = x; })
    .static_method("make", [] { return Point{7}; })
    .op(anyffi::ops::add)
    .op(anyffi::ops::eq);
"""

USES_CLASSES = """
import anyffi, json
m = anyffi.load_module(PATH)

class Derived(m.Point):
    def __init__(self, y):
        super().__init__(y)

# Before the trace begins.
m.keep(lambda x: m.Point(x).moved(1))
former = m.Point(5)
m.call_kept(1)
with anyffi.trace() as traced:
    p = m.Point(1)
    m.Point(2, 3), m.Point(b=2, a=3)
    for fail in (lambda: m.Point(-1), lambda: m.Point("x"), lambda: m.Point(), lambda: p.moved("x"),
                 lambda: p.moved(), lambda: p + 3, lambda: m.Point.moved()):
        try:
            fail()
        except Exception:
            pass
    p + former, p == former, p.moved(by=2), p.px, p.x, m.Point.make(), Derived(4).moved(1)
    p.px = 3
    p.grown(by=2), p.grown()
    m.call_kept(2)
assert m.Point(3).px == 3
m.drop()
print(json.dumps(traced.events))
"""


@needs_compilers
@cpython_only("needs both marshallers")
def test_classes_and_stored_callbacks(both: Any, build: Build) -> None:
    program = USES_CLASSES.replace("PATH", repr(os.fspath(build("traced.cc", CLASSES))))
    events = {mode: settled(json.loads(run_program(program, mode))) for mode in ("cython", "ctypes", "check")}
    assert events["cython"] == events["ctypes"] == events["check"]
    begun = [event["name"] for event in events["cython"] if event["event"] == "call"]
    assert begun.count("traced.Point") == 8
    assert begun[-4:] == ["call_kept", "__main__.<lambda>", "traced.Point", "traced.Point.moved"]
    assert begun[-7:-4] == ["traced.Point.px", "traced.Point.grown", "traced.Point.grown"]
    assert {"traced.Point.__add__", "traced.Point.__eq__"} < set(begun)


INNER = """
#include <anyffi/anyffi.h>
#include <stdexcept>

struct Stage {
  virtual ~Stage() = default;
  virtual int64_t run(int64_t x) { return x; }
};
struct PyStage : anyffi::Overridable<Stage> {
  using Overridable::Overridable;
  int64_t run(int64_t x) override {
    return override_or<int64_t>("run", [&] { return Stage::run(x); }, x);
  }
};
struct Coded : std::runtime_error {
  using std::runtime_error::runtime_error;
  int64_t code = 7;
};
ANYFFI_EXCEPTION(Coded, "inner.Coded", "ValueError").attribute("code", &Coded::code);
ANYFFI_CLASS(Stage, "inner.Stage").overridable<PyStage>().init<>().method("run", &Stage::run, anyffi::arg("x"));
ANYFFI_EXPORT(run, [](Stage& stage) { return stage.run(3); }, anyffi::arg("stage"));
ANYFFI_EXPORT(fail, [] { throw Coded("failed"); });
"""


@needs_compilers
def test_calls_of_the_package_itself_are_left_out(ffi: Any, build: Build) -> None:
    program = f"""
        import anyffi
        module = anyffi.load_module({os.fspath(build("inner.cc", INNER))!r})

        class Double(module.Stage):
            def run(self, x):
                return 2 * x

        with anyffi.trace() as traced:
            assert module.run(Double()) == 6
            try:
                module.fail()
            except module.Coded as error:
                assert error.code == 7
        begun = [event["name"] for event in traced.events if event["event"] == "call"]
        assert begun == ["inner.Stage", "run", "__main__.Double.run", "fail"], begun
    """
    run_program(program, ffi.ffi_mode)


def test_values_are_bounded(ffi: Any) -> None:
    echo = outer(ffi, "echo")
    nested: Any = 1
    for _ in range(150):
        nested = [nested]
    with anyffi.trace() as traced:
        for x in ("x" * 10**6, list(range(10**5)), ffi.List(range(10**5)), nested, {"k" * 1000: "v" * 1000}):
            echo(x)
    assert max(len(json.dumps(event)) for event in traced.events) < 800


def test_threads_and_nesting(ffi: Any) -> None:
    program = """
        import threading, anyffi, anyffi.testing as t

        def again(n):
            return n and t.apply(again, n - 1)

        with anyffi.trace() as traced:
            threads = [threading.Thread(target=again, args=(3,), name=f"worker {i}") for i in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            before = threading.active_count()
            t.apply_on_thread(lambda: again(1))
        assert threading.active_count() == before
        names = {e["thread"]: e["name"] for e in traced.events if e["event"] == "thread"}
        assert sorted(names.values())[-4:] == [f"worker {i}" for i in range(4)], names
        begun = {e["id"]: e for e in traced.events if e["event"] == "call"}
        for e in begun.values():
            parent = begun.get(e["parent"])
            assert e["depth"] == (parent["depth"] + 1 if parent else 0)
            assert parent is None or parent["thread"] == e["thread"]
        assert max(e["depth"] for e in begun.values()) == 5
        assert len({e["thread"] for e in begun.values()}) == len(names)
    """
    name = next((n for n in ("apply_on_thread", "call_on_thread", "apply_in_thread") if _has(ffi, n)), None)
    if name is None:
        program = program.replace("t.apply_on_thread(lambda: again(1))", "again(1)")
    else:
        program = program.replace("apply_on_thread", name)
    run_program(program, ffi.ffi_mode)


THREADS = """
#include <anyffi/anyffi.h>
#include <thread>
ANYFFI_EXPORT(on_threads, [](const anyffi::Function& f, int64_t calls, int64_t threads) {
  for (int64_t i = 0; i < threads; ++i) {
    std::thread([&] {
      for (int64_t k = 0; k < calls; ++k) f(i, k);
    }).join();
  }
}).release_gil();
"""


@needs_compilers
def test_threads_of_cpp(ffi: Any, build: Build) -> None:
    """Threads keep their numbers from callback to callback; a later thread gets another one, even at the same address."""
    library = os.fspath(build("threads.cc", THREADS))
    program = f"""
        import os, threading, anyffi
        from anyffi._tracing import tracing

        module = anyffi.load_module({library!r})

        def numbers(traced, *args):
            before = len(traced.events)
            module.on_threads(*args)
            new = traced.events[before:]
            named = [e["thread"] for e in new if e["event"] == "thread"]
            called = [e["thread"] for e in new if e["event"] == "call" and e["to"] == "Python"]
            assert [n for n in named if n != 1] == sorted(set(called)), new
            return called

        with anyffi.trace() as traced:
            assert numbers(traced, lambda i, k: threading.get_ident(), 5, 1) == [2] * 5
            # With an object of Python for the thread.
            assert numbers(traced, lambda i, k: threading.current_thread(), 2, 3) == [3, 3, 4, 4, 5, 5]
            # Threads of Python end before others begin.
            for _ in range(3):
                thread = threading.Thread(target=lambda: anyffi.Function(len)("x"))
                thread.start()
                thread.join()
            assert len({{e["thread"] for e in traced.events if e["event"] == "thread"}}) == 8
            tracing._MOST_THREADS = 4
            assert numbers(traced, lambda i, k: 0, 1, 10) == list(range(9, 19))
            assert len(traced._foreign) <= 4
            if hasattr(os, "fork"):
                child = os.fork()
                if child == 0:
                    os._exit(len(traced._foreign))
                assert os.waitpid(child, 0)[1] == 0
    """
    run_program(program, ffi.ffi_mode, noisy=True)


def _has(ffi: Any, name: str) -> bool:
    return ffi.get_global_func(f"testing.{name}", allow_missing=True) is not None


# ---- a program is the same with and without ---------------------------------------------------------------


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
    echo = outer(ffi, "echo")
    with anyffi.trace() as first, anyffi.trace() as second:
        echo(1)
    echo(2)
    assert calls(first) == calls(second)
    assert len(calls(first)) == 2
    with pytest.raises(RuntimeError, match="used before"), first:
        pass


def test_a_trace_may_begin_and_end_within_a_call(ffi: Any) -> None:
    apply, echo = outer(ffi, "apply"), outer(ffi, "echo")
    traced = anyffi.trace()
    apply(traced.__enter__)
    echo(1)
    apply(lambda: traced.__exit__(None, None, None))
    echo(2)
    assert [event.get("name", "") for event in calls(traced)][:3] == ["testing.echo", "", "testing.apply"]


def test_exceptions_keep_their_identity_and_context(ffi: Any) -> None:
    apply = outer(ffi, "apply")
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
    echo = outer(ffi, "echo")
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


# ---- files ------------------------------------------------------------------------------------------------


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
