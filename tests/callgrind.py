"""Runs a Python program under valgrind's callgrind, which counts the same instructions and calls in every run."""

from __future__ import annotations

import collections
import pathlib
import re
import shutil
import sys

import pytest
from support import SANITIZED, run


def run_parts(folder: pathlib.Path, program: str, *arguments: object, ffi_mode: str) -> list[pathlib.Path]:
    """What callgrind wrote of each part of a program; skips the test where it cannot run.

    Parts end with a call of `os.getloadavg`, a C function that nothing else calls. What comes before the first
    such call is no part.
    """
    if sys.implementation.name != "cpython":
        pytest.skip("a compiler at run time does not execute the same instructions twice")
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("there is no valgrind (Debian: apt-get install valgrind)")
    if SANITIZED:
        pytest.skip("valgrind cannot run what the address sanitizer was built into")
    path = folder / "program.py"
    path.write_text(program)
    options = ["--dump-before=getloadavg", "--compress-strings=no", "--compress-pos=no"]
    done = run(
        [
            *(valgrind, "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", *options),
            *(sys.executable, path, *arguments),
        ],
        FFI_MODE=ffi_mode,
        PYTHONHASHSEED="0",
    )
    assert done.returncode == 0, done.stderr
    # What follows the last mark goes to `out` itself.
    return sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))[1:]


def instructions(part: pathlib.Path) -> int:
    """How many instructions a part executed."""
    found = re.search(r"^(?:totals|summary): (\d+)", part.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def entries(part: pathlib.Path, library: str) -> dict[str, int]:
    """How often each function of a shared library was called from outside of it."""
    counts: dict[str, int] = collections.Counter()
    caller = callee = called = ""
    for line in part.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            caller = callee = value
        elif key == "cob":
            callee = value
        elif key == "cfn":
            called = value
        elif key == "calls":
            if callee.endswith(library) and not caller.endswith(library):
                counts[called] += int(value.split()[0])
            # A call within the same object does not name it.
            callee = caller
    return dict(counts)
