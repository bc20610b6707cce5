"""Starts a worker for each mode: plainly, under callgrind, or on PyPy."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from . import callgrind
from .bars import Table

PYPY = pathlib.Path(__file__).resolve().parents[2] / ".dev" / "pypy"


def run_module(name: str, mode: str, options: dict[str, Any], *before: str) -> Any:
    """What a module of this package printed; `before` is what runs the interpreter."""
    done = subprocess.run(
        [*before, sys.executable, "-m", f"bench.{name}", json.dumps(options)],
        env={**os.environ, "FFI_MODE": mode, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if before else None,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def count(mode: str, options: dict[str, Any]) -> Table:
    """Instructions of each row in a mode; none where there is no valgrind."""
    valgrind = callgrind.find_valgrind()
    if valgrind is None:
        print("Left out: instructions: there is no valgrind (Debian: apt-get install valgrind)")
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        before = callgrind.command(valgrind, folder)
        result = run_module("worker", mode, {**options, "count": True}, *before)
        totals = [callgrind.instructions(part) for part in callgrind.parts(folder)]
        # What surrounds the statements is the same in both.
        more = iter([longer - shorter for shorter, longer in zip(totals[1::3], totals[2::3])])
        return {
            row: {contender: next(more) / times for contender, times in counted.items()}
            for row, counted in result["rows"].items()
        }


def measure_pypy(options: dict[str, Any]) -> Table:
    """Nanoseconds on PyPy; none where its environment, which `dev.py pypy` makes, is not there."""
    python = PYPY / "env" / "bin" / "python"
    if not python.exists():
        print("Left out: PyPy: `python3 tools/dev.py pypy` sets it up")
        return {}
    variables = {"ANYFFI_BUILD_DIR": str(PYPY / "build"), "FFI_MODE": "ctypes"}
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(python), "-m", "bench.worker", json.dumps({**options, "contenders": ["anyffi"]})],
        env={**os.environ, **variables, "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])["rows"]  # type: ignore[no-any-return]


def beside_each_other(cython: Table, ctypes: Table, pypy: Table) -> Table:
    """What anyffi takes in each mode."""
    columns = {"cython": cython, "ctypes": ctypes, "PyPy": pypy}
    table: Table = {}
    for row in ctypes:
        found = {mode: times.get(row, {}).get("anyffi") for mode, times in columns.items()}
        table[row] = {mode: time for mode, time in found.items() if time is not None}
    return table
