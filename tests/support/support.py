"""What several test files need: the checkout's places, Python processes of their own, and what PyPy lacks."""

from __future__ import annotations

import gc
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Callable

import pytest

#: Whether the address sanitizer is built in: frames on the stack are several times as large then.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")

ROOT = pathlib.Path(__file__).resolve().parents[2]

CPYTHON = sys.implementation.name == "cpython"

#: What is raised at the end of the stack: PyPy has a TypeError where it cannot set the RecursionError's context.
STACK_ENDS = RecursionError if CPYTHON else (RecursionError, TypeError)

#: A finalizer lets go of what the next collection finds. Counts make one enough nearly always.
COLLECTIONS = 1 if CPYTHON else 5


def cpython_only(reason: str) -> pytest.MarkDecorator:
    """The mark of a test about what only CPython has."""
    return pytest.mark.skipif(not CPYTHON, reason=reason)


def collect(until: Callable[[], bool] = lambda: False) -> None:
    """Collect garbage, and what its finalizers let go of, as often as needed."""
    for _ in range(COLLECTIONS):
        if until():
            break
        gc.collect()


CXX = os.environ.get("CXX", "c++")
CC = os.environ.get("CC", "cc")

#: What the fixture `build` is: given a file's name and the code in it, it tells where the library lies.
Build = Callable[[str, str], pathlib.Path]

needs_compilers = pytest.mark.skipif(
    shutil.which(CXX) is None or shutil.which(CC) is None,
    reason="compiles libraries: needs a C and a C++ compiler",
)


def words_of(error: BaseException) -> str | None:
    """What an error of Python's own says; None where it is not what CPython, and therefore anyffi, says."""
    return str(error) if CPYTHON else None


def build_directory() -> pathlib.Path:
    """Where ninja builds the editable install; `tools/dev.py` says it."""
    return pathlib.Path(os.environ["ANYFFI_BUILD_DIR"])


def run(
    command: Sequence[object],
    *,
    stdin: str | None = None,
    cwd: pathlib.Path | None = None,
    **variables: str | None,
) -> subprocess.CompletedProcess[str]:
    """Run a command with some environment variables changed, or removed where None is given."""
    environment = {k: v for k, v in {**os.environ, **variables}.items() if v is not None}
    words = [str(word) for word in command]
    pipes: dict[str, Any] = {"input": stdin, "capture_output": True, "text": True}
    return subprocess.run(words, cwd=cwd, env=environment, check=False, timeout=600, **pipes)


def run_python(code: str, *, ffi_mode: str | None = None, package_path: pathlib.Path | None = None) -> str:
    """What `code` prints in a Python process of its own; what ends it otherwise, when it fails.

    `package_path` is where another installation of anyffi lies; the editable one is then out of sight.
    """
    options = []
    if package_path is not None:
        options = ["-S"]
        code = f"import sys; sys.path.insert(0, {os.fspath(package_path)!r})\n{code}"
    done = run([sys.executable, *options, "-c", code], FFI_MODE=ffi_mode)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
    return done.stdout.strip()
