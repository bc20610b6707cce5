"""FFI_RECORD and `python -m anyffi replay`: what is kept, within which bounds, and which differences are found."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re
import sys
import zlib
from typing import Any

import pytest
from programs import run_program
from support import Build, cpython_only, needs_compilers, run

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/class.h>

#include <cstdlib>
#include <cstring>

using anyffi::arg;

/// Behaves in another way in ctypes mode, as if a marshaller was wrong.
static bool is_other() {
  const char* mode = std::getenv("FFI_MODE");
  return mode != nullptr && std::strcmp(mode, "ctypes") == 0;
}

struct Point {
  double x = 0;
  double moved(double by) const { return x + by + (is_other() ? 1 : 0); }
};

ANYFFI_EXPORT(same, [](anyffi::AnyValue x) { return x; }, arg("x"));
ANYFFI_EXPORT(scaled, [](double x, double by) { return is_other() ? x : x * by; }, arg("x"), arg("by") = 2.0);
ANYFFI_EXPORT(words, [](int64_t) -> int64_t { throw anyffi::Error("ValueError", is_other() ? "one" : "other"); });
ANYFFI_EXPORT(kind, [](int64_t x) -> int64_t {
  if (is_other()) return x;
  throw anyffi::Error("KeyError", "key");
});
ANYFFI_EXPORT(append, [](anyffi::List<int64_t> xs) { xs.push_back(is_other() ? 1 : 2); });
ANYFFI_EXPORT(deep, [](anyffi::List<int64_t> xs) {
  anyffi::List<anyffi::AnyValue> made;
  made.push_back(anyffi::AnyValue(xs));
  made.push_back(anyffi::AnyValue(is_other() ? 0.0 : -0.0));
  return made;
});
ANYFFI_EXPORT(end, [](int64_t x) {
  if (is_other() && x == 1) std::abort();
  return x;
});
ANYFFI_CLASS(Point, "recorded.Point")
    .init([](double x) { return Point{is_other() ? -x : x}; }, arg("x"))
    .field("x", &Point::x)
    .method("moved", &Point::moved, arg("by"))
    .pickle([](const Point& p) { return p.x; }, [](double x) { return Point{x}; });
"""

pytestmark = [needs_compilers, cpython_only("needs both marshallers")]


@pytest.fixture(scope="module")
def library(build: Build) -> pathlib.Path:
    return build("recorded.cc", SOURCE)


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Where one marshaller alone is tested, there is nothing to replay in."""


def record(folder: pathlib.Path, program: str, mode: str = "cython", **variables: str) -> pathlib.Path:
    place = folder / "records"
    run_program(program, mode, FFI_RECORD=os.fspath(place), **variables)
    return place


def replay(place: pathlib.Path, mode: str = "ctypes") -> tuple[int, str]:
    done = run([sys.executable, "-m", "anyffi", "replay", place, "--mode", mode])
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def load(library: pathlib.Path) -> str:
    return f"import anyffi; m = anyffi.load_module({os.fspath(library)!r})\n"


def summary(text: str) -> str:
    return text.splitlines()[-1]


def test_calls_that_agree(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("numpy")
    program = load(library) + (
        "import anyffi.testing as t, operator, collections, numpy as np\n"
        "array = np.arange(6.0).reshape(2, 3)\n"
        "values = [None, 1, 2**70, float('nan'), -0.0, 'x' * 100, b'y', [1, {'a': (1, {2})}], array, array.T,\n"
        "          anyffi.List([1, array]), anyffi.Dict(a=[1]), slice(1, 2), anyffi.dtype('int8'), np.float32(1.5),\n"
        "          ValueError('x', 1), collections.OrderedDict(a=1), anyffi.Set([1]), m.same, operator.add, int]\n"
        "for x in values: m.same(x)\n"
        "xs = anyffi.List([1])\n"
        "t.apply(operator.is_, xs, xs)\n"
        "t.apply(xs.append, 2)\n"
        "assert xs == [1, 2]\n"
        "try: m.same(1, 2, 3)\n"
        "except TypeError: pass\n"
    )
    place = record(tmp_path, program)
    for mode in ("ctypes", "cython", "check"):
        assert replay(place, mode) == (
            0,
            f"24 calls replayed in {mode} mode: 0 differ, 0 could not be replayed\n",
        )
    assert replay(record(tmp_path / "other", program, "ctypes"), "cython")[0] == 0


@pytest.mark.parametrize(
    ("call", "difference"),
    [
        ("m.scaled(1.5)", "the result: Float 3.0 became Float 1.5"),
        ("m.scaled(by=4, x=1.5)", "the result: Float 6.0 became Float 1.5"),
        ("m.words(1)", "builtins.ValueError: other became builtins.ValueError: one"),
        ("m.kind(3)", "builtins.KeyError: 'key' became Int 3"),
        ("m.append(anyffi.List([5]))", "the arguments after the call: at [0][0][1]: Int 2 became Int 1"),
        ("m.Point(1)", "the result: at state[0][1]: Float 1.0 became Float -1.0"),
        ("m.Point(0).moved(2.0)", "the result: Float 2.0 became Float 3.0"),
        ("m.deep([1])", "the result: at [1]: Float -0.0 became Float 0.0"),
    ],
)
def test_differences(library: pathlib.Path, tmp_path: pathlib.Path, call: str, difference: str) -> None:
    program = f"{load(library)}try: {call}\nexcept Exception: pass\nm.same(1)"
    place = record(tmp_path, program)
    status, text = replay(place)
    assert status == 1
    differ = 2 if "Point(0)" in call else 1
    assert f"from cython to ctypes mode, {difference}\n" in text
    assert re.match(r"\S+\.calls, call 1: \w+\(", text)
    assert summary(text).endswith(f"calls replayed in ctypes mode: {differ} differ, 0 could not be replayed")
    assert replay(place, "cython")[0] == 0


def test_a_call_that_ends_the_process(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(library)}for i in range(4): m.end(i)\nprint('noise')\nm.scaled(2)")
    status, text = replay(place)
    assert status == 1
    assert "call 2: recorded in cython mode, in ctypes mode it ended the process with signal 6" in text
    assert summary(text) == "5 calls replayed in ctypes mode: 2 differ, 0 could not be replayed"


def test_what_cannot_be_recorded(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(library) + (
        "import sys\n"
        "class Here: pass\n"
        "class Refuses:\n"
        "    def __reduce__(self): raise ValueError('I refuse')\n"
        "class Calls:\n"
        "    def __reduce__(self): m.same(self); return Calls, ()\n"
        "loop = []; loop.append(loop)\n"
        "nested = 1\n"
        "for _ in range(100000): nested = [nested]\n"
        "for x in (Here(), lambda: 1, Refuses(), Calls(), sys.stdout, 'x' * 10**7, nested):\n"
        "    try: m.same(x)\n"
        "    except RecursionError: pass\n"
        "    finally: del x\n"
        "while type(nested) is list: nested = nested[0]\n"
        "m.same(1)\n"
    )
    place = record(tmp_path, program, FFI_RECORD_SIZE="1M")
    status, text = replay(place)
    assert status == 0
    assert summary(text) == "1 calls replayed in ctypes mode: 0 differ, 0 could not be replayed"
    for reason in (
        "Here is defined in __main__",
        "ValueError: I refuse",
        "larger than a record may be",
        "TypeError: cannot pickle",
        "RecursionError",
    ):
        assert reason in text, text


def test_calls_that_cannot_be_found_again(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "helper.py").write_text("class X: pass\n")
    program = f"import sys; sys.path.insert(0, {os.fspath(tmp_path)!r}); import helper\n{load(library)}"
    place = record(tmp_path, f"{program}m.same(helper.X())")
    status, text = replay(place)
    assert status == 2
    assert "call 1: cannot be replayed: builtins.ModuleNotFoundError: No module named 'helper'" in text


def test_samples(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"import random; random.seed(1)\n{load(library)}for i in range(2000): m.same(i)\nprint(random.random())"
    place = tmp_path / "records"
    without = run_program(program, "cython")
    assert run_program(program, "cython", FFI_RECORD=os.fspath(place), FFI_RECORD_SAMPLE="0.1") == without
    count = int(summary(replay(place)[1]).split()[0])
    assert 100 < count < 320


def test_a_directory_has_bounds(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"{load(library)}for i in range(3000): m.same([i, 'x' * 200])"
    for _ in range(2):
        place = record(tmp_path, program, FFI_RECORD_SIZE="100K")
    files = sorted(place.iterdir())
    assert sum(path.stat().st_size for path in files) <= 100 * 2**10
    assert len(files) > 3
    assert replay(place)[0] == 0
    # Damaged ends are no records, and another file is refused.
    files[0].write_bytes(files[0].read_bytes()[:-3])
    files[1].write_bytes(files[1].read_bytes()[:-200] + b"\0" * 200)
    status, text = replay(place)
    assert status == 2
    for file in files[:2]:
        assert re.search(rf"^{re.escape(file.name)}: its last \d+ bytes are damaged", text, re.MULTILINE)
    assert text.count("are damaged") == 2
    (place / "x.calls").write_text("something else")
    status, text = replay(place)
    assert status == 2
    assert "no file of records" in text
    assert replay(tmp_path / "nowhere")[0] == 2


def test_forks_have_files_of_their_own(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(library) + (
        "import os\n"
        "m.same('parent')\n"
        "child = os.fork()\n"
        "m.same('both')\n"
        "if child == 0: os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    place = record(tmp_path, program)
    assert len(list(place.iterdir())) == 2
    assert summary(replay(place)[1]).startswith("3 calls replayed")


def test_choices_that_are_none(tmp_path: pathlib.Path) -> None:
    for variables, message in (
        ({"FFI_RECORD_SAMPLE": "2"}, "FFI_RECORD_SAMPLE='2' is no part of calls"),
        ({"FFI_RECORD_SAMPLE": "x"}, "FFI_RECORD_SAMPLE='x' is no part of calls"),
        ({"FFI_RECORD_SAMPLE": "nan"}, "FFI_RECORD_SAMPLE='nan' is no part of calls"),
        ({"FFI_RECORD_SIZE": "1"}, "FFI_RECORD_SIZE='1' is no size of at least 64K"),
        ({"FFI_RECORD_SIZE": "-1M"}, "FFI_RECORD_SIZE='-1M' is no size of at least 64K"),
        ({"FFI_RECORD": "/dev/null/x"}, "FFI_RECORD=/dev/null/x: cannot write there: "),
    ):
        done = run([sys.executable, "-c", "import anyffi"], **variables)
        assert done.returncode == 1
        assert f"ImportError: {message}" in done.stderr
    assert replay(tmp_path / "none")[0] == 2
    assert replay(tmp_path) == (2, "0 calls replayed in ctypes mode: 0 differ, 0 could not be replayed\n")


def test_records_of_no_calls(tmp_path: pathlib.Path) -> None:
    """Whole records with other content are counted, and the calls between them replayed."""
    call = ("len", pickle.dumps(len), pickle.dumps(((([],)), {})), ("return", pickle.dumps(0)), None)

    def instead(place: int, value: Any) -> tuple[Any, ...]:
        return (*call[:place], value, *call[place + 1 :])

    wrong = [
        b"\x80\x05junk", 5, (), (5,), ([5],), call[:4], instead(1, b""), instead(2, pickle.dumps(5)), instead(3, ()),
        instead(3, 5), instead(3, ("raise",)), instead(3, ("other", "a", "b")), instead(4, b"x"),
    ]  # fmt: skip
    place = tmp_path / "records"
    place.mkdir()
    data = b"anyffi-records 1\n" + json.dumps({"mode": "cython"}).encode() + b"\n"
    for each in [*wrong[:4], call, *wrong[5:], ([],), call, ([5],), call]:
        record = each if type(each) is bytes else pickle.dumps(each)
        data += len(record).to_bytes(4, "little") + zlib.crc32(record).to_bytes(4, "little") + record
    (place / "1.calls").write_bytes(data)
    status, text = replay(place)
    assert summary(text) == "2 calls replayed in ctypes mode: 0 differ, 13 could not be replayed"
    assert status == 2
    assert text.count("cannot be replayed: this is no record of a call") == 5
