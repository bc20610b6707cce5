"""The benchmark programs run; their figures are not checked."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest
from support import ROOT, SANITIZED, cpython_only, needs_compilers, run

pytestmark = [
    pytest.mark.slow("benchmark"),
    cpython_only("the benchmark needs CPython"),
    needs_compilers,
    pytest.mark.skipif(SANITIZED, reason="builds libraries without the sanitizers"),
]


def test_a_row_is_measured_in_both_modes(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "bench", "--quick", "--only", r"^nop\(1\)$", "--output", tmp_path]
    done = run(command, PYTHONPATH=str(ROOT / "tools"))
    assert done.returncode == 0, done.stderr
    assert "nop(1): at most 5 times ctypes" in done.stdout
    result = json.loads((tmp_path / "results.json").read_text())
    for mode in ("cython", "ctypes"):
        times = result["times"][mode]["nop(1)"]
        assert {"anyffi", "raw", "floor", "ctypes"} <= set(times), result["missing"]
        assert all(time > 0 for time in times.values())
    assert "| nop(1) |" in (tmp_path / "results.md").read_text()


def test_a_bound_that_does_not_hold_is_a_miss() -> None:
    from bench.report import judge

    times = {"cython": {"nop(1)": {"anyffi": 12.0, "nanobind": 10.0, "tvm-ffi": 100.0}}}
    verdicts = judge({"times": times, "instructions": {}, "figures": {"libanyffi, stripped": 600.0}})
    words = {verdict.text: verdict.word for verdict in verdicts}
    assert words == {
        "nop(1): at most 1.1 times nanobind": "MISS",
        "nop(1): at most 0.3 times tvm-ffi": "pass",
        "libanyffi, stripped: at most 600 KB": "pass",
    }
