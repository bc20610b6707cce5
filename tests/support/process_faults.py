"""A separate program: lets one allocation fail while the package is imported, or while the interpreter exits.

    LD_PRELOAD=FAILING_MEMORY PYTHONMALLOC=malloc PYTHONPYCACHEPREFIX=FOLDER python process_faults.py FAULT POINTS

FAULT is import or exit; FOLDER keeps compiled modules. Each of POINTS allocations fails in a child process,
which imports the package, uses it and exits. The last line of the output is the number of failed allocations; lines
before it report what was wrong.
"""

from __future__ import annotations

import compileall
import faulthandler
import gc
import importlib.util
import linecache
import os
import random
import re
import sys
import tempfile
import traceback
from typing import Any, Callable, NoReturn

# Other packages that the package imports are imported here, so that only its own allocations fail.
import collections.abc  # noqa: F401  # isort: skip
import contextlib
import functools  # noqa: F401
import inspect  # noqa: F401
import json  # noqa: F401
import threading  # noqa: F401
import types  # noqa: F401
import weakref  # noqa: F401

import numpy  # noqa: F401
from failing_memory import open_cells
from support import ROOT

# Before CPython 3.13 it tells whether an interpreter is the main one. Its initialization ends the process without
# memory to register its types, and reports a lock that it cannot allocate as a RuntimeError.
with contextlib.suppress(ImportError):
    import _xxsubinterpreters  # type: ignore[import-not-found]

    _xxsubinterpreters.get_current()
# The loader of an editable installation builds the package first, in a process that CPython's `subprocess` may wait
# for forever if it cannot allocate the message of an error.
importlib.util.find_spec("anyffi")

_INNERMOST = re.compile(r"first\):\n  File \"(.+)\", line (\d+) in (\S+)$", re.MULTILINE)


def _is_own_crash(stack: str) -> bool:
    """Whether CPython 3.11 itself crashed: in its import locks, or when it created an iterator of `items`.

    Such an iterator has a tuple for results. Without memory for it, `dictiter_new` of dictobject.c releases the
    iterator before the garbage collector tracks it, and `dictiter_dealloc` untracks it nevertheless.
    """
    innermost = _INNERMOST.search(stack)
    if innermost is None:
        return False
    file, line, function = innermost.groups()
    if file == "<frozen importlib._bootstrap>":
        return function in ("release", "__exit__", "acquire")
    if "Segmentation fault" not in stack:
        return False
    # `compute_abstract_methods` of _abc.c iterates over the items of a class.
    is_abc = function == "__new__" and os.path.basename(file) in ("<frozen abc>", "abc.py")
    return is_abc or ".items()" in linecache.getline(file, int(line))


def _use() -> Any:
    import anyffi
    import anyffi.testing as t

    assert t.apply(lambda x: x + 1, 1) == 2
    assert t.echo(anyffi.List([1, "two"])) == [1, "two"]
    return t


def _is_of_memory(error: Exception) -> bool:
    """Whether the error mentions memory, or comes from CPython's own modules, which may lose a MemoryError."""
    if isinstance(error, (MemoryError, ImportError, SystemError)) or isinstance(error.__cause__, MemoryError):
        return True
    if re.search("[Cc]an(no|')t allocate|MemoryError", str(error)):
        return True
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return f"{os.sep}pkg{os.sep}" not in frame.f_code.co_filename


def _fail_import(cells: memoryview, point: int) -> None:
    """Let the import fail once; the next one must succeed, and the package must work."""
    try:
        cells[0] = point
        import anyffi

        # Without the fixtures, some of whose defaults are C++ objects created while the system loads the
        # library, where their exceptions cannot be caught.
        anyffi.load_module(anyffi.find_library("anyffi_testing"))
    except Exception as error:
        cells[0] = -1
        if not _is_of_memory(error):
            raise
    cells[0] = -1
    try:
        _use()
    except (ImportError, OSError) as error:
        # The runtime registers its functions while the system loads it, once per process; and glibc's loader
        # does not retry relocations that it left unfinished, for any library.
        if not re.search("libanyffi lacks|undefined symbol: ", str(error)):
            raise


class _Late:
    """An object whose finalizer makes calls."""

    def __init__(self, t: Any) -> None:
        self.kept = [t.apply, t.echo, lambda: self]

    def __del__(self) -> None:
        self.kept[0](self.kept[1], [1])


def _fail_exit(cells: memoryview, point: int) -> None:
    """Let an allocation fail while an interpreter with objects in many places ends."""
    t = _use()
    import atexit

    import anyffi

    t.hold([_Late(t), lambda: 5, ValueError(_Late(t)), object()])
    late = _Late(t)
    anyffi.register_global_func("faults.late", lambda: late)
    sys.kept = anyffi.convert({"late": _Late(t), "f": lambda: t})  # type: ignore[attr-defined]
    cycle = [anyffi.convert(lambda: cycle), _Late(t)]
    atexit.register(t.apply, lambda: t.echo([1]))
    gc.collect()
    cells[0] = point


FAULTS: dict[str, Callable[[memoryview, int], None]] = {"import": _fail_import, "exit": _fail_exit}


def run_child(cells: memoryview, fault: str, point: int) -> tuple[int, bool, str]:
    """Return how a child ended, whether one of its allocations failed, if it could report that, and its stack."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile("w+") as stack:
        child = os.fork()
        if child == 0:
            os.close(reader)
            faulthandler.enable(os.dup(stack.fileno()))
            _fail(cells, fault, point, writer)
        os.close(writer)
        told = os.read(reader, 1)
        os.close(reader)
        status = os.waitpid(child, 0)[1]
        stack.seek(0)
        return status, told == b"1", stack.read()


def _fail(cells: memoryview, fault: str, point: int, writer: int) -> NoReturn:
    cells[1] = 0
    status = 0
    try:
        FAULTS[fault](cells, point)
    except BaseException:
        cells[0] = -1
        traceback.print_exc()
        status = 1
    if fault == "import":
        os.write(writer, b"1" if cells[1] else b"0")
    sys.exit(status)


def main() -> None:
    fault, count = sys.argv[1], int(sys.argv[2])
    cells, draw = open_cells(), random.Random(1)
    # Without memory CPython's own compiler may end the process, so that modules are compiled before. The
    # import does not store the bytecode of modules in an editable installation.
    assert compileall.compile_dir(ROOT / "pkg", quiet=1)
    assert run_child(cells, fault, -1)[0] == 0
    if fault == "exit":
        _use()
    # Find the number of allocations that can fail, by bisection.
    low, high = 0, 4_000_000 if fault == "import" else 2000
    while fault == "import" and high - low > 5000:
        middle = (low + high) // 2
        low, high = (middle, high) if run_child(cells, fault, middle)[1] else (low, middle)
    # The first allocations would fail in this program, before the import or exit.
    points = sorted(draw.sample(range(20, high), count))
    for point in points:
        status, _, stack = run_child(cells, fault, point)
        if status != 0 and not _is_own_crash(stack):
            print(f"{fault}, allocation {point}: status {status}\n{stack}".rstrip(), flush=True)
    print(len(points))


if __name__ == "__main__":
    main()
