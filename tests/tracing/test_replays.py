"""`python -m anyffi replay`: which differences it finds, and which calls it cannot replay."""

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
from recorded import load, record, replay, summary
from support import Build, cpython_only, needs_compilers, run

pytestmark = [needs_compilers, cpython_only("needs both marshallers")]


@pytest.fixture(autouse=True)
def _both(both: tuple[Any, Any]) -> None:
    """Skip these tests if only one marshaller is tested: there is no other one to replay in."""


def test_calls_that_agree(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("numpy")
    program = load(recorded_library) + (
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


def test_tensors_of_torch(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Their pickles have addresses, which differ in each process."""
    pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
    program = load(recorded_library) + (
        "import torch\n"
        "x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)\n"
        "for each in (x, x.T, x.bfloat16(), x[0:0], x[:, ::2]): m.same([each])\n"
        "try: m.same(torch.nn.Parameter(x))\n"
        "except BufferError: pass\n"
        "m.same(torch.nn.Linear(2, 1))\n"
        "m.same(torch.empty(1000)[:2].fill_(1))\n"
    )
    place = record(tmp_path, program)
    for mode in ("ctypes", "cython"):
        assert replay(place, mode) == (
            0,
            f"8 calls replayed in {mode} mode: 0 differ, 0 could not be replayed\n",
        )


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
def test_differences(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path, call: str, difference: str
) -> None:
    program = f"{load(recorded_library)}try: {call}\nexcept Exception: pass\nm.same(1)"
    place = record(tmp_path, program)
    status, text = replay(place)
    assert status == 1
    differ = 2 if "Point(0)" in call else 1
    assert f"from cython to ctypes mode, {difference}\n" in text
    assert re.match(r"\S+\.calls, call 1: \w+\(", text)
    assert summary(text).endswith(f"calls replayed in ctypes mode: {differ} differ, 0 could not be replayed")
    assert replay(place, "cython")[0] == 0


def test_callables_that_have_a_state(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    (tmp_path / "asked.py").write_text(
        "import anyffi\n"
        "class Asked:\n"
        "    mode = None\n"
        "    def __call__(self):\n"
        "        self.mode = anyffi.ffi_mode\n"
    )
    place = record(
        tmp_path, f"{load(recorded_library)}import anyffi.testing as t, asked; t.apply(asked.Asked())"
    )
    status, text = replay(place)
    assert status == 1
    assert "state[1]['mode']: Str 'cython' became Str 'ctypes'" in text
    assert replay(place, "cython")[0] == 0


def test_a_call_that_ends_the_process(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(
        tmp_path, f"{load(recorded_library)}for i in range(4): m.end(i)\nprint('noise')\nm.scaled(2)"
    )
    status, text = replay(place)
    assert status == 1
    found = re.search(
        r"call 2: (.*)\n    arguments: (.*)\n    recorded in cython mode, in ctypes mode (.*)", text
    )
    assert found is not None
    assert found[1].startswith("end(")
    assert found.groups()[1:] == ("1", "it ended the process with signal 6")
    assert summary(text) == "5 calls replayed in ctypes mode: 2 differ, 0 could not be replayed"


def test_calls_that_cannot_be_found_again(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "helper.py").write_text("class X: pass\n")
    program = (
        f"import sys; sys.path.insert(0, {os.fspath(tmp_path)!r}); import helper\n{load(recorded_library)}"
    )
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


def test_calls_that_cannot_be_encoded(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(recorded_library)}m.same('\u4e2d')")
    command = [sys.executable, "-m", "anyffi", "replay", place, "--list"]
    done = run(command, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "arguments: '\\u4e2d'" in done.stdout


def test_a_call_to_debug_that_cannot_be_loaded(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    copied = tmp_path / recorded_library.name
    shutil.copy(recorded_library, copied)
    place = record(tmp_path, f"{load(copied)}m.same(1)")
    copied.unlink()
    text = replay(place, "ctypes", "--call", "1", "--pdb")[1]
    assert re.fullmatch(r"\S+, call 1: cannot be replayed: builtins.FileNotFoundError: .*\n", text)


def test_calls_that_did_not_return(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for x, found in ((1, "it ended the process with signal 6"), (2, "Int 2")):
        place = tmp_path / str(x)
        program = f"{load(recorded_library)}m.same(5); m.crash({x})"
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


def test_what_a_call_depends_on_besides_its_arguments(
    recorded_library: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    place = record(tmp_path, f"{load(recorded_library)}m.count(); m.scaled(2.0); m.count()")
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


def test_views_of_arrays(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("numpy")
    program = load(recorded_library) + (
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


def test_values_of_many_levels(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = load(recorded_library) + (
        "xs = anyffi.List([1]); xs.append(xs); d = anyffi.Dict(); d['self'] = d\n"
        "m.same(xs); m.same(d)\n"
        "m.nested(150, 1)\n"
    )
    status, text = replay(record(tmp_path, program))
    assert status == 1
    assert "Int 1 became Int 2" in text
    assert summary(text) == "3 calls replayed in ctypes mode: 1 differ, 0 could not be replayed"


def test_calls_that_take_too_long(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    signal = tmp_path / "signal"
    signal.write_text("")
    place = record(tmp_path, f"{load(recorded_library)}m.same(1); m.wait({os.fspath(signal)!r}); m.same(2)")
    signal.unlink()
    status, text = replay(place, "ctypes", "--timeout", "0.5")
    assert status == 1
    assert "in ctypes mode it had not returned after 0.5 seconds" in text
    assert summary(text) == "3 calls replayed in ctypes mode: 1 differ, 0 could not be replayed"


def test_lists_and_single_calls(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = record(tmp_path, f"{load(recorded_library)}m.same([1]); m.scaled(2.0, by=3.0)")
    status, text = replay(place, "ctypes", "--list")
    assert status == 0
    assert re.search(
        r"call 2: scaled\(.*, in cython mode\n    arguments: 2\.0, by=3\.0\n    Float 6\.0\n", text
    )
    status, text = replay(place, "ctypes", "--call", "1")
    assert (status, text) == (0, "1 calls replayed in ctypes mode: 0 differ, 0 could not be replayed\n")
    command = [sys.executable, "-m", "anyffi", "replay", place, "--mode", "ctypes", "--call", "2", "--pdb"]
    # The call runs in the process that was started, so that gdb, which may have started it, stops in C++.
    command = ["sh", "-c", 'echo "started $$"; exec "$@"', "sh", *command]
    done = run(command, stdin="args\np 'runs', __import__('os').getpid()\ncontinue\n")
    started = re.search(r"started (\d+)", done.stdout)
    assert started is not None
    assert f"('runs', {started[1]})" in done.stdout
    assert "arguments: 2.0, by=3.0" in done.stdout
    assert "kwargs = {'by': 3.0}" in done.stdout
    assert "--pdb debugs one call" in replay(place, "ctypes", "--pdb")[1]
    for call in ("0", "3"):
        assert f"there is no call {call}" in replay(place, "ctypes", "--call", call)[1]
    for seconds in ("0", "-1", "nan", "inf", "x"):
        text = replay(place, "ctypes", f"--timeout={seconds}")[1]
        assert f"'{seconds}' is no number of seconds from above 0 to a million" in text


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ("sys.exit(3)", "builtins.SystemExit: 3"),
        ("os._exit(3)", "when it was loaded, it ended the process with status 3"),
    ],
)
def test_unpickling_that_ends_the_process(
    recorded_library: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: str,
    reason: str,
) -> None:
    """The call was not made, so that it does not differ; other calls are replayed, and listed."""
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    (tmp_path / "ending.py").write_text(
        "def end(): pass\n"
        "class X:\n"
        "    def __anyffi_value__(self): return 1\n"
        "    def __reduce__(self): return end, ()\n"
    )
    place = record(
        tmp_path, f"import ending\n{load(recorded_library)}m.same(1); m.same(ending.X()); m.same(2)\n"
    )
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


def test_a_library_that_has_changed(recorded_library: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "copied.so"
    copy.write_bytes(recorded_library.read_bytes())
    place = record(tmp_path, f"{load(copy)}m.same(1)")
    os.utime(copy, (1, 1))
    assert replay(place)[1].startswith(f"{copy} has changed since the calls were recorded\n")
