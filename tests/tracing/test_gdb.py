"""The script for gdb: values, the arguments of a call, and Python's stack."""

from __future__ import annotations

import ast
import pathlib
import re
import shutil
import sys
from typing import Any

import anyffi
import pytest
from support import CXX, ROOT, SANITIZED, cpython_only, needs_compilers, run

pytestmark = [needs_compilers, pytest.mark.slow("compiling"), cpython_only("gdb only finds CPython's stack")]

SOURCE = """
#include <anyffi/anyffi.h>
#include <anyffi/stl/optional.h>
#include <anyffi/stl/vector.h>
static int64_t stop(anyffi::AnyValue number, anyffi::AnyValue text, anyffi::AnyView xs) {
  return xs.size() + text.size() + number.cast<int64_t>();
}
ANYFFI_EXPORT(stop, &stop);

static int64_t take_all(anyffi::List<int64_t> xs, const anyffi::Function& f, anyffi::AnyValue none, anyffi::AnyValue any,
                    std::optional<anyffi::List<int64_t>> maybe) {
  return xs.size();
}
ANYFFI_EXPORT(take_all, &take_all);

static int64_t copied(const std::vector<int64_t>& numbers) { return static_cast<int64_t>(numbers.size()); }
ANYFFI_EXPORT(copied, &copied);
"""

PROGRAM = """
import anyffi
module = anyffi.load_module("./stopped.so")
def caller(xs):
    module.stop(-5, "short", xs)
    module.take_all([1], len, None, [2], [3])
    module.copied([4])
caller(anyffi.List([1]))
"""


def test_the_table_of_types(ffi: Any) -> None:
    tree = ast.parse((ROOT / "pkg" / "_tracing" / "gdb_script.py").read_text())
    [table] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "NAMES"  # type: ignore[attr-defined]
    ]
    rows = {row[0]: row[1] for row in ffi.Object._anyffi_runtime.type_table()}
    assert ast.literal_eval(table) == {code: name for code, name in rows.items() if code < 128}


@pytest.mark.skipif(SANITIZED, reason="gdb does not end where the sanitizers are preloaded")
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("mode", ["cython", "ctypes"])
def test_a_stopped_call(tmp_path: pathlib.Path, mode: str, request: pytest.FixtureRequest) -> None:
    if mode not in request.config.getoption("--modes"):
        pytest.skip(f"without {mode} mode")
    (tmp_path / "stopped.cc").write_text(SOURCE)
    (tmp_path / "program.py").write_text(PROGRAM)
    runtime = pathlib.Path(anyffi.find_library("anyffi")).parent
    flags = ["-g", "-O0", "-std=c++17", "-shared", "-fPIC", "-I", anyffi.find_include_dir()]
    done = run(
        [CXX, *flags, "stopped.cc", "-o", "stopped.so", "-L", runtime, "-lanyffi"],
        cwd=tmp_path,
        LD_PRELOAD=None,
    )
    assert done.returncode == 0, done.stderr
    script = run([sys.executable, "-m", "anyffi", "gdb"]).stdout.strip()
    commands = [
        "set breakpoint pending on",
        "break stop",
        "run",
        "anyffi-border",
        "print text",
        "print xs",
        "break take_all",
        "continue",
        "anyffi-border",
        "print f",
        "break copied",
        "continue",
        "anyffi-border",
        "kill",
    ]
    words = [x for command in commands for x in ("-ex", command)]
    done = run(
        ["gdb", "-q", "-batch", "-x", script, *words, "--args", sys.executable, "program.py"],
        cwd=tmp_path,
        FFI_MODE=mode,
        LD_PRELOAD=None,
    )
    output = done.stdout
    if "Unable to find libthread_db matching" in done.stderr:
        pytest.skip("gdb cannot read the C library that was unpacked with this interpreter")
    if "outside of ELF segments" in output + done.stderr:
        pytest.skip("gdb cannot read the symbols of this interpreter, which was assembled")
    assert "argument 0: Int(-5)\n" in output, output + done.stderr
    assert "argument 1: Str('short')\n" in output
    assert "argument 2: List at 0x" in output
    assert "= Str('short')\n" in output
    assert "= List at 0x" in output
    # The parameters have taken over the objects that were created for the call, except for one by reference.
    _, _, taken = output.partition("Breakpoint 2, take_all")
    taken, _, read = taken.partition("Breakpoint 3, copied")
    # In cython mode, C++ copies the elements directly from Python's list.
    place = "of the host at 0x[0-9a-f]+, read in place" if mode == "cython" else "at 0x[0-9a-f]+, 1 reference"
    assert re.search(f"argument 0: List {place}", read), read
    found = [line for line in taken.splitlines() if line.startswith("argument ")]
    place = "at 0x[0-9a-f]+, 1 reference"
    taken_by = f"{place}, taken by the parameter"
    expected = [f"List {taken_by} xs", f"Function {place}", "None", f"List {taken_by} any"]
    expected.append("None, or taken by the parameter maybe")
    assert len(found) == len(expected), output
    for index, (line, text) in enumerate(zip(found, expected)):
        assert re.fullmatch(f"argument {index}: {text}", line), line
    assert re.search(r"\$3 = .*Function at 0x", taken), taken
    # On some machines gdb can call no function of a process, and the script says so.
    if "no stack of Python: No symbol" in output:
        assert "; its symbols were stripped: `python -X faulthandler` writes the stack at a crash\n" in output
    elif "no stack of Python: Couldn't write extended state" not in output:
        assert 'program.py", line 5 in caller' in done.stderr, done.stderr
