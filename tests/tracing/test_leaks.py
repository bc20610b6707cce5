"""Objects that stay alive: `anyffi.debug`, `no_leaks`, and the report at exit."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

import pytest
from programs import run_program
from support import FREE_THREADED, Build, cpython_only, frees_classes, needs_compilers, run

pytestmark = cpython_only("PyPy finalizes objects at some later time")


def test_live_objects_by_type(ffi: Any) -> None:
    if FREE_THREADED and ffi.ffi_mode == "ctypes":
        pytest.skip("the runtime does not know the wrappers, which know where objects were made")
    program = """
        import gc, sys, tracemalloc, anyffi
        from anyffi import debug

        tracemalloc.start(10)
        assert debug.live_objects() == {}
        xs = anyffi.List(["x" * 100, [1]])
        f = anyffi.Function(lambda: xs)
        alive = debug.live_objects()
        assert {key: len(found) for key, found in alive.items()} == {"Function": 1, "List": 2, "StrObject": 1}
        assert [x.where for x in alive["List"]].count("<string>:7") == 1, alive
        [function] = alive["Function"]
        assert function.where == "<string>:8"
        assert repr(function) == "<Function <function <lambda>> made at <string>:8>"
        assert any(x.value is xs for x in alive["List"])
        del xs, f, alive, function
        gc.collect()
        assert debug.live_objects() == {}, debug.live_objects()
    """
    run_program(program, ffi.ffi_mode)


def test_no_other_function_is_registered(ffi: Any) -> None:
    program = """
        import anyffi
        from anyffi import debug

        before = set(anyffi.registry.list_global_func_names())
        debug.live_objects()
        names = set(anyffi.registry.list_global_func_names()) - before
        assert {name.rpartition(".")[0] for name in names} <= {"anyffi.debug"}, names
    """
    run_program(program, ffi.ffi_mode)


CHURN = """
#include <anyffi/anyffi.h>
ANYFFI_EXPORT(churn, [](int64_t n) {
  for (int64_t i = 0; i < n; ++i) anyffi::List<int64_t> made{i, i, i};
}).release_gil();
"""


@needs_compilers
def test_live_objects_of_other_threads(ffi: Any, build: Build) -> None:
    """An object whose last reference goes on another thread is not revived."""
    library = str(build("churn.cc", CHURN))
    program = f"""
        import threading, anyffi
        from anyffi import debug

        churn = anyffi.load_module({library!r}).churn
        debug.live_objects()
        threads = [threading.Thread(target=churn, args=(300_000,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for each in debug.live_objects().get("List", ()):
                assert type(each.value) is anyffi.List
        for thread in threads:
            thread.join()
        each = None
        assert "List" not in debug.live_objects()
    """
    run_program(program, ffi.ffi_mode)


def test_no_leaks(ffi: Any) -> None:
    program = """
        import gc, anyffi, anyffi.testing as t

        for _ in range(3):
            with t.no_leaks():
                xs = anyffi.List([lambda: xs])
                t.apply(lambda *args: args, [1], "x" * 100, 2**70)
                del xs
        kept = []
        try:
            with t.no_leaks():
                kept.append(anyffi.List([1, anyffi.Dict()]))
        except AssertionError as error:
            text = str(error)
        assert text.startswith("2 objects of anyffi are still alive:\\n    <"), text
        assert "<List anyffi.List([1, {}])>" in text and "<Dict anyffi.Dict({})>" in text
        with t.no_leaks():
            pass  # what was alive before does not count
        try:
            with t.no_leaks():
                kept.append(anyffi.List())
                raise KeyError
        except KeyError:
            pass
        with t.no_leaks():
            kept.clear()
    """
    run_program(program, ffi.ffi_mode)


def test_the_fixture(ffi: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["anyffi.pytest_plugin"]\n')
    (tmp_path / "test_it.py").write_text(
        "import anyffi\n"
        "kept = []\n"
        "def test_keeps(no_leaks): kept.append(anyffi.List([7]))\n"
        "def test_keeps_nothing(no_leaks): anyffi.List([7])\n"
    )
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", tmp_path]
    done = run([sys.executable, "-m", "pytest", *options, tmp_path], FFI_MODE=ffi.ffi_mode, cwd=tmp_path)
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert "<List anyffi.List([7])" in done.stdout


def report(program: str, mode: str) -> str:
    done = run([sys.executable, "-c", program], FFI_MODE=mode, FFI_LEAK_CHECK="1")
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_report_at_exit(ffi: Any) -> None:
    mode = ffi.ffi_mode
    nothing = "anyffi: no object is alive at exit\n"
    assert report("import anyffi", mode) == nothing
    program = "import anyffi, anyffi.testing as t\nxs = anyffi.List([lambda: xs, {1: [2]}])\nt.echo(xs)\n"
    assert report(program, mode) == nothing
    program += "ys = anyffi.List([anyffi.Dict()])\nys.append(ys)\ndel ys"
    assert report(program, mode) == "anyffi: objects alive at exit:\n       1 Dict\n       1 List\n"


_DATACLASSES = """
import anyffi

@anyffi.dataclass
class Point:
    x: int = 0
    def __del__(self): print("point", self.x)

@anyffi.dataclass
class Line:
    start: Point
    name: str = "a long name of a line"

class Plain:
    def __del__(self): print("plain")

line, plain = Line(Point(1)), Plain()
origin = line.start
"""


@frees_classes
def test_dataclasses_end_with_their_module(ffi: Any) -> None:
    done = run([sys.executable, "-c", _DATACLASSES], FFI_MODE=ffi.ffi_mode, FFI_LEAK_CHECK="1")
    # `__del__` runs for each wrapper, of which the Point had two.
    assert sorted(done.stdout.split("\n")) == ["", "plain", "point 1", "point 1"]
    assert done.stderr == "anyffi: no object is alive at exit\n"


@needs_compilers
def test_classes_are_no_leaks(ffi: Any, build: Build) -> None:
    """The object that operators keep for NotImplemented is not reported."""
    source = """
    #include <anyffi/anyffi.h>
    struct Size { bool operator==(const Size&) const { return true; } };
    ANYFFI_CLASS(Size, "leaks.Size").init<>().op(anyffi::ops::eq);
    """
    program = f"import anyffi\nm = anyffi.load_module({str(build('leaks.cc', source))!r})\n"
    program += "assert m.Size() == m.Size() and m.Size() != 1"
    assert report(program, ffi.ffi_mode) == "anyffi: no object is alive at exit\n"


@needs_compilers
def test_what_a_library_keeps_is_no_leak(ffi: Any, build: Build) -> None:
    """Members of enumerations, data about exceptions, and how keywords select an overload, are made at first use
    and then kept."""
    source = """
    #include <anyffi/anyffi.h>
    #include <stdexcept>
    enum class Color { kRed, kGreen };
    enum Access { kRead = 1, kWrite = 2 };
    struct Coded : std::runtime_error {
      using std::runtime_error::runtime_error;
      int64_t code = 7;
    };
    ANYFFI_ENUM(Color, "used.Color").value("RED", Color::kRed).value("GREEN", Color::kGreen);
    ANYFFI_ENUM(Access, "used.Access").value("READ", kRead).value("WRITE", kWrite).flags();
    ANYFFI_EXCEPTION(Coded, "used.Coded", "ValueError").attribute("code", &Coded::code);
    static auto* kept = new anyffi::AnyValue();
    ANYFFI_EXPORT(green, [] { return Color::kGreen; });
    ANYFFI_EXPORT(access, [](Access access) { return access; });
    ANYFFI_EXPORT(keep, [](anyffi::AnyValue x) { *kept = x; });
    ANYFFI_EXPORT(fail, [] { throw Coded("failed"); });
    ANYFFI_EXPORT(either, [](int64_t x) { return x; }, anyffi::arg("x"))
        .def([](int64_t x, double y) { return x + y; }, anyffi::arg("x"), anyffi::arg("y"));
    """
    library = str(build("used.cc", source))
    program = f"""if True:
        import anyffi, pytest, anyffi.testing as t
        m = anyffi.load_module({library!r})
        for _ in range(2):
            with t.no_leaks():
                assert m.green() is m.Color.GREEN
                assert m.access(m.Access(3)) == m.Access.READ | m.Access.WRITE
                assert m.access(m.Access.READ) is m.Access.READ
            with t.no_leaks(), pytest.raises(m.Coded, match="failed"):
                m.fail()
            with t.no_leaks():
                assert (m.either(x=1), m.either(1, y=2), m.either(y=2, x=1)) == (1, 3.0, 3.0)
    """
    assert report(program, ffi.ffi_mode) == "anyffi: no object is alive at exit\n"
    keeps = f"import anyffi\nm = anyffi.load_module({library!r})\nm.green(), m.keep(lambda: 1)"
    assert report(keeps, ffi.ffi_mode) == "anyffi: objects alive at exit:\n       1 Function\n"


def test_another_choice() -> None:
    done = run([sys.executable, "-c", "import anyffi"], FFI_LEAK_CHECK="yes")
    assert "ImportError: FFI_LEAK_CHECK='yes' is not a choice of anyffi; choose one of: 0, 1" in done.stderr


def test_traces_records_and_leak_checks_at_once(ffi: Any, tmp_path: pathlib.Path) -> None:
    variables = {"FFI_TRACE": "trace", "FFI_RECORD": "records"}
    variables = {name: os.fspath(tmp_path / place) for name, place in variables.items()}
    program = "import anyffi, anyffi.testing as t\nassert t.echo([1]) == [1]"
    output = run_program(program, ffi.ffi_mode, noisy=True, FFI_LEAK_CHECK="1", **variables)
    assert output == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records", "trace"]
