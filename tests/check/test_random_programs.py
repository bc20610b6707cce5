"""Random programs do the same in both modes: results, classes and texts of errors, the order of users' code, memory."""

from __future__ import annotations

import ast
import gc
import os
import pathlib
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import Step, run_program
from support import CPYTHON

_number = st.integers(0, 500)
_steps = st.tuples(_number, _number, _number, _number)
#: For the session `fuzz`: how long, in seconds; the file to write each program to; the one to read a single one from.
SECONDS = float(os.environ.get("ANYFFI_FUZZ_SECONDS", "0"))
WRITES = os.environ.get("ANYFFI_FUZZ_WRITES")
READS = os.environ.get("ANYFFI_FUZZ_READS")


def run(ffi: Any, steps: list[Step], inner: list[Step]) -> list[str]:
    log = run_program(ffi, steps, inner)
    if CPYTHON and log[-1] != "0 blocks":
        # Cycles through Python's own containers are collected.
        blocks = ffi.get_global_func("testing.live_blocks")
        before = blocks()
        gc.collect()
        log[-1] = f"{int(log[-1].split()[0]) + blocks() - before} blocks"
    return log


def compare(both: tuple[Any, Any], steps: list[Step], inner: list[Step]) -> None:
    if WRITES:
        # The process may end within the program.
        pathlib.Path(WRITES).write_text(repr((steps, inner)))
    one, other = (run(ffi, steps, inner) for ffi in both)
    for number, (mine, theirs) in enumerate(zip(one, other)):
        assert mine == theirs, f"after {one[:number]}"
    assert len(one) == len(other)
    assert one[-1] == "0 blocks" or not CPYTHON


#: The same programs each time, but in the session `fuzz`, which runs some hundreds of them again and again.
SETTINGS = {"max_examples": 500} if SECONDS else {"derandomize": True, "database": None}


@settings(**SETTINGS)  # type: ignore[arg-type]
@given(st.lists(_steps, min_size=3, max_size=30), st.lists(_steps, max_size=12))
def check(both: tuple[Any, Any], steps: list[Step], inner: list[Step]) -> None:
    compare(both, steps, inner)


def test_random_programs(both: tuple[Any, Any]) -> None:
    if READS:
        compare(both, *ast.literal_eval(pathlib.Path(READS).read_text()))
        return
    end = time.monotonic() + SECONDS
    check(both)
    while time.monotonic() < end:
        check(both)
