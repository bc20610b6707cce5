"""FFI_RECORD and `python -m anyffi replay`: what is kept, within which bounds, and which differences are found."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re
import shutil
import sys
import zlib
from typing import Any

import pytest
from programs import run_program
from support import Build, cpython_only, needs_compilers, run

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/class.h>

#include <anyffi/stl/string.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

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
ANYFFI_EXPORT(count, [] {
  static int64_t calls = 0;
  return ++calls;
});
ANYFFI_EXPORT(step, [](anyffi::TypedView<const double, 1> x, anyffi::TypedView<const double, 1> y) {
  return x.stride(0) + (x.data() == y.data() ? 10 : 0);
}, arg("x"), arg("y"));
ANYFFI_EXPORT(wait, [](const std::string& path) {
  while (!std::ifstream(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
});
ANYFFI_EXPORT(nested, [](int64_t levels, int64_t leaf) {
  anyffi::AnyValue made(is_other() ? leaf + 1 : leaf);
  for (int64_t i = 0; i < levels; ++i) {
    anyffi::List<anyffi::AnyValue> outer;
    outer.push_back(made);
    made = anyffi::AnyValue(outer);
  }
  return made;
});
ANYFFI_EXPORT(crash, [](int64_t x) {
  if (!is_other() || x == 1) std::abort();
  return x;
}, arg("x"));
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
    """Skip these tests if only one marshaller is tested: there is no other one to replay in."""


def record(folder: pathlib.Path, program: str, mode: str = "cython", **variables: str) -> pathlib.Path:
    place = folder / "records"
    run_program(program, mode, FFI_RECORD=os.fspath(place), **variables)
    return place


def replay(place: pathlib.Path, mode: str = "ctypes", *options: str) -> tuple[int, str]:
    done = run([sys.executable, "-m", "anyffi", "replay", place, "--mode", mode, *options])
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


def test_functions_that_the_library_has_no_more(build: Build, tmp_path: pathlib.Path) -> None:
    """Such calls do not count as differences, even if they raised: no marshaller is the cause."""
    source = "#include <anyffi/anyffi.h>\nANYFFI_EXPORT({}, [](int64_t x) {{ return x; }});\n"
    path = tmp_path / "changing.so"
    shutil.copy(build("before.cc", source.format("former")), path)
    place = record(tmp_path, f"{load(path)}m.former(1)\ntry: m.former('x')\nexcept TypeError: pass\n")
    path.unlink()
    shutil.copy(build("after.cc", source.format("later")), path)
    status, text = replay(place)
    assert status == 2
    assert text.count("cannot be replayed: builtins.ImportError: cannot use what was pickled as ") == 2
    assert summary(text) == "0 calls replayed in ctypes mode: 0 differ, 2 could not be replayed"


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


def test_files_that_were_only_begun(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A process that is killed in its first lines does not make the other files unreadable."""
    place = record(tmp_path, f"{load(library)}m.same(1)", "ctypes")
    (written,) = place.iterdir()
    (place / "1-1-000000.calls").touch()
    assert replay(place)[0] == 0
    for size in (5, 30):
        (place / "2-2-000000.calls").write_bytes(written.read_bytes()[:size])
        done = run([sys.executable, "-m", "anyffi", "replay", place])
        assert f"2-2-000000.calls: its last {size} bytes are damaged" in done.stdout, done.stderr
        assert summary(done.stdout).startswith("1 calls replayed in cython mode")
        assert done.returncode == 2


@pytest.mark.parametrize("written", [0, 9])
def test_a_file_that_cannot_be_begun(library: pathlib.Path, tmp_path: pathlib.Path, written: int) -> None:
    """On a full disk no file without its first lines remains, to which later calls would be appended."""
    program = (
        "import os\n"
        f"{load(library)}m.same('before')\n"
        "write = os.write\n"
        "def full(file, data):\n"
        f"    if data.startswith(b'anyffi-records'): return write(file, data[:{written}])\n"
        "    return write(file, data)\n"
        "os.write = full\n"
        "for i in range(60): assert m.same('x' * 2000) == 'x' * 2000\n"
        "os.write = write\n"
        "assert m.same('after') == 'after'\n"
    )
    place = record(tmp_path, program, FFI_RECORD_SIZE="64K")
    assert all(path.stat().st_size > 40 for path in place.iterdir())
    status, text = replay(place, "ctypes", "--list")
    assert status == 0, text
    assert "'before'" in text
    assert "'after'" in text


def test_libraries_are_written_again(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """On a full disk the list of libraries may be lost; later calls need it."""
    program = (
        f"import os\n{load(library)}"
        "write = os.write\n"
        "def full(file, data):\n"
        "    if not data.startswith(b'anyffi-records'): raise OSError(28, os.strerror(28))\n"
        "    return write(file, data)\n"
        "os.write = full\n"
        "m.same('lost')\n"
        "os.write = write\n"
        "m.Point(2.5)\n"
    )
    status, text = replay(record(tmp_path, program), "ctypes", "--list")
    assert status == 0, text
    assert "arguments: 2.5" in text


def test_a_thread_that_records_at_a_fork(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(library) + (
        "import os, signal, threading, warnings\n"
        # Python warns of forks in a process with threads.
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "write = os.write\n"
        "writes, may_end = threading.Event(), threading.Event()\n"
        "def late(file, data):\n"
        "    writes.set()\n"
        "    may_end.wait()\n"
        "    return write(file, data)\n"
        "os.write = late\n"
        "thread = threading.Thread(target=m.same, args=('parent',))\n"
        "thread.start()\n"
        "writes.wait()\n"
        "os.write = write\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(20)\n"  # ends a child that waits for ever
        "    m.same('child')\n"
        "    os._exit(0)\n"
        "may_end.set()\n"
        "thread.join()\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    assert summary(replay(record(tmp_path, program))[1]).startswith("2 calls replayed")


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
    begin = ("begin", 0, "len", pickle.dumps(len), pickle.dumps(((([],)), {})))
    end = ("end", 0, ("return", pickle.dumps(0)), None)

    def other(record: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
        return (*record[:place], value, *record[place + 1 :])

    wrong = [b"\x80\x05junk", 5, (), (5,), begin[:4], other(begin, 0, "x"), other(begin, 1, "x"), end[:2]]
    # Reading a record runs no code outside of the pickles of a call.
    wrong += [b"cos\n_exit\n(I3\ntR.", b"cbuiltins\nexit\n(I3\ntR.", b"(Vbegin\nI0\ncbuiltins\nlen\nNNt."]
    refused = [
        *((other(begin, place, value), end) for place, value in ((3, b""), (4, pickle.dumps(5)), (4, 5))),
        *((other(begin, 4, pickle.dumps(x)), end) for x in (("ab", "cd"), ((1,), [5]), ([], {}))),
        *((begin, other(end, 2, value)) for value in ((), 5, ("raise",), ("other", "a", "b"))),
        (begin, other(end, 3, b"x")),
    ]
    unknown = [other(end, 1, 77), begin, other(end, 2, None)]
    records = [*wrong, begin, end, *unknown, ([],), begin, end, ([5],), begin, end]
    place = tmp_path / "records"
    place.mkdir()
    data = b"anyffi-records 2\n" + json.dumps({"mode": "cython"}).encode() + b"\n"
    for each in [*records[:-3], *(part for pair in refused for part in pair), *records[-3:]]:
        record = each if type(each) is bytes else pickle.dumps(each)
        data += len(record).to_bytes(4, "little") + zlib.crc32(record).to_bytes(4, "little") + record
    (place / "1.calls").write_bytes(data)
    status, text = replay(place)
    failed = len(wrong) + len(refused) + 1
    assert summary(text) == f"2 calls replayed in ctypes mode: 0 differ, {failed} could not be replayed"
    assert status == 2
    assert text.count("cannot be replayed: this is no record of a call") == len(wrong)


@pytest.mark.parametrize("suffix", [".calls", ".notes"])
def test_descriptions_that_cannot_be_read(tmp_path: pathlib.Path, suffix: str) -> None:
    (tmp_path / f"1{suffix}").write_bytes(b"anyffi-records 2\n" + b"[" * 100_000 + b"\n")
    status, text = replay(tmp_path)
    assert status == 2
    if suffix == ".calls":
        assert text.endswith(f"{tmp_path}/1.calls: its second line does not describe a process\n")
    else:
        assert text == "0 calls replayed in ctypes mode: 0 differ, 0 could not be replayed\n"


def test_calls_that_cannot_be_encoded(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(library)}m.same('\u4e2d')")
    command = [sys.executable, "-m", "anyffi", "replay", place, "--list"]
    done = run(command, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "arguments: '\\u4e2d'" in done.stdout


def test_a_call_to_debug_that_cannot_be_loaded(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copied = tmp_path / library.name
    shutil.copy(library, copied)
    place = record(tmp_path, f"{load(copied)}m.same(1)")
    copied.unlink()
    text = replay(place, "ctypes", "--call", "1", "--pdb")[1]
    assert re.fullmatch(r"\S+, call 1: cannot be replayed: builtins.FileNotFoundError: .*\n", text)


def test_calls_that_did_not_return(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for x, found in ((1, "it ended the process with signal 6"), (2, "Int 2")):
        place = tmp_path / str(x)
        program = f"{load(library)}m.same(5); m.crash({x})"
        done = run([sys.executable, "-c", program], FFI_MODE="cython", FFI_RECORD=os.fspath(place))
        assert done.returncode == -6
        status, text = replay(place)
        assert status == 1
        assert "crash(x: int) -> int" in text
        if x == 1:
            assert f"it did not return in cython mode, and in ctypes mode {found}" in text
            assert summary(text).endswith("0 differ, 0 could not be replayed, 1 did not return in either")
        else:
            assert f"it did not return when it was recorded, and became {found}" in text
            assert summary(text) == "2 calls replayed in ctypes mode: 1 differ, 0 could not be replayed"


def test_what_a_call_depends_on_besides_its_arguments(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(library)}m.count(); m.scaled(2.0); m.count()")
    status, text = replay(place, "ctypes", "--alone")
    assert status == 1
    first, second = text.index("call 2"), text.index("call 3")
    assert "differs again" not in text[first:second]
    assert "the result: Int 2 became Int 1" in text[second:]
    assert "in cython mode it differs again" in text[second:]
    assert replay(place, "cython") == (
        0,
        "3 calls replayed in cython mode: 0 differ, 0 could not be replayed\n",
    )


def test_views_of_arrays(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("numpy")
    program = load(library) + (
        "import numpy as np\n"
        "x = np.arange(12.0); y = np.asfortranarray(x.reshape(3, 4)); y.flags.writeable = False\n"
        "for a, b in ((x[::2], x), (x[::-1], x), (x, x[:3]), (x[4:], x[5:]), (y[1], y[0]), (y.T[2], x[::3]),\n"
        "             (x[0:0], x), (np.ones(40000)[::5], x)):\n"
        "    m.step(a, b); m.same([a, b])\n"
    )
    place = record(tmp_path, program, FFI_RECORD_SIZE="1M")
    for mode in ("ctypes", "cython"):
        _, text = replay(place, mode)
        # If the array of a view is too large, only the view is recorded.
        assert summary(text) == f"16 calls replayed in {mode} mode: 1 differ, 0 could not be replayed"
        assert "Int 5 became Int 1" in text
        assert ("in cython mode it differs again" in text) == (mode == "ctypes")


def test_values_of_many_levels(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(library) + (
        "xs = anyffi.List([1]); xs.append(xs); d = anyffi.Dict(); d['self'] = d\n"
        "m.same(xs); m.same(d)\n"
        "m.nested(150, 1)\n"
    )
    status, text = replay(record(tmp_path, program))
    assert status == 1
    assert "Int 1 became Int 2" in text
    assert summary(text) == "3 calls replayed in ctypes mode: 1 differ, 0 could not be replayed"


def test_calls_that_take_too_long(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    signal = tmp_path / "signal"
    signal.write_text("")
    place = record(tmp_path, f"{load(library)}m.same(1); m.wait({os.fspath(signal)!r}); m.same(2)")
    signal.unlink()
    status, text = replay(place, "ctypes", "--timeout", "0.5")
    assert status == 1
    assert "in ctypes mode it had not returned after 0.5 seconds" in text
    assert summary(text) == "3 calls replayed in ctypes mode: 1 differ, 0 could not be replayed"


def test_lists_and_single_calls(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(library)}m.same([1]); m.scaled(2.0, by=3.0)")
    status, text = replay(place, "ctypes", "--list")
    assert status == 0
    assert re.search(
        r"call 2: scaled\(.*, in cython mode\n    arguments: 2\.0, by=3\.0\n    Float 6\.0\n", text
    )
    status, text = replay(place, "ctypes", "--call", "1")
    assert (status, text) == (0, "1 calls replayed in ctypes mode: 0 differ, 0 could not be replayed\n")
    command = [sys.executable, "-m", "anyffi", "replay", place, "--mode", "ctypes", "--call", "2", "--pdb"]
    done = run(command, stdin="args\ncontinue\n")
    assert "arguments: 2.0, by=3.0" in done.stdout
    assert "kwargs = {'by': 3.0}" in done.stdout
    assert "--pdb debugs one call" in replay(place, "ctypes", "--pdb")[1]
    for call in ("0", "3"):
        assert f"there is no call {call}" in replay(place, "ctypes", "--call", call)[1]
    for seconds in ("0", "-1", "nan", "inf", "x"):
        text = replay(place, "ctypes", f"--timeout={seconds}")[1]
        assert f"'{seconds}' is no number of seconds from above 0 to a million" in text


def test_pickling_cannot_end_the_program(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "helper.py").write_text("class X:\n    def __reduce__(self): raise SystemExit('no')\n")
    program = f"import sys; sys.path.insert(0, {os.fspath(tmp_path)!r}); import helper\n{load(library)}"
    program += "m.same(helper.X()); print('end')"
    assert run_program(program, "cython", FFI_RECORD=os.fspath(tmp_path / "r")) == run_program(
        program, "cython"
    )
    assert "pickling raised SystemExit" in replay(tmp_path / "r")[1]


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ("sys.exit(3)", "builtins.SystemExit: 3"),
        ("os._exit(3)", "when it was loaded, it ended the process with status 3"),
    ],
)
def test_unpickling_that_ends_the_process(
    library: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, ends: str, reason: str
) -> None:
    """The call was not made, so that it does not differ; other calls are replayed, and listed."""
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    (tmp_path / "ending.py").write_text(
        "def end(): pass\n"
        "class X:\n"
        "    def __anyffi_value__(self): return 1\n"
        "    def __reduce__(self): return end, ()\n"
    )
    place = record(tmp_path, f"import ending\n{load(library)}m.same(1); m.same(ending.X()); m.same(2)\n")
    (tmp_path / "ending.py").write_text(f"import os, sys\ndef end(): {ends}\n")
    failed = f"call 2: cannot be replayed: {reason}"
    for options in ((), ("--alone",)):
        status, text = replay(place, "ctypes", *options)
        assert status == 2
        assert failed in text
        assert summary(text) == "2 calls replayed in ctypes mode: 0 differ, 1 could not be replayed"
    status, text = replay(place, "ctypes", "--list")
    assert status == 2
    assert f"    cannot be replayed: {reason}\n" in text
    assert [line for line in text.splitlines() if "arguments: " in line] == [
        "    arguments: 1",
        "    arguments: 2",
    ]


def test_a_directory_that_is_removed(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """There is one warning, and recording continues once the directory exists again."""
    place = tmp_path / "records"
    program = load(library) + (
        "import os, shutil, sys\n"
        "place = sys.argv[1]\n"
        "m.same('lost')\n"
        "shutil.rmtree(place)\n"
        "for _ in range(3): assert m.same(1) == 1\n"
        "os.mkdir(place)\n"
        "m.same('kept')\n"
        "for name in os.listdir(place): os.unlink(os.path.join(place, name))\n"
        "m.same('last')\n"
    )
    done = run([sys.executable, "-c", program, place], FFI_MODE="cython", FFI_RECORD=os.fspath(place))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning") == 1
    shown = f"RuntimeWarning: FFI_RECORD={place}: calls are not recorded while it cannot be written: "
    assert shown in done.stderr
    status, text = replay(place, "ctypes", "--list")
    assert status == 0, text
    assert re.findall("arguments: (.*)", text) == ["'last'"]


@pytest.mark.parametrize("error", ["MemoryError", "RecursionError"])
def test_a_function_whose_first_call_cannot_be_recorded(
    library: pathlib.Path, tmp_path: pathlib.Path, error: str
) -> None:
    program = load(library) + (
        "from anyffi._tracing import recording\n"
        "find = recording._find_member\n"
        "def fail(function):\n"
        "    recording._find_member = find\n"
        f"    raise {error}\n"
        "recording._find_member = fail\n"
        "m.same('first')\n"
        "m.same('second')\n"
    )
    assert "arguments: 'second'" in replay(record(tmp_path, program), "ctypes", "--list")[1]


def test_what_signal_handlers_raise_is_not_lost(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A handler that runs while a call is pickled ends the program's statement, and the call stays recordable."""
    (tmp_path / "interrupted.py").write_text(
        "import os, signal\n"
        "class Interrupt(Exception): pass\n"
        "def handle(*_): raise Interrupt\n"
        "signal.signal(signal.SIGALRM, handle)\n"
        "moments = []\n"
        "class Value:\n"
        "    def __anyffi_value__(self): return 1\n"
        "    def __reduce__(self):\n"
        "        moments.append(1)\n"
        "        if len(moments) in (1, 4): os.kill(os.getpid(), signal.SIGALRM)\n"
        "        return Value, ()\n"
    )
    program = load(library) + (
        f"import sys; sys.path.insert(0, {os.fspath(tmp_path)!r})\n"
        "from interrupted import Interrupt, Value, moments\n"
        # The handler raises once before a call, and once after one.
        "for _ in range(2):\n"
        "    try: m.same(Value())\n"
        "    except Interrupt: moments.append('raised')\n"
        "m.same(5)\n"
        "assert moments.count('raised') == 2, moments\n"
    )
    place = record(tmp_path, program)
    assert [path.suffix for path in place.iterdir()] == [".calls"]


def test_a_trace_has_no_calls_of_the_recorder(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"{load(library)}p = m.Point(1.0); p.moved(2.0)"
    traces = []
    for name, variables in (("with", {"FFI_RECORD": os.fspath(tmp_path / "r")}), ("without", {})):
        run_program(program, "cython", FFI_TRACE=os.fspath(tmp_path / name), **variables)
        events = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        traces.append([event["name"] for event in events if event["event"] == "call"])
    assert traces[0] == traces[1]


def test_a_library_that_has_changed(library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "copied.so"
    copy.write_bytes(library.read_bytes())
    place = record(tmp_path, f"{load(copy)}m.same(1)")
    os.utime(copy, (1, 1))
    assert replay(place)[1].startswith(f"{copy} has changed since the calls were recorded\n")
