"""FFI_RECORD: which calls are kept, within which bounds, and what happens if they cannot be written."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
from typing import Any

import pytest
from programs import run_program
from recorded import load, record, replay, summary
from support import cpython_only, needs_compilers, run

pytestmark = [needs_compilers, cpython_only("needs both marshallers")]


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Skip these tests if only one marshaller is tested: there is no other one to replay in."""


def test_what_cannot_be_recorded(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(recorded_library) + (
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


def test_samples(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"import random; random.seed(1)\n{load(recorded_library)}for i in range(2000): m.same(i)\nprint(random.random())"
    place = tmp_path / "records"
    without = run_program(program, "cython")
    assert run_program(program, "cython", FFI_RECORD=os.fspath(place), FFI_RECORD_SAMPLE="0.1") == without
    count = int(summary(replay(place)[1]).split()[0])
    assert 100 < count < 320


def test_a_directory_has_bounds(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"{load(recorded_library)}for i in range(3000): m.same([i, 'x' * 200])"
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


def test_files_that_were_only_begun(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A process that is killed in its first lines does not make the other files unreadable."""
    place = record(tmp_path, f"{load(recorded_library)}m.same(1)", "ctypes")
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
def test_a_file_that_cannot_be_begun(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path, written: int
) -> None:
    """On a full disk no file without its first lines remains, to which later calls would be appended."""
    program = (
        "import os\n"
        f"{load(recorded_library)}m.same('before')\n"
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


def test_libraries_are_written_again(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """On a full disk the list of libraries may be lost; later calls need it."""
    program = (
        f"import os\n{load(recorded_library)}"
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


def test_a_thread_that_records_at_a_fork(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(recorded_library) + (
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


def test_forks_have_files_of_their_own(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(recorded_library) + (
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


def test_pickling_cannot_end_the_program(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "helper.py").write_text("class X:\n    def __reduce__(self): raise SystemExit('no')\n")
    program = (
        f"import sys; sys.path.insert(0, {os.fspath(tmp_path)!r}); import helper\n{load(recorded_library)}"
    )
    program += "m.same(helper.X()); print('end')"
    assert run_program(program, "cython", FFI_RECORD=os.fspath(tmp_path / "r")) == run_program(
        program, "cython"
    )
    assert "pickling raised SystemExit" in replay(tmp_path / "r")[1]


def test_a_directory_that_is_removed(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """There is one warning, and recording continues once the directory exists again."""
    place = tmp_path / "records"
    program = load(recorded_library) + (
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
    recorded_library: pathlib.Path, tmp_path: pathlib.Path, error: str
) -> None:
    program = load(recorded_library) + (
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


def test_what_signal_handlers_raise_is_not_lost(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path
) -> None:
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
    program = load(recorded_library) + (
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


def test_a_trace_has_no_calls_of_the_recorder(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"{load(recorded_library)}p = m.Point(1.0); p.moved(2.0)"
    traces = []
    for name, variables in (("with", {"FFI_RECORD": os.fspath(tmp_path / "r")}), ("without", {})):
        run_program(program, "cython", FFI_TRACE=os.fspath(tmp_path / name), **variables)
        events = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        traces.append([event["name"] for event in events if event["event"] == "call"])
    assert traces[0] == traces[1]
