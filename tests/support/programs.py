"""Run programs in their own process."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap

from support import run


def run_program(source: str, mode: str, *, noisy: bool = False, **variables: str | None) -> str:
    """Run a program in one mode; fail unless it exits with 0 and, unless `noisy`, writes nothing to stderr.

    Returns what it wrote to stdout.
    """
    done = run([sys.executable, "-W", "error", "-c", textwrap.dedent(source)], FFI_MODE=mode, **variables)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert noisy or done.stderr == "", done.stderr
    return done.stdout


def stubgen(*words: object, folder: pathlib.Path | None = None, cwd: pathlib.Path | None = None) -> str:
    """Run a command, and return its output or its error message."""
    command = [sys.executable, "-m", "anyffi", "stubgen", *words]
    done = run(command, cwd=cwd, PYTHONPATH=folder and os.fspath(folder))
    assert (done.returncode, done.stderr) == (0, "") or (done.returncode == 1 and done.stdout == "")
    return done.stdout + done.stderr


def declarations(text: str) -> str:
    """Return a stub from its first function or class on."""
    return text[min(text.find(f"\n{word} ") for word in ("def", "class") if f"\n{word} " in text) :]
