"""Helpers of most test files: paths of the checkout, subprocesses, and marks for features that PyPy lacks."""

from __future__ import annotations

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Callable

import pytest

#: Whether AddressSanitizer is active, which makes stack frames several times as large.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")

ROOT = pathlib.Path(__file__).resolve().parents[2]

CPYTHON = sys.implementation.name == "cpython"

#: Whether this is a build that can run without the GIL.
FREE_THREADED = "t" in getattr(sys, "abiflags", "")

#: CPython 3.13t never frees functions and classes after a second thread was started. Neither cffi nor
#: ml_dtypes supports it.
CPYTHON_313T = FREE_THREADED and sys.version_info[:2] == (3, 13)
frees_classes = pytest.mark.skipif(CPYTHON_313T, reason="CPython 3.13t never frees functions and classes")

#: Raised at the recursion limit: PyPy raises TypeError if it cannot set the context of the RecursionError.
STACK_ENDS = RecursionError if CPYTHON else (RecursionError, TypeError)

#: A finalizer may release objects that only the next collection finds; with refcounts one collection is
#: nearly always enough.
COLLECTIONS = 1 if CPYTHON else 5


def cpython_only(reason: str) -> pytest.MarkDecorator:
    """Return the mark of a test that only applies to CPython."""
    return pytest.mark.skipif(not CPYTHON, reason=reason)


def slow_except(quick: Collection[object], values: Iterable[object], reason: str) -> list[Any]:
    """Return the values as test parameters, of which all but the quick ones are marked slow."""
    slow = pytest.mark.slow(reason)
    return [pytest.param(value, marks=() if value in quick else slow) for value in values]


def collect(until: Callable[[], bool] | None = None) -> None:
    """Collect garbage repeatedly, because finalizers may release objects, until there is none."""
    for _ in range(COLLECTIONS if until is None else 5):
        if until is not None and until():
            break
        gc.collect()


def count_live(module: Any) -> int:
    """Return how many objects of its classes a module counts, after a collection."""
    collect()
    return int(module.live())


#: The runtime's exported symbols that are no functions: the type of a handler that catches nothing
#: (ThrowWatch), which the runtime defines instead of the compiler.
EXPORTED_TYPES = {"_ZTIN6anyffi6detail10ThrowWatchE"}

CXX = os.environ.get("CXX", "c++")
CC = os.environ.get("CC", "cc")

#: The type of the fixture `build`, which compiles a source file, given by name and content, and returns the
#: library. A third argument is a folder of other headers.
Build = Callable[..., pathlib.Path]

needs_compilers = pytest.mark.skipif(
    shutil.which(CXX) is None or shutil.which(CC) is None,
    reason="compiles libraries: needs a C and a C++ compiler",
)


#: Marks of a module whose tests compile bound classes.
compiles_classes = [
    needs_compilers,
    pytest.mark.slow("compiling"),
    pytest.mark.keeps_live("a module stays loaded, and its classes with it"),
]


def run_in_threads(bodies: list[Callable[[], Any]]) -> None:
    """Run functions in parallel threads, and raise the first error."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(bodies))

    def run(body: Callable[[], Any]) -> None:
        try:
            start.wait()
            body()
        except BaseException as error:
            errors.append(error)

    former = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(former)
    if errors:
        raise errors[0]


def words_of(error: BaseException) -> str | None:
    """Return the message of an error that Python raised; None on PyPy, where messages differ from CPython's."""
    return str(error) if CPYTHON else None


def get_testing_function(ffi: Any, name: str) -> Any:
    """Return a function that the runtime registers for the tests, by its name after `testing.`."""
    return ffi.get_global_func("testing." + name)


def build_directory() -> pathlib.Path:
    """Return the build directory of the editable install, which `tools/dev.py` sets."""
    return pathlib.Path(os.environ["ANYFFI_BUILD_DIR"])


def run(
    command: Sequence[object],
    *,
    stdin: str | None = None,
    cwd: pathlib.Path | None = None,
    **variables: str | None,
) -> subprocess.CompletedProcess[str]:
    """Run a command with some environment variables changed, or removed if their value is None."""
    environment = {k: v for k, v in {**os.environ, **variables}.items() if v is not None}
    # Check mode needs the GIL.
    if variables.get("FFI_MODE") == "check" and "PYTHON_GIL" not in variables and FREE_THREADED:
        environment["PYTHON_GIL"] = "1"
    words = [str(word) for word in command]
    pipes: dict[str, Any] = {"input": stdin, "capture_output": True, "text": True}
    return subprocess.run(words, cwd=cwd, env=environment, check=False, timeout=600, **pipes)


def run_python(code: str, *, ffi_mode: str | None = None, package_path: pathlib.Path | None = None) -> str:
    """Run `code` in a new Python process; return its output, or the last line of stderr if it fails.

    `package_path` is the path of another installation of anyffi, which then replaces the editable one.
    """
    options = []
    if package_path is not None:
        options = ["-S"]
        code = f"import sys; sys.path.insert(0, {os.fspath(package_path)!r})\n{code}"
    done = run([sys.executable, *options, "-c", code], FFI_MODE=ffi_mode)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
    return done.stdout.strip()
