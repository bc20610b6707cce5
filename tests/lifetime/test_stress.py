"""The programs that strain a process, for about a second each; `tools/dev.py stress` runs them for longer."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support import CPYTHON_313T, ROOT, SANITIZED, cpython_only, needs_compilers, run

pytestmark = [
    cpython_only("forks and embeds CPython"),
    needs_compilers,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and sends signals to threads"),
    pytest.mark.skipif(SANITIZED, reason="the sanitizers report how child processes end"),
    pytest.mark.slow("stress"),
]


@pytest.mark.unrecorded("a process of its own")
@pytest.mark.parametrize(
    "name", ["fork", "start_methods", "exits", "embed", "imports", "signals", "sharing", "soak"]
)
def test_stress(ffi: Any, name: str) -> None:
    if name == "fork" and CPYTHON_313T:
        pytest.skip(
            "a child of CPython 3.13t waits for ever for a dict that a thread of its parent was reading"
        )
    program = ROOT / "tests" / "support" / "stress.py"
    # Python warns of forks in a process with threads, which are tested here.
    warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    done = run([sys.executable, *warnings, program, name, "--seconds=0.5"], FFI_MODE=ffi.ffi_mode)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
