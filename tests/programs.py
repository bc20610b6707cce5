"""Programs that need a process of their own."""

from __future__ import annotations

import sys
import textwrap

from support import run


def run_program(source: str, mode: str, *, noisy: bool = False, **variables: str | None) -> str:
    """Run a program in one mode: it must exit with 0 and, unless it is `noisy`, write nothing to stderr.

    Returns what it wrote to stdout.
    """
    done = run([sys.executable, "-W", "error", "-c", textwrap.dedent(source)], FFI_MODE=mode, **variables)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert noisy or done.stderr == "", done.stderr
    return done.stdout
