"""Traces: their content in every mode."""

from __future__ import annotations

import json
import os
from typing import Any

import anyffi
import pytest
from programs import run_program
from support import CPYTHON, Build, cpython_only, get_testing_function, needs_compilers
from traced import VALUES, calls, settled


def test_a_call_and_a_callback(ffi: Any) -> None:
    apply = get_testing_function(ffi, "apply")

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
        get_testing_function(ffi, "raise_error")("ValueError", message="why")
    called, raised = calls(traced)
    assert called["signature"] == "testing.raise_error(kind: str, message: Any) -> None"
    assert called["arguments"] == [
        {"name": "kind", "type": "Str", "value": "'ValueError'"},
        {"name": "message", "type": "Str", "value": "'why'"},
    ]
    assert (raised["error"], raised["message"]) == ("ValueError", "why")


@pytest.mark.parametrize("name", ["add", "typed.many_overloads"])
def test_keywords_that_are_no_text(ffi: Any, name: str) -> None:
    function: Any = get_testing_function(ffi, name)
    # PyPy's interpreter has another message.
    words = "^keywords must be strings$" if CPYTHON else "keywords must be strings"
    for _ in range(2):
        with pytest.raises(TypeError, match=words):
            function(1, **{5: 1})
        with anyffi.trace(), pytest.raises(TypeError, match=words):
            function(1, **{5: 1})


def test_overloads_by_keyword_are_one_call(ffi: Any) -> None:
    overloaded = get_testing_function(ffi, "typed.many_overloads")
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
    echo = get_testing_function(ffi, "echo")
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
