"""Runs a worker per mode: directly, under callgrind, on PyPy, or as a server of requests."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from . import callgrind
from .bars import Table

if TYPE_CHECKING:
    from typing_extensions import Self

PYPY = pathlib.Path(__file__).resolve().parents[2] / ".dev" / "pypy"


def run_module(name: str, mode: str, options: dict[str, Any], *before: str) -> Any:
    """Run a module of this package and return what it printed; `before` precedes the interpreter."""
    done = subprocess.run(
        [*before, *command(name, options)],
        env=variables(mode),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if before else None,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def command(name: str, options: dict[str, Any]) -> list[str]:
    return [sys.executable, "-m", f"bench.{name}", json.dumps(options)]


def variables(mode: str) -> dict[str, str]:
    return {**os.environ, "FFI_MODE": mode, "PYTHONHASHSEED": "0"}


class Worker:
    """A module of this package that runs in a mode, and answers one line of JSON with another.

    Workers that take turns see the same load of the machine, so that their results can be compared.
    """

    def __init__(self, name: str, mode: str, options: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            command(name, options),
            env=variables(mode),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def ask(self, request: dict[str, Any]) -> Any:
        """Send a request and wait for its answer. Raises RuntimeError if the process has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            answer = stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError(f"a worker ended with status {self._process.wait()} at {request}")
        return json.loads(answer)

    def __exit__(self, *exception: object) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()


def count(mode: str, options: dict[str, Any]) -> Table:
    """Count the instructions of each row in a mode; none without Valgrind."""
    valgrind = callgrind.find_valgrind()
    if valgrind is None:
        print("Not measured: instructions: Valgrind is not installed (Debian: apt-get install valgrind)")
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        before = callgrind.command(valgrind, folder)
        result = run_module("worker", mode, {**options, "count": True}, *before)
        totals = [callgrind.instructions(part) for part in callgrind.parts(folder)]
        # The difference of two parts, because the code around the statements runs equally often in both.
        more = iter([longer - shorter for shorter, longer in zip(totals[1::3], totals[2::3])])
        return {
            row: {contender: next(more) / times for contender, times in counted.items()}
            for row, counted in result["rows"].items()
        }


def measure_pypy(options: dict[str, Any]) -> Table:
    """Measure on PyPy; nothing without the environment that `dev.py pypy` creates."""
    python = PYPY / "env" / "bin" / "python"
    if not python.exists():
        print("Not measured: PyPy: `python3 tools/dev.py pypy` sets it up")
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


def compare_modes(cython: Table, ctypes: Table, pypy: Table) -> Table:
    """Return the times of anyffi alone, with a column per mode."""
    columns = {"cython": cython, "ctypes": ctypes, "PyPy": pypy}
    table: Table = {}
    for row in ctypes:
        found = {mode: times.get(row, {}).get("anyffi") for mode, times in columns.items()}
        table[row] = {mode: time for mode, time in found.items() if time is not None}
    return table
