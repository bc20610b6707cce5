"""Run a Python program under Valgrind's callgrind; skip the test if that is impossible."""

from __future__ import annotations

import pathlib
import sys

import pytest
from bench.callgrind import command, entries, find_valgrind, instructions, parts
from support import SANITIZED, run

__all__ = ["entries", "instructions", "run_parts"]


def run_parts(folder: pathlib.Path, program: str, *arguments: object, ffi_mode: str) -> list[pathlib.Path]:
    """Return the costs of each part of a program; the first part begins at the first mark."""
    if sys.implementation.name != "cpython":
        pytest.skip("a compiler at run time does not execute the same instructions twice")
    valgrind = find_valgrind()
    if valgrind is None:
        pytest.skip("there is no valgrind (Debian: apt-get install valgrind)")
    if SANITIZED:
        pytest.skip("valgrind cannot run what the address sanitizer was built into")
    path = folder / "program.py"
    path.write_text(program)
    done = run(
        [
            *command(valgrind, folder, "--compress-strings=no", "--compress-pos=no"),
            *(sys.executable, path, *arguments),
        ],
        FFI_MODE=ffi_mode,
        PYTHONHASHSEED="0",
    )
    assert done.returncode == 0, done.stderr
    return parts(folder)[1:]
