"""Random programs do the same in both modes: results, classes and texts of errors, the order of users' code, memory."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import Step, compare, record_class

_number = st.integers(0, 500)
_steps = st.tuples(_number, _number, _number, _number)
_values = st.one_of(st.text(max_size=30), st.binary(max_size=30), st.integers(), st.floats())
#: For the session `fuzz`: its seconds, the file to write each program to, and the file of a single program to run.
SECONDS = float(os.environ.get("ANYFFI_FUZZ_SECONDS", "0"))
WRITES = os.environ.get("ANYFFI_FUZZ_WRITES")
READS = os.environ.get("ANYFFI_FUZZ_READS")

#: The same programs each time, except in the session `fuzz`, which draws hundreds at a time.
SETTINGS = {"max_examples": 500} if SECONDS else {"derandomize": True, "database": None}


@settings(**SETTINGS)  # type: ignore[arg-type]
@given(
    st.lists(_steps, min_size=3, max_size=30), st.lists(_steps, max_size=12), st.lists(_values, max_size=4)
)
def check(both: tuple[Any, Any], steps: list[Step], inner: list[Step], values: list[Any]) -> None:
    if WRITES:
        # The process may end within the program.
        pathlib.Path(WRITES).write_text(repr((steps, inner, values)))
    compare(both, steps, inner, values)


@pytest.mark.keeps_live(
    "the type of the programs' dataclass is never freed; each program counts its own memory"
)
def test_random_programs(both: tuple[Any, Any]) -> None:
    for ffi in both:
        record_class(ffi)
    if READS:
        # `repr` of a float may be a name.
        names = {"nan": float("nan"), "inf": float("inf")}
        compare(both, *eval(pathlib.Path(READS).read_text(), names))
        return
    end = time.monotonic() + SECONDS
    check(both)
    while time.monotonic() < end:
        check(both)
