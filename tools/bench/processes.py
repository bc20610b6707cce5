"""Starts a worker for each mode, plainly or under callgrind."""

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
from .worker import COUNTED

MODES = ("cython", "ctypes")


def run_worker(mode: str, options: dict[str, Any], before: list[str]) -> dict[str, Any]:
    """What a worker printed; `before` is what runs it."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "bench.worker", json.dumps(options)],
        env={**os.environ, "FFI_MODE": mode, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if before else None,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def measure(mode: str, options: dict[str, Any]) -> dict[str, Any]:
    """Nanoseconds of each row in a mode."""
    return run_worker(mode, {**options, "count": False}, [])


def count(mode: str, options: dict[str, Any]) -> Table:
    """Instructions of each row in a mode; none where there is no valgrind."""
    valgrind = callgrind.find_valgrind()
    if valgrind is None:
        print("Left out: instructions: there is no valgrind (Debian: apt-get install valgrind)")
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        result = run_worker(mode, {**options, "count": True}, callgrind.command(valgrind, folder))
        # Of each three the first one only warms up. What surrounds the statements is the same in both others.
        totals = [callgrind.instructions(part) for part in callgrind.parts(folder)]
        counted = iter(
            [(twice - once) / COUNTED for once, twice in zip(totals[1::3], totals[2::3])],
        )
        rows = result["rows"].items()
        return {row: {contender: next(counted) for contender in contenders} for row, contenders in rows}
